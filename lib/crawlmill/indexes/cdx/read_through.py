"""A CDX or CDXJ file that cannot be bisected: it is read from the beginning until no more lines can match.

That is a gzipped file without a second level, a file of unknown size, one with a byte order mark, or one whose header
names unusual columns. A gzipped file may
have one member or many, split at line ends or anywhere. The end of a member counts as a line end if a complete line is
before it and another begins after it: some writers omit the last line end of each member.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import Final

from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.source import ByteSource
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cdx.header import UsualColumns
from crawlmill.indexes.cdx.sorted_file import out_of_order, search
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.lines import Chunk, Order, chunks_of, is_header, sound_lines
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import Sweep

__all__ = ["FileReadThrough", "begins_line"]

_PIECE: Final = 1 << 18
_START: Final = re.compile(rb"[^ \n]+ [0-9]{14} [^ ]")


def begins_line(head: bytes | bytearray) -> bool:
    """Whether these bytes look like the beginning of an index line."""
    return is_header(head) or _START.match(head) is not None


class FileReadThrough:
    """A file that is read from the beginning, as an `Index`."""

    in_line_order = True
    reads_through = True
    shares_blocks = True

    def __init__(self, source: Source, form: str, on_problem: OnProblem, *, gzipped: bool = True) -> None:
        self._source, self.format, self._gzipped = source, form, gzipped
        self._losses = Losses.of(on_problem)

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._source.name

    def plan(self, queries: Sequence[Query]) -> Plan:
        """See `Index.plan`; the whole file."""
        size = self._source.size()
        return Plan((Part(self._source.name, 0, (size or 0,)),) if queries else ())

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:  # noqa: ARG002
        """See `Index.captures`. Lines out of order are reported once, and still found."""
        if not queries:
            return
        sweep, order, sound = Sweep.of(queries), Order(), True
        for chunk in self.chunks():
            if sound and (disorder := order.take(chunk)):
                sound = False
                self._losses.on_problem(out_of_order(0, *disorder, self._source.name))
            yield from sweep.cut(chunk) if sound else search(chunk, queries)
            if sound and sweep.done:
                return

    def chunks(self) -> Iterator[Chunk]:
        """All lines of the file; damage is reported."""
        try:
            with self._source.open() as stream:
                text = self._text(stream) if self._gzipped else iter(lambda: stream.read(_PIECE), b"")
                columns = UsualColumns(lambda error: self._losses.add(error, self._source.name))
                for chunk in chunks_of(_without_mark(text)):
                    yield columns.of(chunk)
        except (FormatError, SourceError) as error:
            self._losses.add(error, self._source.name)

    def _text(self, stream: ByteSource) -> Iterator[Chunk]:
        """The text of all members; for a damaged one, the complete lines before the damage."""
        held: Chunk = b""  # an incomplete line
        damaged = False

        def lose(error: FormatError) -> None:
            nonlocal damaged
            damaged = True
            self._losses.add(error, self._source.name)

        for member in GzipReader(stream, on_problem=lose, plausible=begins_line):
            begun = False
            if damaged:  # what follows the line that was begun is lost
                if sound_lines(held + b"\n") == len(held) + 1:
                    yield held + b"\n"
                held, damaged = b"", False
            try:
                for piece in member.pieces(_PIECE):
                    if not begun and held and sound_lines(held + b"\n") == len(held) + 1 and begins_line(piece):
                        yield held + b"\n"
                        held = b""
                    begun = True
                    text = held + piece if held else piece
                    end = text.rfind(b"\n") + 1
                    yield text[:end]
                    held = text[end:]
            except FormatError:  # reported by the reader when it continues
                held = b""
        if held:
            yield held


def _without_mark(text: Iterator[Chunk]) -> Iterator[Chunk]:
    """A text in pieces without the byte order mark that it may begin with."""
    yield next(text, b"").removeprefix(codecs.BOM_UTF8)
    yield from text
