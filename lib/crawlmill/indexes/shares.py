"""Shares: the work of many queries, divided evenly among tasks, whatever the queries are.

An index that can be cut is divided by blocks; for other indexes, whole queries are shared out. A query may be in
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
    """Parts of an index, and the numbers of the queries that they serve."""

    parts: tuple[Part, ...]
    queries: tuple[int, ...]


@runtime_checkable
class Shareable(Index, Protocol):
    """An index that can be cut."""

    def shares(self, queries: Sequence[Query]) -> list[Share]:
        """What must be read to answer queries, which come in the order of their keys.

        Raises:
            SourceError, FormatError: It cannot be found out.
        """

    def concerned(self, error: FormatError | SourceError, queries: Sequence[Query]) -> list[int]:
        """The numbers of the queries of which something was lost with an error that reading has reported."""


@runtime_checkable
class HasKeys(Index, Protocol):
    """An index that finds the lines of very many single keys at once."""

    def lines_of_keys(self, keys: Sequence[bytes], plan: Plan) -> Iterator[LinesOfKeys]:
        """The lines of keys in a plan, as `captures` gives them, those of several keys together."""


def can_be_cut(query: Query) -> bool:
    """Whether the captures of a query can be found in pieces: none is chosen by what the others are."""
    return query.limit is None and not query.newest and query.distinct is None and query.sort == "key"


def even(total: int, least: int, most: int) -> int:
    """How much of so much is in a share, between these bounds."""
    return min(max(-(-total // SHARES), least), most)


def batches(queries: Sequence[Query], most: int) -> list[tuple[int, ...]]:
    """The numbers of queries in runs of about the same length."""
    size = even(len(queries), 1, most)
    return [tuple(range(start, min(start + size, len(queries)))) for start in range(0, len(queries), size)]
