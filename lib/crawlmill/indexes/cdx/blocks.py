"""Reads and checks the lines of a CDX or CDXJ file: plain, gzip, or a shard of a ZipNum cluster.

A block holds whole lines, so that millions of lines need not be handled one by one. They are unchanged, except that CDX
lines whose header names unusual columns are put into the usual ones. Headers (` CDX N b a …`,
`!meta {…}`) and blank lines are left out; a line that is not a capture is reported with its number and skipped. The end
of the file ends a line. So does the end of a gzip member if another line begins after it, since members of some
clusters lack the last line end; other files are cut into members anywhere.

A gzip member of up to 16 MiB is verified before its lines are returned, a larger one while it is read. If the file ends
within a member, the whole lines before the cut are returned: many files are a single member.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Final

from crawlmill import core
from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.gzip_member import MAGIC
from crawlmill.codecs.members import Member
from crawlmill.codecs.source import ByteSource, Replay
from crawlmill.errors import FormatError
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.check import Fault, fault_of, is_header_or_blank
from crawlmill.indexes.cdx.header import Columns, parse_header
from crawlmill.indexes.lines import Chunk, is_header

__all__ = ["MAX_LINE", "begins_index", "read_blocks"]

MAX_LINE: Final = 1 << 20
"""Bytes of a line; a longer one is lost as `too-large`."""

_PIECE: Final = 1 << 20
_START: Final = re.compile(rb"[^ ]+ [0-9]{14} [^ ]")
_TEXT: Final = rb'"[^"\\\x00-\x1f\x80-\xff]*+"'
_PAIR: Final = _TEXT + rb": " + _TEXT
_USUAL: Final = re.compile(rb"(?:[^ \n]++ [0-9]{14} \{" + _PAIR + rb"(?:, " + _PAIR + rb")*+\}\r?\n)*+")
"""Lines of CDXJ as Common Crawl and pywb write them: nothing is wrong with these, and no parser needs to look."""


def begins_index(data: bytes) -> bool:
    """Whether text begins with a header or a capture; `data` may end within its first line."""
    line = data.lstrip(b"\r\n").split(b"\n", 1)[0]
    return is_header(line) or _START.match(line) is not None


def read_blocks(source: ByteSource, *, start: int = 0, on_problem: Callable[[FormatError], None]) -> Iterator[Block]:
    """Yield the captures of a file, in blocks, in order.

    Args:
        source: The file.
        start: The offset of the first byte that the source returns.
        on_problem: Called with a FormatError for each loss: `bad-header` with the line number, `too-large`, and
        problems with gzip members.
    """
    head = b""
    while len(head) < len(MAGIC) and (piece := source.read(len(MAGIC) - len(head))):
        head += piece
    source = Replay(source, head)
    lines = _Lines(on_problem)
    if head != MAGIC:
        yield from _of_plain(source, start, lines)
        return
    damaged = False

    def lose(error: FormatError) -> None:
        nonlocal damaged
        damaged = True
        on_problem(error)

    offset = start
    for member in GzipReader(source, start=start, on_problem=lose, plausible=begins_index, cut=True):
        if damaged:  # the rest of a line, if there was one, is lost
            damaged = False
            yield from lines.end(offset)
        offset = member.offset
        yield from _of_member(member, lines)
    yield from lines.end(offset)


def _of_plain(source: ByteSource, start: int, lines: _Lines) -> Iterator[Block]:
    offset = start
    while piece := source.read(_PIECE):
        yield from lines.take(piece, offset - len(lines.rest))
        offset += len(piece)
    yield from lines.end(offset - len(lines.rest))


def _of_member(member: Member, lines: _Lines) -> Iterator[Block]:
    begun = False
    try:
        for piece in member.pieces(_PIECE):
            if not begun:
                begun = True
                yield from lines.end_before(piece, member.offset)
            yield from lines.take(bytes(piece), member.offset)
    except FormatError:
        lines.drop()  # the reader of members reports it; an incomplete line is dropped


class _Lines:
    """Splits text into blocks of whole lines that are captures, and counts the lines of the file."""

    def __init__(self, on_problem: Callable[[FormatError], None]) -> None:
        self.rest = b""
        self._on_problem = on_problem
        self._number = 0  # of lines so far
        self._columns: Columns | None = None  # if they are unusual
        self._unknown = False  # whether the header lacks columns, so that lines cannot be read
        self._too_long = False  # the current line is too long, and dropped

    def take(self, piece: bytes, offset: int) -> Iterator[Block]:
        """Yield the captures that end within the next piece of text; `offset` is that of all text held."""
        if self._too_long:
            end = piece.find(b"\n") + 1
            if not end:
                return
            piece, self._too_long = piece[end:], False
        cut = piece.rfind(b"\n") + 1
        data, self.rest = self.rest + piece[:cut] if cut else b"", (b"" if cut else self.rest) + piece[cut:]
        if data:
            yield from self._block(data, offset)
        if len(self.rest) > MAX_LINE:
            self._number += 1
            self._too_long, self.rest = True, b""
            self._on_problem(_too_large(self._number, offset + len(data)))

    def end_before(self, text: Chunk, offset: int) -> Iterator[Block]:
        """Yield the last line if it lacks its line end, and is not continued by the text of the next gzip member."""
        if (b" " in self.rest or self._too_long) and begins_index(bytes(text[:MAX_LINE])):
            yield from self.end(offset)

    def end(self, offset: int) -> Iterator[Block]:
        """Yield the last line, if it lacks its line end."""
        self._too_long = False
        if self.rest:
            data, self.rest = self.rest + b"\n", b""
            yield from self._block(data, offset)

    def drop(self) -> None:
        """Drop the beginning of an incomplete line."""
        self.rest, self._too_long = b"", False

    def _block(self, data: bytes, offset: int) -> Iterator[Block]:
        if not self._number:
            data = data.removeprefix(codecs.BOM_UTF8)
        lines, first, gaps = _count_lines(data), self._number + 1, list[int]()
        good = self._captures(data, offset, gaps)
        self._number += lines
        if good:
            yield Block(offset, good, lines - len(gaps), first, tuple(gaps))

    def _captures(self, data: bytes, offset: int, gaps: list[int]) -> bytes:
        """The captures among whole lines: `data` itself if all are; appends the places of others to `gaps`."""
        at = _end_of_usual(data, 0)
        if at == len(data):
            return data
        kept: list[bytes] = []
        begin = 0
        while at < len(data):
            end = data.index(b"\n", at)
            line = data[at:end]
            capture = self._capture(line, data, at, offset)
            if not capture or capture != line:
                kept.append(data[begin:at])
                if capture:
                    kept.append(capture + b"\n")
                else:
                    gaps.append(data.count(b"\n", 0, at))
                begin = end + 1
            at = _end_of_usual(data, end + 1)
        if not kept:
            return data
        kept.append(data[begin:])
        return b"".join(kept)

    def _capture(self, line: bytes, data: bytes, at: int, offset: int) -> bytes:
        """The capture of a line at a place in data, in the usual columns; empty if it is none, which is reported."""
        if is_header_or_blank(line):
            if is_header(line):
                self._take_header(line.rstrip(b"\r"), offset)
            return b""
        if self._unknown:
            return b""
        if len(line) > MAX_LINE:
            self._on_problem(_too_large(self._number_of(data, at), offset))
            return b""
        try:
            capture = line if self._columns is None else self._columns.usual(line.rstrip(b"\r"))
        except FormatError as error:
            fault: Fault | None = f"{error.expected} columns", str(error.actual)
        else:
            fault = fault_of(capture)
        if fault is None:
            return capture
        what = f"line {self._number_of(data, at)} is not a capture"
        self._on_problem(FormatError(what, reason="bad-header", offset=offset, expected=fault[0], actual=fault[1]))
        return b""

    def _take_header(self, line: bytes, offset: int) -> None:
        try:
            self._columns, self._unknown = parse_header(line), False
        except FormatError as error:
            error.offset = offset
            self._on_problem(error)
            self._unknown = True

    def _number_of(self, data: bytes, at: int) -> int:
        """The number in the file of the line at a place in data."""
        return self._number + data.count(b"\n", 0, at) + 1


def _too_large(number: int, offset: int) -> FormatError:
    return FormatError(
        f"line {number}", reason="too-large", offset=offset, expected=f"at most {MAX_LINE} bytes", actual="more"
    )


def _count_lines(data: bytes) -> int:
    native = core.native()
    return data.count(b"\n") if native is None else int(native.count_lines(data))


def _end_of_usual(data: bytes, at: int) -> int:
    if (native := core.native()) is not None:
        return int(native.usual_lines(data, at))
    usual = _USUAL.match(data, at)
    return usual.end() if usual is not None else at
