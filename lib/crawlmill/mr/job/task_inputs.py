"""The inputs of a map task, opened one after another and watched while they are read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, Final

from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.selectors.criteria import NO_CRITERIA, Criteria
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ItemReading, Reading, ReadOptions
from crawlmill.later import later
from crawlmill.mr.task.monitor import Monitor
from crawlmill.mr.task.task_list import decode_task
from crawlmill.storage import Storage, redact
from crawlmill.storage.coalesce import CoalescingStorage
from crawlmill.storage.interface import Opener

__all__ = ["InputWatch", "TaskInputs"]

_verdict_of: Callable[[Input, Criteria], bool | None] = later("crawlmill.mr.task.selected:verdict_of")

_LOOK_EVERY_S: Final = 0.1


class TaskInputs:
    """Opens the inputs named by lines of the task list.

    Args:
        storage: Opens them.
        coalesce: The largest gap, in bytes, across which two ranges of a file are fetched with one request.
        items: The class that reads an input.
        selection: The formats and records wanted.
        streamed: Return large items before they are read to the end (records always are).
    """

    def __init__(
        self, storage: Storage, coalesce: int, items: type[Any], selection: Selection, *, streamed: bool
    ) -> None:
        self._storage, self._coalesce, self._items = storage, coalesce, items
        self._selection, self._streamed = selection, streamed

    def readings(self, line: str, options: ReadOptions) -> Iterator[tuple[int, Any]]:
        """Yield (rank in the ledger, reading) for each input of a line of the task list."""
        task = decode_task(line)
        ranges = [(item.location, item.offset or 0, item.length) for _, item in task if item.length is not None]
        with closing(CoalescingStorage(self._storage, ranges, self._coalesce)) as storage:
            for rank, item in task:
                yield rank, self._reading(item, storage, options)

    def _reading(self, item: Input, storage: Opener, options: ReadOptions) -> Any:
        selection = self._selection
        if selection.criteria and _verdict_of(item, selection.criteria):
            # Its index line was selected, and may know more than the record itself, from other records.
            selection = replace(selection, criteria=NO_CRITERIA)
        if issubclass(self._items, Record):
            return Reading(item, storage, options, selection)
        return ItemReading(item, storage, self._items, options, selection, streamed=self._streamed)


class InputWatch:
    """Reports that a task is alive while inputs are read, and tracks which record is being read."""

    def __init__(self, monitor: Callable[[], Monitor]) -> None:
        self._monitor = monitor
        self._offset: int | None = None  # of the record being read

    def records(self, reading: Reading) -> Iterator[Record]:
        """Yield the records of one input, and report that the task is alive."""
        monitor = self._monitor()
        start, _ = reading.item.span
        due = time.monotonic() + _LOOK_EVERY_S
        for record in reading:
            self._offset = record.offset
            yield record
            if time.monotonic() >= due:
                monitor.beat(reading.row.records, record.offset - start)
                due = time.monotonic() + _LOOK_EVERY_S

    @contextmanager
    def over(self, reading: Any) -> Iterator[None]:
        """Report that the task is alive while an input is read; names the place in errors that escape."""
        self._offset = None
        try:
            with self._monitor().alive(lambda: reading.reached):
                yield
        except BaseException as error:
            place = "" if self._offset is None else f"offset {self._offset} of "
            error.add_note(f"(at {place}{redact(reading.item.location)})")
            raise
