"""DuckDB in memory: it reads the files that were added, and cannot reach anything else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import duckdb

from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.indexes.columnar.sql.functions import FUNCTIONS, register
from crawlmill.indexes.columnar.sql.messages import explained
from crawlmill.indexes.source import Source

if TYPE_CHECKING:
    from crawlmill.indexes.columnar.filesystem import PartFilesystem

__all__ = ["Database"]

_BATCH: Final = 8 << 10


class Database:
    """A connection to DuckDB. Its errors become ours: one line, with the place in the user's statements.

    Args:
        text: The user's statements.
        open_source: Opens a file that is not on this machine.
    """

    def __init__(self, text: str, open_source: Callable[[str], Source]) -> None:
        self._text, self._open_source = text, open_source
        self.folder = tempfile.mkdtemp(prefix="crawlmill-sql-")
        self.names: dict[str, str] = {}
        """What DuckDB calls the files that it was told of."""
        self._files: PartFilesystem | None = None
        self._registered: set[str] = set()
        self._connection: Any = duckdb.connect(config={"custom_user_agent": "crawlmill"})

    def close(self) -> None:
        """Close DuckDB and remove its temporary files."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        shutil.rmtree(self.folder, ignore_errors=True)

    # What DuckDB may read

    def add(self, location: str, path: str | None) -> None:
        """Add a file. DuckDB reads local files by their `path`; others are read through `filesystem`."""
        self.names[location] = self._filesystem().add(location) if path is None else path

    def _filesystem(self) -> PartFilesystem:
        if self._files is None:
            # Importing fsspec takes a tenth of a second, and most tables are local.
            from crawlmill.indexes.columnar.filesystem import PartFilesystem  # noqa: PLC0415

            self._files = PartFilesystem(self._open_source)
            self._connection.register_filesystem(self._files)
        return self._files

    def lock(self, paths: list[str]) -> None:
        """Allow only these paths and the files of the filesystem, and no changes of settings; call it last."""
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        folder = self.folder.replace("'", "''")
        for statement in (
            "SET TimeZone = 'UTC'",
            "SET integer_division = true",
            "SET autoinstall_known_extensions = false",
            "SET autoload_known_extensions = false",
            "SET enable_progress_bar = false",
            "SET preserve_insertion_order = false",
            f"SET temp_directory = '{folder}'",
            f"SET allowed_directories = ['crawlmill://', '{folder}']",
            *([f"SET allowed_paths = [{listed}]"] if listed else []),
            "SET enable_external_access = false",
            "SET lock_configuration = true",
        ):
            self.execute(statement)

    # Running statements

    def execute(self, statement: str) -> Any:
        """Run one statement. Raises: UsageError."""
        try:
            if len(duckdb.extract_statements(statement)) != 1:  # names in it must not add another one
                raise UsageError("a name that is not supported", actual=repr(statement[:60]))
            return self._connection.execute(statement)
        except duckdb.Error as error:
            failure = self.failure(error)
        raise failure

    def run(self, statement: str) -> Any:
        """Like `execute`, with those of our functions that the statement calls."""
        self.register({name for name in FUNCTIONS if f"{name}(" in statement})
        return self.execute(statement)

    def register(self, functions: set[str]) -> None:
        """Make these functions of ours available to statements."""
        register(self._connection, functions - self._registered)
        self._registered |= functions

    def functions(self) -> set[str]:
        """The names of all functions, DuckDB's and ours; listing DuckDB's takes some time."""
        names = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type <> 'table'"
        return {name for (name,) in self.execute(names).fetchall()} | set(FUNCTIONS)

    def can_re2(self, pattern: str) -> bool:
        """Whether DuckDB accepts a regular expression."""
        try:
            self._connection.execute("SELECT regexp_matches('', ?)", [pattern]).fetchall()
        except duckdb.Error:
            return False
        return True

    def reader(self, query: str) -> Any:
        """The result of a query, as a reader of Arrow batches. Raises: UsageError."""
        try:
            return self._connection.sql(query).to_arrow_reader(_BATCH)
        except duckdb.Error as error:
            failure = self.failure(error)
        raise failure

    def guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of a result, with errors converted to ours."""
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
        """Convert an error of DuckDB: one line, with the place in the statement if known."""
        problem = None if self._files is None else self._files.problems.take()
        if problem is not None:
            return UsageError(f"a part of the table cannot be read: {problem}")
        if isinstance(error, duckdb.InterruptException):
            raise KeyboardInterrupt from error
        return UsageError(explained(error, self._text, self.names))
