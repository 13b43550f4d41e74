"""The interface of a format: between an open input and the items that a job gets from it.

A `Reader` recognises a format by its first bytes and yields its items: records, or anything else that a job can ask
for, such as the lines of an index. It reports to an `Account` what it finds and what is lost, so that every format
yields the same kind of ledger row. A reader never opens anything: it reads from an `OpenInput`.

To add a format, add a `Reader` to those of `crawlmill.inputs.readers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError
from crawlmill.formats.record import MAX_BODY, Record
from crawlmill.formats.selection import EVERYTHING, Selection

__all__ = ["READ_OPTIONS", "Account", "Item", "OpenInput", "ReadOptions", "Reader", "Request"]


class Item(Protocol):
    """An item yielded by a reader. Problems with an item are reported at its offset in the file, in bytes."""

    @property
    def offset(self) -> int:
        """The offset at which it, or the structure that contains it, begins."""


class Account(Protocol):
    """Receives reports about an input while it is read."""

    @property
    def format(self) -> str | None:
        """The input's format, once known."""

    def found(self, name: str, kinds: frozenset[str] = frozenset()) -> None:
        """Report that the input has this format and may hold these kinds of records.

        Call it before yielding the first item that depends on it. If the job cannot process this format, it raises an
        exception that ends the reading; a reader must not catch it.
        """

    def count(self, items: int) -> None:
        """Count whole items that were read, whether or not they are yielded."""

    def leave_unproven(self) -> None:
        """Report content without a checksum, in which a changed byte may go unnoticed."""

    def leave_out(self, items: int) -> None:
        """Count items that are not yielded because they do not meet the user's selection."""

    def cut(self, items: int) -> None:
        """Count yielded or counted items whose payload the crawler truncated."""

    def lose(self, error: FormatError) -> None:
        """Report a loss; reading continues after it."""

    def refuse(self, error: FormatError) -> NoReturn:
        """End the reading: nothing of the input can be processed, for this reason."""


class OpenInput(Protocol):
    """An input that is open."""

    start: int
    """The offset in the file at which the input begins."""

    length: int | None
    """Bytes of the range that was asked for; None: all that follow its start."""

    is_part: bool
    """Whether only a part of the file was asked for."""

    is_unit: bool
    """Whether it is a unit of a whole file: the file decides what it is, not the unit's own first items."""

    size: int | None
    """Bytes of the input; None if unknown."""

    @property
    def data(self) -> bytes:
        """Its first bytes: 64 KiB, or all if there are fewer."""

    def first_of_file(self, count: int) -> bytes:
        """The first bytes of the file that the input is, or is a range of."""

    def from_start(self) -> ByteSource:
        """The input from its beginning, with the file's offsets. Call it once only."""

    def whole_file(self) -> AbstractContextManager[tuple[ByteSource, int | None]]:
        """The file that contains the range, from its beginning, and its size.

        While it is open, it counts as the input: the range is covered as far as the file was read beyond the range's
        start, and completely once the block ends normally.
        """


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How inputs are read.

    Args:
        heads_only: Verify boundaries and lengths only, and decompress bodies only on request.
        verify: Check the digests in records, besides the checksums of their gzip members.
        max_body: The largest body that is read, in bytes after decoding.
    """

    heads_only: bool = False
    verify: bool = False
    max_body: int = MAX_BODY


READ_OPTIONS: Final = ReadOptions()
"""What is proven and taken unless a user or a job says otherwise."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a reader is asked to read.

    Args:
        options: How the input is read.
        selection: Which records to yield.
        streamed: Yield large records before they are read to their end.
        counter: A counter of the core in use: records that it can count are counted and not yielded.
        is_range: Whether the input is a range of a file, which may lack related records.
    """

    options: ReadOptions = READ_OPTIONS
    selection: Selection = EVERYTHING
    streamed: bool = False
    counter: Any | None = None
    is_range: bool = False

    @property
    def native_types(self) -> frozenset[str] | None:
        """The types of records that the native core must return; None for all, as when each one is verified."""
        return None if self.options.verify else self.selection.native_types

    @property
    def native_criteria(self) -> dict[str, Any] | None:
        """The conditions that the native core may check on records; None: none."""
        if self.options.verify or (self.is_range and self.selection.awaits_metadata):
            return None  # of a range, the metadata must not go unseen: without any, nothing can be decided
        return self.selection.native_criteria

    @property
    def native_counter(self) -> Any | None:
        """The counter, if the native core may count its records at once because nothing else has to see them."""
        return self.counter if self.selection.is_native and not self.options.verify else None


def _never(_: bytes) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Reader:
    """A format, or a family of formats that are read in the same way.

    Args:
        names: The formats' names in messages: "WARC", "a SequenceFile".
        formats: The formats' names in ledger rows, and in the `formats` of jobs and selectors.
        begins: Whether these first bytes of an input as stored (64 KiB, or all if there are fewer) begin this format.
            For a range of a file they are the first bytes of the range, unless `bytes_of_file` is set.
        read: Yields the items of an input of this format, each once it is whole.
        gives: The class of its items.
        listed: Returns the names of the fields that a listing of its items has.
        bytes_of_file: Recognise a range by this many first bytes of its file, not by its own; 0: by its own.
        recovers: Whether the format can be found in the first MiB of an input whose first bytes are damaged, so that no
            reader recognises it.
        units: Cuts a file (read from its beginning, of the given size) into units of at least so many bytes, which can
        be read separately and together contain each item once: (offset, length) of each, in order. None, or an empty
            list: the file is read as a whole.
    """

    names: tuple[str, ...]
    formats: tuple[str, ...]
    begins: Callable[[bytes], bool]
    read: Callable[[OpenInput, Request, Account], Iterator[Any]]
    gives: type = Record
    listed: Callable[[], Iterable[str]] = tuple
    bytes_of_file: int = 0
    recovers: Callable[[bytes], bool] = _never
    units: Callable[[ByteSource, int, int], list[tuple[int, int]]] | None = None
