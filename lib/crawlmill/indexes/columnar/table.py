"""A table: its parts, and how DuckDB reads them as one table.

A view has a branch for each partition, with `crawl` and `subset` (for the host index, `crawl`) as constants. So DuckDB
skips partitions that a query cannot match, whatever its form, before opening their files. Each part is read with the
schema of the layout, by column names: missing columns are NULL, others are left out, and times may be milliseconds or,
in older files, INT96.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from crawlmill.indexes.columnar.layout import PARTITIONED_BY, Column, partition_of_path

__all__ = ["TablePart", "branch", "partitions", "quoted", "text_of", "view_of"]

_TYPES: Final = {
    "string": "VARCHAR",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "timestamp": "TIMESTAMP",
    "uuid": "BLOB",
    "double": "DOUBLE",
}


@dataclass(frozen=True, slots=True)
class TablePart:
    """A file of a table, and its partition as far as its path has it."""

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


def branch(
    partition: tuple[str | None, str | None],
    files: Iterable[str],
    columns: Iterable[Column],
    partitioned_by: Sequence[str] = PARTITIONED_BY,
) -> str:
    """The query that reads the files of a partition."""
    folders = dict(zip(PARTITIONED_BY, partition, strict=True))
    constants = ", ".join(f"CAST({text_of(folders[name])} AS VARCHAR) AS {name}" for name in partitioned_by)
    listed = ", ".join(map(text_of, files))
    schema = ", ".join(map(_field, columns))
    # The constants come first: if a query needs no column at all, DuckDB reads the first one.
    return (
        f"SELECT {constants}, * "  # noqa: S608 - all texts are quoted
        f"FROM read_parquet([{listed}], schema=MAP {{{schema}}}, binary_as_string=true)"
    )


def view_of(
    name: str, branches: Iterable[str], columns: Iterable[Column], partitioned_by: Sequence[str] = PARTITIONED_BY
) -> str:
    """The statement that makes the view of a table."""
    names = ", ".join([*(quoted(column.name) for column in columns), *partitioned_by])
    every = " UNION ALL ".join(branches)
    return f"CREATE OR REPLACE VIEW {quoted(name)} AS SELECT {names} FROM ({every})"  # noqa: S608 - of texts quoted


def _field(column: Column) -> str:
    name = text_of(column.name)
    return f"{name}: {{name: {name}, type: '{_TYPES.get(column.type, column.type)}', default_value: NULL}}"


def quoted(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_of(value: str | None) -> str:
    """A text quoted for SQL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"
