"""A table of the columnar index, looked up as any index: `Index` over Parquet files.

Of each part only the row groups are read whose least and greatest `url_surtkey` let them hold a wanted key: first their
keys, and the other columns only where a key is wanted. Captures come out as lines of CDXJ, with the fields in the order
of Common Crawl's. A part is sorted by key, and by nothing else: so lines of equal keys are sorted here. A part that is
not sorted is read as a whole, and its lines are sorted on disk if they are many.
"""

from __future__ import annotations

import heapq
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.capture import FIELDS
from crawlmill.indexes.columnar.layout import COLUMNS
from crawlmill.indexes.columnar.table import TablePart
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import Sweep, union
from crawlmill.sorting import sort_lines
from crawlmill.urls.patterns import KeyRange

__all__ = ["TableIndex"]

_KEY: Final = "url_surtkey"
_TIME: Final = "fetch_time"
_COLUMN_OF: Final = {column.field: column.name for column in COLUMNS if column.field is not None}
_WANTED: Final[dict[str, str]] = {name: _COLUMN_OF[name] for name in FIELDS if name in _COLUMN_OF}
_CHUNK: Final = 1 << 18
_SORTED_BYTES: Final = 64 << 20
_AFTER_KEY: Final = b" :"  # greater than a key, a blank and any timestamp


class TableIndex:
    """A table as an `Index`.

    Args:
        name: What it is called.
        parts: Its files.
        open_source: Opens a file.
        on_problem: Called with what is lost.
    """

    format = "parquet"
    reads_through = False
    shares_blocks = True
    in_line_order = True

    def __init__(
        self, name: str, parts: list[TablePart], open_source: Callable[[str], Source], on_problem: OnProblem
    ) -> None:
        self._name, self._parts, self._open_source = name, parts, open_source
        self._losses = Losses.of(on_problem)
        self._opened: dict[str, _PartFile | None] = {}

    @property
    def name(self) -> str:
        """As `Index.name`."""
        return self._name

    def plan(self, queries: Sequence[Query]) -> Plan:
        """As `Index.plan`: a block is a row group, with the columns that are read of it."""
        wanted = union(queries)
        found: list[Part] = []
        for part in self._parts:
            if (file := self._file(part)) is not None:
                groups = file.groups(wanted)
                found += [Part(part.location, file.offset_of(each), (file.bytes_of(each),)) for each in groups]
        return Plan(tuple(found))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """As `Index.captures`, merged over all parts by the bytes of lines."""
        if not queries:
            return
        ranges = union(queries)
        chosen = None if plan is None else {(part.file, part.offset) for part in plan.parts}
        streams = [self._lines(part, ranges, chosen) for part in self._parts]
        merged = streams[0] if len(streams) == 1 else heapq.merge(*streams)
        yield from Sweep(queries).cut_all(_chunks(merged))

    def _lines(self, part: TablePart, ranges: list[KeyRange], chosen: set[tuple[str, int]] | None) -> Iterator[bytes]:
        file = self._file(part)
        if file is None:
            return
        groups = [
            group for group in file.groups(ranges)
            if chosen is None or (part.location, file.offset_of(group)) in chosen
        ]  # fmt: skip
        lines = (line for group in groups for line in self._lines_of_group(file, part, group, ranges))
        if file.is_sorted(groups):
            # Sorted by key; what stands behind the key is in any order.
            for _, same in groupby(lines, lambda line: line.partition(b" ")[0]):
                yield from sorted(same)
            return
        with tempfile.TemporaryDirectory() as folder, sort_lines(lines, Path(folder), _SORTED_BYTES) as in_order:
            yield from in_order

    def _lines_of_group(self, file: _PartFile, part: TablePart, group: int, ranges: list[KeyRange]) -> Iterator[bytes]:
        try:
            lines = file.lines(group, ranges)
        except (FormatError, SourceError) as error:
            self._losses.add(error, part.location)
            return
        except (pa.ArrowException, OSError) as error:
            self._losses.add(file.failure(error), part.location)
            return
        before = b""
        for line in lines:
            key = line.partition(b" ")[0]
            if key < before:  # within a group that says nothing of its order
                yield from sorted(lines)
                return
            before = key
        yield from lines

    def _file(self, part: TablePart) -> _PartFile | None:
        """The file of a part, whose footer is read once; None if it cannot be, which is told."""
        if part.location not in self._opened:
            source = self._open_source(part.location)
            file = _PartFile(source)
            try:
                file.open()
                self._opened[part.location] = file
            except (FormatError, SourceError) as error:
                self._losses.add(error, part.location)
                self._opened[part.location] = None
            except (pa.ArrowException, OSError) as error:
                self._losses.add(file.failure(error), part.location)
                self._opened[part.location] = None
        return self._opened[part.location]


