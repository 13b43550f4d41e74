"""Runs contenders over the same input, in turn and each in a fresh process, and compares the medians.

A comparison is a table with a row for each contender and the quantities of `measure.py` as columns. All contenders run
once, then all again (A B C, A B C, …), so that a machine that slows down affects all of them. A goal is a ratio of two
rows, or the most that one row may take beyond another; it is printed as met or missed, and has no other effect.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

from bench.corpus import Workload

__all__ = [
    "Answer",
    "AtLeast",
    "AtMost",
    "AtMostBeyond",
    "Comparison",
    "Contender",
    "Goal",
    "PairsASecond",
    "Quantity",
    "Row",
    "Run",
    "Verdict",
    "compare",
    "json_answer",
    "lines_answer",
    "run_once",
]

Quantity = Literal["cpu", "wall", "memory"]

_MEASURE = Path(__file__).with_name("measure.py")
# Settings of the user's shell must not affect measurements.
_SHED = ("PYTHON", "CRAWLMILL_", "SPARK_", "PYSPARK_", "MRJOB_", "HADOOP_", "JAVA_TOOL_OPTIONS")
_SHOWN_ERROR_LINES = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a contender found: distinct keys, and the sum of their counts; shows whether all did the same work."""

    keys: int
    total: int


def json_answer(scratch: Path) -> Answer:
    """The answer that a loop prints as a JSON object."""
    return Answer(**json.loads((scratch / "stdout").read_bytes()))


def lines_answer(scratch: Path) -> Answer:
    """The number of lines that a contender prints, both as keys and as their sum."""
    with (scratch / "stdout").open("rb") as lines:
        number = sum(1 for _ in lines)
    return Answer(number, number)


@dataclass(frozen=True, slots=True)
class Contender:
    """A command to be measured.

    Args:
        name: The name of the row.
        command: The command to run, in an empty folder.
        env: Additional environment variables.
        answer: Reads the answer from that folder, which contains the output as `stdout` and `stderr`.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    answer: Callable[[Path], Answer] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a contender; memory is None if it cannot be measured."""

    wall_s: float
    cpu_s: float
    rss_bytes: int | None
    pss_bytes: int | None
    load: float


@dataclass(frozen=True, slots=True)
class Row:
    """All runs of a contender. `failure` says why there are none, or no more."""

    name: str
    runs: tuple[Run, ...]
    answer: Answer | None = None
    failure: str | None = None

    def value(self, quantity: Quantity) -> float | None:
        """The median: seconds, or bytes; None if it was not measured."""
        values = [value for value in self.values(quantity) if value is not None]
        return median(values) if values and self.failure is None else None

    def values(self, quantity: Quantity) -> list[float | None]:
        """One value per run."""
        name = {"cpu": "cpu_s", "wall": "wall_s", "memory": "rss_bytes"}[quantity]
        return [getattr(run, name) for run in self.runs]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for a goal; `met` is None if it was not measured."""

    text: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A goal: `peer` takes at least `factor` times what `ours` takes."""

    ours: str
    peer: str
    quantity: Quantity
    factor: float

    def judge(self, rows: Mapping[str, Row]) -> Verdict:
        """The ratio of the medians, with the goal."""
        what = f"{self.quantity}: {self.peer} / {self.ours}"
        ours, peer = _value(rows, self.ours, self.quantity), _value(rows, self.peer, self.quantity)
        if not ours or peer is None:
            return Verdict(f"{what}: not measured, goal {self.factor:g}", None)
        return Verdict(f"{what} = {peer / ours:.2f}, goal {self.factor:g}", peer / ours >= self.factor)


@dataclass(frozen=True, slots=True)
class AtMost:
    """A goal: `ours` takes at most `seconds` more than `base`."""

    ours: str
    base: str
    quantity: Quantity
    seconds: float

    def judge(self, rows: Mapping[str, Row]) -> Verdict:
        """The difference of the medians, with the goal."""
        what = f"{self.quantity}: {self.ours} - {self.base}"
        ours, base = _value(rows, self.ours, self.quantity), _value(rows, self.base, self.quantity)
        if ours is None or base is None:
            return Verdict(f"{what}: not measured, goal at most {self.seconds:g} s", None)
        return Verdict(f"{what} = {ours - base:.2f} s, goal at most {self.seconds:g} s", ours - base <= self.seconds)


