"""A cluster (ZipNum) as an index: `cluster.idx` is bisected, then the members that may hold captures are read.

The first member that may hold a line is the one before the first row that is equal to or after it, since a row has only
the first line of its member. If rows are found out of order, all of `cluster.idx` is read and sorted in memory, so that
no line is lost; this is reported once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import le
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.bisection import Blocks, OutOfOrderError
from crawlmill.indexes.cdx.sorted_file import search
from crawlmill.indexes.cluster.checked_rows import CheckedRows, Rows
from crawlmill.indexes.cluster.key_sweep import KeySweep
from crawlmill.indexes.cluster.members import MAX_MEMBER, read_members
from crawlmill.indexes.cluster.places import Shards
from crawlmill.indexes.cluster.rows import Row, leads_to_quads, parse_rows, row_key
from crawlmill.indexes.cluster.shares import concerned_by, cut_rows
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.lines import Chunk, Order, sorted_lines
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query, ranges_of
from crawlmill.indexes.shares import LinesOfKeys, Share
from crawlmill.indexes.source import Files, Source
from crawlmill.indexes.sweep import Sweep, merged_ranges, union
from crawlmill.urls.patterns import KeyRange

__all__ = ["Cluster", "make_parts"]

_SORTABLE_BYTES: Final = 512 << 20
"""Bytes of a `cluster.idx` that is sorted in memory if it is out of order; that of a whole crawl has 150 million."""

_PART_BLOCKS: Final = 1000


class Cluster:
    """A cluster as an `Index`.

    Attributes:
        files: The files in its folder.
        holds_quads: Whether its captures point to quads (`indexes.quads`).
    """

    format = "cluster"
    in_line_order = True
    reads_through = False
    shares_blocks = True

    def __init__(self, idx: Source, size: int, files: Files, loc: str | None, on_problem: OnProblem) -> None:
        self._idx, self._size = idx, size
        self.files = files
        self.holds_quads = False
        self._shards = Shards(files, loc)
        self._losses = Losses.of(on_problem)
        self._blocks = Blocks(idx, size, key=row_key, persistent=True)
        self._sorted: list[bytes] | None = None
        self._rows_of = CheckedRows(self._shards, self._losses, idx.name)

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._idx.name

    def prime(self, head: bytes) -> None:
        """Add the first bytes of the file, which were read to detect its format."""
        self._blocks.prime(head)
        self.holds_quads = leads_to_quads(head)

    def plan(self, queries: Sequence[Query]) -> Plan:
        """See `Index.plan`."""
        ranges = union(queries)
        if self._sorted is None:
            try:
                return Plan(tuple(make_parts(row for _, row in self._rows(ranges))))
            except OutOfOrderError as error:
                self._sort(error)
        return Plan(tuple(make_parts(row for _, row in self._rows_of_sorted(ranges))))

    def shares(self, queries: Sequence[Query]) -> list[Share]:
        """See `Shareable.shares`. For very many queries `cluster.idx` is read as a whole instead of bisected."""
        each = ranges_of(queries)
        ranges = merged_ranges(chain.from_iterable(each))
        if self._sorted is None and len(ranges) * self._blocks.block_bytes > self._size < _SORTABLE_BYTES:
            self._read_rows()
        found: list[tuple[bytes, Row]] = []
        if self._sorted is None:
            try:
                found = list(self._rows(ranges))
            except OutOfOrderError as error:
                self._sort(error)
        if self._sorted is not None:
            found = list(self._rows_of_sorted(ranges))
        return cut_rows([line for line, _ in found], [row for _, row in found], each, make_parts)

    def concerned(self, error: FormatError | SourceError, queries: Sequence[Query]) -> list[int]:
        """See `Shareable.concerned`: the queries with ranges in the lost members."""
        ranges = union(queries)
        try:
            rows = [row for _, row in (self._rows if self._sorted is None else self._rows_of_sorted)(ranges)]
        except (OutOfOrderError, FormatError, SourceError):
            return list(range(len(queries)))
        starts: list[bytes | None] = [*(row.start for row in rows), None]
        lost = [
            (row.start, starts[number + 1])
            for number, row in enumerate(rows)
            if row.shard == error.source
            and (
                error.offset is None
                or row.offset == error.offset
                or (error.reason == "truncated" and row.offset > error.offset)
            )
        ]
        return concerned_by(lost, queries) if lost else list(range(len(queries)))

    def _read_rows(self) -> None:
        """Read all of `cluster.idx` if it is in order; if not, bisection detects and reports that."""
        with self._idx.open() as stream:
            pieces = iter(lambda: stream.read(1 << 20), b"")
            lines = list(parse_rows(pieces))
        if all(map(le, map(row_key, lines), map(row_key, lines[1:]))):
            self._sorted = lines
        else:
            number = next(n for n in range(1, len(lines)) if row_key(lines[n]) < row_key(lines[n - 1]))
            self._sort(OutOfOrderError(0, row_key(lines[number]), row_key(lines[number - 1])))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """See `Index.captures`."""
        try:
            plan = self.plan(queries) if plan is None else plan
        except (FormatError, SourceError) as error:
            self._losses.add(error, self._idx.name)
            return
        sweep = Sweep.of(queries)
        for chunk, in_order in self._chunks(plan):
            yield from sweep.cut(chunk) if in_order else search(chunk, queries)

    def lines_of_keys(self, keys: Sequence[bytes], plan: Plan) -> Iterator[LinesOfKeys]:
        """The lines of single keys in a plan, as returned by `captures`, for several keys together."""
        sweep = KeySweep(keys)
        for chunk, in_order in self._chunks(plan):
            found = sweep.cut(chunk) if in_order else KeySweep(keys).cut(sorted_lines(chunk))
            if found[0]:
                yield found

    def _chunks(self, plan: Plan) -> Iterator[tuple[Chunk, bool]]:
        """The lines of a plan, and whether they and all before them are in order; disorder is reported once."""
        order, in_order = Order(), True
        for chunk in read_members(plan, self._shards, self._losses):
            if in_order and (disorder := order.take(chunk)):
                in_order = False
                line, before = disorder
                self._losses.on_problem(
                    FormatError(
                        "the lines of a cluster are out of order, so that captures may be missed",
                        reason="bad-header",
                        source=self._idx.name,
                        expected=f"a line not less than {_shown(before)}",
                        actual=_shown(line),
                    )
                )
            if chunk:
                yield chunk, in_order

    def _rows(self, ranges: Iterable[KeyRange]) -> Rows:
        """The rows of `cluster.idx` whose members may hold lines within the ranges. Raises: OutOfOrderError."""
        blocks = self._blocks
        spans: list[tuple[int, int]] = []
        for low, high in ranges:
            end = blocks.find(high)
            start = blocks.line_before(blocks.find(low))
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        before = b""

        def in_order(offset: int, lines: Iterator[bytes]) -> Iterator[bytes]:
            nonlocal before
            for line in lines:
                key = row_key(line)
                if key < before:
                    raise OutOfOrderError(offset, key, before)
                before = key
                yield line

        for start, end in spans:
            lines = in_order(start, parse_rows(blocks.spans(start, end)))
            yield from self._rows_of(lines, blocks.line_from(end), is_first=start == 0)

    def _sort(self, error: OutOfOrderError) -> None:
        """Read all of `cluster.idx` and sort it. Raises: FormatError: it is too large for that."""
        told = FormatError(
            "the rows of cluster.idx are out of order; it is read whole and sorted",
            reason="bad-header",
            source=self._idx.name,
            offset=error.offset,
            expected=f"a row not less than {_shown(error.before)}",
            actual=_shown(error.line),
        )
        if self._size > _SORTABLE_BYTES:
            told.what = "the rows of cluster.idx are out of order, and too many to be sorted"
            raise told
        self._losses.on_problem(told)
        self._rows_of.is_in_order = False
        with self._idx.open() as stream:
            pieces = iter(lambda: stream.read(1 << 18), b"")
            self._sorted = sorted(parse_rows(pieces), key=row_key)

    def _rows_of_sorted(self, ranges: list[KeyRange]) -> Rows:
        """As `_rows`, by rows held in memory; the ranges are in order, without overlaps."""
        rows = self._sorted or []
        for start, end in _spans(list(map(row_key, rows)), ranges):
            yield from self._rows_of(rows[start:end], rows[end] if end < len(rows) else None, is_first=start == 0)


def _spans(keys: Sequence[bytes], ranges: Sequence[KeyRange]) -> Iterator[tuple[int, int]]:
    """The rows, by number, whose members may hold lines within the ranges, by the keys of all rows."""
    taken = 0
    if len(ranges) <= len(keys):
        for low, high in ranges:
            start, taken = max(bisect_left(keys, low) - 1, taken), bisect_left(keys, high)
            yield start, taken
        return
    highs = [high for _, high in ranges]
    for number, (key, after) in enumerate(zip(keys, [*keys[1:], None], strict=True)):
        place = bisect_right(highs, key)
        if place == len(ranges) or (after is not None and ranges[place].low > after):
            if taken < number:
                yield taken, number
            taken = number + 1
    yield taken, len(keys)


def make_parts(rows: Iterable[Row]) -> Iterator[Part]:
    """Join the rows of adjoining members to parts; a row with an impossible length becomes a part of its own."""
    first = last = None
    lengths: list[int] = []
    for row in rows:
        if (
            first is not None
            and last is not None
            and max(row.length, last.length) <= MAX_MEMBER
            and (row.shard, row.offset) == (last.shard, last.end)
            and len(lengths) < _PART_BLOCKS
        ):
            lengths.append(row.length)
        else:
            if first is not None and last is not None:
                yield Part(first.shard, first.offset, tuple(lengths), first.start, last.after)
            first, lengths = row, [row.length]
        last = row
    if first is not None and last is not None:
        yield Part(first.shard, first.offset, tuple(lengths), first.start, last.after)


def _shown(line: bytes) -> str:
    return repr(line[:80].decode("utf-8", "backslashreplace"))
