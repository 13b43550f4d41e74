"""Cuts WARC records out of gzip members and plain streams, and continues after damage.

A member that holds one record, as nearly all do, is handled by `read_members` itself. Everything else is a run of
records, cut by `WarcCutter`: a plain file, a member with several records, a member with a whole file. Damage is handled
as described in `runs`; a block has no end if its two line ends do not follow. If a header follows where it would be
after them, or after what is left of them, only they are damaged, and reading continues there. A header that begins
within a line is accepted if its record is whole.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator

from crawlmill.codecs.inflate import Content
from crawlmill.codecs.members import Member
from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError
from crawlmill.formats.record import HEAD_BYTES, Block
from crawlmill.formats.runs import AS_DECLARED, HELD, PROVEN, OnProblem, RecordCutter, RecordEnd
from crawlmill.formats.starts import is_warc_start
from crawlmill.formats.warc.record import (
    MAX_HEAD,
    WarcRecord,
    has_end,
    has_mandatory_fields,
    joined_header,
    parse_head,
    quick_head,
)

__all__ = ["begins_without_version", "holds_record", "read_members", "read_plain"]

_END = b"\r\n\r\n"
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
_EXTRA_LINE = re.compile(rb"HTTP/[^\n]*+\n(?:[^\r\n][^\n]*+\n)*+\r\n\r\n")
"""An HTTP header, and one empty line more than ends it: a fault of Common Crawl's writer in August 2018."""
_VERSION = re.compile(rb"WARC/[01]\.\d+[ \t]*\r?\n")


