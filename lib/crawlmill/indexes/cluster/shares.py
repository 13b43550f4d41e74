"""Divides the members that many queries need into shares, by rows of `cluster.idx`; finds the queries of a lost one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from crawlmill.indexes.cluster.rows import Row
from crawlmill.indexes.plan import Part
from crawlmill.indexes.query import Query
from crawlmill.indexes.shares import Share, even

__all__ = ["concerned_by", "cut_rows"]

_MIN_BYTES: Final = 1 << 20
_MAX_BYTES: Final = 64 << 20


def cut_rows(
    lines: Sequence[bytes],
    rows: Sequence[Row],
    queries: Sequence[Query],
    make_parts: Callable[[Iterable[Row]], Iterable[Part]],
) -> list[Share]:
    """The shares for queries whose captures are in the members of these rows, given in order.

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
    serves: list[dict[int, None]] = [{} for _ in starts]
    for number, query in enumerate(queries):
        for low, high in query.ranges:
            first, end = max(bisect_left(lines, low) - 1, 0), bisect_left(lines, high)
            if first >= end:
                continue
            for share in range(bisect_right(starts, first) - 1, bisect_right(starts, end - 1)):
                serves[share][number] = None
    ends = [*starts[1:], len(rows)]
    return [
        Share(tuple(make_parts(rows[start:end])), tuple(numbers))
        for start, end, numbers in zip(starts, ends, serves, strict=True)
        if numbers
    ]


def concerned_by(lost: Sequence[tuple[bytes, bytes | None]], queries: Sequence[Query]) -> list[int]:
    """The numbers of the queries with lines in lost members, each from a key and time to that of the next member."""
    return [
        number
        for number, query in enumerate(queries)
        if any(
            high > start and (end is None or low <= end + b"\xff") for low, high in query.ranges for start, end in lost
        )
    ]
