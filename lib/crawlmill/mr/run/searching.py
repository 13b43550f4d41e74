"""Many look-ups as tasks: the launcher cuts them by what must be read, and the tasks answer them.

A line of the task list contains, besides its inputs, what to search:

    {"v": 1, "inputs": […], "search": {"like": query, "is_key": …, "match": …, "page_size": …,
                                       "indexes": [[location, laid_out, api, base_url], …], "parts": [part, …] | null}}

`parts`, if given, are parts of the single index, and all that the task reads; an input is a unit if other tasks read
parts for it too. Otherwise the task looks up its patterns in all indexes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from crawlmill.errors import FormatError, Problem, SourceError, UsageError
from crawlmill.indexes.cdx_api.index import ApiOptions
from crawlmill.indexes.index import Index
from crawlmill.indexes.lines import Chunk, sound_lines
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.select import Selector
from crawlmill.indexes.shares import HasKeys, Share, Shareable, batches, can_be_cut
from crawlmill.inputs.indexes import IndexPlace, open_indexes
from crawlmill.inputs.lists import Input, Unit
from crawlmill.mr.run.pattern_lists import Asked, query_of_line, single_keys
from crawlmill.mr.task.rows import TaskRows
from crawlmill.mr.task.task_list import decode_lists, encode_task
from crawlmill.storage import Storage

__all__ = ["Search", "SearchTask", "cut_search"]

_MAX_PATTERNS: Final = 1000  # in a task that looks them up one by one

Lost = list[FormatError | SourceError]


@dataclass(frozen=True)
class Search:
    """What to search. `like`: a query with all options, for any pattern."""

    places: tuple[IndexPlace, ...]
    like: Query
    is_key: bool
    match: str | None
    page_size: int | None

    def open(self, storage: Storage, lost: Lost) -> list[Index]:
        """Open the indexes; those that cannot be opened are reported. Raises: UsageError."""
        return open_indexes(self.places, storage, lost.append, ApiOptions(self.page_size, each=True))

    def to_json(self) -> dict[str, Any]:
        """The search as a JSON object for `from_json`."""
        return {
            "like": self.like.to_json(),
            "is_key": self.is_key,
            "match": self.match,
            "page_size": self.page_size,
            "indexes": [[place.location, place.laid_out, place.api, place.base_url] for place in self.places],
        }

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Search:
        """Parse the object written by `to_json`."""
        places = tuple(IndexPlace(*each) for each in given["indexes"])
        return cls(places, Query.from_json(given["like"]), given["is_key"], given["match"], given["page_size"])


def cut_search(
    search: Search, asked: Asked, ranked: Sequence[tuple[int, Input]], storage: Storage, lost: Lost
) -> tuple[list[bytes], dict[str, int]]:
    """The lines of the task list, and how much they read, by unit (such as blocks or pages).

    `asked`: what the lines of the inputs ask for.

    Raises:
        UsageError: An index does not exist, or the file is not an index.
        SourceError, FormatError: It cannot be determined what must be read.
    """
    order = sorted(range(len(ranked)), key=[asked.low(item.given) for _, item in ranked].__getitem__)
    ranked = [ranked[number] for number in order]
    queries = asked.queries([item.given for _, item in ranked])
    opened = [
        (number, index)
        for number, place in enumerate(search.places)
        for index in replace(search, places=(place,)).open(storage, lost)
    ]
    indexes = [index for _, index in opened]
    totals: dict[str, int] = {}
    shares: list[tuple[int | None, Share]] = []
    if can_be_cut(search.like) and all(isinstance(index, Shareable) for index in indexes):
        for number, index in opened:
            assert isinstance(index, Shareable)
            shares += [(number, share) for share in index.shares(queries)]
            _count(totals, index, [share for at, share in shares if at == number])
        left = set(range(len(queries))) - {number for _, share in shares for number in share.queries}
        if left:
            shares.append((None if not opened else opened[0][0], Share((), tuple(sorted(left)))))
    else:
        whole = len(queries) if any(index.reads_through for index in indexes) else _MAX_PATTERNS
        runs = batches(queries, whole) if whole == _MAX_PATTERNS else [tuple(range(len(queries)))]
        shares = [(None, Share((), numbers)) for numbers in runs]
        for index in indexes if indexes and not any(index.format == "cdx-api" for index in indexes) else ():
            for name, number in index.plan(queries).totals().items():
                totals[name] = totals.get(name, 0) + number
    return list(_lines(search, ranked, shares)), {"tasks": len(shares), **totals}


def _count(totals: dict[str, int], index: Index, shares: list[Share]) -> None:
    blocks = sum(len(part.lengths) for share in shares for part in share.parts)
    lengths = sum(part.bytes for share in shares for part in share.parts)
    names = ("pages", "blocks") if index.format == "cdx-api" else ("members", "bytes")
    for name, number in zip(names, (blocks, lengths), strict=True):
        totals[name] = totals.get(name, 0) + number


def _lines(
    search: Search, ranked: Sequence[tuple[int, Input]], shares: list[tuple[int | None, Share]]
) -> Iterator[bytes]:
    counts = [0] * len(ranked)
    for _, share in shares:
        for number in share.queries:
            counts[number] += 1
    done = [0] * len(ranked)
    for index, share in shares:
        task: list[tuple[int, Input]] = []
        for number in share.queries:
            rank, item = ranked[number]
            if counts[number] > 1:
                item = item._replace(unit=Unit(done[number], counts[number], 0, 0))
                done[number] += 1
            task.append((rank, item))
        places = search.places if index is None else (search.places[index],)
        what = replace(search, places=places).to_json()
        what["parts"] = None if index is None else [part.to_json() for part in share.parts]
        yield encode_task(task)[:-1] + b',"search":' + json.dumps(what, separators=(",", ":")).encode("ascii") + b"}"


class SearchTask:
    """One line of the task list. `rows`: a ledger row for each pattern, filled in by `chunks`."""

    def __init__(self, line: str, storage: Storage) -> None:
        given, inputs = decode_lists(line, "search")
        self._search, self._storage = Search.from_json(given), storage
        self._parts: list[Part] | None = None if given["parts"] is None else list(map(Part.from_json, given["parts"]))
        self.rows = TaskRows(inputs)
        self._lines = [fields[1] for fields in inputs]
        self.reached = self._present = 0

    @cached_property
    def _queries(self) -> list[Query]:
        search = self._search
        return [query_of_line(line, search.like, is_key=search.is_key, match=search.match) for line in self._lines]

    def chunks(self, *, apart: bool) -> Iterator[tuple[str, Chunk]]:
        """Yield lines of captures in chunks, each with its pattern, without the match word.

        Unless they must be `apart`, a chunk may contain captures of several patterns, which are then not named.
        """
        lost: Lost = []
        search = self._search
        try:
            indexes = search.open(self._storage, lost)
        except UsageError as error:
            indexes = []
            lost.append(SourceError(str(error), reason="not-found"))
        self.rows.format = indexes[0].format if indexes else None
        self.rows.verified = bool(indexes) and all(index.format != "cdx-api" for index in indexes)
        self._lose(lost, range(len(self.rows)))
        keys = None if apart or self._parts is None else self._keys()
        if keys is not None and all(isinstance(index, HasKeys) for index in indexes):
            for index in indexes:
                assert isinstance(index, HasKeys)
                for lines in self._read_keys(index, keys, Plan(tuple(self._parts or ())), lost):
                    self.reached += len(lines)
                    yield "", lines
            return
        queries = self._queries
        one_by_one = any(index.format == "cdx-api" for index in indexes)
        if self._parts is None:
            found = self._looked_up(indexes, queries, lost, one_by_one=one_by_one)
        else:
            found = self._read(indexes, queries, self._parts, lost, one_by_one=one_by_one)
        for number, chunk in found:
            self._present = number
            self._count(number, chunk.count(b"\n"), len(chunk))
            self.reached += len(chunk)
            yield queries[number].pattern.text, chunk

    def lose_line(self, error: FormatError | SourceError) -> None:
        """Count a line of the last chunk as lost: it is printed as an object, and is not a capture."""
        self.rows.records[self._present] -= 1
        self._lose_of_present(error)

    def _keys(self) -> list[bytes] | None:
        """The keys of the patterns, if each selects a single key and all of its captures are wanted; else None."""
        search, like = self._search, self._search.like
        if like.start or like.end or like.filters:
            return None  # there are no options that apply to captures together, or the search would not have been cut
        keys = single_keys(self._lines, is_key=search.is_key, match=search.match) or [None]
        return None if None in keys else [key for key in keys if key is not None]

    def _read_keys(self, index: HasKeys, keys: list[bytes], plan: Plan, lost: Lost) -> Iterator[Chunk]:
        """The captures of single keys in parts of one index."""
        for lines, found in index.lines_of_keys(keys, plan):
            if sound_lines(lines) < len(lines):
                yield from self._sound(index, lines, found)
                continue
            for number, count, size in found:
                self._count(number, count, size)
            yield lines
        self._lose_of(index, lost)

    def _sound(self, index: Index, lines: bytes, found: list[tuple[int, int, int]]) -> Iterator[Chunk]:
        """The lines of some keys that are captures; other lines are losses, each counted for its pattern."""
        end = 0
        for number, _, size in found:
            end += size
            taken = self._selector(self._queries[number], index, number)(lines[end - size : end])
            if taken:
                self._count(number, taken.count(b"\n"), len(taken))
                yield taken

    def _lose_of(self, index: Index, lost: Lost) -> None:
        """Count the losses of reading an index, each for the patterns that it concerns."""
        if isinstance(index, Shareable):
            for error in list(lost):
                self._lose([error], index.concerned(error, self._queries))
            lost.clear()
        self._lose(lost, range(len(self.rows)))

    def _read(
        self, indexes: list[Index], queries: list[Query], parts: list[Part], lost: Lost, *, one_by_one: bool
    ) -> Iterator[tuple[int, Chunk]]:
        """The captures in parts of one index."""
        for index in indexes:
            if one_by_one:
                for number, (query, part) in enumerate(zip(queries, parts, strict=True) if parts else ()):
                    for _, chunk in index.captures([query], Plan((part,))):
                        if taken := self._selector(query, index, number)(chunk):
                            yield number, taken
                    self._lose(lost, [number])
                continue
            # All queries have the same options, so one selector serves all that do not name a port.
            ported = [number for number, query in enumerate(queries) if query.pattern.port is not None]
            own = {number: self._selector(queries[number], index, number) for number in ported}
            like = next((query for query in queries if query.pattern.port is None), queries[0])
            shared = Selector(like, index.name, self._lose_of_present)
            for number, chunk in index.captures(queries, Plan(tuple(parts))):
                self._present = number
                if taken := own.get(number, shared)(chunk):
                    yield number, taken
            self._lose_of(index, lost)

    def _looked_up(
        self, indexes: list[Index], queries: list[Query], lost: Lost, *, one_by_one: bool
    ) -> Iterator[tuple[int, Chunk]]:
        """The captures of whole queries in all indexes."""
        for number, query in enumerate(queries) if one_by_one else ():
            for _, chunks in look_up(indexes, [query], lost.append):
                yield from ((number, chunk) for chunk in chunks)
            self._lose(lost, [number])
        if one_by_one:
            return
        for number, (_, chunks) in enumerate(look_up(indexes, queries, lost.append)):
            yield from ((number, chunk) for chunk in chunks)
        for error in lost:
            concerned = {
                n for index in indexes if isinstance(index, Shareable) for n in index.concerned(error, queries)
            }
            self._lose([error], sorted(concerned) or range(len(queries)))

    def _selector(self, query: Query, index: Index, number: int) -> Selector:
        return Selector(query, index.name, lambda error: self.rows.row(number).lose(Problem.of(error)))

    def _lose_of_present(self, error: FormatError | SourceError) -> None:
        self.rows.row(self._present).lose(Problem.of(error))

    def _count(self, number: int, lines: int, size: int) -> None:
        """Count lines found of a pattern, and their bytes."""
        self.rows.records[number] += lines
        self.rows.bytes[number] += size

    def _lose(self, lost: Lost, numbers: Sequence[int]) -> None:
        for error in lost:
            for number in numbers:
                self.rows.row(number).lose(Problem.of(error))
        lost.clear()
