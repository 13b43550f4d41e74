"""A sorted CDX or CDXJ file: bisected to the first line that may be wanted, and read to the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.bisection import Blocks, OutOfOrderError
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.lines import Chunk, Order, chunks_of, key_and_time, sorted_lines
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import Sweep, union

__all__ = ["SortedFile", "out_of_order", "search"]

_PIECE = 1 << 18


def out_of_order(offset: int | None, line: bytes, before: bytes, source: str | None = None) -> FormatError:
    """The error for lines that are not sorted."""
    shown = [repr(each[:80].decode("utf-8", "backslashreplace")) for each in (before, line)]
    return FormatError(
        "lines are not in the order of their bytes, so captures may be missed (LC_ALL=C sort puts them in order)",
        reason="bad-header",
        source=source,
        offset=offset,
        expected=f"a line not less than {shown[0]}",
        actual=shown[1],
    )


class SortedFile:
    """A sorted file as an `Index`."""

    in_line_order = True
    reads_through = False
    shares_blocks = True

    def __init__(self, source: Source, size: int, form: str, on_problem: OnProblem) -> None:
        self._source, self._size, self.format = source, size, form
        self._losses = Losses.of(on_problem)
        self._blocks = Blocks(source, size, key=key_and_time)
        self._disorder_told = False
        self._sampled = source.remote  # where each of the samples would cost a request

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._source.name

    def prime(self, head: bytes) -> None:
        """Add the first bytes of the file, which were read to detect its format."""
        self._blocks.prime(head)

    def plan(self, queries: Sequence[Query]) -> Plan:
        """See `Index.plan`."""
        parts: list[Part] = []
        try:
            if not self._sampled:
                self._blocks.check_samples()
                self._sampled = True
            for low, high in union(queries):
                start, end = self._blocks.find(low), self._blocks.find(high)
                if start < end:
                    parts.append(Part(self._source.name, start, (end - start,)))
        except OutOfOrderError as error:
            self._tell_disorder(error.offset, error.line, error.before)
            return Plan((Part(self._source.name, 0, (self._size,)),)) if self._size else Plan()
        return Plan(tuple(parts))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """See `Index.captures`. A file that is not in order is read from the beginning."""
        file = self._source.name
        try:
            plan = self.plan(queries) if plan is None else plan
        except (FormatError, SourceError) as error:
            self._losses.add(error, file)
            return
        if self._disorder_told:
            yield from self._search(queries, plan)
            return
        sweep, order = Sweep.of(queries), Order()
        for chunk in self._chunks(plan):
            if not self._disorder_told and (disorder := order.take(chunk)):
                self._tell_disorder(None, *disorder)
            yield from search(chunk, queries) if self._disorder_told else sweep.cut(chunk)

    def _chunks(self, plan: Plan) -> Iterator[Chunk]:
        """The lines of the plan; damage is reported."""
        for run in plan.runs():
            try:
                for part in run:
                    yield from chunks_of(self._blocks_or_stream(part))
            except (FormatError, SourceError) as error:
                self._losses.add(error, self._source.name)
                return

    def _blocks_or_stream(self, part: Part) -> Iterator[bytes]:
        if part.bytes <= _PIECE:  # mostly in memory after the bisection
            try:
                pieces = list(self._blocks.spans(part.offset, part.end))
            except OutOfOrderError as error:
                self._tell_disorder(error.offset, error.line, error.before)
            else:
                yield from pieces
                return
        with self._source.open(part.offset, part.bytes) as stream:
            left = part.bytes
            while left and (piece := stream.read(min(left, _PIECE))):
                left -= len(piece)
                yield piece
        if left:
            raise FormatError(
                "the file ends before the size it had",
                reason="truncated",
                offset=part.end - left,
                expected=f"{self._size} bytes",
            )

    def _search(self, queries: Sequence[Query], plan: Plan) -> Iterator[Found]:
        for chunk in self._chunks(plan):
            yield from search(chunk, queries)

    def _tell_disorder(self, offset: int | None, line: bytes, before: bytes) -> None:
        if not self._disorder_told:
            self._disorder_told = True
            self._losses.on_problem(out_of_order(offset or 0, line, before, self._source.name))


def search(chunk: Chunk, queries: Sequence[Query]) -> Iterator[Found]:
    """The lines of a chunk, which need not be sorted, that the queries want."""
    yield from Sweep.of(queries).cut(sorted_lines(chunk))
