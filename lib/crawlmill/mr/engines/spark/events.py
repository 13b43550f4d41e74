"""Reads, for the launcher, the file in which the driver of `-r spark` reports (`driver.py`).

Ledger rows stay in that file until they are needed at the end, since a run may have a million inputs.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlmill.mr.engines.spark.tasks import Done
from crawlmill.mr.run.progress import Progress
from crawlmill.mr.task.monitor import Totals

__all__ = ["SparkEvents"]


@dataclass(frozen=True, slots=True)
class _Told:
    """The line about a finished task, as a span of the file in bytes, and the task's counters."""

    offset: int
    length: int
    counters: dict[str, int]


class SparkEvents:
    """Reads the file as it grows, and shows the progress of the run.

    `application` is Spark's name of the run, `parts` the numbers and names of each finished step's parts, `failed`
    Spark's message when it gave up, `kinds` the kind of task in each of Spark's stages.
    """

    def __init__(self, path: Path, steps: int, watch: Progress) -> None:
        self._path, self._steps, self._watch = path, steps, watch
        self._place = 0
        self._tasks: dict[tuple[int, str], _Told] = {}
        self._totals = Totals()
        self.application: str | None = None
        self.parts: list[list[tuple[int, str]]] = []
        self.failed: str | None = None
        self.kinds: dict[int, str] = {}

    def hear(self) -> None:
        """Read what the driver has written since, and show it; an incomplete line is read again later."""
        with self._path.open("rb") as file:
            file.seek(self._place)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._take(json.loads(line), len(line))
                self._place += len(line)
        self._watch.progress("spark", self._totals)

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`; each task counts once."""
        counters: list[Counter[str]] = [Counter() for _ in range(self._steps)]
        for (step, _), told in self._tasks.items():
            counters[step].update(told.counters)
        return [dict(each) for each in counters]

    def write_rows(self, target: Path) -> list[tuple[str, str]]:
        """Write the rows of finished tasks, even if the run has not ended.

        Returns the names and the locations of these tasks' other files.
        """
        files: list[tuple[str, str]] = []
        with self._path.open("rb") as events, target.open("w", encoding="utf-8") as file:
            for told in self._tasks.values():
                events.seek(told.offset)
                done = Done(**json.loads(events.read(told.length))["task"])
                file.write(done.rows)
                files += ((name, place) for name, place in done.files)
        return files

    def _take(self, event: dict[str, Any], length: int) -> None:
        if "task" in event:
            done = Done(**event["task"])
            if (done.step, done.task) not in self._tasks:  # a task that Spark reran was reported before
                self._totals = self._totals.plus(Totals(*done.totals))
            self._tasks[done.step, done.task] = _Told(self._place, length, done.counters)
        elif "stage" in event:
            self.kinds[event["stage"]] = event["kind"]
            before = f"step {event['step'] + 1} of {self._steps}, " if self._steps > 1 else ""
            self._watch.phase = f"{before}{event['kind']} {event['done']:,} of {event['tasks']:,} tasks"
        elif "parts" in event:
            self.parts.append(event["parts"])
        elif "application" in event:
            self.application, self._watch.phase = event["application"], "waiting for executors"
        else:
            self.failed = event["failed"]
