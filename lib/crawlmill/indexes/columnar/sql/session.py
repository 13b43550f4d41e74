"""A session of SQL: tables, statements, one result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

from sqlglot.errors import SqlglotError

from crawlmill.errors import UsageError
from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS, HOST_TABLES
from crawlmill.indexes.columnar.layout import PARTITIONED_BY, Column, columns
from crawlmill.indexes.columnar.sql.annotations import (
    JOINED,
    Annotation,
    annotation_view,
    as_parquet,
    column_types,
    joined_view,
    key_problem,
)
from crawlmill.indexes.columnar.sql.database import Database
from crawlmill.indexes.columnar.sql.presto import to_duckdb
from crawlmill.indexes.columnar.sql.statements import Statement, check, names_of, parse
from crawlmill.indexes.columnar.table import TablePart, branch, partitions, quoted, view_of
from crawlmill.indexes.source import Source

__all__ = ["SqlSession"]

_TABLE: Final = "ccindex"
_RESERVED: Final = (_TABLE, JOINED, *HOST_TABLES)
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")

FindParts = Callable[[str], list[TablePart]]


class SqlSession:
    """Runs statements on tables.

    Args:
        text: The statements.
        parts: Finds the parts of the table `ccindex`, called once all statements are parsed; None: statements must
        declare tables themselves.
        hosts: Finds the parts of the host index; None: it is not available.
        annotations: Functions that find the parts of annotations, by name.
        find_parts: Finds the parts of a table by its LOCATION.
        open_source: Opens a remote part.
        local_path: The path of a part on this machine; None for other parts.

    Raises:
        UsageError: A statement is invalid, or does more than read.
    """

    def __init__(
        self,
        text: str,
        parts: Callable[[], list[TablePart]] | None,
        *,
        hosts: Callable[[], list[TablePart]] | None = None,
        annotations: Mapping[str, Callable[[], list[TablePart]]] | None = None,
        find_parts: FindParts,
        open_source: Callable[[str], Source],
        local_path: Callable[[str], str | None],
    ) -> None:
        self.statements = parse(text)
        self._text, self._find_parts, self._local_path = text, find_parts, local_path
        self._open_source = open_source
        self._given = None if parts is None else parts()
        self._hosts = None if hosts is None else hosts()
        self._database = Database(text, open_source)
        self.tables: dict[str, list[TablePart]] = {} if self._given is None else {_TABLE: self._given}
        if self._hosts is not None:
            self.tables.update(dict.fromkeys(HOST_TABLES, self._hosts))
        self._wanted = dict(annotations or {})
        self._host_tables = set(HOST_TABLES) & self.tables.keys()
        self._texts: set[str] = set()  # annotations that are not Parquet
        self.annotations: list[Annotation] = []
        self.query = ""
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close DuckDB and remove its temporary files."""
        self._database.close()

    def _prepare(self) -> None:
        """Check all statements, create the tables, and run all statements except the last query."""
        database = self._database
        check(self.statements, self._known_tables(), cache(lambda: database.functions() | _PRESTO))
        for statement in self.statements:
            if statement.kind == "table" and statement.name:
                self.tables[statement.name] = self._declared(statement)
        for name, find in self._wanted.items():
            found = find()
            self.tables[name] = as_parquet(found, self._open_source, f"{database.folder}/{name}.parquet")
            if self.tables[name] is not found:
                self._texts.add(name)
        every = dict.fromkeys(part.location for parts in self.tables.values() for part in parts)
        local = {location: self._local_path(location) for location in every}
        for location, path in local.items():
            database.add(location, path)
        database.lock([path for path in local.values() if path is not None])
        self._columns = columns(record_ids=self._has_record_ids())
        self._host_columns = self._all_host_columns()
        self._make_views()
        queries = [each for each in self.statements if each.kind == "query"]
        for statement in self.statements:
            if statement.kind == "view":
                query = self._translated(statement)
                database.execute(f"CREATE OR REPLACE TEMP VIEW {quoted(statement.name or '')} AS {query}")
            elif statement.kind == "query":
                self.query = self._translated(statement)
                if statement is not queries[-1]:
                    database.execute(self.query).fetchall()

    def _known_tables(self) -> set[str]:
        """The names of tables that statements need not declare; drops annotations that no statement names."""
        for name in self._wanted:
            if not _NAME.fullmatch(name) or name in _RESERVED:
                raise UsageError(
                    "--join", expected=f"a name of a-z, 0-9 and _, not {', '.join(_RESERVED)}", actual=repr(name)
                )
        every = {*self.tables, *self._wanted} | (
            {JOINED} if self._wanted or len(self.tables) > len(HOST_TABLES) else set()
        )
        used = names_of(self.statements)
        if JOINED not in used:
            self._wanted = {name: find for name, find in self._wanted.items() if name in used}
        return every

    def _declared(self, statement: Statement) -> list[TablePart]:
        """The parts of a table declared by a statement: those of --table, if given."""
        about_hosts = "surt_host_name" in statement.tree.sql().lower()
        if about_hosts:
            self._host_tables.add(statement.name or "")
        given = self._hosts if about_hosts else self._given
        if given is not None:
            return given
        if not statement.location:
            raise UsageError(f"the table {statement.name} has no LOCATION: name one with --table")
        return self._find_parts(statement.location)

    def _make_views(self) -> None:
        for name, parts in self.tables.items():
            self.make_view(name, parts)
        if JOINED in names_of(self.statements):
            ours = {_TABLE: self._columns, HOST_TABLES[0]: self._host_columns}
            tables = [(name, [c.name for c in found]) for name, found in ours.items() if name in self.tables]
            if not tables:
                raise UsageError("nothing to join annotations with: name a table with --table")
            joined_view(self._database.execute, tables, self.annotations)

    def _has_record_ids(self) -> bool:
        """Whether to show the column: a statement names it, or a local table has it."""
        if "warc_record_id" in self._text.lower():
            return True
        captures = (parts for name, parts in self.tables.items() if name not in {*self._host_tables, *self._wanted})
        local = (self._local_path(part.location) for parts in captures for part in parts)
        path = next((each for each in local if each is not None), None)
        return path is not None and "warc_record_id" in column_types(self._database.execute, path)

    def _all_host_columns(self) -> tuple[Column, ...]:
        """The columns of the host index, plus those added in its newest part, since its schema still grows."""
        if self._hosts is None:
            return HOST_COLUMNS
        newest = self._database.names[max(self._hosts, key=lambda part: part.crawl or "").location]
        known = {column.name.lower() for column in HOST_COLUMNS} | {"crawl"}
        found = column_types(self._database.execute, newest).items()
        return (
            *HOST_COLUMNS,
            *(Column(name, kind, nullable=True) for name, kind in found if name.lower() not in known),
        )

    def make_view(self, name: str, parts: Sequence[TablePart]) -> None:
        """Create or replace the view of a table."""
        if name in self._wanted:
            files = [(part, self._database.names[part.location]) for part in parts]
            made = annotation_view(self._database.run, name, files, of_text=name in self._texts)
            self.annotations = [*(each for each in self.annotations if each.name != name), made]
            return
        about_hosts = name in self._host_tables
        every = self._host_columns if about_hosts else self._columns
        by = PARTITIONED_BY[:1] if about_hosts else PARTITIONED_BY
        branches = [
            branch(partition, [self._database.names[part.location] for part in some], every, by)
            for partition, some in partitions(parts).items()
        ]
        self._database.execute(view_of(name, branches, every, by))

    def key_problems(self) -> list[str]:
        """Problems with the keys of annotations, one line each."""
        return [line for each in self.annotations if (line := key_problem(self._database.execute, each)) is not None]

    def name_of(self, part: TablePart) -> str:
        """DuckDB's name of a part."""
        return self._database.names[part.location]

    def _translated(self, statement: Statement) -> str:
        tree = statement.tree.expression if statement.kind == "view" else statement.tree
        try:
            query, functions = to_duckdb(tree, self._database.can_re2)
        except RecursionError:
            raise UsageError("the SQL is nested too deeply") from None
        except SqlglotError as error:
            raise UsageError(f"SQL that is not supported: {' '.join(str(error).split())[:120]}") from None
        self._database.register(functions)
        return query

    def run(self) -> Any:
        """The result of the last query, as a reader of Arrow batches; None if no statement is a query.

        Raises:
            UsageError, SourceError, FormatError: An error now, or while the result is read with `guarded`.
        """
        return self._database.reader(self.query) if self.query else None

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small query of our own."""
        found: list[tuple[Any, ...]] = self._database.execute(query).fetchall()
        return found

    def guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of a result, with errors converted to ours."""
        return self._database.guarded(batches)


_PRESTO: Final = frozenset(
    {
        "map_filter",
        "transform_values",
        "transform_keys",
        "url_decode",
        "url_encode",
        "slice",
        "array_sort",
        "histogram",
        "cardinality",
        "map_entries",
        "levenshtein_distance",
        "levenshtein",
    }
)
"""Functions that are translated, so that DuckDB need not know them."""
