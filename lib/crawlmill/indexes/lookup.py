"""Answers many queries from several indexes, in their order, each as if it were alone, reading every block once.

Queries that need few blocks are answered together: their captures are cut out of the blocks in one pass over each
index, and kept, in a temporary file if there are many, until their turns come. The others are answered as streams when
their turns come; so are all queries to an index that must be asked for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import Final, Self

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.arrange import arrange, merge
from crawlmill.indexes.index import Index, OnProblem
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.query import Query
from crawlmill.indexes.select import Selector
from crawlmill.sorting import sort_lines

__all__ = ["look_up"]

_BATCH: Final = 10_000
_FEW_BLOCKS: Final = 8
_FEW_BYTES: Final = 4 << 20
_HELD_BYTES: Final = 16 << 20
_SORT_BYTES: Final = 64 << 20


def look_up(
    indexes: Sequence[Index], queries: Iterable[Query], on_problem: OnProblem
) -> Iterator[tuple[Query, Iterator[Chunk]]]:
    """Each query and the lines of its captures, in chunks, which must be read before the next query is asked for.

    Args:
        indexes: Their captures are merged by key and time.
        queries: In the order in which they are answered.
        on_problem: Called with what is lost, as far as the indexes do not report it themselves.
    """
    queries = iter(queries)
    while batch := list(islice(queries, _BATCH)):
        with _Together(indexes, on_problem) as together:
            if len(batch) > 1:
                together.answer([query for query in dict.fromkeys(batch) if _is_small(query, indexes)])
            for query in batch:
                streams = [
                    together.stream(query, place) or _select(index, query, on_problem)
                    for place, index in enumerate(indexes)
                ]
                yield query, arrange(merge(_in_order(indexes, streams, query)), query)


def _select(index: Index, query: Query, on_problem: OnProblem) -> Iterator[Chunk]:
    select = Selector(query, index.name, on_problem)
    return select.take(chunk for _, chunk in index.captures([query]))


def _in_order(indexes: Sequence[Index], streams: list[Iterator[Chunk]], query: Query) -> list[Iterator[Chunk]]:
    """The streams of a query, sorted where they are not and something depends on it."""
    if len(indexes) == 1 and query.sort == "key" and not query.newest and not query.distinct:
        return streams
    return [stream if index.in_line_order else _sorted(stream) for index, stream in zip(indexes, streams, strict=True)]


def _sorted(stream: Iterator[Chunk]) -> Iterator[Chunk]:
    with TemporaryDirectory() as folder, sort_lines(map(bytes, stream), Path(folder), _SORT_BYTES) as lines:
        yield from lines.chunks()


def _is_small(query: Query, indexes: Sequence[Index]) -> bool:
    """Whether a query is better answered together with others."""
    if query.pattern.match == "exact":  # seldom more than one block: a plan would cost as much as the answer
        return True
    for index in indexes:
        if index.reads_through or not index.shares_blocks:
            continue
        try:
            plan = index.plan([query])
        except (FormatError, SourceError):
            continue  # which is reported where it is read
        if plan.blocks > _FEW_BLOCKS or plan.bytes > _FEW_BYTES:
            return False
    return True


class _Together:
    """The lines that some queries select, by query and index."""

    def __init__(self, indexes: Sequence[Index], on_problem: OnProblem) -> None:
        self._indexes, self._on_problem = indexes, on_problem
        self._file = SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - closed by __exit__
        self._size = 0
        self._found: dict[Query, list[list[tuple[int, int]]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def answer(self, queries: list[Query]) -> None:
        """Read what the queries want."""
        for query in queries:
            self._found[query] = [[] for _ in self._indexes]
        for place, index in enumerate(self._indexes if queries else ()):
            if not index.shares_blocks:
                continue
            select: list[Callable[[Chunk], Chunk]] = [
                Selector(query, index.name, self._on_problem) for query in queries
            ]
            for number, chunk in index.captures(queries):
                if taken := select[number](chunk):
                    self._file.write(taken)
                    self._found[queries[number]][place].append((self._size, len(taken)))
                    self._size += len(taken)

    def stream(self, query: Query, place: int) -> Iterator[Chunk] | None:
        """The lines of a query in an index, if it was answered."""
        found = self._found.get(query)
        if found is None or not self._indexes[place].shares_blocks:
            return None
        return self._read(found[place])

    def _read(self, spans: list[tuple[int, int]]) -> Iterator[Chunk]:
        for offset, length in spans:
            self._file.seek(offset)
            yield self._file.read(length)
