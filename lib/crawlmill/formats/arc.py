"""ARC records, versions 1 and 2: the Internet Archive's ARC file format of 1996, as it and Common Crawl wrote it.

A record is a URL line, its block, and a line feed. The URL line is split from the right, since URLs hold spaces:

    version 1    URL IP-address archive-date content-type length
    version 2    URL IP-address archive-date content-type result-code checksum location offset filename length

The declared length means three things (Common Crawl 2008-2010; July 2012: two body bytes and the line feed less;
September 2012: the line feed more). In a gzip member it is ignored: the block is what the member holds behind the URL
line, less one closing line feed. In a plain file, or a member of several records, it is the only length there is, and
is taken to be right if a URL line, or the end, follows within three bytes.

Bodies of Common Crawl's ARC files are stored decoded, under the headers that say otherwise; they are never decoded on a
header's word alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from crawlmill.codecs.gzip import Member
from crawlmill.codecs.inflate import Content
from crawlmill.codecs.source import ByteSource, Window
from crawlmill.errors import FormatError
from crawlmill.formats.record import Block, Record

__all__ = ["ArcRecord", "UrlLine", "is_arc_start", "parse_url_line", "read_members", "read_plain"]

MAX_LINE: Final = 1 << 16
"""Bytes in which a URL line must end."""

_HELD = 1 << 20
_SLACK = 3  # July 2012 declares this much less than there is
_V1 = re.compile(rb"(?P<url>\S.*) (?P<ip>\S+) (?P<date>\d{12,17}) (?P<mime>\S.*|) (?P<length>\d{1,18})\r?")
_V2 = re.compile(
    rb"(?P<url>\S.*) (?P<ip>\S+) (?P<date>\d{12,17}) (?P<mime>\S+) \S+ \S+ \S+ \d+ \S+ (?P<length>\d{1,18})\r?"
)
# Of the lines of a known ARC: whatever stands where the date should be.
_ODD_DATE = re.compile(
    rb"(?P<url>[a-zA-Z][a-zA-Z0-9+.-]*:.*) (?P<ip>[0-9a-fA-F.:]+) (?P<date>\S+) (?P<mime>\S*) (?P<length>\d{1,18})\r?"
)
_LINE = re.compile(rb"(?<=\n)[^\n]{1,65535} \d{12,17} [^\n]{0,200} \d{1,18}\r?\n")

OnProblem = Callable[[FormatError], None]


class UrlLine(NamedTuple):
    """The fields of a URL line: `date` as written, `declared` the length in bytes that it states."""

    url: str
    ip: str
    date: str
    mime: str
    declared: int


def parse_url_line(line: bytes) -> UrlLine:
    """The fields of a URL line, without its line feed.

    Raises:
        FormatError: `bad-header`.
    """
    match = _V2.fullmatch(line) or _V1.fullmatch(line) or _ODD_DATE.fullmatch(line)
    if match is None:
        raise FormatError("no ARC record", reason="bad-header", expected="URL IP-address date content-type length",
                          actual=repr(line[:60])[2:-1])  # fmt: skip
    url, ip, date, mime = (_text(match[name]) for name in ("url", "ip", "date", "mime"))
    return UrlLine(url, ip, date, mime, int(match["length"]))


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def is_arc_start(data: bytes) -> bool:
    """Whether these bytes begin with a URL line; of a cut one, whether it begins with `filedesc://`."""
    line, end, _ = data.partition(b"\n")
    if not end:
        return data.startswith(b"filedesc://")
    return _V1.fullmatch(line) is not None or _V2.fullmatch(line) is not None


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

    def fields(self) -> dict[str, Any]:
        status, http_type = self.http_facts()
        line = self.line
        return {
            "offset": self.offset, "length": self.length, "type": self.type, "uri": line.url, "ip": line.ip,
            "date": line.date, "content_type": line.mime, "declared_length": line.declared,
            "content_length": self.content_length, "http_status": status, "http_content_type": http_type,
        }  # fmt: skip


def read_members(
    members: Iterable[Member], *, reread: Callable[[], None], on_problem: OnProblem
) -> Iterator[ArcRecord]:
    """The records of a gzipped ARC: one a member, or several, or all in one; see `warc_reader.read_members`."""
    for member in members:
        if member.head is not None:
            reread()  # nothing in an ARC's head says how long a member must be
            continue
        content = member.content
        try:
            if content is None:
                yield from _RunCutter(member, on_problem, member.offset)
            elif content:
                yield from _read_member(content, member.offset, member.length, on_problem)
        except FormatError as error:
            if content is not None:
                on_problem(error.located(offset=member.offset))


def _read_member(content: Content, offset: int, length: int | None, on_problem: OnProblem) -> Iterator[ArcRecord]:
    end = content.find(b"\n", 0, MAX_LINE) + 1
    line = parse_url_line(bytes(content[: max(end - 1, 0)]))
    behind = end + line.declared
    if behind + _SLACK < len(content) and _LINE.search(content, max(behind - 1, 0), behind + MAX_LINE):
        yield from _RunCutter(io.BytesIO(content), on_problem, offset, length)
        return
    size = len(content) - end
    closed = size > 0 and content[-1] == 0x0A
    block = Block(size - closed, content, end)
    record = ArcRecord(line, bytes(content[:end]), block, offset=offset, length=length, index=0)
    record.closed = closed
    yield record


def read_plain(source: ByteSource, *, start: int = 0, part: bool = False, on_problem: OnProblem) -> Iterator[ArcRecord]:
    """The records of an uncompressed ARC, or of a part of it, from the offset `start` on; see `warc_reader`."""
    return iter(_RunCutter(source, on_problem, None, start=start, part=part))


class _RunCutter:
    """Cuts records that lie one behind the other, by their declared lengths."""

    def __init__(
        self,
        source: ByteSource,
        on_problem: OnProblem,
        member: int | None,
        length: int | None = None,
        *,
        start: int = 0,
        part: bool = False,
    ) -> None:
        self._window, self._part = Window(source, start=start), part
        self._report, self._member, self._length = on_problem, member, length
        self._index = 0

    def __iter__(self) -> Iterator[ArcRecord]:
        window = self._window
        while window.hold(1):
            offset = window.offset
            window.keep(offset)
            window.hold(MAX_LINE)
            end = window.data.find(b"\n", window.at, window.at + MAX_LINE) + 1
            try:
                line = parse_url_line(window.data[window.at : end - 1 if end else window.at + 80])
            except FormatError as error:
                cut = not end and window.ended and self._member is None
                self._problem(self._cut("record header", "its end", f"{window.held} bytes") if cut else error, offset)
                window.keep(None)
                window.at += 1
                self._seek_line()
                continue
            head = window.data[window.at : end]
            window.at = end
            record = self._held(line, head, offset) if line.declared <= _HELD else self._streamed(line, head, offset)
            if record is None:
                continue
            yield record
            self._index += 1
            if line.declared > _HELD:
                try:
                    record.block.drain()
                except _CutError:
                    self._index -= 1
                    self._problem(self._cut("record block", f"{line.declared} bytes", "fewer"), offset)
                    return
                self._take_end(offset, line.declared)

    def _held(self, line: UrlLine, head: bytes, offset: int) -> ArcRecord | None:
        window = self._window
        start = window.offset
        window.hold(line.declared + MAX_LINE)
        held = window.held
        if held < line.declared:
            error = self._cut("record block", f"{line.declared} bytes", f"{held} bytes")
            found = self._seek_line()
            if found:
                error = FormatError("wrong length in a URL line", reason="bad-length", expected=error.expected,
                                    actual="another record within them")  # fmt: skip
            self._problem(error, offset)
            # what is there is listed: nothing but its own line says how long it should be
            return None if found else self._record(line, head, window.data[start - window.start :], offset)
        window.at += line.declared
        size = line.declared + self._take_end(offset, line.declared)
        content = window.data[start - window.start : start - window.start + size]
        window.keep(None)
        record = self._record(line, head, content, offset)
        padded = window.offset - 1 - offset
        if self._member is None and padded <= len(head) + size + _SLACK:
            record.length = padded
        return record

    def _take_end(self, offset: int, declared: int) -> int:
        """Step behind the line feed that closes the block at hand; how many bytes more than declared the block has."""
        window = self._window
        window.hold(_SLACK + MAX_LINE)
        data, at = window.data, window.at
        for gap in (1, 0, 3, 2, 4):
            follows = at + gap
            closed = data[follows - 1 : follows] == b"\n"
            if not (closed and follows <= len(data)):
                continue
            ended = follows == len(data) and window.ended
            if ended or is_arc_start(data[follows : follows + MAX_LINE]):
                window.at = follows
                # More line feeds than one are none of the block: the Internet Archive's own files have them.
                return gap - 1 if data[at:follows].strip(b"\n") else min(gap - 1, 0)
        if at == len(data) and window.ended:
            if self._part:
                return 0
            self._problem(self._cut("record", "a line feed behind its block", "the end"), offset)
            return 0
        self._problem(
            FormatError("wrong length in a URL line", reason="bad-length",
                        expected=f"a record behind {declared} bytes", actual=repr(data[at : at + 20])[2:-1]),
            offset,
        )  # fmt: skip
        self._seek_line()
        return 0

    def _streamed(self, line: UrlLine, head: bytes, offset: int) -> ArcRecord:
        window = self._window
        window.keep(None)

        def rest(n: int) -> bytes:
            if not window.hold(1):
                raise _CutError("truncated record block", reason="truncated", expected=f"{line.declared} bytes")
            piece = window.data[window.at : window.at + min(n, _HELD)]
            window.at += len(piece)
            return piece

        return self._made(line, head, Block(line.declared, b"", 0, rest=rest), offset, len(head) + line.declared)

    def _record(self, line: UrlLine, head: bytes, content: bytes, offset: int) -> ArcRecord:
        return self._made(line, head, Block(len(content), content, 0), offset, len(head) + len(content))

    def _made(self, line: UrlLine, head: bytes, block: Block, offset: int, length: int) -> ArcRecord:
        if self._member is None:
            return ArcRecord(line, head, block, offset=offset, length=length, index=0)
        return ArcRecord(line, head, block, offset=self._member, length=self._length, index=self._index)

    def _seek_line(self) -> bool:
        """Move to the next URL line, or to the end."""
        window = self._window
        while True:
            for match in _LINE.finditer(window.data, window.at):
                if is_arc_start(match[0]):
                    window.at = match.start()
                    return True
            window.at = max(window.at, len(window.data) - MAX_LINE)
            if not window.more():
                window.at = len(window.data)
                return False

    def _cut(self, what: str, expected: str, actual: str) -> FormatError:
        reason = "truncated" if self._member is None else "bad-length"
        return FormatError(f"truncated {what}", reason=reason, expected=expected, actual=actual)

    def _problem(self, error: FormatError, offset: int) -> None:
        self._report(error.located(offset=offset if self._member is None else self._member))


class _CutError(FormatError):
    """A streamed record declares more than there is."""
