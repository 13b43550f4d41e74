"""Shares: the work of many queries, divided evenly among tasks, whatever the queries are.

Indexes that can be cut are divided by blocks; for other indexes, whole queries are assigned to tasks. A query may be in
several shares, but no block is in two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.index import Index
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query

__all__ = ["SHARES", "HasKeys", "LinesOfKeys", "Share", "Shareable", "batches", "can_be_cut", "even"]

SHARES: Final = 64
"""Into how many shares all of the work is cut, if it is worth it."""


LinesOfKeys = tuple[bytes, list[tuple[int, int, int]]]
"""Lines, those of a key together, and whose they are in turn: the number of a key, its lines, and their bytes."""


@dataclass(frozen=True, slots=True)
class Share:
    """Parts of an index, and the numbers of the queries that they are read for."""

    parts: tuple[Part, ...]
    queries: tuple[int, ...]


@runtime_checkable
class Shareable(Index, Protocol):
    """An index that can be divided into shares."""

    def shares(self, queries: Sequence[Query]) -> list[Share]:
        """What must be read to answer queries, which are given in the order of their keys.

        Raises:
            SourceError, FormatError: It cannot be determined.
        """

    def concerned(self, error: FormatError | SourceError, queries: Sequence[Query]) -> list[int]:
        """The numbers of the queries affected by an error that was reported while reading."""


@runtime_checkable
class HasKeys(Index, Protocol):
    """An index that can find the lines of very many single keys at once."""

    def lines_of_keys(self, keys: Sequence[bytes], plan: Plan) -> Iterator[LinesOfKeys]:
        """The lines of keys in a plan, as returned by `captures`, for several keys together."""


def can_be_cut(query: Query) -> bool:
    """Whether the captures of a query can be found in pieces: none is selected depending on others."""
    return query.limit is None and not query.newest and query.distinct is None and query.sort == "key"


def even(total: int, least: int, most: int) -> int:
    """The size of a share when `total` is divided evenly, between the bounds `least` and `most`."""
    return min(max(-(-total // SHARES), least), most)


def batches(queries: Sequence[Query], most: int) -> list[tuple[int, ...]]:
    """The numbers of queries, in runs of about equal length."""
    size = even(len(queries), 1, most)
    return [tuple(range(start, min(start + size, len(queries)))) for start in range(0, len(queries), size)]
