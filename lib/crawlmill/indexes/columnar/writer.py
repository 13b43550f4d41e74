"""Writes a part of a table: rows in the given order, in row groups of a fixed number of rows.

All row groups except the last are full. Memory is needed for one row group; rows are made from some thousand lines at a
time, or fewer if they are long. Files are like Common Crawl's: Parquet version 1, times in milliseconds, dictionaries,
statistics for every column (none if a value has more than some 4 KiB), no Arrow metadata. Their metadata has the
version of the Public Suffix List used for hosts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import accumulate, islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from crawlmill.indexes.columnar.rows import schema_of, table_of
from crawlmill.urls.suffixes import list_version

__all__ = ["PartWriter", "open_writer", "write_rows"]

_BATCH: Final = 20_000
_BATCH_BYTES: Final = 32 << 20
_GROUP: Final = 100_000
_LEVELS: Final = {"gzip": 6, "zstd": 3}


def open_writer(file: BinaryIO, schema: Any, *, version: str, compression: str) -> Any:
    """A `ParquetWriter` for a file, which it leaves open, without Arrow metadata.

    Args:
        file: The Parquet file.
        schema: Its columns.
        version: The Parquet version: `1.0` or `2.6`.
        compression: One of `layout.CODECS`.
    """
    level = _LEVELS[compression]
    return pq.ParquetWriter(
        file,
        schema,
        version=version,
        compression=compression,
        compression_level=level,
        store_schema=False,
        write_page_checksum=True,
    )


def write_rows(writer: Any, rows: Iterable[Any], value: Callable[[Any, str], Any]) -> None:
    """Write rows in the given order; memory is needed for one row group.

    Args:
        writer: From `open_writer`.
        rows: Any objects.
        value: Returns a row's value in a column, given its name; None for null.
    """
    schema, left = writer.schema, iter(rows)
    while some := list(islice(left, _GROUP)):
        columns = [pa.array([value(row, each.name) for row in some], each.type) for each in schema]
        writer.write_table(pa.table(columns, schema=schema), row_group_size=_GROUP)


class PartWriter:
    """Writes rows from lines to a file.

    Args:
        file: The Parquet file.
        rows: The maximum number of rows per row group.
        compression: One of `layout.CODECS`.
        record_ids: Whether to write `warc_record_id`.
    """

    def __init__(self, file: BinaryIO, *, rows: int, compression: str = "gzip", record_ids: bool = False) -> None:
        self._rows, self._record_ids = rows, record_ids
        self._lines: list[bytes] = []
        self._bytes = 0  # size of the lines
        self._tables: list[pa.Table] = []
        self._held = 0  # rows in tables
        schema = schema_of(record_ids=record_ids)
        self._writer = open_writer(file, schema, version="1.0", compression=compression)
        self._writer.add_key_value_metadata({"public_suffix_list": list_version()})

    def write(self, lines: list[bytes]) -> None:
        """Add lines of CDXJ in order, without line ends, as returned by `checked`."""
        at = 0
        while at < len(lines):
            some = self._fitting(lines[at : at + self._free()])
            self._lines += some
            self._bytes += sum(map(len, some))
            at += len(some)
            if not self._free() or self._bytes >= _BATCH_BYTES:
                self._take()

    def _free(self) -> int:
        """The number of lines that can still be added before rows are made."""
        return min(_BATCH, self._rows - self._held) - len(self._lines)

    def _fitting(self, lines: list[bytes]) -> list[bytes]:
        """The lines up to the one that completes the number of bytes, however calls of `write` are divided."""
        if self._bytes + sum(map(len, lines)) < _BATCH_BYTES:
            return lines
        sizes = list(accumulate(map(len, lines), initial=self._bytes))
        return lines[: bisect_left(sizes, _BATCH_BYTES)]

    def close(self) -> None:
        """Write the remaining rows and the end of the file, and leave it open."""
        self._take()
        self._write_group()
        self._writer.close()

    def _take(self) -> None:
        if self._lines:
            self._tables.append(table_of(self._lines, record_ids=self._record_ids))
            self._held += len(self._lines)
            self._lines, self._bytes = [], 0
        if self._held >= self._rows:
            self._write_group()

    def _write_group(self) -> None:
        if self._tables:
            self._writer.write_table(pa.concat_tables(self._tables), row_group_size=self._rows)
            self._tables, self._held = [], 0
