"""A table: its parts, and how DuckDB reads them as one.

A view has a branch for each partition, with `crawl` and `subset` as constants. So DuckDB skips partitions that a query
cannot match, whatever its form, before it opens any of their files. Each part is read by the schema of the layout, by
column names: missing columns are NULL, others are left out, and times may be milliseconds or the INT96 of older files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crawlmill.indexes.columnar.layout import Column, columns, partition_of_path

__all__ = ["TablePart", "branch", "partitions", "view_of"]

_TYPES: Final = {"string": "VARCHAR", "int16": "SMALLINT", "int32": "INTEGER", "timestamp": "TIMESTAMP", "uuid": "BLOB"}


@dataclass(frozen=True, slots=True)
class TablePart:
    """A file of a table, and its partition, as far as its path names one."""

    location: str
    crawl: str | None
    subset: str | None

    @classmethod
    def of(cls, location: str) -> TablePart:
        """The part at a location."""
        return cls(location, *partition_of_path(location))


def partitions(parts: Iterable[TablePart]) -> dict[tuple[str | None, str | None], list[TablePart]]:
    """The parts of each partition."""
    found: dict[tuple[str | None, str | None], list[TablePart]] = {}
    for part in parts:
        found.setdefault((part.crawl, part.subset), []).append(part)
    return found


def branch(partition: tuple[str | None, str | None], files: Iterable[str], *, record_ids: bool) -> str:
    """The query that reads the files of a partition."""
    crawl, subset = (f"CAST({_text(each)} AS VARCHAR)" for each in partition)
    listed = ", ".join(map(_text, files))
    schema = ", ".join(map(_field, columns(record_ids=record_ids)))
    # The constants come first: where a query wants no column at all, DuckDB reads the first one.
    return (
        f"SELECT {crawl} AS crawl, {subset} AS subset, * "  # noqa: S608 - all texts are quoted
        f"FROM read_parquet([{listed}], schema=MAP {{{schema}}}, binary_as_string=true)"
    )


def view_of(name: str, branches: Iterable[str], *, record_ids: bool) -> str:
    """The statement that makes the view of a table."""
    names = ", ".join(f'"{column.name}"' for column in columns(record_ids=record_ids))
    every = " UNION ALL ".join(branches)
    quoted = name.replace('"', '""')
    return f'CREATE OR REPLACE VIEW "{quoted}" AS SELECT {names}, crawl, subset FROM ({every})'  # noqa: S608 - of texts quoted


def _field(column: Column) -> str:
    return f"{_text(column.name)}: {{name: {_text(column.name)}, type: '{_TYPES[column.type]}', default_value: NULL}}"


def _text(value: str | None) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"
