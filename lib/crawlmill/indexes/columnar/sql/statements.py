"""Parses text into SQL statements, and checks that each of them only reads the given tables.

These statements are allowed: SELECT and WITH; CREATE DATABASE, CREATE EXTERNAL TABLE and MSCK REPAIR TABLE, which
declare a table in Athena; and CREATE OR REPLACE VIEW, which lasts until the end of the run. DuckDB could write files or
read others through statements, table functions, or table names that are paths: all of these are refused before anything
runs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from crawlmill.errors import UsageError

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its parse errors become a one-line message of ours

__all__ = ["DIALECT", "Statement", "check", "names_of", "parse", "table_name"]

DIALECT: Final = "athena"

_MSCK: Final = re.compile(r"\s*MSCK\s+REPAIR\s+TABLE\s+([\w.`\"]+)\s*", re.IGNORECASE)
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_UP_TO_SEMICOLON: Final = re.compile(
    r"""(?:[^;'"`/-]|--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|[/-])*+""", re.DOTALL
)
_NO_LINE_END: Final = re.compile(r"[^\n]")
_DATABASES: Final = ("DATABASE", "SCHEMA")
_SHOWN: Final = 60

_REFUSED: Final = (
    exp.DML,
    exp.DDL,
    exp.Copy,
    exp.Command,
    exp.Drop,
    exp.Alter,
    exp.Set,
    exp.SetItem,
    exp.Pragma,
    exp.Attach,
    exp.Detach,
    exp.Use,
    exp.Into,
    exp.Lock,
    exp.Placeholder,
    exp.Parameter,
    exp.SessionParameter,
    exp.ReadCSV,
    exp.ReadParquet,
    exp.TruncateTable,
    exp.Kill,
    exp.Describe,
    exp.Show,
    exp.Analyze,
)
_DENIED: Final = re.compile(
    r"(read_|write_|query|parquet_|sniff_|glob$|getenv$|getvariable$|current_setting$|set_|pragma|duckdb_|pg_|nextval$|"
    r"currval$|add_parquet|enable_|disable_|force_|checkpoint|sleep|error$|crawlmill_|json_execute|json_serialize_plan|"
    r"from_substrait|in_search_path|txid)"
)
_UNNESTING: Final = (exp.Unnest, exp.Values, exp.Lateral, exp.Subquery)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its kind (`query`, `view`, `table`, `database`, `repair`), its tree, the name that it defines.

    `location` is that of a declared table.
    """

    kind: str
    tree: Any
    name: str | None = None
    location: str | None = None


def parse(text: str) -> list[Statement]:
    """Parse the statements of a text, in order.

    Raises:
        UsageError: It cannot be parsed, or a statement does more than read.
    """
    try:
        trees = [tree for each in _apart(text) for tree in sqlglot.parse(each, read=DIALECT)]
    except SqlglotError as error:
        raise UsageError(_syntax(error)) from None
    except RecursionError:
        raise UsageError("the SQL is nested too deeply") from None
    found = [_statement(tree) for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]
    if not found:
        raise UsageError("no SQL statement given")
    return found


def _apart(text: str) -> Iterator[str]:
    """The statements one by one, at the line and column where they are in the text.

    Athena reads some statements as Hive and all others as Trino. The parser decides which by the first of those it is
    given, so it gets them one at a time.
    """
    at = 0
    while at < len(text):
        found = _UP_TO_SEMICOLON.match(text, at)
        end = found.end() if found else len(text)
        yield _NO_LINE_END.sub(" ", text[:at]) + text[at:end]
        at = end + 1


def _syntax(error: SqlglotError) -> str:
    for each in getattr(error, "errors", None) or ():
        word = f" near {each['highlight']!r}" if each.get("highlight") else ""
        what = str(each.get("description") or "syntax error").partition(" but got <Token")[0].strip().rstrip(".")
        if "<class " in what:  # a keyword argument of the parser's own class is missing
            what = "something is missing"
        return f"the SQL cannot be read: {what}{word} (line {each.get('line')}, column {each.get('col')})"
    return f"the SQL cannot be read: {' '.join(str(error).split())}"


def _statement(tree: Any) -> Statement:
    if isinstance(tree, exp.Create):
        return _created(tree)
    if isinstance(tree, exp.Query):
        return Statement("query", tree)
    repair = _MSCK.fullmatch(_COMMENT.sub(" ", tree.sql(dialect=DIALECT)))
    if repair is not None:
        return Statement("repair", tree, repair[1].replace('"', "").replace("`", "").rpartition(".")[2].lower())
    raise _refused(tree)


def _created(tree: exp.Create) -> Statement:
    kind = str(tree.kind or "").upper()
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if not isinstance(target, exp.Table):
        raise _refused(tree)
    properties = list(tree.args["properties"].expressions) if tree.args.get("properties") else []
    if kind in _DATABASES and tree.expression is None:
        return Statement("database", tree, target.name.lower())
    if kind == "VIEW" and tree.args.get("replace") and isinstance(tree.expression, exp.Query):
        return Statement("view", tree, target.name.lower())
    if kind == "TABLE" and tree.expression is None and any(isinstance(e, exp.ExternalProperty) for e in properties):
        location = next((each.this.name for each in properties if isinstance(each, exp.LocationProperty)), None)
        return Statement("table", tree, target.name.lower(), location)
    raise _refused(tree)


def check(statements: Iterable[Statement], tables: set[str], functions: Callable[[], set[str]]) -> None:
    """Check that statements only read these tables.

    Args:
        statements: All of them.
        tables: Names of tables in lower case, in addition to names that the statements define.
        functions: Lists DuckDB's functions and ours; called only if there is a function that sqlglot does not know.

    Raises:
        UsageError: A statement does anything else.
    """
    known, schemas = set(tables), {"", "ccindex", "default"}
    for statement in statements:
        if statement.kind == "database":
            schemas.add(statement.name or "")
        elif statement.kind in ("view", "query"):
            query = statement.tree.expression if statement.kind == "view" else statement.tree
            _check_query(query, known, schemas, functions)
        elif statement.kind == "repair" and statement.name not in known:
            raise _unknown_table(statement.name or "", known)
        if statement.kind in ("view", "table"):
            known.add(statement.name or "")


def _check_query(query: Any, known: set[str], schemas: set[str], functions: Callable[[], set[str]]) -> None:
    given = {each.alias.lower() for each in query.find_all(exp.CTE)}
    if odd := next((name for name in given if not re.fullmatch(r"[\w$]+", name)), None):
        raise UsageError("a name of a query that is not supported", expected="letters and digits", actual=repr(odd))
    for node in query.walk():
        if isinstance(node, _REFUSED):
            raise _refused(node)
        if isinstance(node, exp.Table):
            _check_table(node, known | given, schemas)
        elif isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
            name = str(node.name or node.this).lower()
            if name not in functions() or _DENIED.match(name):
                raise UsageError(f"a function that is not supported: {name}")
        elif isinstance(node, exp.Func) and _DENIED.match(node.sql_name().lower()):
            raise UsageError(f"a function that is not supported: {node.sql_name().lower()}")


def _check_table(node: exp.Table, known: set[str], schemas: set[str]) -> None:
    if not isinstance(node.this, exp.Identifier):
        raise _refused(node)
    name = table_name(node)
    if name not in known or node.db.lower() not in schemas:
        raise _unknown_table(f"{node.db}.{node.name}" if node.db else node.name, known)


def table_name(node: exp.Table) -> str:
    """The name of a table without its database, in lower case."""
    return node.name.lower()


def names_of(statements: Iterable[Statement]) -> set[str]:
    """The names of all tables that statements read, in lower case."""
    return {table_name(node) for each in statements for node in each.tree.find_all(exp.Table)}


def _unknown_table(name: str, known: set[str]) -> UsageError:
    return UsageError(
        f"no table {name[:_SHOWN]!r}", expected=", ".join(sorted(known)) or "a table that --table or --join names"
    )


def _refused(node: Any) -> UsageError:
    text = " ".join(node.sql(dialect=DIALECT, comments=False).split())
    shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return UsageError(f"only statements that read the tables are allowed: {shown}")
