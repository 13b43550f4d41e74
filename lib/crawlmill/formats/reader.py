"""What makes a format readable: the seam between an input that is open and the items that a job gets of it.

A `Reader` knows a format by its first bytes and gives its items: records, or whatever else a job can ask for, such as
the lines of an index. It tells an `Account` what it finds and what is lost, so that every format ends in the same kind
of ledger row. A reader never opens anything: what it reads from is an `OpenInput`.

To add a format, write a `Reader` and name it in `crawlmill.inputs.readers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError
from crawlmill.formats.record import MAX_BODY, Record
from crawlmill.formats.selection import EVERYTHING, Selection

__all__ = ["READ_OPTIONS", "Account", "Item", "OpenInput", "ReadOptions", "Reader", "Request"]


class Item(Protocol):
    """What a reader gives. Problems of an item are reported at its offset in the file, in bytes."""

    @property
    def offset(self) -> int:
        """Where in the file it begins, or what it is in."""


class Account(Protocol):
    """Hears what becomes of an input while it is read."""

    @property
    def format(self) -> str | None:
        """The input's format, once it is known."""

    def found(self, name: str, kinds: frozenset[str] = frozenset()) -> None:
        """The input is of this format and may hold these kinds of records.

        Call it before the first item that depends on it is given. If the job cannot take this format, it ends the
        reading by an exception, which a reader lets through.
        """

    def count(self, items: int) -> None:
        """So many more whole items were read, whether they are given or not."""

    def leave_unproven(self) -> None:
        """Some content has no checksum, so that a changed byte in it need not be noticed."""

    def leave_out(self, items: int) -> None:
        """So many of these are not given, since they do not meet what the user asks for."""

    def cut(self, items: int) -> None:
        """So many of those that are given, or counted, have a payload that the crawler has cut."""

    def lose(self, error: FormatError) -> None:
        """Something is lost; reading goes on after it."""

    def refuse(self, error: FormatError) -> NoReturn:
        """End the reading: nothing of the input is taken, for this reason."""


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
        """Its first bytes: 64 KiB, or all there are."""

    def first_of_file(self, count: int) -> bytes:
        """The first bytes of the file that the input is, or is a range of."""

    def from_start(self) -> ByteSource:
        """The input from its beginning, by the offsets of the file. Ask for it once."""

    def whole_file(self) -> AbstractContextManager[tuple[ByteSource, int | None]]:
        """The file that a range is in, from its beginning, and its size.

        While it is open, it is what counts as read: a range is covered as far as the file was read beyond its start,
        and wholly once the block ends well.
        """


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How inputs are read.

    Args:
        heads_only: Prove boundaries and lengths only, and inflate bodies only when they are asked for.
        verify: Check the digests that records hold, besides the checksums of their gzip members.
        max_body: Bytes, after decoding, that are taken of one body.
    """

    heads_only: bool = False
    verify: bool = False
    max_body: int = MAX_BODY


READ_OPTIONS: Final = ReadOptions()
"""What is proven and taken unless a user or a job says otherwise."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a reader is asked for.

    Args:
        options: How the input is read.
        selection: Which records are given.
        streamed: Give large records before they are read to their end.
        counter: A counter of the native core: records that it can count it may count, and they are not given.
        is_range: A range of a file was asked for, in which what belongs to a record may not be.
    """

    options: ReadOptions = READ_OPTIONS
    selection: Selection = EVERYTHING
    streamed: bool = False
    counter: Any | None = None
    is_range: bool = False

    @property
    def native_types(self) -> frozenset[str] | None:
        """The types of records that the native core has to give; None for all, as where each one is checked."""
        return None if self.options.verify else self.selection.native_types

    @property
    def native_criteria(self) -> dict[str, Any] | None:
        """What the native core may decide on records; None: nothing."""
        return None if self.options.verify else self.selection.native_criteria

    @property
    def native_counter(self) -> Any | None:
        """The counter, if what the native core gives may be counted at once: nothing else has to look at it."""
        return self.counter if self.selection.is_native and not self.options.verify else None


def _never(_: bytes) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Reader:
    """A format, or a family of formats that are read alike.

    Args:
        names: What messages call the formats: "WARC", "a SequenceFile".
        formats: The same as ledger rows, and the `formats` of jobs and selectors, name them.
        begins: Whether these first bytes (64 KiB, or all there are) of an input, as they are stored, begin this format.
            Of a range of a file these are the first bytes of the range, unless there are `bytes_of_file`.
        read: Gives the items of an input of this format, each once it is whole.
        gives: The class of its items.
        bytes_of_file: A range is known by this many first bytes of its file, and not by its own; 0: by its own.
        recovers: Whether the format can be found in the first MiB of an input that no reader knows by its first bytes,
            since they are damaged.
        units: Cuts a file, read from its beginning, of so many bytes into units of so many bytes at least, which can be
            read one by one and together give each item once: (offset, length) of each, in order. None, or an empty
            list: it is read as a whole.
    """

    names: tuple[str, ...]
    formats: tuple[str, ...]
    begins: Callable[[bytes], bool]
    read: Callable[[OpenInput, Request, Account], Iterator[Any]]
    gives: type = Record
    bytes_of_file: int = 0
    recovers: Callable[[bytes], bool] = _never
    units: Callable[[ByteSource, int, int], list[tuple[int, int]]] | None = None
