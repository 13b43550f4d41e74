"""Cuts records that follow one another: in a plain file, in a member of several, in a member of a whole file.

What WARC and ARC have in common here: a record is a header that declares the length of its block, the block, and an
end. `RecordCutter` goes from record to record; a format says what its headers, its ends and its beginnings look like.

A block of up to 1 MiB is held while it is cut; a larger one is streamed, and what its record says of lengths holds once
it was read to its end.

A declared length that leads to no end is wrong, or the bytes are:

* If the source ends before the block does: where a whole record is within what is there, the length was too great,
  and reading goes on at that record; where none does, the source is cut.
* If whole records begin inside the block, one after the other, and the last ends after it, the length was too great
  as well. The last may also be one whose header is beyond doubt, but whose own length is wrong: it is read, and
  reported in its turn.
* Otherwise reading goes on at the next place that begins a record.

The record itself is lost in each case: it is reported, and not given, since nobody knows what it held. For this a
source is read again where it can go back; a streamed gzip member cannot.
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
    """How a record ends: bytes that its block, and all of it before its closing line end, have more than declared."""

    block: int = 0
    stored: int = 0
    closed: bool = True


AS_DECLARED: Final = RecordEnd()


class _LostError(FormatError):
    """A record that was given while it was streamed is none. Its problem is reported, and reading went on elsewhere."""

    def __init__(self) -> None:
        super().__init__("a record that is lost", reason="bad-length")


class RecordCutter(ABC, Generic[S, R]):
    """Cuts the records of one format, of which a header says `S`.

    Args:
        source: Where they are, at offset `start`.
        member: The gzip member that they are in; None in a plain file.
        part: A part of a plain file was asked for, which may end with a block.
        on_problem: Called with a FormatError for everything that is lost.
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

    # What a format says

    @abstractmethod
    def head(self) -> tuple[S, int, int]:
        """What the header at hand says, its size, and the length that it declares; the header is held.

        Raises:
            FormatError: There is no header, or it is cut.
        """

    @abstractmethod
    def make(self, said: S, head: bytes, block: Block, offset: int, length: int | None) -> R:
        """The record of a header and a block, the `index`th of its member."""

    @abstractmethod
    def take_end(self, offset: int, length: int) -> RecordEnd | None:
        """Step from the declared end of a block past the end of its record; None, and a problem, if it is no end.

        The record is lost then; `seek` finds the next one.
        """

    @abstractmethod
    def find_start(self, data: bytes, at: int) -> int | None:
        """Where, at `at` or after it, a line looks like the beginning of a header."""

    @abstractmethod
    def begins_record(self) -> bool:
        """Whether a record begins at the start that was found."""

    @abstractmethod
    def whole_end(self) -> int | None:
        """The offset after the record that begins at the start that was found, if it is whole, its end included."""

    def fills_member(self, _declared: int, /) -> bool:
        """Whether what is at hand, and declares to be so long from here on, goes on to its member's end instead."""
        return False

    def claimed_end(self) -> int | None:
        """The offset after what the record at hand claims, if its header is beyond doubt, whole or not; or None."""
        return None

    def step_to_next(self) -> bool:
        """Step from the declared end of a block over a damaged end to the header that follows, if one does."""
        return False

    def leave_open(self, record: R) -> None:
        """Tell a record that its closing line end is missing."""

    # The way through the records

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
                    pass  # its problem is reported
            window.keep(None)

    def _held(self, offset: int, said: S, size: int, length: int) -> R | None:
        """The record at hand, held whole; the window moves past it. None if it is lost."""
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
        """The record at hand; the window moves past it while its block is read."""
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
        """What is held; the last byte stays, which may be a closing line end that the declared length counts."""
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
        """The record, told what only its end shows."""
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
        """Report a record that declares more than there is; go to a whole record in what it claims, or the end."""
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
        """Go on after a block that has no end: at records that begin inside of it, or else after it."""
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
        """Go to the block of a lost record, with a byte in front of it, so that a line is seen to begin there."""
        self._lost_block = block
        self.window.go_to(block - 1)

    def _seek_across(self, behind: int) -> bool:
        """Move to the first of a row of records that begins before this offset and ends after it.

        All of them are whole but perhaps the last. A header beyond doubt in a row that ends earlier is reported here.
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
                    FormatError(f"wrong {self.length_field}", reason="bad-length", expected="an end where it says",
                                actual="none"),
                    window.offset,
                )  # fmt: skip
            window.at += 1  # after a row that is broken; one that ends just here is a file within a file
        return False

    def _is_link(self) -> bool:
        return self._link_end()[0] is not None

    def _link_end(self) -> tuple[int | None, bool]:
        """The offset after the record at hand, and whether it is whole; None if neither it nor its header is sure."""
        offset = self.window.offset
        claimed = self.claimed_end() if offset != self._lost_block else None  # else the header in front is the lost one
        end = self.whole_end()
        return (claimed, False) if end is None else (end, True)

    def seek(self, *, strict: bool = False) -> bool:
        """Move to the next place that begins a record, or to the end.

        Args:
            strict: Only a record that is whole, its end included, will do.
        """
        return self._seek((lambda: self.whole_end() is not None) if strict else self._begins)

    def _begins(self) -> bool:
        return self.claimed_end() is not None or self.begins_record()

    def _seek(self, is_one: Callable[[], bool], *, before: int | None = None) -> bool:
        """Move to the next start for which this holds and, if so asked, that is before an offset; or to the end."""
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
        """What a plain file is where it ends too early; inside a proven member the lengths are wrong instead."""
        if self.member is None:
            return FormatError(f"truncated {what}", reason="truncated", expected=expected, actual=actual)
        return FormatError(f"{what} beyond the end of its gzip member", reason="bad-length", expected=expected,
                           actual=actual)  # fmt: skip

    def problem(self, error: FormatError, offset: int) -> None:
        """Report a problem of the record at this offset of the source."""
        self._report(error.located(offset=offset if self.member is None else self.member.offset))
