"""Cuts consecutive records: in a plain file, in a member with several records, in a member with a whole file.

WARC and ARC have in common that a record is a header with the length of its block, the block, and an end.
`RecordCutter` steps from record to record; a format implements how headers, ends and beginnings are recognised.

A block of up to 1 MiB is kept in memory; a larger one is streamed, and the lengths of its record are valid once it has
been read to its end.

If a declared length does not lead to an end, either the length or the data is wrong:

* If the source ends before the block does: if a whole record is found within the rest, the length was too large, and
  reading continues at that record; otherwise the source is truncated.
* If whole records begin inside the block, one after the other, and the last ends after it, the length was too large
  as well. The last one may also have a header beyond doubt but a wrong length of its own: it is read and reported
  in its turn.
* Otherwise reading continues at the next place that begins a record.

In each case the record itself is lost: it is reported and not yielded, since its content is unknown. To search, the
source is read again if it can be rewound; a streamed gzip member cannot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from crawlmill.codecs.members import Member
from crawlmill.codecs.source import ByteSource, CannotGoBackError, Window
from crawlmill.errors import FormatError
from crawlmill.formats.record import Block, Record

__all__ = ["AS_DECLARED", "HELD", "PROVEN", "OnProblem", "RecordCutter", "RecordEnd"]

HELD: Final = 1 << 20
"""Bytes up to which a block is held in memory while it is cut; a larger one is streamed."""

PROVEN: Final = 16 << 20
"""Bytes up to which a block is held after damage, to see whether its record is whole."""

OnProblem = Callable[[FormatError], None]

S = TypeVar("S")
R = TypeVar("R", bound=Record)


class RecordEnd(NamedTuple):
    """The end of a record: how far its block, and all before the closing line end, exceed the declared length."""

    block: int = 0
    stored: int = 0
    closed: bool = True


AS_DECLARED: Final = RecordEnd()


class _LostError(FormatError):
    """A record that was yielded while streaming turned out to be invalid; this is reported, and reading continued."""

    def __init__(self) -> None:
        super().__init__("a record that is lost", reason="bad-length")


class RecordCutter(ABC, Generic[S, R]):
    """Cuts the records of one format, whose headers parse to `S`.

    Args:
        source: The records, beginning at offset `start`.
        member: The gzip member that contains them; None in a plain file.
        part: Whether only part of a plain file was requested, which may end with a block.
        on_problem: Called with a FormatError for each loss.
    """

    length_field: ClassVar[str]
    """What the standard calls the declared length."""

    behind: ClassVar[int]
    """Bytes after the declared end of a block that `take_end` may look at."""

    early: ClassVar[int] = 0
    """Bytes before its declared end at which a block may end."""

    longest_start: ClassVar[int]
    """Bytes that are enough for `find_start`."""

    def __init__(
        self,
        source: ByteSource,
        *,
        start: int = 0,
        member: Member | None = None,
        part: bool = False,
        on_problem: OnProblem,
    ) -> None:
        self.window, self.member, self.part = Window(source, start=start), member, part
        self.index = 0
        self._report = on_problem
        self._ends_at: int | None = None
        self._lost_block = -1

    # Implemented by a format

    @abstractmethod
    def head(self) -> tuple[S, int, int]:
        """Parse the current header: its content, its size, and the length it declares; the header stays in memory.

        Raises:
            FormatError: There is no header, or it is truncated.
        """

    @abstractmethod
    def make(self, said: S, head: bytes, block: Block, offset: int, length: int | None) -> R:
        """Create a record from a header and a block; it is the `index`th of its member."""

    @abstractmethod
    def take_end(self, offset: int, length: int) -> RecordEnd | None:
        """Step from a block's declared end past the end of its record; if there is none, report it and return None.

        The record is then lost; `seek` finds the next one.
        """

    @abstractmethod
    def find_start(self, data: bytes, at: int) -> int | None:
        """The first offset at or after `at` where a line looks like the beginning of a header."""

    @abstractmethod
    def begins_record(self) -> bool:
        """Whether a record begins at the start that was found."""

    @abstractmethod
    def whole_end(self) -> int | None:
        """The offset after the record at the start that was found, if it is whole including its end."""

    def fills_member(self, _declared: int, /) -> bool:
        """Whether the current block extends to the end of its member, contrary to its declared length from here."""
        return False

    def claimed_end(self) -> int | None:
        """The offset after the current record by its header, if that is beyond doubt, whole or not; else None."""
        return None

    def step_to_next(self) -> bool:
        """Step from a block's declared end over a damaged end to the header after it, if there is one."""
        return False

    def leave_open(self, record: R) -> None:
        """Mark a record whose closing line end is missing."""

    # Stepping through the records

    def __iter__(self) -> Iterator[R]:
        window = self.window
        while window.hold(1):
            offset = window.offset
            window.keep(offset)
            try:
                said, size, length = self.head()
            except FormatError as error:
                self.problem(error, offset)
                window.keep(None)
                window.at += 1
                self.seek()
                continue
            streamed = length > HELD or (self.member is not None and self.fills_member(size + length))
            record = self._streamed(said, size, length) if streamed else self._held(offset, said, size, length)
            if record is not None:
                yield record
                try:
                    if streamed:
                        record.block.drain()
                    self.index += self.member is not None
                except _LostError:
                    pass  # its problem has been reported
            window.keep(None)

    def _held(self, offset: int, said: S, size: int, length: int) -> R | None:
        """The current record, with its block in memory; moves the window past it. None if it is lost."""
        window = self.window
        if not window.hold(size + length + self.behind) and window.held < size + length - self.early:
            self._beyond_end(offset, size, length)
            return None
        window.at += size + length
        end = self.take_end(offset, length)
        if end is None:
            self._go_on(offset, size)
            return None
        at = offset - window.start
        content = window.data[at : at + size + length + end.block]
        block = Block(length + end.block, content, size)
        record = self._made(said, content[:size], block, offset)
        return record if end is AS_DECLARED else self._finished(record, size + length, end)

    def _streamed(self, said: S, size: int, length: int) -> R | None:
        """The current record; the window moves past it while its block is read."""
        window = self.window
        offset = window.offset
        if self._ends_at is not None and offset + size + length - self.early > self._ends_at:
            self._beyond_end(offset, size, length)
            return None
        head = window.data[window.at : window.at + size]
        window.keep(None)
        window.at += size

        def pieces() -> Iterator[bytes]:
            left = length
            while window.held < left:
                piece = self._all_but_one()
                left -= len(piece)
                yield piece
                if not window.more():
                    break
            if self.fills_member(left):
                while window.more():
                    yield self._all_but_one()
                left = window.held
            if window.held < left - self.early:
                self._beyond_end(offset, size, length)
                raise _LostError
            begin = window.offset
            window.keep(begin)
            window.at += left
            end = self.take_end(offset, length)
            if end is None:
                self._go_on(offset, size)
                raise _LostError
            at = begin - window.start
            piece = window.data[at : at + left + end.block]
            window.keep(None)
            self._finished(record, size + length, end)
            yield piece

        record = self._made(said, head, Block(length, b"", 0, rest=pieces()), offset)
        return record

    def _all_but_one(self) -> bytes:
        """What is in memory except the last byte, which may be a closing line end included in the declared length."""
        window = self.window
        piece = window.data[window.at : -1]
        window.at += len(piece)
        return piece

    def _made(self, said: S, head: bytes, block: Block, offset: int) -> R:
        member = self.member
        if member is None:
            record = self.make(said, head, block, offset, len(head) + block.length)
            record.is_plain = True
            return record
        return self.make(said, head, block, member.offset, member.length)

    def _finished(self, record: R, declared: int, end: RecordEnd) -> R:
        """Complete a record with what only its end shows."""
        member = self.member
        if member is not None:
            record.length = member.length
        else:
            record.length = declared + end.stored
        if not end.closed:
            self.leave_open(record)
        return record

    # After damage

    def _beyond_end(self, offset: int, size: int, length: int) -> None:
        """Report a record that declares more than there is; move to a whole record within it, or to the end."""
        window = self.window
        if self._ends_at is None:
            self._ends_at = window.start + len(window.data)
        window.keep(None)
        try:
            self._go_into(offset + size)
            found = self._seek(self._is_link)
        except CannotGoBackError:
            window.at = len(window.data)
            found = False
        if found or self.member is not None:
            what, reason = f"wrong {self.length_field}", "bad-length"
        else:
            what, reason = "truncated record block", "truncated"
        actual = f"{self._ends_at - offset - size} bytes"
        self.problem(FormatError(what, reason=reason, expected=f"{length} bytes", actual=actual), offset)

    def _go_on(self, offset: int, size: int) -> None:
        """Continue after a block that has no end: at records that begin inside of it, or else after it."""
        window = self.window
        behind = window.offset
        if self.step_to_next():
            return
        try:
            self._go_into(offset + size)
            if self._seek_across(behind):
                return
            window.go_to(behind)
        except CannotGoBackError:
            pass
        window.keep(None)
        self.seek()

    def _go_into(self, block: int) -> None:
        """Move to the block of a lost record, with one byte before it, so that the start of a line is recognised."""
        self._lost_block = block
        self.window.go_to(block - 1)

    def _seek_across(self, behind: int) -> bool:
        """Move to the first of a row of records that begins before this offset and ends after it.

        All of them are whole, except perhaps the last. If a row ends earlier, a header beyond doubt in it is reported
        here.
        """
        window = self.window
        while self._seek(self._is_link, before=behind):
            first = window.offset
            end, whole = self._link_end()
            while end is not None and whole and end < behind:
                window.go_to(end)
                end, whole = self._link_end()
            if end is not None and end > behind:
                window.go_to(first)
                return True
            if end is not None and not whole:
                self.problem(
                    FormatError(
                        f"wrong {self.length_field}",
                        reason="bad-length",
                        expected="an end where it says",
                        actual="none",
                    ),
                    window.offset,
                )
            window.at += 1  # after a broken row; a row that ends exactly here is a file within a file
        return False

    def _is_link(self) -> bool:
        return self._link_end()[0] is not None

    def _link_end(self) -> tuple[int | None, bool]:
        """The offset after the current record, and whether it is whole; None if neither it nor its header is sure."""
        offset = self.window.offset
        claimed = self.claimed_end() if offset != self._lost_block else None  # else the header is the lost record's
        end = self.whole_end()
        return (claimed, False) if end is None else (end, True)

    def seek(self, *, strict: bool = False) -> bool:
        """Move to the next place that begins a record, or to the end.

        Args:
            strict: Accept only a record that is whole, including its end.
        """
        return self._seek((lambda: self.whole_end() is not None) if strict else self._begins)

    def _begins(self) -> bool:
        return self.claimed_end() is not None or self.begins_record()

    def _seek(self, is_one: Callable[[], bool], *, before: int | None = None) -> bool:
        """Move to the next start for which `is_one` holds, before the offset `before` if given; or to the end."""
        window = self.window
        while True:
            start = self.find_start(window.data, window.at)
            if start is None:
                searched = window.start + len(window.data)
                window.at = max(window.at, len(window.data) - self.longest_start)
                if (before is not None and searched >= before) or not window.more():
                    window.at = len(window.data)
                    return False
                continue
            window.at = start
            if before is not None and window.offset >= before:
                return False
            if is_one():
                return True
            window.at += 1

    # Reporting

    def cut(self, what: str, expected: str, actual: str) -> FormatError:
        """The error for a source that ends too early; within a verified member, lengths are wrong instead."""
        if self.member is None:
            return FormatError(f"truncated {what}", reason="truncated", expected=expected, actual=actual)
        return FormatError(
            f"{what} beyond the end of its gzip member", reason="bad-length", expected=expected, actual=actual
        )

    def problem(self, error: FormatError, offset: int) -> None:
        """Report a problem of the record at this offset of the source."""
        self._report(error.located(offset=offset if self.member is None else self.member.offset))
