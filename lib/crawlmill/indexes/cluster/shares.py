"""Divides the members that many queries need into shares, by rows of `cluster.idx`; finds the queries of a lost one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from crawlmill.indexes.cluster.rows import Row
from crawlmill.indexes.plan import Part
from crawlmill.indexes.query import Query
from crawlmill.indexes.shares import Share, even
from crawlmill.urls.patterns import KeyRange

__all__ = ["concerned_by", "cut_rows"]

_MIN_BYTES: Final = 1 << 20
_MAX_BYTES: Final = 64 << 20


def cut_rows(
    lines: Sequence[bytes],
    rows: Sequence[Row],
    ranges: Sequence[Sequence[KeyRange]],
    make_parts: Callable[[Iterable[Row]], Iterable[Part]],
) -> list[Share]:
    """The shares for queries whose captures are in the members of these rows, given in order.

    `ranges` are those of each query, given in the order of their keys.
    `lines` are the rows as written: a text compares with them as with the key of a row, since the tab after the key is
    less than every character of a key.
    """
    if not rows:
        return []
    most = even(sum(row.length for row in rows), _MIN_BYTES, _MAX_BYTES)
    starts, held = [0], 0
    for number, row in enumerate(rows):
        if held and held + row.length > most:
            starts.append(number)
            held = 0
        held += row.length
    # The ranges of single keys, of which there may be very many, mostly rise: those of a share are neighbours.
    lows: list[bytes] = [b""]
    highs: list[bytes] = [b""]
    rising: list[int] = [-1]
    serves: list[set[int]] = [set() for _ in starts]
    for number, several in enumerate(ranges):
        for low, high in several:
            if len(several) == 1 and low >= lows[-1] and high >= highs[-1]:
                lows.append(low)
                highs.append(high)
                rising.append(number)
                continue
            first, end = max(bisect_left(lines, low) - 1, 0), bisect_left(lines, high)
            if first < end:
                for share in range(bisect_right(starts, first) - 1, bisect_right(starts, end - 1)):
                    serves[share].add(number)
    found: list[Share] = []
    for start, end, others in zip(starts, [*starts[1:], len(rows)], serves, strict=True):
        last = bisect_right(lows, lines[end]) if end < len(lines) else len(lows)
        numbers = rising[bisect_right(highs, lines[start]) : last]
        if others:
            numbers = sorted(others.union(numbers))
        if numbers:
            found.append(Share(tuple(make_parts(rows[start:end])), tuple(numbers)))
    return found


def concerned_by(lost: Sequence[tuple[bytes, bytes | None]], queries: Sequence[Query]) -> list[int]:
    """The numbers of the queries with lines in lost members, each from a key and time to that of the next member."""
    return [
        number
        for number, query in enumerate(queries)
        if any(
            high > start and (end is None or low <= end + b"\xff") for low, high in query.ranges for start, end in lost
        )
    ]
