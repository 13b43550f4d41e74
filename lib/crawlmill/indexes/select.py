"""Selects lines within a query's ranges by times and filters, line by line. Malformed lines are reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawlmill.errors import FormatError
from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.index import OnProblem
from crawlmill.indexes.lines import Chunk, is_header, sound_lines
from crawlmill.indexes.query import Query

__all__ = ["Selector"]


class Selector:
    """Selects from chunks the lines that a query wants. `source` is the name of the index in messages."""

    def __init__(self, query: Query, source: str, on_problem: OnProblem) -> None:
        self._query, self._source, self._on_problem = query, source, on_problem
        self._start, self._end = (query.start or "").encode(), (query.end or "").encode()
        self._ported = query.pattern.port is not None
        self._whole = query.wants_all

    def __call__(self, chunk: Chunk) -> Chunk:
        """The wanted lines of a chunk."""
        sound = sound_lines(chunk)
        if self._whole and sound == len(chunk):
            return chunk
        lines = (line + b"\n" for line in bytes(chunk).split(b"\n") if line)
        return b"".join(line for line in lines if self._wants(line))

    def take(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The wanted lines of all chunks, without empty chunks."""
        for chunk in chunks:
            if taken := self(chunk):
                yield taken

    def _wants(self, line: bytes) -> bool:
        try:
            if sound_lines(line) != len(line):
                if is_header(line):
                    return False
                parse_capture(line)  # raises an error if something is wrong with it
            key, time, _ = line.split(b" ", 2)
            if self._start and time[: len(self._start)] < self._start:
                return False
            if self._end and time[: len(self._end)] > self._end:
                return False
            if self._ported and not self._query.pattern.accepts(key):
                return False
            if not self._query.filters and not self._query.distinct:
                return True
            capture = parse_capture(line)
        except FormatError as error:
            self._on_problem(error.located(source=self._source))
            return False
        return all(each.passes(capture, line) for each in self._query.filters)
