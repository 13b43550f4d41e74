"""Runs one attempt at a task in this process, for `inline` (in the launcher) and `local` (in a worker).

An attempt writes to a folder of its own, which counts once the launcher has renamed it to its final name:

    spill-N    sorted runs of pairs, one per partition (see `shuffle`), if a reducer follows
    part       otherwise: the pairs of the step's output
    _rows      ledger rows (first step only)
    _of-NAME   named files that the job wrote (see `files`)
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.files import ROWS, FolderFiles
from crawlmill.mr.task.monitor import TaskMonitor, Totals
from crawlmill.mr.task.shuffle import Partitioner, SortedRun, Spill, merge
from crawlmill.sorting import SortedLines

__all__ = ["Attempt", "ListedLine", "Result", "run_attempt"]

_BUFFER: Final = 1 << 18
_COUNTER: Final = re.compile(rb"reporter:counter:([^,]*),([^,]*),(-?[0-9]+)")


@dataclass(frozen=True, slots=True)
class ListedLine:
    """The place of a task's line in a local task list. It may be very long, so only those that need it read it."""

    path: str
    start: int
    length: int

    def read(self) -> bytes:
        """The line, with its line end."""
        with open(self.path, "rb") as lines:  # noqa: PTH123
            lines.seek(self.start)
            return lines.read(self.length)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task of a step; its folder is in `base`.

    A map task has a `line` of the task list, or in later steps a `source`, which is a part of the previous step; a
    reduce task has `runs`. `partitions` is 0 if no reducer follows. `memory` is the limit for lines held for sorting,
    in bytes.
    """

    base: str
    step: int
    kind: str
    number: int
    memory: int
    partitions: int = 0
    line: str | ListedLine | None = None
    source: str | None = None
    runs: tuple[SortedRun, ...] = ()
    substeps: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    number_of_try: int = 1

    @property
    def task(self) -> str:
        """The name of the task, the same for all of its attempts."""
        return f"{self.kind}-{self.number:05}"

    @property
    def folder(self) -> str:
        """The folder that this attempt writes to."""
        return f"{self.base}/{self.task}.{self.number_of_try}"

    def task_line(self) -> bytes | None:
        """The line of the task list that is its input, if one is."""
        if isinstance(self.line, ListedLine):
            return self.line.read()
        return None if self.line is None else self.line.encode()

    def variables(self) -> dict[str, str]:
        """The environment of this attempt, with Hadoop's names."""
        job, letter = self.environment.get("mapreduce_job_id", "job"), self.kind[0]
        task = f"{job}_{self.step}_{letter}_{self.number:06}"
        return {
            **self.environment,
            "mapreduce_task_id": f"task_{task}",
            "mapreduce_task_attempt_id": f"attempt_{task}_{self.number_of_try - 1}",
            "mapreduce_task_partition": str(self.number),
            "mapreduce_task_ismap": str(self.kind == "map").lower(),
            "mapreduce_job_local_dir": os.getcwd(),  # noqa: PTH109
        }

    def commit(self) -> Path:
        """Make this the attempt that counts; returns the final folder."""
        return Path(self.folder).rename(f"{self.base}/{self.task}")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an attempt, besides its files."""

    spills: tuple[Spill, ...]
    totals: Totals
    counters: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        spills = [(spill.name, spill.lengths) for spill in self.spills]
        return {"spills": spills, "totals": self.totals, "counters": self.counters}

    @classmethod
    def from_json(cls, result: dict[str, Any]) -> Result:
        """Parse the object written by `to_json`."""
        spills = tuple(Spill(name, tuple(lengths)) for name, lengths in result["spills"])
        return cls(spills, Totals(*result["totals"]), result["counters"])


def run_attempt(
    job_class: type[Job], arguments: list[str], attempt: Attempt, report: Callable[[Totals], None]
) -> Result:
    """Run an attempt; calls `report` with its progress. Errors of the job are raised unchanged."""
    folder = Path(attempt.folder)
    folder.mkdir(parents=True)
    stderr = _TaskStderr()
    monitor, files = TaskMonitor(report), FolderFiles(folder)
    spills: tuple[Spill, ...] = ()

    def make_job(kind: str) -> Job:
        job = job_class([f"--step-num={attempt.step}", f"--{kind}", *arguments])
        job.monitor, job.task_files = monitor, files
        return job

    def run(kind: str, lines: Iterable[bytes], output: Any) -> None:
        job = make_job(kind)
        job.sandbox(stdin=lines, stdout=output, stderr=stderr)
        getattr(job, f"run_{kind}")(attempt.step)

    def combine(lines: list[bytes]) -> list[bytes]:
        combined = _Lines()
        run("combiner", lines, combined)
        return combined.lines

    with _environment(attempt.variables()):
        lines = _input(attempt, folder)
        if isinstance(lines, SortedLines):
            with lines, (folder / "part").open("wb", _BUFFER) as part:
                run("reducer", lines, part)
        elif attempt.partitions:
            combiner = combine if "combiner" in attempt.substeps else None
            partitioner = Partitioner(folder, attempt.partitions, memory=attempt.memory, combine=combiner)
            if "mapper" in attempt.substeps:
                run("mapper", lines, partitioner)
            else:
                partitioner.writelines(lines)
            spills = tuple(partitioner.spills)
        else:
            with (folder / "part").open("wb", _BUFFER) as part:
                run("mapper", lines, part)
    if monitor.rows:
        with files.write(ROWS) as file:
            file.writelines(monitor.rows)
    return Result(spills, monitor.totals, dict(stderr.counters))


def _input(attempt: Attempt, folder: Path) -> SortedLines | Iterator[bytes]:
    """The input of the attempt, sorted if it reduces."""
    if attempt.kind == "reduce":
        return merge(attempt.runs, folder, memory=attempt.memory)
    if (line := attempt.task_line()) is not None:
        return iter([line])
    return _lines_of(attempt.source or os.devnull)


def _lines_of(path: str) -> Iterator[bytes]:
    with open(path, "rb", _BUFFER) as file:  # noqa: PTH123
        yield from file


class _Lines:
    """An output that keeps its lines in memory."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def writelines(self, lines: Iterable[bytes]) -> None:
        self.lines.extend(lines)


class _TaskStderr:
    """The stderr of a task: removes mrjob's lines of counters and status, and passes on the rest."""

    def __init__(self) -> None:
        self.counters: Counter[str] = Counter()

    def write(self, data: bytes) -> int:
        for line in data.splitlines(keepends=True):
            if counter := _COUNTER.match(line):
                group, name = (counter[n].decode("utf-8", "replace") for n in (1, 2))
                self.counters[f"{group}: {name}"] += int(counter[3])
            elif not line.startswith(b"reporter:"):
                sys.stderr.write(line.decode("utf-8", "replace"))
        return len(data)

    def flush(self) -> None:
        sys.stderr.flush()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set the variables that Hadoop would set, while the attempt runs."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