class _PartFile:
    """A part that is open: its footer, and the lines of its row groups."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stream = _Ranges(source)

    def open(self) -> None:
        self._file = pq.ParquetFile(pa.PythonFile(self._stream, mode="r"), pre_buffer=True)
        self._meta = self._file.metadata
        schema = self._file.schema_arrow
        self._columns = {name: column for name, column in _WANTED.items() if column in schema.names}
        names = [self._meta.schema.column(n).path for n in range(self._meta.num_columns)]
        missing = [name for name in (_KEY, _TIME, "url") if name not in names]
        if missing:
            raise FormatError(
                "a part of the table lacks columns", reason="unsupported-format", source=self._source.name,
                expected=f"{_KEY}, {_TIME}, url", actual=f"no {', '.join(missing)}",
            )  # fmt: skip
        time = schema.field(_TIME).type
        if not pa.types.is_timestamp(time):
            raise FormatError(
                "a part of the table has no times", reason="unsupported-format", source=self._source.name,
                expected="a timestamp", actual=str(time),
            )  # fmt: skip
        self._places = {name: n for n, name in enumerate(names)}

    def failure(self, error: Exception) -> FormatError | SourceError:
        problem, self._stream.problem = self._stream.problem, None
        if problem is not None:
            return problem
        return FormatError(
            "a part of the table is damaged", reason="bad-header", source=self._source.name,
            actual=" ".join(str(error).split())[:200],
        )  # fmt: skip

    def _bounds(self, group: int) -> tuple[bytes, bytes] | None:
        statistics = self._meta.row_group(group).column(self._places[_KEY]).statistics
        if statistics is None or not statistics.has_min_max:
            return None
        try:
            low, high = _encoded(statistics.min), _encoded(statistics.max)
        except ValueError:  # texts that are not UTF-8
            return None
        return low, high

    def groups(self, ranges: list[KeyRange]) -> list[int]:
        """The row groups that may hold wanted lines."""
        found = []
        for group in range(self._meta.num_row_groups):
            bounds = self._bounds(group)
            if bounds is None or any(low < bounds[1] + _AFTER_KEY and high > bounds[0] + b" " for low, high in ranges):
                found.append(group)
        return found

    def is_sorted(self, groups: list[int]) -> bool:
        """Whether the keys of these groups follow each other."""
        bounds = [self._bounds(group) for group in groups]
        if len(bounds) > 1 and None in bounds:
            return False
        return all(a[1] <= b[0] for a, b in pairwise(bounds) if a and b)

    def offset_of(self, group: int) -> int:
        column = self._meta.row_group(group).column(self._places[_KEY])
        return int(column.dictionary_page_offset or column.data_page_offset)

    def bytes_of(self, group: int) -> int:
        wanted = [_KEY, _TIME, *self._columns.values()]
        meta = self._meta.row_group(group)
        return sum(meta.column(self._places[name]).total_compressed_size for name in wanted)

    def lines(self, group: int, ranges: list[KeyRange]) -> list[bytes]:
        """The lines of a row group whose keys may be wanted."""
        keys = self._file.read_row_group(group, columns=[_KEY], use_threads=False)[_KEY].cast(pa.binary())
        if keys.null_count:
            raise FormatError(f"{keys.null_count} rows without a key", reason="bad-header", source=self._source.name)
        mask = None
        for low, high in ranges:
            here = pc.and_(
                pc.greater_equal(keys, pa.scalar(low.partition(b" ")[0], pa.binary())),
                pc.less_equal(keys, pa.scalar(high, pa.binary())),
            )
            mask = here if mask is None else pc.or_(mask, here)
        if mask is None or not pc.any(mask).as_py():
            return []
        names = [_TIME, *self._columns.values()]
        table = self._file.read_row_group(group, columns=names, use_threads=False).filter(mask)
        if table[_TIME].null_count:
            raise FormatError("rows without a time", reason="bad-header", source=self._source.name)
        try:
            return _lines_of(keys.filter(mask).to_pylist(), table, self._columns)
        except (ValueError, OverflowError) as error:  # texts that are not UTF-8, times that Python does not have
            raise FormatError("a row that is no capture", reason="bad-header", source=self._source.name,
                              actual=str(error)[:200]) from error  # fmt: skip


def _lines_of(keys: list[bytes], table: Any, columns: dict[str, str]) -> list[bytes]:
    """The lines of CDXJ of rows."""
    kind = pa.timestamp("ms", "UTC") if table[_TIME].type.tz else pa.timestamp("ms")
    times = table[_TIME].cast(kind, safe=False).to_pylist()  # what is finer than a second is not in a line
    values = [table[name].to_pylist() for name in columns.values()]
    lines = []
    for key, time, *row in zip(keys, times, *values, strict=True):
        fields = {
            name: value.decode() if isinstance(value, bytes) else str(value)
            for name, value in zip(columns, row, strict=True)
            if value is not None and not (name == "status" and value == -1)
        }  # fmt: skip
        stamp = (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y%m%d%H%M%S").zfill(14)
        lines.append(b"%s %s %s\n" % (key, stamp.encode(), json.dumps(fields).encode()))
    return lines


def _encoded(key: Any) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)


def _chunks(lines: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


class _Ranges(io.RawIOBase):
    """A source as a file of Python, whose reads are requests."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source, self._at = source, 0
        self._size: int | None = None
        self.problem: FormatError | SourceError | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def _length(self) -> int:
        if self._size is None:
            size = self._guarded(self._source.size)
            if size is None:
                self.problem = SourceError("a file without a size", reason="unavailable", source=self._source.name)
                raise OSError(str(self.problem))
            self._size = int(size)
        return self._size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = self._at if whence == io.SEEK_CUR else self._length() if whence == io.SEEK_END else 0
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = self._length() - self._at
        wanted = left if size is None or size < 0 else min(size, left)
        data: bytes = self._guarded(lambda: self._fetch(wanted)) if wanted > 0 else b""
        self._at += len(data)
        return data

    def _fetch(self, wanted: int) -> bytes:
        pieces, left = [], wanted
        with self._source.open(self._at, wanted) as stream:
            while left and (piece := stream.read(left)):
                pieces.append(piece)
                left -= len(piece)
        return b"".join(pieces)

    def _guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (FormatError, SourceError) as error:
            self.problem = error
            raise OSError(str(error)) from error
