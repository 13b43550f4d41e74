"""ARC records, versions 1 and 2: the Internet Archive's ARC file format of 1996, as it and Common Crawl wrote it.

A record is a URL line, its block, and a line feed. The URL line is split from the right, since URLs may contain spaces:

    version 1    URL IP-address archive-date content-type length
    version 2    URL IP-address archive-date content-type result-code checksum location offset filename length

The declared length means three things (Common Crawl 2008-2010: the exact length; July 2012: two body bytes and the line
feed fewer; September 2012: the line feed included). In a gzip member it is ignored: the block is the rest of the member
after the URL line, without one closing line feed; this also holds for the first record of a member if no URL line
follows its declared end. In a plain file, or in a member of several records, the declared length is all there is, and
is accepted if a URL line, or the end, follows within three bytes; if not, see `runs`. Some crawlers (Heritrix of 2008)
wrote no line feed between records: then the next URL line begins where the block ends, and a file may end the same way.
A line feed at the declared end of a block always counts as the closing one. If a damaged URL line follows it, only that
line's record is lost: this is recognised by what is left of the line (a scheme or a date) together with an HTTP header
after it, or a length that leads to the next URL line.

Common Crawl's ARC files store bodies decoded, under headers that say otherwise; bodies are never decoded because of a
header alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, ClassVar, Final

from crawlmill.codecs.inflate import Content
from crawlmill.codecs.members import Member
from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError
from crawlmill.formats.record import Block, Record
from crawlmill.formats.runs import PROVEN, OnProblem, RecordCutter, RecordEnd
from crawlmill.formats.selectors.facts import truncated_of
from crawlmill.formats.url_line import (
    CONTROL,
    KNOWN_SCHEME,
    MAX_LINE,
    UrlLine,
    begin_of,
    fields_of,
    good_line,
    is_arc_start,
    no_record,
    parse_url_line,
)

__all__ = ["ArcRecord", "read_members", "read_plain"]

_SLACK: Final = 3  # lengths in July 2012 are this much too small, line feed included
_REMAINS = re.compile(rb"(?<!\d)\d{12,17} [^\n]{0,200}? (\d{1,7})\r?\Z")
_LINE_END = re.compile(rb" \d{12,17} [^\n]{0,200} \d{1,18}\r?\n")


class ArcRecord(Record):
    """A record of an ARC file: `filedesc`, which describes the file, or `response`."""

    __slots__ = ("closed", "line")

    format = "arc"
    plain_bodies = True

    def __init__(
        self, line: UrlLine, head: bytes, block: Block, *, offset: int, length: int | None, index: int
    ) -> None:
        kind = "filedesc" if line.url.startswith("filedesc:") else "response"
        super().__init__(kind, head, block, offset=offset, length=length, index=index)
        self.line, self.closed = line, True

    @property
    def uri(self) -> str:
        return self.line.url

    @property
    def date(self) -> str:
        return self.line.date

    @property
    def content_type(self) -> str:
        return self.line.mime

    @property
    def holds_http(self) -> bool:
        if self.type != "response":
            return False
        return self.uri[:5].lower() in ("http:", "https") or self.block.peek(5).upper() == b"HTTP/"

    @property
    def closing(self) -> bytes:
        return b"\n" if self.closed else b""

    listed: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "offset": attrgetter("offset"),
        "length": attrgetter("length"),
        "type": attrgetter("type"),
        "uri": attrgetter("line.url"),
        "ip": attrgetter("line.ip"),
        "date": attrgetter("line.date"),
        "content_type": attrgetter("line.mime"),
        "declared_length": attrgetter("line.declared"),
        "content_length": attrgetter("content_length"),
        "http_status": lambda record: record.http_facts()[0],
        "http_content_type": lambda record: record.http_facts()[1],
        "truncated": truncated_of,
    }


def read_members(
    members: Iterable[Member], *, reread: Callable[[], None], on_problem: OnProblem
) -> Iterator[ArcRecord]:
    """The records of a gzipped ARC: one per member, several, or all in one; see `warc.reader.read_members`."""
    for member in members:
        if member.head is not None:
            reread()  # an ARC's header does not say how long a member must be
            continue
        content = member.content
        try:
            if content is None:
                yield from ArcCutter(member, member=member, on_problem=on_problem)
            elif content:
                yield from _read_member(content, member, on_problem)
        except FormatError as error:
            if content is not None:
                on_problem(error.located(offset=member.offset))


def _read_member(content: Content, member: Member, on_problem: OnProblem) -> Iterator[ArcRecord]:
    end = content.find(b"\n", 0, MAX_LINE) + 1
    line = parse_url_line(bytes(content[: max(end - 1, 0)]))
    behind = end + line.declared
    if behind + _SLACK < len(content) and _find_line(content, behind, behind + MAX_LINE) is not None:
        yield from ArcCutter(io.BytesIO(content), member=member, on_problem=on_problem)
        return
    size = len(content) - end
    closed = size > 0 and content[-1] == 0x0A
    block = Block(size - closed, content, end)
    record = ArcRecord(line, bytes(content[:end]), block, offset=member.offset, length=member.length, index=0)
    record.closed = closed
    yield record


def read_plain(source: ByteSource, *, start: int = 0, part: bool = False, on_problem: OnProblem) -> Iterator[ArcRecord]:
    """The records of an uncompressed ARC, or of a part of it, from offset `start`; see `warc.reader`."""
    return iter(ArcCutter(source, start=start, part=part, on_problem=on_problem))


def _find_line(data: Content, at: int, end: int) -> int | None:
    """Where the first URL line at or after `at` begins that ends before `end`."""
    for match in _LINE_END.finditer(data, at, end):
        behind_feed = data.rfind(b"\n", max(at - 1, 0), match.start()) + 1
        begin = behind_feed or at  # without a line feed before it, the line cut at `at` may contain a URL line
        if match.end() - begin > MAX_LINE:
            begin, behind_feed = match.end() - MAX_LINE, 0
        line = bytes(data[begin : match.end() - 1])
        blanks = len(line) - len(line.lstrip())
        fields = fields_of(line[blanks:])
        if fields is None:
            continue
        if blanks:
            begin, behind_feed = begin + blanks, 0
        if behind_feed:
            return begin + begin_of(fields)
        good = good_line(fields)
        if good is not None:
            return begin + good
    return None


class ArcCutter(RecordCutter[UrlLine, ArcRecord]):
    """Cuts consecutive ARC records; the header of a record is its URL line."""

    length_field = "length in a URL line"
    behind = _SLACK + 1 + MAX_LINE
    early = 1  # in September 2012 the length includes the closing line feed
    longest_start = MAX_LINE

    _tight = False
    """Whether a record began right after the block of the one before."""

    def head(self) -> tuple[UrlLine, int, int]:
        window = self.window
        window.hold(MAX_LINE)
        data, at = window.data, window.at
        end = data.find(b"\n", at, at + MAX_LINE)
        if end < 0 and window.ended and self.member is None:
            raise self.cut("record header", "its end", f"{window.held} bytes")
        if end < 0:
            raise no_record(data[at : at + 60])
        line = parse_url_line(data[at:end])
        return line, end + 1 - at, line.declared

    def make(self, said: UrlLine, head: bytes, block: Block, offset: int, length: int | None) -> ArcRecord:
        return ArcRecord(said, head, block, offset=offset, length=length, index=self.index)

    def take_end(self, offset: int, length: int) -> RecordEnd | None:
        window = self.window
        window.hold(self.behind)
        data, at = window.data, window.at
        gap = self._gap(at)
        if gap is not None:
            window.at = min(at + gap, len(data))
            # Several line feeds never belong to the block: the Internet Archive's own files have them.
            more = gap - 1 if data[at : at + gap].strip(b"\n") else min(gap - 1, 0)
            return RecordEnd(max(more, -length), gap - 1, closed=at + gap <= len(data))
        gap = self._gap_to_damaged_line(at)
        if gap is not None:
            window.at += gap
            return RecordEnd(gap - 1, gap - 1)
        if self._ends_tight(at):
            self._tight = True
            return RecordEnd(closed=False)
        if window.ended and at >= len(data):
            window.at = len(data)
            self.problem(self.cut("record", "a line feed after its block", "the end"), offset)
            return None
        self.problem(
            FormatError(
                "wrong length in a URL line",
                reason="bad-length",
                expected=f"a record after {length} bytes",
                actual=repr(data[at : at + 20])[2:-1],
            ),
            offset,
        )
        return None

    def _ends_tight(self, at: int) -> bool:
        """Whether a good URL line, or the end of such a file or member, follows directly, without a line feed."""
        data = self.window.data
        if self.window.ended and at == len(data):
            return self._tight or self.member is not None
        end = data.find(b"\n", at, at + MAX_LINE)
        fields = fields_of(data[at:end]) if end >= 0 else None
        return fields is not None and CONTROL.search(fields[0]) is None and good_line(fields) == 0

    def _gap(self, at: int) -> int | None:
        """Bytes from a block's declared end to the record or end after its line feed; None if neither follows."""
        data, ended = self.window.data, self.window.ended
        for gap in (1, 0, 3, 2, 4):
            follows = at + gap
            if data[follows - 1 : follows] == b"\n":
                if (ended and follows == len(data)) or is_arc_start(data, follows):
                    return gap
            elif self.part and ended and follows - 1 == len(data):
                return gap  # a part may end without the line feed
        return None

    def _gap_to_damaged_line(self, at: int) -> int | None:
        """Bytes from a block's declared end to the damaged URL line after its line feed; None if none follows."""
        data = self.window.data
        for gap in (1, 0, 3):
            follows = at + gap
            end = data.find(b"\n", follows, follows + MAX_LINE)
            if end < 0 or data[follows - 1 : follows] != b"\n":
                continue
            remains = _REMAINS.search(data[follows:end])
            if not remains and not KNOWN_SCHEME.match(data, follows):
                continue
            if _find_line(data, follows, end + 1) is not None:
                continue  # this line is whole; the damage is in front of it
            if data.startswith(b"HTTP/", end + 1) or (remains and self._leads_on(end + 1 - at + int(remains[1]))):
                return gap
        return None

    def _leads_on(self, length: int) -> bool:
        """Whether a URL line, or the end, follows a block that ends so many bytes after the window."""
        window = self.window
        window.hold(length + self.behind)
        return self._gap(window.at + length) is not None

    def leave_open(self, record: ArcRecord) -> None:
        record.closed = False

    def fills_member(self, declared: int, /) -> bool:
        member, window = self.member, self.window
        if member is None or member.content is not None or self.index:
            return False
        window.hold(declared + MAX_LINE)
        behind = window.at + declared
        return _find_line(window.data, behind, behind + MAX_LINE) is None

    def find_start(self, data: bytes, at: int) -> int | None:
        return _find_line(data, at, len(data))

    def begins_record(self) -> bool:
        return True

    def claimed_end(self) -> int | None:
        window = self.window
        try:
            line, size, length = self.head()
        except FormatError:
            return None
        if not (line.url.startswith(("http://", "https://")) and is_arc_start(window.data, window.at)):
            return None
        return window.offset + size + length if window.data.startswith(b"HTTP/", window.at + size) else None

    def whole_end(self) -> int | None:
        window = self.window
        try:
            _, size, length = self.head()
        except FormatError:
            return None
        if length > PROVEN:
            return None
        window.hold(size + length + self.behind)
        end = window.at + size + length
        gap = self._gap(end)
        if gap is None:
            return window.offset + size + length if self._ends_tight(end) else None
        return window.offset + size + length + gap
