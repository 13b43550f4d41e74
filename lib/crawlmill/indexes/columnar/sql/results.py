"""Results as Python values, and as Parquet."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, BinaryIO

import pyarrow as pa

from crawlmill.errors import UsageError

__all__ = ["column_names", "rows_of", "write_parquet"]


def column_names(reader: Any) -> list[str]:
    """The names of a result's columns."""
    return list(reader.schema.names)


def rows_of(reader: Any, batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the rows of a result: None, texts, numbers, lists, and objects for maps and structs.

    Times are `YYYY-MM-DD HH:MM:SS` in UTC; bytes are hexadecimal, UUIDs in their usual form.
    """
    converters = [_converter(kind) for kind in reader.schema.types]
    for batch in batches:
        try:
            columns = [
                column.to_pylist()
                if convert is None
                else [None if v is None else convert(v) for v in column.to_pylist()]
                for column, convert in zip(batch.columns, converters, strict=True)
            ]
        except OverflowError as error:
            raise UsageError(f"a value that cannot be shown: {error}") from None
        yield from (list(row) for row in zip(*columns, strict=True))


def _converter(kind: Any) -> Callable[[Any], Any] | None:
    if pa.types.is_map(kind):
        key, item = _converter(kind.key_type) or _same, _converter(kind.item_type) or _same
        return lambda value: {_name(key(k)): None if v is None else item(v) for k, v in value}
    if pa.types.is_struct(kind):
        fields = {kind.field(n).name: _converter(kind.field(n).type) or _same for n in range(kind.num_fields)}
        return lambda value: {name: None if value[name] is None else fields[name](value[name]) for name in fields}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        each = _converter(kind.value_type)
        return None if each is None else lambda value: [None if v is None else each(v) for v in value]
    if pa.types.is_timestamp(kind):
        return _time
    if pa.types.is_decimal(kind):
        return _number
    if pa.types.is_floating(kind):
        return lambda value: value if math.isfinite(value) else None
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return lambda value: str(uuid.UUID(bytes=value)) if len(value) == 16 else value.hex()
    if pa.types.is_temporal(kind):
        return str
    return None


def _same(value: Any) -> Any:
    return value


def _name(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


def _time(value: datetime) -> str:
    text = value.strftime("%Y-%m-%d %H:%M:%S").zfill(19)
    return f"{text}.{value.microsecond:06}".rstrip("0") if value.microsecond else text


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() and not value.as_tuple().exponent else float(value)


def write_parquet(reader: Any, batches: Iterable[Any], file: BinaryIO) -> None:
    """Write a result as one Parquet file."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - other results do not need it

    with pq.ParquetWriter(file, reader.schema, compression="zstd", write_page_checksum=True) as writer:
        for batch in batches:
            writer.write_batch(batch)
