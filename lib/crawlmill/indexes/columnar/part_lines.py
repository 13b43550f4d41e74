"""The lines of a part of a table: from the row groups that may hold wanted keys, as lines of CDXJ, in batches.

Of a row group the keys are read first, and the other columns only if a key is wanted. Rows are converted to lines some
thousand at a time, so that memory does not grow with a row group. Lines are in the order of their keys; the rest of a
line is in any order. A row group that is not sorted by key is sorted on disk.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.capture import FIELDS
from crawlmill.indexes.columnar.layout import COLUMNS, SIBLINGS
from crawlmill.indexes.columnar.part_file import PartBytes, PartFile, ReadProblems
from crawlmill.indexes.source import Source
from crawlmill.sorting import sort_lines
from crawlmill.urls.patterns import KeyRange

__all__ = ["SORTED_BYTES", "PartLines"]

SORTED_BYTES: Final = 64 << 20
"""Bytes of lines that are sorted in memory; more go to disk."""

_KEY: Final = "url_surtkey"
_TIME: Final = "fetch_time"
_COLUMN_OF: Final = {column.field: column.name for column in COLUMNS if column.field is not None}
_WANTED: Final[dict[str, str]] = {name: _COLUMN_OF[name] for name in FIELDS if name in _COLUMN_OF}
_AFTER_KEY: Final = b" :"  # greater than the rest of a line: a blank and any timestamp
_BATCH: Final = 4096
_BUFFER: Final = 1 << 20
_TAIL: Final = 64 << 10  # the amount that pyarrow requests first
_HELD_KEYS: Final = 4 << 20


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_binary(kind)


def _is_binary(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


_NUMBERS: Final = frozenset(column.name for column in COLUMNS if column.type in ("int16", "int32"))
_KINDS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    _TIME: ("a timestamp", pa.types.is_timestamp),
    **dict.fromkeys(_NUMBERS, ("a whole number", pa.types.is_integer)),
}
"""What the columns are that are not text, and whether a type is that."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The rows of a row group whose keys may be wanted: their places, whether in order, and, if few, their keys."""

    mask: Any
    is_sorted: bool
    keys: Any


