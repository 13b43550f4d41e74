"""Cuts WARC records out of gzip members and out of plain streams, and goes on behind damage.

A member that holds one record, which is nearly every member there is, is cut by `read_members` itself. Everything else
is a run of records, cut by `RunCutter`: a plain file, a member of several records, a member of a whole file.

Where a block is not followed by its two line ends, the declared length is wrong or the bytes are. If a whole record
begins inside the block and ends behind it, the length was too great: the record is lost, and reading goes on at the
other one. Otherwise the record is given as declared, and reading goes on at the next line that begins a record.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from crawlmill.codecs.gzip import Member
from crawlmill.codecs.inflate import Content
from crawlmill.codecs.source import ByteSource, CannotGoBackError, Window
from crawlmill.errors import FormatError
from crawlmill.formats.record import Block
from crawlmill.formats.warc import MAX_HEAD, WarcRecord, has_end, is_warc_start, parse_head, quick_head

__all__ = ["HELD", "RunCutter", "holds_record", "read_members", "read_plain"]

HELD: Final = 1 << 20
"""Bytes up to which a block is held in memory while it is cut; a larger one is streamed."""

_END = b"\r\n\r\n"
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
_START = re.compile(rb"(?:\A|(?<=\n))WARC/[01]\.\d+[ \t]*\r?\n")

OnProblem = Callable[[FormatError], None]


def read_members(
    members: Iterable[Member | list[WarcRecord]], *, reread: Callable[[], None], on_problem: OnProblem
) -> Iterator[WarcRecord]:
    """The records of a gzipped WARC, each proven by its member before it is given, or, large ones, once it was read.

    Args:
        members: What a `GzipReader` gives; lists are of records that were read ahead.
        reread: Its method of that name.
        on_problem: Called with a FormatError for everything that is lost.
    """
    for member in members:
        if isinstance(member, list):
            yield from member
            continue
        content = member.content
        if content is None:
            if member.head is None:
                yield from _read_streamed(member, on_problem)
            elif record := _head_only(member):
                yield record
            else:
                reread()
            continue
        head = quick_head(content)
        if head is not None:
            kind, start, length = head
            if start + length + 4 == len(content) and content.endswith(_END):
                block = Block(length, content, start)
                yield WarcRecord(kind, bytes(content[:start]), block, offset=member.offset, length=member.length)
                continue
        yield from _read_run(content, member, on_problem)


def _head_only(member: Member) -> WarcRecord | None:
    """The record of a member of which only the first bytes were inflated, if it is one record that fills the member."""
    head = quick_head(member.head or b"")
    if head is None or member.head is None:
        return None
    kind, start, length = head
    if start + length + 4 != member.isize:
        return None
    block = Block(length, member.head, start, reinflate=member.inflate)
    return WarcRecord(kind, member.head[:start], block, offset=member.offset, length=member.length)


def _read_run(content: Content, member: Member, on_problem: OnProblem) -> Iterator[WarcRecord]:
    if not content:
        return
    cutter = RunCutter(io.BytesIO(content), member=member, on_problem=on_problem)
    yield from cutter


def _read_streamed(member: Member, on_problem: OnProblem) -> Iterator[WarcRecord]:
    try:
        yield from RunCutter(member, member=member, on_problem=on_problem)
    except FormatError:
        return  # the member remembers it, and its reader reports it


class _BeyondEndError(FormatError):
    """A streamed record declares more than there is."""


def holds_record(data: bytes) -> bool:
    """Whether a whole record lies somewhere within these bytes."""
    return RunCutter(io.BytesIO(data), on_problem=lambda _: None).seek_record(strict=True)


def read_plain(
    source: ByteSource, *, start: int = 0, part: bool = False, on_problem: OnProblem
) -> Iterator[WarcRecord]:
    """The records of an uncompressed WARC, or of a part of it, from the offset `start` on."""
    return iter(RunCutter(source, start=start, part=part, on_problem=on_problem))


class RunCutter:
    """Cuts records that lie one behind the other.

    Args:
        source: Where they lie, at offset `start`.
        member: The gzip member that they lie in; None in a plain file.
        part: A part of a plain file was asked for, which may end with a block.
        on_problem: Called with a FormatError for everything that is lost.
    """

    def __init__(
        self,
        source: ByteSource,
        *,
        start: int = 0,
        member: Member | None = None,
        part: bool = False,
        on_problem: OnProblem,
    ) -> None:
        self._window, self._part = Window(source, start=start), part
        self._member, self._report = member, on_problem
        self._index = 0
        self._no_line_before = 0

    def __iter__(self) -> Iterator[WarcRecord]:
        window = self._window
        while window.hold(1):
            offset = window.offset
            window.keep(offset)
            try:
                kind, size, length = self._head()
            except FormatError as error:
                self._problem(error, offset)
                window.keep(None)
                window.at += 1
                self.seek_record()
                continue
            if length <= HELD:
                record = self._held_record(kind, size, length)
            else:
                record = self._streamed_record(kind, size, length)
            if record is not None:
                yield record
                self._index += 1
                if length > HELD and not self._finish_streamed(record, offset, size, length):
                    continue
            elif window.offset == offset:
                return
            window.keep(None)

    def _head(self) -> tuple[str, int, int]:
        """Type, size of the header and declared length of the record at hand; its header is held."""
        window = self._window
        size = 1 << 12
        while True:
            whole = window.hold(size)
            data = window.data[window.at : window.at + size]
            head = quick_head(data)
            if head is not None:
                return head
            if is_warc_start(data) and not has_end(data):
                if whole and size < MAX_HEAD:
                    size = min(size * 8, MAX_HEAD)
                    continue
                if not whole:
                    raise self._cut("record header", "an empty line", f"{len(data)} bytes")
            elif not whole and b"WARC/".startswith(data):
                raise self._cut("record header", "an empty line", f"{len(data)} bytes")
            return parse_head(data)

    def _held_record(self, kind: str, size: int, length: int) -> WarcRecord | None:
        """The record at hand, held whole; the window moves behind it. None if it is lost."""
        window = self._window
        offset = window.offset
        window.hold(size + length + 4)
        if window.held < size + length:
            actual = f"{window.held - size} bytes"
            self._beyond_end(offset, size, length, actual)
            return None
        content = window.data[window.at : window.at + size + length]
        window.at += size + length
        ended = self._take_end(offset, length)
        if not ended and self._overlapped(offset, size):
            return None
        if not ended:
            self.seek_record()
        return self._record(kind, content[:size], Block(length, content, size), offset, size + length)

    def _streamed_record(self, kind: str, size: int, length: int) -> WarcRecord:
        window = self._window
        offset = window.offset
        head = window.data[window.at : window.at + size]
        window.keep(None)
        window.at += size

        left = length

        def rest(n: int) -> bytes:
            nonlocal left
            if not window.hold(1):
                raise _BeyondEndError("cut", reason="truncated", actual=f"{window.offset - offset - size} bytes")
            piece = window.data[window.at : window.at + min(n, HELD)]
            window.at += len(piece)
            left -= len(piece)
            if not left:
                window.hold(5)  # reaches the end of a member that holds this record alone, and so its proof
                if self._member is not None:
                    record.length = self._member.length
            return piece

        record = self._record(kind, head, Block(length, b"", 0, rest=rest), offset, size + length)
        return record

    def _finish_streamed(self, record: WarcRecord, offset: int, size: int, length: int) -> bool:
        """Read a streamed record to its end; False if it has none, and reading went on elsewhere."""
        try:
            record.block.drain()
        except _BeyondEndError as error:
            self._index -= 1
            self._beyond_end(offset, size, length, str(error.actual))
            return False
        if not self._take_end(offset, length):
            self.seek_record()
        return True

    def _record(self, kind: str, head: bytes, block: Block, offset: int, length: int) -> WarcRecord:
        member = self._member
        if member is None:
            return WarcRecord(kind, head, block, offset=offset, length=length)
        return WarcRecord(kind, head, block, offset=member.offset, length=member.length, index=self._index)

    def _take_end(self, offset: int, length: int) -> bool:
        """Step over the two line ends behind a block; False, and a problem, if there is something else."""
        window = self._window
        window.hold(4)
        found = window.data[window.at : window.at + 4]
        for end in (_END, b"\n\n"):
            if found.startswith(end):
                window.at += len(end)
                return True
        if self._part and not found:
            return True
        if self._member is None and len(found) < 4 and (_END.startswith(found) or found == b"\n"):
            self._problem(self._cut("record", "two line ends behind its block", f"{len(found)} bytes"), offset)
            window.at += len(found)
            return True
        self._problem(
            FormatError("wrong Content-Length", reason="bad-length",
                        expected=f"two line ends behind {length} bytes", actual=found.hex() or "the end of the member"),
            offset,
        )  # fmt: skip
        return False

    # Behind damage

    def _beyond_end(self, offset: int, size: int, length: int, actual: str) -> None:
        """Report a record that declares more than there is, and go to a whole record inside of what it claims."""
        window = self._window
        window.keep(None)
        try:
            window.go_to(offset + size)
            found = self.seek_record(strict=True)
        except CannotGoBackError:
            found = False
        if found or self._member is not None:
            what, reason = "wrong Content-Length", "bad-length"
        else:
            what, reason = "truncated record block", "truncated"
        self._problem(FormatError(what, reason=reason, expected=f"{length} bytes", actual=actual), offset)

    def _overlapped(self, offset: int, size: int) -> bool:
        """Whether a whole record begins inside the block just cut and ends behind it; the window moves there if so."""
        window = self._window
        behind = window.offset
        window.go_to(offset + size)
        if self.seek_record(strict=True, before=behind):
            return True
        window.go_to(behind)
        return False

    def seek_record(self, *, strict: bool = False, before: int | None = None) -> bool:
        """Move to the next line that begins a record, or to the end.

        Args:
            strict: Only a record that is whole, its closing line ends included, will do.
            before: Only one that begins before this offset and ends behind it will do.
        """
        window = self._window
        self._no_line_before = 0
        while True:
            found = _START.search(window.data, window.at)
            if found is None:
                window.at = max(window.at, len(window.data) - 16)
                if before is not None or not window.more():
                    window.at = len(window.data)
                    return False
                continue
            window.at = found.start()
            if before is not None and window.offset >= before:
                return False
            if self._ends_header() and self._begins_record(strict, before or 0):
                return True
            window.at += 1

    def _ends_header(self) -> bool:
        """Whether a header ends behind the version line at hand, before another one.

        No byte is searched for the end twice, so that a block full of version lines takes no more than linear time.
        """
        window = self._window
        window.hold(MAX_HEAD)
        data, at, most = window.data, window.at, window.at + MAX_HEAD
        end = _EMPTY_LINE.search(data, max(at, self._no_line_before - window.start), most)
        ends_at = end.start() if end else max(min(most, len(data)) - 3, at)
        self._no_line_before = window.start + ends_at
        return end is not None and _START.search(data, at + 1, ends_at) is None

    def _begins_record(self, strict: bool, behind: int) -> bool:
        window = self._window
        try:
            _, size, length = self._head()
        except FormatError:
            return False
        if length > HELD:
            return not strict
        held = window.hold(size + length + 4)
        end = window.data[window.at + size + length : window.at + size + length + 4]
        if window.offset + size + length <= behind:
            return False
        return end == _END or end.startswith(b"\n\n") or (not strict and not held)

    # Reporting

    def _cut(self, what: str, expected: str, actual: str) -> FormatError:
        """What a plain file is where it ends too early; inside a proven member the lengths are wrong instead."""
        if self._member is None:
            return FormatError(f"truncated {what}", reason="truncated", expected=expected, actual=actual)
        return FormatError(f"{what} beyond the end of its gzip member", reason="bad-length", expected=expected,
                           actual=actual)  # fmt: skip

    def _problem(self, error: FormatError, offset: int) -> None:
        self._report(error.located(offset=offset if self._member is None else self._member.offset))