@dataclass(frozen=True, slots=True)
class AtMostBeyond:
    """A goal: `ours` takes at most `factor` times what `peer` takes, each without its own start.

    The start of a row is the row with the same name followed by `start`.
    """

    ours: str
    peer: str
    start: str
    quantity: Quantity
    factor: float

    def judge(self, rows: Mapping[str, Row]) -> Verdict:
        """The ratio of the differences, with the goal."""
        what = f"{self.quantity} beyond the start: {self.ours} / {self.peer}"
        ours, peer, our_start, peer_start = (
            _value(rows, name, self.quantity)
            for name in (self.ours, self.peer, self.ours + self.start, self.peer + self.start)
        )
        if ours is None or our_start is None or peer is None or peer_start is None or peer <= peer_start:
            return Verdict(f"{what}: not measured, goal at most {self.factor:g}", None)
        ratio = (ours - our_start) / (peer - peer_start)
        return Verdict(f"{what} = {ratio:.2f}, goal at most {self.factor:g}", ratio <= self.factor)


@dataclass(frozen=True, slots=True)
class PairsASecond:
    """A goal: `ours` handles this many million pairs per second of the CPU time that it takes beyond `base`.

    The total of its answer is the number of pairs. The speed of `peer` is shown too, counting all of its CPU time.
    """

    ours: str
    base: str
    peer: str
    millions: float

    def judge(self, rows: Mapping[str, Row]) -> Verdict:
        """The speed, with the goal."""
        what = f"million pairs a second of CPU: {self.ours}"
        ours, base = _value(rows, self.ours, "cpu"), _value(rows, self.base, "cpu")
        answer = rows[self.ours].answer if self.ours in rows else None
        if ours is None or base is None or answer is None or ours <= base:
            return Verdict(f"{what}: not measured, goal {self.millions:g}", None)
        speed = answer.total / (ours - base) / 1e6
        peer = _value(rows, self.peer, "cpu")
        beside = f" ({self.peer}: {answer.total / peer / 1e6:.2f})" if peer else ""
        return Verdict(f"{what} = {speed:.2f}{beside}, goal {self.millions:g}", speed >= self.millions)


Goal = AtLeast | AtMost | AtMostBeyond | PairsASecond


def _value(rows: Mapping[str, Row], name: str, quantity: Quantity) -> float | None:
    return rows[name].value(quantity) if name in rows else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table, its input and its goals. `limit` names the row whose CPU time all others are divided by."""

    section: str
    title: str
    workload: Workload | None
    rows: tuple[Row, ...]
    goals: tuple[Goal, ...] = ()
    limit: str | None = None

    def row(self, name: str) -> Row | None:
        """The row with that name; None if there is none."""
        return next((row for row in self.rows if row.name == name), None)

    def verdicts(self) -> list[Verdict]:
        """The results for the goals."""
        rows = {row.name: row for row in self.rows}
        return [goal.judge(rows) for goal in self.goals]


def compare(
    contenders: Sequence[Contender], workload: Workload | None, *, repeat: int, tell: Callable[[str], None]
) -> tuple[Row, ...]:
    """Run every contender `repeat` times, in turn. One that fails is not run again, and its row says why."""
    for path in workload.paths if workload else ():
        with Path(path).open("rb") as stream:  # read the input into the page cache for all
            while stream.read(1 << 20):
                pass
    rows = {contender.name: Row(contender.name, ()) for contender in contenders}
    for number in range(1, repeat + 1):
        for contender in contenders:
            row = rows[contender.name]
            if row.failure is None:
                tell(f"{contender.name}, {number} of {repeat}")
                rows[contender.name] = _once_more(row, contender)
    return tuple(rows.values())


def _once_more(row: Row, contender: Contender) -> Row:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        scratch = Path(folder)
        result = run_once(contender, scratch)
        if result["exit_code"] != 0:
            errors = (scratch / "stderr").read_text("utf-8", "replace").strip().splitlines()[-_SHOWN_ERROR_LINES:]
            return Row(row.name, row.runs, row.answer, f"exit code {result['exit_code']}: " + " | ".join(errors))
        answer = contender.answer(scratch) if contender.answer else None
    if row.runs and answer != row.answer:
        return Row(row.name, row.runs, row.answer, f"found {row.answer}, then {answer}")
    del result["exit_code"]
    return Row(row.name, (*row.runs, Run(**result)), answer)


def run_once(contender: Contender, scratch: Path) -> dict[str, Any]:
    """Run a contender in an empty folder; returns the result of `measure.py`."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(_SHED)} | dict(contender.env)
    work, result = scratch / "work", scratch / "result.json"
    work.mkdir()
    with (scratch / "stdout").open("wb") as stdout, (scratch / "stderr").open("wb") as stderr:
        subprocess.run(
            [sys.executable, str(_MEASURE), str(result), *contender.command],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=True,
        )
    measured: dict[str, Any] = json.loads(result.read_bytes())
    return measured
