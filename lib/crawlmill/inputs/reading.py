"""Reads one input to its end: opens it, finds the reader for its format, yields its items, keeps its account.

Errors of the input are not raised here: see `account`. What an item is depends on the reader (`readers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.reader import READ_OPTIONS, Item, Reader, ReadOptions, Request
from crawlmill.formats.record import Record
from crawlmill.formats.selection import EVERYTHING, Selection
from crawlmill.inputs.account import InputAccount
from crawlmill.inputs.lists import Input
from crawlmill.inputs.opened import Opened
from crawlmill.inputs.readers import either, find_reader, readers_of
from crawlmill.storage.interface import Opener

__all__ = ["ItemReading", "ReadOptions", "Reading", "Selection"]

T = TypeVar("T", bound=Item)


class ItemReading(Generic[T]):
    """One input; iterate over it once to read its items to the end.

    `counter` may first be set to a counter of the core in use: records that it can count are counted and not yielded.

    Args:
        item: The input.
        storage: Opens it.
        gives: The class of the wanted items: `Record`, or the class of another reader's items.
        options: How to read it.
        selection: Which formats can be processed, and which records are yielded.
        streamed: Yield large records before they are read to the end, for callers that read them in pieces.

    Attributes:
        item: The input.
        row: Its ledger row, complete when the iteration has ended.
        selection: Which records are yielded.
    """

    def __init__(
        self,
        item: Input,
        storage: Opener,
        gives: type[T],
        options: ReadOptions = READ_OPTIONS,
        selection: Selection = EVERYTHING,
        *,
        streamed: bool = False,
    ) -> None:
        self.item = item
        self.counter: Any | None = None
        self._account = InputAccount(item, selection, verified=not options.heads_only)
        self.row = self._account.row
        self._storage, self._gives = storage, gives
        self.selection = selection
        self._options, self._streamed = options, streamed

    def __iter__(self) -> Iterator[T]:
        item, account = self.item, self._account
        request = Request(self._options, self.selection, self._streamed, self.counter, item.length is not None)
        with account.settled(), self._storage.open_stream(item.location, *item.span) as stream:
            account.found_at(self._storage.found_at(item.location))
            opened = Opened(item, self._storage, stream)
            with account.covering(opened):
                reader = find_reader(opened, self._gives)
                if not issubclass(reader.gives, self._gives):
                    account.refuse(_of_other_items(reader, self._gives))
                yield from reader.read(opened, request, account)

    @property
    def reached(self) -> int:
        """Bytes of the input read so far; safe to call from another thread."""
        return self._account.reached

    @property
    def first_loss(self) -> FormatError | SourceError | None:
        """The error of the first loss so far; it may be after the last item yielded."""
        return self._account.first_loss

    def lose(self, error: FormatError, item: T) -> None:
        """Account for an item that was yielded but could not be processed."""
        self._account.lose(error.located(offset=item.offset))

    def drop(self, error: FormatError) -> None:
        """Account for a part of an item (yielded and counted as one) that could not be processed."""
        self.row.records -= 1
        self._account.lose(error)

    def is_whole(self, record: Record) -> bool:
        """Read a streamed record to its end; return whether it is whole.

        If it is not, that is accounted for already. If the source fails, this is the last record of the iteration.
        """
        try:
            record.block.drain()
        except (FormatError, SourceError):  # the block raises it again when the iteration continues, which reports it
            self.row.records -= 1
            return False
        return True


class Reading(ItemReading[Record]):
    """One input; iterate over it once to read its records to the end. See `ItemReading`."""

    def __init__(
        self,
        item: Input,
        storage: Opener,
        options: ReadOptions = READ_OPTIONS,
        selection: Selection = EVERYTHING,
        *,
        streamed: bool = False,
    ) -> None:
        super().__init__(item, storage, Record, options, selection, streamed=streamed)


def _of_other_items(reader: Reader, gives: type[Any]) -> FormatError:
    return FormatError(
        "a format that this job does not count",
        reason="unsupported-format",
        expected=either(readers_of(gives)),
        actual=either([reader]),
    )