def read_members(
    members: Iterable[Member | list[WarcRecord]], *, reread: Callable[[], None], on_problem: OnProblem
) -> Iterator[WarcRecord]:
    """Yield the records of a gzipped WARC, each verified by its member first or, if it is large, once it has been read.

    Args:
        members: From a `GzipReader`; lists are records that were read ahead.
        reread: The reader's method of that name.
        on_problem: Called with a FormatError for each loss.
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
    """The record of a member of which only the first bytes were inflated, if it alone fills the member."""
    head = quick_head(member.head or b"")
    if head is None or member.head is None:
        return None
    kind, start, length = head
    if start + length + 4 != member.size:
        return None
    block = Block(length, member.head, start, reinflate=member.inflate)
    return WarcRecord(kind, member.head[:start], block, offset=member.offset, length=member.length)


def _read_run(content: Content, member: Member, on_problem: OnProblem) -> Iterator[WarcRecord]:
    if not content:
        return
    yield from WarcCutter(io.BytesIO(content), member=member, on_problem=on_problem)


def _read_streamed(member: Member, on_problem: OnProblem) -> Iterator[WarcRecord]:
    try:
        yield from WarcCutter(member, member=member, on_problem=on_problem)
    except FormatError:
        return  # the member raises the error again for its reader, which reports it


def holds_record(data: bytes) -> bool:
    """Whether these bytes contain a whole record."""
    return WarcCutter(io.BytesIO(data), on_problem=lambda _: None).seek(strict=True)


def begins_without_version(data: bytes) -> bool:
    """Whether these bytes begin with a header of which at most the first line is damaged, in its usual length."""
    if data.find(b"\n") not in (len("WARC/1.0"), len("WARC/1.0\r")):
        return False
    end = _EMPTY_LINE.search(data)
    return end is not None and has_mandatory_fields(data[: end.end()])


def read_plain(
    source: ByteSource, *, start: int = 0, part: bool = False, on_problem: OnProblem
) -> Iterator[WarcRecord]:
    """Yield the records of an uncompressed WARC, or of a part of it, from offset `start`."""
    return iter(WarcCutter(source, start=start, part=part, on_problem=on_problem))


def _begins_line(data: bytes, at: int) -> bool:
    return not at or data[at - 1] == 0x0A


def _has_version(data: bytes, at: int, end: int, *, within_lines: bool) -> bool:
    """Whether a version line begins here: at the beginning of a line or, with `within_lines`, anywhere."""
    found = _VERSION.finditer(data, at, end)
    return any(within_lines or _begins_line(data, version.start()) for version in found)


class WarcCutter(RecordCutter[str, WarcRecord]):
    """Cuts consecutive WARC records; a header parses to the record's type."""

    length_field = "Content-Length"
    behind = 5  # one more than two line ends, to reach the end of a member that holds only this record
    longest_start = 64

    _no_line = (0, 0)
    _extra_line = False

    def head(self) -> tuple[str, int, int]:
        window = self.window
        size = 1 << 12
        while True:
            whole = window.hold(size)
            data = window.data[window.at : window.at + size]
            head = quick_head(data)
            if head is not None:
                break
            if is_warc_start(data) and not has_end(data):
                if whole and size < MAX_HEAD:
                    size = min(size * 8, MAX_HEAD)
                    continue
                if not whole:
                    raise self.cut("record header", "an empty line", f"{len(data)} bytes")
            elif not whole and b"WARC/".startswith(data):
                raise self.cut("record header", "an empty line", f"{len(data)} bytes")
            head = parse_head(data)
            break
        _, end, length = head
        if (joined := joined_header(data[:end])) is not None and not self._is_alone(end + length):
            raise joined
        return head

    def make(self, said: str, head: bytes, block: Block, offset: int, length: int | None) -> WarcRecord:
        if block.streamed:
            self.window.hold(HEAD_BYTES)
            self._extra_line = _EXTRA_LINE.match(self.window.data, self.window.at) is not None
        return WarcRecord(said, head, block, offset=offset, length=length, index=self.index)

    def take_end(self, offset: int, length: int) -> RecordEnd | None:
        window = self.window
        at = window.at
        if window.data.startswith(_END, at) and len(window.data) >= at + self.behind:  # nearly always
            window.at = at + 4
            return AS_DECLARED
        window.hold(self.behind)
        if closing := self._closing(0):
            window.at += closing
            return AS_DECLARED
        if self._is_short_by_a_line(length):
            window.at += 6
            return RecordEnd(2, 2)
        found = window.data[window.at : window.at + 4]
        if self.part and not found:
            return AS_DECLARED
        if self.member is None and len(found) < 4 and (_END.startswith(found) or found == b"\n"):
            self.problem(self.cut("record", "two line ends after its block", f"{len(found)} bytes"), offset)
            window.at += len(found)
            return None
        self.problem(
            FormatError(
                "wrong Content-Length",
                reason="bad-length",
                expected=f"two line ends after {length} bytes",
                actual=found.hex() or "the end of the member",
            ),
            offset,
        )
        return None

    def _is_short_by_a_line(self, length: int) -> bool:
        """Whether the block that seems to end here has two more bytes: an extra empty line before its HTTP body."""
        window = self.window
        window.hold(6)
        if self._closing(2) != len(_END):
            return False
        begin = window.at - length
        return self._extra_line if length > HELD else begin >= 0 and bool(_EXTRA_LINE.match(window.data, begin))

    def step_to_next(self) -> bool:
        window = self.window
        window.hold(len(_END) + self.longest_start)
        for size in range(4, -1, -1):
            window.at += size
            if _VERSION.match(window.data, window.at) and self._is_head():
                return True
            window.at -= size
        return False

    def find_start(self, data: bytes, at: int) -> int | None:
        found = _VERSION.search(data, at)
        return found.start() if found else None

    def begins_record(self) -> bool:
        window = self.window
        if not _begins_line(window.data, window.at):
            return self.whole_end() is not None
        try:
            _, size, length = self._found_head()
        except FormatError:
            return False
        if length > HELD:
            return True
        held = window.hold(size + length + 4)
        return not held or self._closing(size + length) > 0

    def _is_head(self) -> bool:
        try:
            self._found_head()
        except FormatError:
            return False
        return True

    def claimed_end(self) -> int | None:
        window = self.window
        if not window.data.endswith((b"\n\r\n", b"\n\n"), max(window.at - 3, 0), window.at):
            return None
        try:
            _, size, length = self._found_head()
        except FormatError:
            return None
        head = window.data[window.at : window.at + size]
        return window.offset + size + length if has_mandatory_fields(head) else None

    def whole_end(self) -> int | None:
        window = self.window
        try:
            _, size, length = self._found_head()
        except FormatError:
            return None
        if length > PROVEN:
            return None
        window.hold(size + length + 4)
        closing = self._closing(size + length)
        return window.offset + size + length + closing if closing else None

    def _is_alone(self, declared: int) -> bool:
        """Whether the current record fills a verified member, and so is as its crawler wrote it."""
        content = None if self.member is None else self.member.content
        return content is not None and self.window.offset == 0 and len(content) - declared in (2, 4)

    def _found_head(self) -> tuple[str, int, int]:
        if not self._ends_header():
            raise self.cut("record header", "an empty line", "none")
        return self.head()

    def _closing(self, behind: int) -> int:
        """The size of the two line ends at this distance after the window; 0 if they are not there."""
        window = self.window
        found = window.data[window.at + behind : window.at + behind + 4]
        return 4 if found == _END else 2 if found.startswith(b"\n\n") else 0

    def _ends_header(self) -> bool:
        """Whether the header with the current version line ends before another version line.

        No byte is searched twice for the end, so that a block full of version lines takes only linear time.
        """
        window = self.window
        within = not _begins_line(window.data, window.at)  # checked before more is read, which drops the bytes in front
        window.hold(MAX_HEAD)
        data, at, most = window.data, window.at, window.at + MAX_HEAD
        searched_from, searched_to = self._no_line
        known = searched_to - window.start if searched_from <= window.offset else at
        end = _EMPTY_LINE.search(data, max(at, known), most)
        ends_at = end.start() if end else max(min(most, len(data)) - 3, at)
        self._no_line = (window.offset, window.start + ends_at)
        return end is not None and not _has_version(data, at + 1, ends_at, within_lines=within)