class PartLines:
    """An open part; only its footer is in memory.

    Args:
        source: The part.
        columns: The columns for the fields of lines; all must exist, and rows without a `filename` are left out.
            None: those of a table of captures, as far as they exist.

    Raises:
        SourceError, FormatError: It cannot be read, is damaged, or lacks columns.
    """

    def __init__(self, source: Source, columns: dict[str, str] | None = None) -> None:
        self._source, self._problems = source, ReadProblems()
        self._bytes = PartBytes(source, tail=_TAIL)
        try:
            self._meta = self._opened(ahead=False).metadata
            schema = self._meta.schema.to_arrow_schema()
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error
        wanted = columns or _WANTED
        self._columns = {name: column for name, column in wanted.items() if column in schema.names}
        self._placed = columns is not None
        twice = [name for name in (_KEY, _TIME, *self._columns.values()) if schema.names.count(name) > 1]
        if twice:
            raise FormatError(
                "a part of the table has two columns of one name",
                reason="unsupported-format",
                source=source.name,
                actual=twice[0],
            )
        names = [self._meta.schema.column(n).path for n in range(self._meta.num_columns)]
        needed = (_KEY, _TIME, *(columns.values() if columns else ("url",)))
        missing = [name for name in needed if name not in names]
        if missing:
            raise FormatError(
                "a part of the table lacks columns",
                reason="unsupported-format",
                source=source.name,
                expected=", ".join(needed),
                actual=f"no {', '.join(missing)}",
            )
        for name in (_KEY, _TIME, *self._columns.values()):
            kind = schema.field(name).type
            expected, is_known = _KINDS.get(_kind_name(name), ("text", _is_text))
            if not is_known(kind) and not pa.types.is_null(kind):  # a column with nothing but NULL may have no type
                raise FormatError(
                    f"the column {name} of a part of the table is of another type",
                    reason="unsupported-format",
                    source=source.name,
                    expected=expected,
                    actual=str(kind),
                )
        self._places = {name: n for n, name in enumerate(names)}

    def _opened(self, *, ahead: bool) -> Any:
        """Open the part: read ahead in a few large requests for all columns, or in pieces of 1 MiB of each."""
        stream = pa.PythonFile(PartFile(self._bytes, self._problems), mode="r")
        meta = getattr(self, "_meta", None)
        return pq.ParquetFile(
            stream,
            metadata=meta,
            pre_buffer=ahead,
            buffer_size=0 if ahead else _BUFFER,
            page_checksum_verification=True,
        )

    def _failure(self, error: Exception) -> FormatError | SourceError:
        problem = self._problems.take()
        if problem is not None:
            return problem
        return FormatError(
            "a part of the table is damaged",
            reason="bad-header",
            source=self._source.name,
            actual=" ".join(str(error).split())[:200],
        )

    def _bounds(self, group: int) -> tuple[bytes, bytes] | None:
        statistics = self._meta.row_group(group).column(self._places[_KEY]).statistics
        if statistics is None or not statistics.has_min_max:
            return None
        try:
            low, high = _encoded(statistics.min), _encoded(statistics.max)
        except ValueError:  # texts that are not UTF-8
            return None
        return low, high

    @property
    def number_of_groups(self) -> int:
        """The number of row groups."""
        return int(self._meta.num_row_groups)

    def every_line(self, group: int) -> Iterator[list[bytes]]:
        """Yield all lines of a row group, in order, some thousand at a time.

        Raises:
            SourceError, FormatError: It cannot be read or is damaged.
        """
        for batch in self._batches(group, [_KEY, _TIME, *self._columns.values()], ahead=False):
            keys = batch[_KEY].cast(pa.binary())
            if keys.null_count:
                raise FormatError(
                    f"{keys.null_count} rows without a key", reason="bad-header", source=self._source.name
                )
            yield self._lines_of_rows(keys, batch)

    def prove_rest(self, group: int) -> None:
        """Read the columns of a row group that lines do not need.

        Raises:
            SourceError, FormatError: They cannot be read or are damaged.
        """
        needed = {_KEY, _TIME, *self._columns.values()}
        for name in self._meta.schema.to_arrow_schema().names:
            if name in needed:
                continue
            try:
                for _ in self._decoded(group, [name], ahead=False):
                    pass
            except pa.ArrowNotImplementedError:
                continue  # a type that the library cannot decode
            except (pa.ArrowException, OSError) as error:
                raise self._failure(error) from error

    def groups(self, ranges: list[KeyRange]) -> list[int]:
        """The row groups that may contain wanted lines."""
        found = []
        for group in range(self._meta.num_row_groups):
            bounds = self._bounds(group)
            if bounds is None or any(low < bounds[1] + _AFTER_KEY and high > bounds[0] + b" " for low, high in ranges):
                found.append(group)
        return found

    def is_sorted(self, groups: list[int]) -> bool:
        """Whether the keys of these row groups follow each other in order."""
        bounds = [self._bounds(group) for group in groups]
        if len(bounds) > 1 and None in bounds:
            return False
        return all(a[1] <= b[0] for a, b in pairwise(bounds) if a and b)

    def offset_of(self, group: int) -> int:
        """An offset that identifies a row group."""
        column = self._meta.row_group(group).column(self._places[_KEY])
        return int(column.dictionary_page_offset or column.data_page_offset)

    def bytes_of(self, group: int) -> int:
        """The size in bytes of the columns of a row group that are read."""
        wanted = [_KEY, _TIME, *self._columns.values()]
        meta = self._meta.row_group(group)
        return sum(meta.column(self._places[name]).total_compressed_size for name in wanted)

    def lines(self, group: int, ranges: list[KeyRange], *, ahead: bool) -> Iterator[bytes]:
        """Yield the lines of a row group whose keys may be wanted, ordered by key.

        Args:
            group: The number of the row group.
            ranges: The wanted lines.
            ahead: Whether to fetch all of its columns at once, which takes the fewest requests.

        Raises:
            SourceError, FormatError: It cannot be read or is damaged.
        """
        try:
            chosen = self._choose(group, ranges, ahead=ahead)
            if chosen is None:
                return
            lines = self._lines_of(group, chosen, ahead=ahead)
            if chosen.is_sorted:
                yield from lines
                return
            with tempfile.TemporaryDirectory() as folder, sort_lines(lines, Path(folder), SORTED_BYTES) as in_order:
                yield from in_order
        except pa.ArrowException as error:
            raise self._failure(error) from error

    def _batches(self, group: int, names: list[str], *, ahead: bool) -> Iterator[Any]:
        try:
            yield from self._decoded(group, names, ahead=ahead)
        except (pa.ArrowException, OSError) as error:
            raise self._failure(error) from error

    def _decoded(self, group: int, names: list[str], *, ahead: bool) -> Iterator[Any]:
        """Read columns of a row group in batches. Raises: pa.ArrowException, OSError."""
        file = self._opened(ahead=ahead)
        yield from file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=names, use_threads=False)

    def _choose(self, group: int, ranges: list[KeyRange], *, ahead: bool) -> _Chosen | None:
        masks, kept, size, last, is_sorted = [], [], 0, b"", True
        for batch in self._batches(group, [_KEY], ahead=ahead):
            keys = batch[_KEY].cast(pa.binary())
            if keys.null_count:
                raise FormatError(
                    f"{keys.null_count} rows without a key", reason="bad-header", source=self._source.name
                )
            mask = _mask_of(keys, ranges)
            masks.append(mask)
            some = keys.filter(mask)
            if len(some):
                is_sorted = is_sorted and last <= some[0].as_py() and _is_sorted(some)
                last = some[-1].as_py()
                size += some.nbytes
                kept.append(some)
                if size > _HELD_KEYS:
                    kept.clear()
        if not size:
            return None
        mask = pa.chunked_array(masks).combine_chunks()
        return _Chosen(mask, is_sorted, pa.chunked_array(kept) if size <= _HELD_KEYS else None)

    def _lines_of(self, group: int, chosen: _Chosen, *, ahead: bool) -> Iterator[bytes]:
        names = [_TIME, *self._columns.values()]
        at = taken = 0
        for batch in self._batches(group, names if chosen.keys is not None else [_KEY, *names], ahead=ahead):
            mask = chosen.mask.slice(at, len(batch))
            at += len(batch)
            rows = batch.filter(mask)
            if not len(rows):
                continue
            if chosen.keys is None:
                keys = rows[_KEY].cast(pa.binary())
            else:
                keys = chosen.keys.slice(taken, len(rows))
                taken += len(rows)
            yield from self._lines_of_rows(keys, rows)

    def _lines_of_rows(self, keys: Any, rows: Any) -> list[bytes]:
        if rows[_TIME].null_count:
            raise FormatError("rows without a time", reason="bad-header", source=self._source.name)
        try:
            return _lines(keys.to_pylist(), rows, self._columns, placed=self._placed)
        except (ValueError, OverflowError) as error:  # texts that are not UTF-8, times out of Python's range
            raise FormatError(
                "a row that is not a capture", reason="bad-header", source=self._source.name, actual=str(error)[:200]
            ) from error


