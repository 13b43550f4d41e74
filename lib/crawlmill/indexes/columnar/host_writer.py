"""Writes a part of the host index: rows in the order in which they come, in row groups of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS
from crawlmill.urls.suffixes import list_version

__all__ = ["write_host_rows"]

_GROUP: Final = 100_000
_LEVELS: Final = {"gzip": 6, "zstd": 3}
_TYPES: Final = {"string": pa.string(), "int32": pa.int32(), "double": pa.float64()}
_SCHEMA: Final = pa.schema([pa.field(each.name, _TYPES[each.type], each.nullable) for each in HOST_COLUMNS])
_MAX_INT32: Final = 0x7FFFFFFF


def write_host_rows(file: BinaryIO, rows: Iterable[dict[str, Any]], *, compression: str) -> None:
    """Write a whole file, which is left open.

    Args:
        file: Takes the Parquet file.
        rows: Values by the names of columns; what is missing is null.
        compression: One of `layout.CODECS`.
    """
    left = iter(rows)
    with pq.ParquetWriter(
        file, _SCHEMA, version="1.0", compression=compression, compression_level=_LEVELS[compression],
        store_schema=False,
    ) as writer:  # fmt: skip
        writer.add_key_value_metadata({"public_suffix_list": list_version()})
        while some := list(islice(left, _GROUP)):
            columns = [pa.array([_fitting(row.get(each.name)) for row in some], each.type) for each in _SCHEMA]
            writer.write_table(pa.table(columns, schema=_SCHEMA), row_group_size=_GROUP)


def _fitting(value: Any) -> Any:
    """The value; a number that the column cannot hold is the greatest one that it can."""
    return min(value, _MAX_INT32) if isinstance(value, int) else value
