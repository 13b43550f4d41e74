"""Annotations: other tables about pages or hosts, joined with the index by its keys.

An annotation is about hosts (`surt_host_name`, and `crawl` if present) or about pages (`url_surtkey`, with `crawl` and
`fetch_time` if present). If its key columns have other names (`host`, `url`, the `host_rev` of the web graph, the `key`
of a job's results), the key is derived. Rows without a key join nothing, and rows with the same key multiply what they
join: both are counted and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.indexes.columnar.table import TablePart, quoted, text_of
from crawlmill.indexes.source import Source

__all__ = ["JOINED", "Annotation", "annotation_view", "as_parquet", "column_types", "joined_view", "key_problem"]

JOINED: Final = "joined"
"""The name of the table with all of its annotations."""

Execute = Callable[[str], Any]

_PARQUET: Final = b"PAR1"
_HOST: Final = "surt_host_name"
_PAGE: Final = "url_surtkey"
_TEXTS: Final = (_HOST, _PAGE, "crawl", "host_rev", "url", "host", "url_host_name", "key")
_KEYS: Final = {_HOST: ("crawl",), _PAGE: ("crawl", "fetch_time")}
_DERIVED: Final = (
    (_HOST, "host_rev", "regexp_replace(replace(lower({0}), '.', ','), '^([^,]+,.+),www[0-9]*$', '\\1')"),
    (_PAGE, "url", "crawlmill_urlkey({0})"),
    (_HOST, "host", "crawlmill_surt_host_name({0})"),
    (_HOST, "url_host_name", "crawlmill_surt_host_name({0})"),
)
"""Keys that follow from other columns: those that are tried first come first."""

_OPTIONS: Final = "union_by_name=true, hive_partitioning=false"
_INTEGER: Final = "-?(0|[1-9][0-9]{0,17})"
_DOUBLE: Final = "-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?"
_OF_HOST: Final = r"regexp_replace(split_part({0}, ')', 1), '^([^:]*):[0-9]+$', '\1')"


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation whose view exists: its key columns, and its other columns."""

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]


def as_parquet(parts: list[TablePart], open_source: Callable[[str], Source], path: str) -> list[TablePart]:
    """The parts, if they are Parquet; otherwise one part, written to `path` from their text.

    Raises:
        UsageError: They cannot be read.
    """
    sources = [open_source(part.location) for part in parts]
    try:
        with sources[0].open(0, len(_PARQUET)) as stream:
            if stream.read(len(_PARQUET)) == _PARQUET:
                return parts
        from crawlmill.indexes.columnar.annotation_rows import convert  # noqa: PLC0415 - needs pyarrow.parquet

        convert(sources, path)
    except (FormatError, SourceError) as error:
        raise UsageError(f"an annotation cannot be read: {error}") from error
    return [TablePart(path, parts[0].crawl, None)]


def column_types(execute: Execute, file: str) -> dict[str, str]:
    """The columns of a file, with DuckDB's names of their types."""
    read = f"SELECT * FROM read_parquet([{text_of(file)}], hive_partitioning=false)"  # noqa: S608 - quoted
    return {str(row[0]): str(row[1]) for row in execute(f"DESCRIBE {read}").fetchall()}