def _mask_of(keys: Any, ranges: list[KeyRange]) -> Any:
    mask = None
    for low, high in ranges:
        here = pc.and_(
            pc.greater_equal(keys, pa.scalar(low.partition(b" ")[0], pa.binary())),
            pc.less_equal(keys, pa.scalar(high, pa.binary())),
        )
        mask = here if mask is None else pc.or_(mask, here)
    return pa.array([False] * len(keys)) if mask is None else mask


def _is_sorted(keys: Any) -> bool:
    return len(keys) < 2 or bool(pc.all(pc.less_equal(keys[:-1], keys[1:])).as_py())


def _kind_name(column: str) -> str:
    """The column of a table of captures with the same type: for siblings that of WARC records."""
    kind, _, rest = column.partition("_")
    return f"warc_{rest}" if kind in SIBLINGS else column


def _lines(keys: list[bytes], rows: Any, columns: dict[str, str], *, placed: bool) -> list[bytes]:
    """The CDXJ lines of rows; `placed`: only of rows with the place of a record."""
    kind = pa.timestamp("ms", "UTC") if rows[_TIME].type.tz else pa.timestamp("ms")
    times = rows[_TIME].cast(kind, safe=False).to_pylist()  # lines have times in seconds
    values = [rows[name].to_pylist() for name in columns.values()]
    lines = []
    for key, time, *row in zip(keys, times, *values, strict=True):
        fields = {
            name: value.decode() if isinstance(value, bytes) else str(value)
            for name, value in zip(columns, row, strict=True)
            if value is not None and not (name == "status" and value == -1)
        }
        if placed and "filename" not in fields:
            continue
        stamp = (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y%m%d%H%M%S").zfill(14)
        lines.append(b"%s %s %s\n" % (key, stamp.encode(), json.dumps(fields).encode()))
    return lines


def _encoded(key: Any) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)
