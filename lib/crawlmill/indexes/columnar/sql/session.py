"""A session of SQL: tables, statements, one result. DuckDB is started here and nowhere else.

Local parts are read by DuckDB itself, which is let at these files alone; others through `filesystem`.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import duckdb
from sqlglot.errors import SqlglotError

from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.indexes.columnar.sql.functions import FUNCTIONS, register
from crawlmill.indexes.columnar.sql.presto import to_duckdb
from crawlmill.indexes.columnar.sql.statements import Statement, check, parse
from crawlmill.indexes.columnar.table import TablePart, branch, partitions, view_of
from crawlmill.indexes.source import Source

if TYPE_CHECKING:
    from crawlmill.indexes.columnar.filesystem import PartFilesystem

__all__ = ["SqlSession"]

_BATCH: Final = 8 << 10
_TABLE: Final = "ccindex"
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|(?:name|column|Column|Function with name|Table with name) ([\w.]+)")
_KIND: Final = re.compile(r"^(?:[A-Z][\w-]*(?: [A-Za-z]+)? Error): ")
_OURS: Final = re.compile(r"^Python exception occurred while executing the UDF: (?:\w+: )?")
_ADVICE: Final = re.compile(r"\. Use TRY\(.*| \(?(?:or )?SET \w+ *=.*")  # settings cannot be changed
_MORE: Final = re.compile(r"\n\s*(?:LINE \d+:|Candidate|Did you mean).*", re.DOTALL)

FindParts = Callable[[str], list[TablePart]]


class SqlSession:
    """Runs statements on tables.

    Args:
        text: The statements.
        parts: Finds the parts of the table `ccindex`, once all statements have been read; None: statements must name
            tables themselves.
        find_parts: Finds the parts of a table by a LOCATION.
        open_source: Opens a remote part.
        local_path: The path of a part on this machine; None for any other.

    Raises:
        UsageError: A statement is wrong, or does something else than read.
    """

    def __init__(
        self,
        text: str,
        parts: Callable[[], list[TablePart]] | None,
        *,
        find_parts: FindParts,
        open_source: Callable[[str], Source],
        local_path: Callable[[str], str | None],
    ) -> None:
        self.statements = parse(text)
        self._text, self._find_parts, self._local_path = text, find_parts, local_path
        self._open_source = open_source
        self._files: PartFilesystem | None = None
        self._given = None if parts is None else parts()
        self._folder = tempfile.mkdtemp(prefix="crawlmill-sql-")
        self._connection: Any = duckdb.connect(config={"custom_user_agent": "crawlmill"})
        self.tables: dict[str, list[TablePart]] = {} if self._given is None else {_TABLE: self._given}
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
        """Let go of DuckDB and what it has spilled."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _prepare(self) -> None:
        """Check all statements, make the tables, and run all statements but the last query."""
        check(self.statements, set(self.tables), cache(self._functions))
        for statement in self.statements:
            if statement.kind == "table" and statement.name:
                self.tables[statement.name] = self._given if self._given is not None else self._located(statement)
        every = [part.location for parts in self.tables.values() for part in parts]
        local = [path for each in every if (path := self._local_path(each)) is not None]
        self._names = {each: self._local_path(each) or self._remote_name(each) for each in dict.fromkeys(every)}
        self._set(local)  # after which no filesystem can be added
        self._record_ids = self._has_record_ids(local)
        for name, parts in self.tables.items():
            self.make_view(name, parts)
        queries = [each for each in self.statements if each.kind == "query"]
        for statement in self.statements:
            if statement.kind == "view":
                name = (statement.name or "").replace('"', '""')
                self._execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS {self._translated(statement)}')
            elif statement.kind == "query":
                self.query = self._translated(statement)
                if statement is not queries[-1]:
                    self._execute(self.query).fetchall()

    def _functions(self) -> set[str]:
        """The functions that statements may call; DuckDB takes some time to list its own."""
        names = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type <> 'table'"
        return {name for (name,) in self._execute(names).fetchall()} | set(FUNCTIONS) | _PRESTO

    def _remote_name(self, location: str) -> str:
        """What DuckDB calls a part that is not on this machine; with the first one it gets a filesystem for them."""
        if self._files is None:
            # Importing fsspec takes a tenth of a second, and most tables are local.
            from crawlmill.indexes.columnar.filesystem import PartFilesystem  # noqa: PLC0415

            self._files = PartFilesystem(self._open_source)
            self._connection.register_filesystem(self._files)
        return self._files.add(location)

    def _located(self, statement: Statement) -> list[TablePart]:
        if not statement.location:
            raise UsageError(f"the table {statement.name} has no LOCATION: name one with --table")
        return self._find_parts(statement.location)

    def _set(self, local: list[str]) -> None:
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in local)
        folder = self._folder.replace("'", "''")
        for statement in (
            "SET TimeZone = 'UTC'", "SET integer_division = true", "SET autoinstall_known_extensions = false",
            "SET autoload_known_extensions = false", "SET enable_progress_bar = false",
            "SET preserve_insertion_order = false", f"SET temp_directory = '{folder}'",
        ):  # fmt: skip
            self._execute(statement)
        allowed = ["crawlmill://"]
        self._execute(f"SET allowed_directories = ['{allowed[0]}', '{folder}']")
        if listed:
            self._execute(f"SET allowed_paths = [{listed}]")
        self._execute("SET enable_external_access = false")
        self._execute("SET lock_configuration = true")

    def _has_record_ids(self, local: list[str]) -> bool:
        """Whether the column is shown: a statement names it, or a local table has it."""
        if "warc_record_id" in self._text.lower():
            return True
        if not local:
            return False
        path = local[0].replace("'", "''")
        query = f"SELECT count(*) FROM parquet_schema('{path}') WHERE name = 'warc_record_id'"  # noqa: S608 - quoted
        return bool(self._execute(query).fetchall()[0][0])

    def make_view(self, name: str, parts: Sequence[TablePart]) -> None:
        """Make, or make anew, the view of a table."""
        branches = [
            branch(partition, [self._names[part.location] for part in some], record_ids=self._record_ids)
            for partition, some in partitions(parts).items()
        ]
        self._execute(view_of(name, branches, record_ids=self._record_ids))

    def name_of(self, part: TablePart) -> str:
        """What DuckDB calls a part."""
        return self._names[part.location]

    def _translated(self, statement: Statement) -> str:
        tree = statement.tree.expression if statement.kind == "view" else statement.tree
        try:
            query, functions = to_duckdb(tree, self._can_re2)
        except RecursionError:
            raise UsageError("the SQL is nested too deeply") from None
        except SqlglotError as error:
            raise UsageError(f"SQL that is not supported: {' '.join(str(error).split())[:120]}") from None
        register(self._connection, functions)
        return query

    def _can_re2(self, pattern: str) -> bool:
        try:
            self._connection.execute("SELECT regexp_matches('', ?)", [pattern]).fetchall()
        except duckdb.Error:
            return False
        return True

    def run(self) -> Any:
        """The result of the last query, as a reader of batches of Arrow; None where no statement is a query.

        Raises:
            UsageError, SourceError, FormatError: What went wrong, now or while it is read by `guarded`.
        """
        if not self.query:
            return None
        try:
            return self._connection.sql(self.query).to_arrow_reader(_BATCH)
        except duckdb.Error as error:
            failure = self.failure(error)
        raise failure

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small query of our own."""
        found: list[tuple[Any, ...]] = self._execute(query).fetchall()
        return found

    def _execute(self, statement: str) -> Any:
        try:
            if len(duckdb.extract_statements(statement)) != 1:  # whatever names it was made of: one was checked
                raise UsageError("a name that is not supported", actual=repr(statement[:60]))
            return self._connection.execute(statement)
        except duckdb.Error as error:
            failure = self.failure(error)
        raise failure

    def guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of a result; errors are ours."""
        while True:
            try:
                batch = next(batches, None)
            except (duckdb.Error, OSError) as error:
                failure: CrawlmillError = self.failure(error)
            else:
                if batch is None:
                    return
                yield batch
                continue
            raise failure

    def failure(self, error: Exception) -> CrawlmillError:
        """What an error of DuckDB says, in one line, with the place in the statement where it can be found."""
        problem = None if self._files is None else self._files.problems.take()
        if problem is not None:
            return UsageError(f"a part of the table cannot be read: {problem}")
        if isinstance(error, duckdb.InterruptException):
            raise KeyboardInterrupt from error
        text = str(error)
        what = " ".join(_OURS.sub("", _KIND.sub("", _MORE.sub("", text))).split())
        what = _ADVICE.sub("", what)
        for location, name in self._names.items() if hasattr(self, "_names") else ():
            if name in what or name.partition("://")[2] in what:
                what = what.replace(name, location)
        return UsageError(what + self._place(text))

    def _place(self, text: str) -> str:
        for found in _QUOTED.finditer(text):
            word = found[1] or found[2]
            place = re.search(rf"\b{re.escape(word)}\b", self._text, re.IGNORECASE)
            if place is not None:
                line = self._text.count("\n", 0, place.start()) + 1
                column = place.start() - (self._text.rfind("\n", 0, place.start()) + 1) + 1
                return f" (line {line}, column {column})"
        return ""


_PRESTO: Final = frozenset({
    "map_filter", "transform_values", "transform_keys", "url_decode", "url_encode", "slice", "array_sort", "histogram",
    "cardinality", "map_entries", "levenshtein_distance", "levenshtein",
})  # fmt: skip
"""Functions that are translated, so that DuckDB need not know them."""
