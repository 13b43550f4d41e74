"""Writes a part of the host index: rows in the given order, in row groups of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO, Final

import pyarrow as pa

from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS
from crawlmill.indexes.columnar.writer import open_writer, write_rows
from crawlmill.urls.suffixes import list_version

__all__ = ["write_host_rows"]

_TYPES: Final = {"string": pa.string(), "int32": pa.int32(), "double": pa.float64()}
_SCHEMA: Final = pa.schema([pa.field(each.name, _TYPES[each.type], each.nullable) for each in HOST_COLUMNS])
_MAX_INT32: Final = 0x7FFFFFFF


def write_host_rows(file: BinaryIO, rows: Iterable[dict[str, Any]], *, compression: str) -> None:
    """Write a whole file, and leave it open.

    Args:
        file: The Parquet file.
        rows: Values by column name; missing ones are null.
        compression: One of `layout.CODECS`.
    """
    with open_writer(file, _SCHEMA, version="1.0", compression=compression) as writer:
        writer.add_key_value_metadata({"public_suffix_list": list_version()})
        write_rows(writer, rows, lambda row, name: _fitting(row.get(name)))


def _fitting(value: Any) -> Any:
    """The value, or the largest number of its column if it is too large for it."""
    return min(value, _MAX_INT32) if isinstance(value, int) else value
