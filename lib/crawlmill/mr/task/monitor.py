"""What a map task reports while it works: that it is alive, and the ledger row of each finished input."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from crawlmill.ledger.row import LedgerRow
from crawlmill.mr.task.rows import Pair, TaskRows, encode_row, row_pair

__all__ = ["COUNTERS", "EngineMonitor", "Monitor", "TaskMonitor", "Totals"]

COUNTERS: Final = "crawlmill"
"""The group of the counters that tell an engine how far its tasks are; named as the fields of `Totals`."""

_STATUS_EVERY_S: Final = 10.0
_ALIVE_EVERY_S: Final = 30.0
_REPORT_EVERY_S: Final = 0.25


class Totals(NamedTuple):
    """What a task or a run has done so far. `bad` counts inputs that are partial or failed."""

    inputs: int = 0
    records: int = 0
    bytes: int = 0
    bad: int = 0

    @classmethod
    def of(cls, row: LedgerRow) -> Totals:
        """What a row adds. An input in several units is counted with its last unit only."""
        if row.unit is None:
            return cls(1, row.records, row.bytes, 1 if row.lost else 0)
        counts = row.unit[0] + 1 == row.unit[1]
        return cls(int(counts), row.records, row.bytes, int(counts and row.outcome != "ok"))

    def plus(self, other: Totals) -> Totals:
        """The sum of both."""
        return Totals(
            self.inputs + other.inputs, self.records + other.records, self.bytes + other.bytes, self.bad + other.bad
        )


class Monitor(Protocol):
    """Receives the reports of a map task."""

    def beat(self, records: int, bytes_read: int) -> None:
        """Report progress in the current input; called every few records."""

    def account(self, rank: int, row: LedgerRow) -> Iterable[Pair]:
        """Report a finished input; returns the pairs that the task must emit for it."""

    def account_all(self, rows: TaskRows) -> Iterable[Pair]:
        """Report all inputs of a task, perhaps very many; returns pairs as `account` does."""

    def alive(self, reached: Callable[[], int]) -> AbstractContextManager[None]:
        """Keep the task alive within this block while the number of bytes returned by `reached` grows."""


class EngineMonitor:
    """Reports progress to an engine by status lines and counters; rows travel through the engine as pairs."""

    def __init__(self, set_status: Callable[[str], None], count: Callable[[str, str, int], None]) -> None:
        self._set_status, self._count = set_status, count
        self._due = 0.0
        self._done = self._counted = Totals()

    def beat(self, records: int, bytes_read: int) -> None:
        """Write a status line, at most every ten seconds."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _STATUS_EVERY_S
            self._set_status(f"{records:,} records, {bytes_read:,} bytes of the present input")
            self._raise_counters(self._done.plus(Totals(0, records, bytes_read)))

    def account(self, rank: int, row: LedgerRow) -> Iterable[Pair]:
        """Return the row as a pair."""
        self._done = self._done.plus(Totals.of(row))
        self._raise_counters(self._done)
        return (row_pair(rank, row),)

    def account_all(self, rows: TaskRows) -> Iterable[Pair]:
        """Return the rows as pairs, and report the totals once."""
        pairs = []
        for rank, row in rows:
            self._done = self._done.plus(Totals.of(row))
            pairs.append(row_pair(rank, row))
        self._raise_counters(self._done)
        return pairs

    @contextmanager
    def alive(self, reached: Callable[[], int]) -> Iterator[None]:
        """Write a status line twice a minute while bytes arrive, even if no record is completed for hours.

        A task that hangs writes nothing, so the engine kills it.
        """
        ended = threading.Event()

        def look() -> None:
            before = reached()
            while not ended.wait(_ALIVE_EVERY_S):
                if (now := reached()) != before:
                    before = now
                    self._set_status(f"{now:,} bytes of the present input")

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _raise_counters(self, totals: Totals) -> None:
        for name, now, counted in zip(Totals._fields, totals, self._counted, strict=True):
            if now != counted:
                self._count(COUNTERS, name, now - counted)
        self._counted = totals


@dataclass
class TaskMonitor:
    """Keeps the rows of a task and reports its totals, including the current input, four times a second."""

    report: Callable[[Totals], None]

    def __post_init__(self) -> None:
        self.rows: list[bytes] = []
        """Their lines."""
        self.totals = Totals()
        self._due = time.monotonic() + _REPORT_EVERY_S

    def beat(self, records: int, bytes_read: int) -> None:
        """Report the totals if it is time."""
        self._report(self.totals.plus(Totals(0, records, bytes_read)))

    def account(self, rank: int, row: LedgerRow) -> Iterable[Pair]:
        """Keep the row; there is nothing to emit."""
        self.rows.append(encode_row(rank, row))
        self.totals = self.totals.plus(Totals.of(row))
        self._report(self.totals)
        return ()

    def account_all(self, rows: TaskRows) -> Iterable[Pair]:
        """Keep the rows."""
        lines, numbers, others = rows.encode()
        self.rows.append(lines)
        self.totals = self.totals.plus(Totals(*numbers))
        for rank, row in others:
            self.rows.append(encode_row(rank, row))
            self.totals = self.totals.plus(Totals.of(row))
        self._report(self.totals)
        return ()

    def alive(self, reached: Callable[[], int]) -> AbstractContextManager[None]:  # noqa: ARG002
        """Do nothing: on one machine silent tasks are not killed."""
        return nullcontext()

    def _report(self, totals: Totals) -> None:
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _REPORT_EVERY_S
            self.report(totals)