def annotation_view(
    execute: Execute, name: str, files: Sequence[tuple[TablePart, str]], *, of_text: bool
) -> Annotation:
    """Create the view of an annotation.

    Args:
        execute: Runs a statement of DuckDB.
        name: The name of the view.
        files: Its parts, with their names in DuckDB.
        of_text: All columns are text, from `annotation_rows.convert`: derive their types from their values.

    Raises:
        UsageError: It has no key.
    """
    read = _read(execute, files)
    found = {row[0]: str(row[1]) for row in execute(f"DESCRIBE {read}").fetchall()}
    shown = {
        column: f"decode({quoted(column)})" if kind == "BLOB" and column in _TEXTS else quoted(column)
        for column, kind in found.items()
    }
    if of_text:
        shown.update({each: f"CAST({quoted(each)} AS {kind})" for each, kind in _types(execute, read, found)})
    keys = _with_key(execute, name, read, shown)
    if "fetch_time" in keys:
        shown["fetch_time"] = _time(quoted("fetch_time"), found["fetch_time"])
    listed = ", ".join(f"{each} AS {quoted(column)}" for column, each in shown.items())
    execute(f"CREATE OR REPLACE TEMP VIEW {quoted(name)} AS SELECT {listed} FROM ({read})")  # noqa: S608 - quoted
    return Annotation(name, keys, tuple(column for column in shown if column not in keys))


def _read(execute: Execute, files: Sequence[tuple[TablePart, str]]) -> str:
    """The query that reads the files; crawls from their folders become a column if the files have none."""
    folders: dict[str | None, list[str]] = {}
    for part, file in files:
        folders.setdefault(part.crawl, []).append(text_of(file))
    plain = [
        f"SELECT * FROM read_parquet([{', '.join(some)}], {_OPTIONS})"  # noqa: S608 - all texts are quoted
        for some in folders.values()
    ]
    if folders.keys() != {None} and "crawl" not in {row[0] for row in execute(f"DESCRIBE {plain[0]}").fetchall()}:
        values = (f"SELECT CAST({text_of(crawl)} AS VARCHAR) AS crawl, *" for crawl in folders)
        plain = [each.replace("SELECT *", value, 1) for each, value in zip(plain, values, strict=True)]
    return " UNION ALL BY NAME ".join(plain)


def _types(execute: Execute, read: str, columns: Iterable[str]) -> Iterable[tuple[str, str]]:
    """The text columns whose values are all numbers, with the numeric type that holds them."""
    names = [name for name in columns if name not in (_HOST, _PAGE, "crawl", "fetch_time", "url", "host", "key")]
    if not names:
        return
    tests = ", ".join(
        f"count({quoted(name)}), count(*) FILTER (NOT regexp_full_match({quoted(name)}, '{pattern}'))"
        for name in names
        for pattern in (_INTEGER, _DOUBLE)
    )
    row = list(execute(f"SELECT {tests} FROM ({read})").fetchall()[0])  # noqa: S608 - quoted
    for number, name in enumerate(names):
        present, no_integer, _, no_double = row[4 * number : 4 * number + 4]
        if present and not (no_integer and no_double):
            yield name, "DOUBLE" if no_integer else "BIGINT"


def _with_key(execute: Execute, name: str, read: str, shown: dict[str, str]) -> tuple[str, ...]:
    """The key columns of an annotation; a derived key is added as a column."""
    key: str | None = next((each for each in (_PAGE, _HOST) if each in shown), None)
    if key is None:
        key, value = _derived(execute, read, shown)
        if key is None:
            raise UsageError(
                f"the annotation {name} has no key",
                expected="surt_host_name (or host, host_rev) or url_surtkey (or url)",
                actual=f"the columns {', '.join(shown)[:200]}",
            )
        first = {key: value}
        first.update(shown)
        shown.clear()
        shown.update(first)
    return (key, *(each for each in _KEYS[key] if each in shown))


def _derived(execute: Execute, read: str, shown: dict[str, str]) -> tuple[str | None, str]:
    for key, column, value in _DERIVED:
        if column in shown:
            return key, value.format(shown[column])
    if "key" not in shown:
        return None, ""
    first = execute(f"SELECT key FROM ({read}) LIMIT 1").fetchall()  # noqa: S608 - of quoted texts
    if first and "://" in str(first[0][0]):
        return _PAGE, "CASE WHEN contains(key, '://') THEN crawlmill_urlkey(key) END"
    return _HOST, "CASE WHEN NOT regexp_matches(key, '[][{}/ ]') THEN crawlmill_surt_host_name(key) END"


