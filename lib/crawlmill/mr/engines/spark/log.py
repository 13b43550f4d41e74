"""Parses Spark's messages about failed tasks, in the log of spark-submit and when it gives up.

    … WARN TaskSetManager: Lost task 3.0 in stage 0.0 (TID 3) (HOST executor 1): CLASS: Traceback (most recent …
      File …
    RuntimeError: bad luck
    crawlmill-failure {"task": "map-00003", "attempt": 0, "error": "RuntimeError: bad luck"}

    Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times, most recent failure: Lost task 3.3 in …

Instead of the latter, Spark 4 often reports the task's own exception.

The last line of a traceback is added by us (`spark/tasks.py`). It is missing if a task had no time to write it
(killed), or no package to do so: then Spark's message is used, or the traceback's.

Spec: the sources of `TaskSetManager` and `DAGScheduler` (Spark 3.5 to 4.3); there is no other documentation.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from crawlmill.mr.engines.client_log import RECORD, STACK, ClientLog
from crawlmill.mr.engines.spark.tasks import FAILURE

__all__ = ["FailedTask", "SparkLog", "what_failed"]

_LOST: Final = re.compile(
    r"Lost task (?P<task>\d+)\.\d+ in stage (?P<stage>\d+)\.\d+ \(TID \d+\) \([^)]*\): (?P<why>.*)", re.DOTALL
)
_GAVE_UP: Final = re.compile(r"Task \d+ in stage [\d.]+ failed (\d+) times")
_TRACE: Final = re.compile(
    r"Traceback \(most recent call last\):\n.*?(?=\n\s*\tat |\n\nDriver stacktrace:|\Z)", re.DOTALL
)
_SPARKS_FRAMES: Final = re.compile(
    r'  File "[^"\n]*(?:/pyspark(?:\.zip)?/|/crawlmill/mr/engines/spark/)[^"\n]*".*\n(?:    .*\n)*'
)
_CLASS: Final = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error|Failure): ")


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A failed attempt: the task's name, Spark's numbers for it, the error, the traceback, the number of the attempt.

    A task that had no time to write its name has only the numbers; the final message of Spark 4 lacks them.
    """

    task: str | None
    number: int | None
    stage: int | None
    said: str
    trace: str
    times: int


def what_failed(text: str) -> FailedTask | None:
    """Parse Spark's message about a failed task; None if it is about something else."""
    lost, gave_up, found = _LOST.search(text), _GAVE_UP.search(text), _TRACE.search(text)
    if lost is None and found is None:
        return None
    why = lost["why"] if lost else text
    lines = found[0].split("\n") if found else []
    note = next((line for line in lines if line.startswith(FAILURE)), None)
    named = json.loads(note.removeprefix(FAILURE)) if note else {}
    said = named.get("error") or _last_words(lines) or _CLASS.sub("", why.split("\n")[0])
    trace = _SPARKS_FRAMES.sub("", "".join(f"{line}\n" for line in lines if line != note)).strip()
    return FailedTask(
        named.get("task"),
        int(lost["task"]) if lost else None,
        int(lost["stage"]) if lost else None,
        said.strip()[:500],
        f"{trace}\n" if trace else "",
        int(gave_up[1]) if gave_up else named.get("attempt", 0) + 1,
    )


def _last_words(lines: list[str]) -> str:
    """The exception at the end of a traceback."""
    frames = [number for number, line in enumerate(lines) if line.startswith("  ")]
    return next((line for line in lines[frames[-1] + 1 :] if line), "") if frames else ""


class SparkLog(ClientLog[FailedTask]):
    """Parses the log line by line."""

    complains_with = ("Error",)

    def __init__(self) -> None:
        super().__init__()
        self._lost: list[str] = []

    def _understand(self, line: str, record: re.Match[str] | None) -> FailedTask | None:
        record, failure = _timed(record), None
        if self._lost and (record or STACK.match(line)):
            failure, self._lost = what_failed("\n".join(self._lost)), []
        if record and "Lost task " in record["message"]:
            self._lost = [record["message"]]
        elif self._lost:
            self._lost.append(line)
        return failure

    @staticmethod
    def is_news(line: str) -> bool:
        """Whether a line is worth showing to the user: routine messages of Spark and Java traces are not."""
        record = _timed(RECORD.match(line))
        return record["level"] in ("WARN", "ERROR", "FATAL") if record else not STACK.match(line)


def _timed(record: re.Match[str] | None) -> re.Match[str] | None:
    """A record with a time; a line without one may be part of a job's own error."""
    return record if record and record["time"] else None
