"""Extracts the captures of many queries from chunks that come in order: one pass, whatever the number of queries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Self

from crawlmill.indexes.index import Found
from crawlmill.indexes.lines import Chunk, find_line, first_line, last_line
from crawlmill.indexes.query import Query, ranges_of
from crawlmill.urls.patterns import KeyRange

__all__ = ["Sweep", "merged_ranges", "union"]

_NEAR_LINES: Final = 4
_WORTH_CUTTING: Final = 16  # number of ranges from which it is cheaper to split a chunk into lines than to bisect it


def union(queries: Sequence[Query]) -> list[KeyRange]:
    """The lines that any of the queries wants, as ranges in order, without overlaps."""
    return merged_ranges(chain.from_iterable(ranges_of(queries)))


def merged_ranges(ranges: Iterable[KeyRange]) -> list[KeyRange]:
    """The same lines as ranges in order, without overlaps."""
    merged: list[KeyRange] = []
    last: bytes | None = None
    for each in sorted(ranges):
        low, high = each
        if last is None or low > last:
            merged.append(each)
            last = high
        elif high > last:
            merged[-1] = KeyRange(merged[-1].low, high)
            last = high
    return merged


class Sweep:
    """The ranges that are not finished yet, each with a number. `done` once no later line can be wanted."""

    def __init__(self, ranges: Iterable[tuple[KeyRange, int]]) -> None:
        self._coming = sorted(ranges, reverse=True)
        self._now: list[tuple[KeyRange, int]] = []

    @classmethod
    def of(cls, queries: Sequence[Query]) -> Self:
        """The ranges of queries, each with the number of its query."""
        return cls((each, number) for number, query in enumerate(queries) for each in query.ranges)

    @property
    def done(self) -> bool:
        """Whether nothing more is wanted."""
        return not self._coming and not self._now

    def skip_to(self, line: bytes) -> None:
        """Drop the ranges before a line."""
        while self._coming and self._coming[-1][0].high <= line:
            self._coming.pop()

    def cut(self, chunk: Chunk) -> Iterator[Found]:
        """The lines of the next chunk, which must be tidy and sorted, that the queries want."""
        if not chunk or self.done:
            return
        first, last = first_line(chunk), last_line(chunk)
        while self._coming and self._coming[-1][0].low <= last:
            self._now.append(self._coming.pop())
        if len(self._now) >= _WORTH_CUTTING and b"\n\n" not in chunk:
            yield from self._cut_lines(bytes(chunk).split(b"\n"), chunk)
        else:
            yield from self._bisect(chunk, first, last)
        self._now = [wanted for wanted in self._now if wanted[0].high > last]

    def _cut_lines(self, lines: list[bytes], chunk: Chunk) -> Iterator[Found]:
        """The lines that queries want of a chunk split into lines; the last of these is the empty text at its end."""
        count = len(lines) - 1
        for (low, high), number in self._now:
            start = end = bisect_left(lines, low, 0, count)
            while end < count and lines[end] < high:
                end += 1
                if end == start + _NEAR_LINES:
                    end = bisect_left(lines, high, end, count)
                    break
            if end == start + 1:
                yield number, lines[start] + b"\n"
            elif start < end:
                yield number, chunk if end - start == count else b"\n".join(lines[start:end]) + b"\n"

    def _bisect(self, chunk: Chunk, first: bytes, last: bytes) -> Iterator[Found]:
        for (low, high), number in self._now:
            start = find_line(chunk, low) if low > first else 0
            end = _end_near(chunk, start, high) if high <= last else len(chunk)
            if start < end:
                yield number, chunk if end - start == len(chunk) else chunk[start:end]

    def cut_all(self, chunks: Iterable[Chunk]) -> Iterator[Found]:
        """The lines of all chunks that the queries want; reads no further than needed."""
        for chunk in chunks:
            yield from self.cut(chunk)
            if self.done:
                return


def _end_near(chunk: Chunk, start: int, high: bytes) -> int:
    """The position of the first line from `start` on that is not less than `high`: mostly one of the next lines."""
    at = start
    for _ in range(_NEAR_LINES):
        if at >= len(chunk) or chunk[at : at + len(high)] >= high:
            return at
        at = chunk.find(b"\n", at) + 1 or len(chunk)
    return find_line(chunk, high)
