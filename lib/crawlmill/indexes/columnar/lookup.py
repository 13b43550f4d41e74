"""Looks up captures in a table of the columnar index: an `Index` over Parquet files.

In each part only the row groups are read whose minimum and maximum `url_surtkey` allow for a wanted key. Captures
become lines of CDXJ, with fields in Common Crawl's order. A part is sorted by key only, so lines with equal keys are
sorted here. A part that is not sorted is read as a whole, and its lines are sorted, on disk if there are many. Memory
is needed for some batches of rows of each part.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.columnar.layout import SIBLINGS
from crawlmill.indexes.columnar.part_lines import SORTED_BYTES, PartLines
from crawlmill.indexes.columnar.sibling_table import sibling_fields
from crawlmill.indexes.columnar.table import TablePart
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import Sweep, union
from crawlmill.sorting import batches, sort_lines
from crawlmill.urls.patterns import KeyRange

__all__ = ["TableIndex"]

_AHEAD_BYTES: Final = 64 << 20


class TableIndex:
    """A table as an `Index`.

    Args:
        name: The name of the table.
        parts: Its files.
        open_source: Opens a file.
        on_problem: Called with each loss.
        kind: For a sibling index: whether lines have the places of `wat` or `wet` records instead of `warc`.
    """

    format = "parquet"
    reads_through = False
    shares_blocks = True
    in_line_order = True

    def __init__(
        self,
        name: str,
        parts: list[TablePart],
        open_source: Callable[[str], Source],
        on_problem: OnProblem,
        kind: str = "warc",
    ) -> None:
        self._fields = sibling_fields(kind) if kind in SIBLINGS else None
        self._name, self._parts, self._open_source = name, parts, open_source
        self._losses = Losses.of(on_problem)
        self._opened: dict[str, PartLines | None] = {}

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._name

    def plan(self, queries: Sequence[Query]) -> Plan:
        """See `Index.plan`; a block is a row group, with the columns that are read."""
        wanted = union(queries)
        found: list[Part] = []
        for part in self._parts:
            if (file := self._file(part)) is not None:
                groups = file.groups(wanted)
                found += [Part(part.location, file.offset_of(each), (file.bytes_of(each),)) for each in groups]
        return Plan(tuple(found))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """See `Index.captures`; merged over all parts by the bytes of lines."""
        if not queries:
            return
        ranges = union(queries)
        chosen = None if plan is None else {(part.file, part.offset) for part in plan.parts}
        wanted: list[tuple[TablePart, PartLines, list[int]]] = []
        for part in self._parts:
            if (file := self._file(part)) is not None:
                groups = file.groups(ranges)
                kept = [each for each in groups if chosen is None or (part.location, file.offset_of(each)) in chosen]
                if kept:
                    wanted.append((part, file, kept))
        # All parts are open at once: data of a row group fetched in one request is held until it has been used.
        ahead = sum(max(map(file.bytes_of, groups)) for _, file, groups in wanted) <= _AHEAD_BYTES
        streams = [self._lines(part, file, groups, ranges, ahead=ahead) for part, file, groups in wanted]
        merged = streams[0] if len(streams) == 1 else heapq.merge(*streams)
        yield from Sweep.of(queries).cut_all(batches(merged))

    def _lines(
        self, part: TablePart, file: PartLines, groups: list[int], ranges: list[KeyRange], *, ahead: bool
    ) -> Iterator[bytes]:
        lines = (line for group in groups for line in self._lines_of_group(file, part, group, ranges, ahead=ahead))
        if file.is_sorted(groups):
            # Sorted by key; the rest of the line is in any order.
            for _, same in groupby(lines, lambda line: line.partition(b" ")[0]):
                yield from sorted(same)
            return
        with tempfile.TemporaryDirectory() as folder, sort_lines(lines, Path(folder), SORTED_BYTES) as in_order:
            yield from in_order

    def _lines_of_group(
        self, file: PartLines, part: TablePart, group: int, ranges: list[KeyRange], *, ahead: bool
    ) -> Iterator[bytes]:
        try:
            yield from file.lines(group, ranges, ahead=ahead)
        except (FormatError, SourceError) as error:
            self._losses.add(error, part.location)

    def _file(self, part: TablePart) -> PartLines | None:
        """Open a part, whose footer is read once; None if it cannot be read, which is reported."""
        if part.location not in self._opened:
            try:
                self._opened[part.location] = PartLines(self._open_source(part.location), self._fields)
            except (FormatError, SourceError) as error:
                self._losses.add(error, part.location)
                self._opened[part.location] = None
        return self._opened[part.location]