def _time(column: str, kind: str) -> str:
    if kind != "VARCHAR":
        return f"CAST({column} AS TIMESTAMP)"
    return f"coalesce(try_strptime({column}, '%Y%m%d%H%M%S'), try_cast(replace({column}, 'Z', '') AS TIMESTAMP))"


def key_problem(execute: Execute, annotation: Annotation) -> str | None:
    """What is wrong with the keys of an annotation, as one line with counts; None if nothing is."""
    view, keys = quoted(annotation.name), [quoted(key) for key in annotation.keys]
    missing = " OR ".join(f"{key} IS NULL" for key in keys) + f" OR CAST({keys[0]} AS VARCHAR) = ''"
    listed = ", ".join(keys)
    (rows, lost, doubled, many) = execute(
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (lost), 0), "  # noqa: S608 - all names are quoted
        "count(*) FILTER (n > 1 AND NOT lost), coalesce(sum(n) FILTER (n > 1 AND NOT lost), 0) "
        f"FROM (SELECT {listed}, {missing} AS lost, count(*) AS n FROM {view} GROUP BY ALL)"
    ).fetchall()[0]
    said = []
    if lost:
        said.append(f"{lost} without a value of {', '.join(annotation.keys)}: they join nothing")
    if doubled:
        said.append(f"{many} that share {doubled} of the keys: they multiply the rows that they join")
    return f"annotation {annotation.name}: of {rows} rows, {'; '.join(said)}" if said else None


def joined_view(
    execute: Execute, tables: Sequence[tuple[str, Sequence[str]]], annotations: Iterable[Annotation]
) -> None:
    """Create the view `joined`: a table with the columns of its annotations, from rows with the same key.

    Args:
        execute: Runs a statement of DuckDB.
        tables: The table's name and columns; optionally followed by the host index, which is joined too.
        annotations: The annotations to join.

    Raises:
        UsageError: An annotation is about pages, but the table is about hosts.
    """
    (left, columns), *others = tables
    pages = _PAGE in columns
    names = {column.lower() for column in columns}
    selected, joins = [f"{quoted(left)}.*"], []
    keys = (_HOST, "crawl")
    hosts = [Annotation(name, keys, tuple(c for c in every if c not in keys)) for name, every in others]
    if pages:
        names.add(_HOST)
        selected.append(f"{_host_of_page(left)} AS {_HOST}")
    for each in (*hosts, *annotations):
        if each.keys[0] == _PAGE and not pages:
            raise UsageError(f"the annotation {each.name} is about pages", expected="one about hosts, as the table is")
        own = quoted(each.name)
        for column in each.columns:
            name = f"{each.name}_{column}" if column.lower() in names else column
            names.add(name.lower())
            selected.append(f"{own}.{quoted(column)} AS {quoted(name)}")
        on = " AND ".join(f"{_left(left, key, pages)} = {own}.{quoted(key)}" for key in each.keys)
        joins.append(f" LEFT JOIN {own} ON {on}")
    execute(
        f"CREATE OR REPLACE TEMP VIEW {JOINED} AS SELECT {', '.join(selected)} "  # noqa: S608 - all names are quoted
        f"FROM {quoted(left)}{''.join(joins)}"
    )


def _left(left: str, key: str, pages: bool) -> str:
    if key == _HOST and pages:
        return _host_of_page(left)
    return f"{quoted(left)}.{quoted(key)}"


def _host_of_page(table: str) -> str:
    """The key of a page's host, the same as from `host_layout.surt_host_name`."""
    host, name = _OF_HOST.format(f"{quoted(table)}.{_PAGE}"), f"{quoted(table)}.url_host_name"
    odd = f"NOT contains({host}, ',') AND regexp_matches({name}, '^www[0-9]*[.][^.]+$')"
    return f"CASE WHEN {odd} THEN {host} || ',' || split_part({name}, '.', 1) ELSE {host} END"
