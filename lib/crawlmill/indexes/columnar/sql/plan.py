"""Predicts how many files and bytes a query would read, from DuckDB's plans and the footers of files.

A partition counts if DuckDB scans it when it is the only one. In its files, row groups count unless statistics exclude
them, with the columns that the scan names. Conditions that are not understood exclude nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS
from crawlmill.indexes.columnar.layout import columns
from crawlmill.indexes.columnar.sql.session import SqlSession
from crawlmill.indexes.columnar.table import TablePart, partitions

__all__ = ["ReadPlan", "plan_query"]

_COLUMNS: Final = (*columns(), *HOST_COLUMNS)
_INTEGERS: Final = frozenset(each.name for each in _COLUMNS if each.type in ("int16", "int32"))
_TEXTS: Final = frozenset(each.name for each in _COLUMNS if each.type == "string")


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The files that would be opened and the bytes of columns that would be read, with the totals of the table."""

    files: int
    bytes: int
    files_total: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class _Scan:
    columns: frozenset[str]
    filters: tuple[Any, ...]


def plan_query(session: SqlSession, size_of: Callable[[str], int]) -> ReadPlan:
    """The plan of the last query of a session; `size_of` returns the size of a part in bytes."""
    files: set[str] = set()
    total = 0
    for name, parts in session.tables.items():
        for some in partitions(parts).values():
            session.make_view(name, some)
            others = [other for other in session.tables if other != name]
            for other in others:
                session.make_view(other, session.tables[other][:1])
            scans = list(_scans(session)) if session.query else []
            if scans:
                files |= {part.location for part in some}
                total += sum(_wanted_bytes(session, part, scans) for part in some)
        session.make_view(name, parts)
    every = {part.location for parts in session.tables.values() for part in parts}
    return ReadPlan(len(files), total, len(every), sum(map(size_of, sorted(every))))


def _scans(session: SqlSession) -> Iterator[_Scan]:
    (_, text), *_ = session.rows(f"EXPLAIN (FORMAT JSON) {session.query}")
    nodes: list[dict[str, Any]] = json.loads(text)
    while nodes:
        node = nodes.pop()
        nodes += node.get("children", ())
        if node.get("name", "").strip() != "READ_PARQUET":
            continue
        info = node.get("extra_info", {})
        filters = [_parsed(each) for each in _listed(info.get("Filters"))]
        known = tuple(each for each in filters if each is not None)
        named = {column.name for each in known for column in each.find_all(exp.Column)}
        yield _Scan(frozenset(_listed(info.get("Projections"))) | named, known)


def _listed(value: Any) -> list[str]:
    return [] if not value else [value] if isinstance(value, str) else list(value)


def _parsed(text: str) -> Any:
    try:
        return sqlglot.parse_one(text.removeprefix("optional: "), read="duckdb")
    except SqlglotError:
        return None


def _wanted_bytes(session: SqlSession, part: TablePart, scans: list[_Scan]) -> int:
    path = session.name_of(part).replace("'", "''")
    groups: dict[int, dict[str, tuple[Any, Any, int]]] = {}
    for group, column, low, high, size in session.rows(
        "SELECT row_group_id, path_in_schema, stats_min_value, stats_max_value, total_compressed_size "  # noqa: S608 - quoted
        f"FROM parquet_metadata('{path}')"
    ):
        groups.setdefault(group, {})[column] = (low, high, size)
    total = 0
    for chunks in groups.values():
        wanted: set[str] = set()
        for scan in scans:
            if all(_may_hold(each, chunks) for each in scan.filters):
                wanted |= scan.columns
        total += sum(size for name, (_, _, size) in chunks.items() if name in wanted)
    return total


def _may_hold(test: Any, chunks: dict[str, tuple[Any, Any, int]]) -> bool:
    """Whether a row in a row group may meet a condition, by the minimum and maximum of its columns."""
    if isinstance(test, exp.Paren):
        return _may_hold(test.this, chunks)
    if isinstance(test, exp.And):
        return _may_hold(test.left, chunks) and _may_hold(test.right, chunks)
    if isinstance(test, exp.Or):
        return _may_hold(test.left, chunks) or _may_hold(test.right, chunks)
    if isinstance(test, exp.In) and isinstance(test.this, exp.Column):
        values = [_value(test.this.name, each) for each in test.expressions]
        return any(value is None or _within("=", value, _bounds(test.this.name, chunks)) for value in values)
    sign = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}.get(type(test))
    if sign is None or not isinstance(test.this, exp.Column):
        return True
    value = _value(test.this.name, test.expression)
    return value is None or _within(sign, value, _bounds(test.this.name, chunks))


def _value(name: str, node: Any) -> int | bytes | None:
    if isinstance(node, exp.Literal) and node.is_string and name in _TEXTS:
        return str(node.this).encode()
    if isinstance(node, exp.Literal) and not node.is_string and name in _INTEGERS and node.is_int:
        return int(node.this)
    return None


def _bounds(name: str, chunks: dict[str, tuple[Any, Any, int]]) -> tuple[Any, Any] | None:
    low, high, _ = chunks.get(name, (None, None, 0))
    if low is None or high is None:
        return None
    return (int(low), int(high)) if name in _INTEGERS else (low.encode(), high.encode())


def _within(sign: str, value: Any, bounds: tuple[Any, Any] | None) -> bool:
    if bounds is None:
        return True
    low, high = bounds
    return bool(
        {"=": low <= value <= high, "<": low < value, "<=": low <= value, ">": high > value, ">=": high >= value}[sign]
    )
