"""Answers many queries from several indexes, in order, each as if it were alone, reading every block once.

Queries that need few blocks are answered together: their captures are extracted in one pass over each index, and kept,
in a temporary file if there are many, until their turns come. Other queries are answered as streams at their turns; so
are all queries to an index that needs a request for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Final, Self

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.arrange import arrange, merge
from crawlmill.indexes.index import Index, OnProblem
from crawlmill.indexes.lines import Chunk, sound_lines
from crawlmill.indexes.query import Query
from crawlmill.indexes.select import Selector
from crawlmill.sorting import sort_lines

__all__ = ["look_up"]

_BATCH: Final = 10_000
_FEW_BLOCKS: Final = 8
_FEW_BYTES: Final = 4 << 20
_HELD_BYTES: Final = 16 << 20
_SORT_BYTES: Final = 64 << 20

_Span = tuple[int, int]
"""The offset and the size of lines in a file."""


def look_up(
    indexes: Sequence[Index], queries: Iterable[Query], on_problem: OnProblem
) -> Iterator[tuple[Query, Iterator[Chunk]]]:
    """Yield each query with the lines of its captures in chunks, which must be read before the next query.

    Args:
        indexes: The indexes; their captures are merged by key and time.
        queries: The queries, answered in this order.
        on_problem: Called with losses that the indexes do not report themselves.
    """
    queries = iter(queries)
    while batch := list(islice(queries, _BATCH)):
        numbers: dict[Query, int] = {}
        places = [numbers.setdefault(query, len(numbers)) for query in batch]
        with _Together(indexes, on_problem, list(numbers)) as together:
            if len(batch) > 1:
                together.answer()
            for query, number in zip(batch, places, strict=True):
                streams = [
                    together.stream(number, place) or _select(index, query, on_problem)
                    for place, index in enumerate(indexes)
                ]
                yield query, arrange(merge(_in_order(indexes, streams, query)), query)


def _select(index: Index, query: Query, on_problem: OnProblem) -> Iterator[Chunk]:
    select = Selector(query, index.name, on_problem)
    return select.take(chunk for _, chunk in index.captures([query]))


def _in_order(indexes: Sequence[Index], streams: list[Iterator[Chunk]], query: Query) -> list[Iterator[Chunk]]:
    """The streams of a query, sorted if they are not and it matters."""
    if len(indexes) == 1 and query.sort == "key" and not query.newest and not query.distinct:
        return streams
    return [stream if index.in_line_order else _sorted(stream) for index, stream in zip(indexes, streams, strict=True)]


def _sorted(stream: Iterator[Chunk]) -> Iterator[Chunk]:
    with TemporaryDirectory() as folder, sort_lines(map(bytes, stream), Path(folder), _SORT_BYTES) as lines:
        yield from lines.chunks()


def _is_small(query: Query, indexes: Sequence[Index]) -> bool:
    """Whether a query is better answered together with others."""
    if query.pattern.match == "exact":  # rarely more than one block: a plan would cost as much as the answer
        return True
    for index in indexes:
        if index.reads_through or not index.shares_blocks:
            continue
        try:
            plan = index.plan([query])
        except (FormatError, SourceError):
            continue  # reported when it is read
        if plan.blocks > _FEW_BLOCKS or plan.bytes > _FEW_BYTES:
            return False
    return True


class _Together:
    """The lines that the small ones among some queries select, by index and number of the query."""

    def __init__(self, indexes: Sequence[Index], on_problem: OnProblem, queries: list[Query]) -> None:
        self._indexes, self._on_problem, self._queries = indexes, on_problem, queries
        self._found: list[dict[int, list[Chunk | _Span]]] = [{} for _ in indexes]
        self._held = 0  # bytes of lines in memory
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def answer(self) -> None:
        """Read what the small queries want."""
        small = [number for number, query in enumerate(self._queries) if _is_small(query, self._indexes)]
        queries = [self._queries[number] for number in small]
        for index, found in zip(self._indexes, self._found, strict=True):
            if not (queries and index.shares_blocks):
                continue
            found.update((number, []) for number in small)
            for place, chunk in index.captures(queries):
                query = queries[place]
                if query.wants_all and sound_lines(chunk) == len(chunk):
                    found[small[place]].append(self._kept(chunk))
                elif taken := Selector(query, index.name, self._on_problem)(chunk):
                    found[small[place]].append(self._kept(taken))

    def stream(self, number: int, place: int) -> Iterator[Chunk] | None:
        """The lines of a query in the index at this place; None if they are not read yet."""
        found = self._found[place].get(number)
        return None if found is None else map(self._chunk, found)

    def _kept(self, lines: Chunk) -> Chunk | _Span:
        """Lines that are kept in memory, or their place in the file."""
        if self._held < _HELD_BYTES:
            self._held += len(lines)
            return bytes(lines)
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed by __exit__
        offset = self._file.seek(0, SEEK_END)
        self._file.write(lines)
        return offset, len(lines)

    def _chunk(self, kept: Chunk | _Span) -> Chunk:
        if not isinstance(kept, tuple):
            return kept
        assert self._file is not None  # there are no spans without it
        self._file.seek(kept[0])
        return self._file.read(kept[1])
