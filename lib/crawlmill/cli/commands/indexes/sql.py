"""Query the columnar index with SQL.

SQL is in the dialect of Athena (Presto) and reads the table `ccindex`, also known as "ccindex"."ccindex". Separate
statements with `;`; the result of the last query is printed. CREATE EXTERNAL TABLE … LOCATION can name tables, too.
Queries cannot write anything or read other files. This command needs the packages of the extra `columnar`:
pip install 'crawlmill[columnar]'.

TABLE is the folder of a table, a crawl (CC-MAIN-2024-10), latest, latest:3, a year, a list of Parquet files, or one
file. It can be local or on HTTP, S3 or HDFS; only the partitions, columns and row groups that are needed are read.

--table hostindex, or hostindex:CRAWL, is Common Crawl's host index, which has a row for each host of a crawl;
hostindex:DIR is a host index of your own. Its name in statements is `hostindex`. You can use both kinds of tables in
one query.

--join NAME=LOCATION adds a table about hosts or pages: Parquet, CSV, tab-separated values such as the ranks of a web
graph, JSON lines, or the results of a job. Its key is surt_host_name, and crawl if it has that column; or url_surtkey,
and crawl and fetch_time if it has them. Its name in statements is NAME; `joined` is the main table with the columns of
all joined tables added. Missing and duplicate keys are reported, and the exit code is 2.

Examples:
  crawlmill sql "SELECT url FROM ccindex WHERE url_host_tld = 'is' LIMIT 10" --table DIR
  crawlmill sql "$(cat query.sql)" --table CC-MAIN-2024-10 --output csv -o result.csv
  crawlmill sql "SELECT warc_filename, warc_record_offset, warc_record_length FROM ccindex
      WHERE content_languages = 'isl' AND subset = 'warc'" --table CC-MAIN-2024-10 --output list -o icelandic.paths
  crawlmill sql "SELECT COUNT(*) FROM ccindex WHERE url_host_tld = 'is'" --table DIR --plan
  crawlmill sql "SELECT crawl, fetch_200 FROM hostindex WHERE url_host_tld = 'org'
      AND surt_host_name = 'org,commoncrawl'" --table hostindex
  crawlmill sql "SELECT url, score FROM joined WHERE score > 3" --table DIR --join quality=scores.csv
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Final

from crawlmill.cli.arguments import make_storage
from crawlmill.cli.sql_output import OUTPUTS, check_columns, text_of
from crawlmill.errors import MissingDependency, SourceError, UsageError
from crawlmill.inputs.index_files import StoredFile
from crawlmill.inputs.tables import find_annotation, find_host_parts, find_parts, path_of
from crawlmill.mr.run.options import add_base_url
from crawlmill.storage import Storage, redact
from crawlmill.terminal.starting import Lasting
from crawlmill.terminal.text import tell

__all__ = ["add_arguments", "run"]

_HOST_INDEX: Final = "hostindex"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    add = parser.add_argument
    add("sql", metavar="SQL", help="the statements")
    add(
        "--table",
        metavar="TABLE",
        action="append",
        default=[],
        help="the table that statements know as ccindex; hostindex[:CRAWL]: the host index",
    )
    add(
        "--join",
        metavar="NAME=LOCATION",
        action="append",
        default=[],
        type=_annotation,
        help="an annotation, known as NAME (repeatable): Parquet or text with a key of hosts or pages",
    )
    add(
        "--output",
        choices=OUTPUTS,
        default="table",
        help="how rows are printed (default table); json: an object a line; list: an input list",
    )
    add("-o", dest="file", metavar="FILE", help="write to a new file, at any location")
    add("--plan", action="store_true", help="print how many files and bytes would be read, and read none of them")
    add_base_url(add, "where the tables of crawls are (default: https://data.commoncrawl.org/)")
    add("--index-url", metavar="URL", help="where collinfo.json is (default: https://index.commoncrawl.org/)")


def run(options: argparse.Namespace) -> int:
    """Run the statements."""
    if options.output == "parquet" and options.file is None and not options.plan and sys.stdout.isatty():
        raise UsageError("--output parquet is not for a terminal: name a file with -o")
    table, hosts = _tables(options.table)
    joins = dict(options.join)
    if len(joins) < len(options.join):
        raise UsageError("--join", expected="a name once", actual=", ".join(name for name, _ in options.join))
    if options.plan and joins:
        raise UsageError("--plan says nothing of annotations: leave out --join")
    with make_storage(options) as storage:
        if options.file is not None and storage.exists(options.file):
            raise UsageError(f"the file exists: {redact(options.file)}")
        session_of = _engine()
        base = options.base_url

        def find(name: str) -> Any:
            return find_parts(name, storage, base_url=base, index_url=options.index_url)

        def open_source(location: str) -> StoredFile:
            return StoredFile(location, storage)

        with session_of(
            options.sql,
            None if table is None else lambda: find(table),
            hosts=None if hosts is None else lambda: find_host_parts(hosts, storage, base_url=base),
            annotations={
                name: partial(find_annotation, place, storage, base_url=base) for name, place in joins.items()
            },
            find_parts=find,
            open_source=open_source,
            local_path=path_of,
        ) as session:
            if options.plan:
                _print_plan(session, storage, as_json=options.output == "json")
                return 0
            problems = session.key_problems()
            _print(session, storage, options.output, options.file)
    tell(*(f"crawlmill: {line}" for line in problems))
    return 2 if problems else 0


def _annotation(text: str) -> tuple[str, str]:
    name, sign, location = text.partition("=")
    if not (name and sign and location):
        raise argparse.ArgumentTypeError(f"expected NAME=LOCATION, got {text!r}")
    return name.lower(), location


def _tables(given: list[str]) -> tuple[str | None, str | None]:
    """The table of captures, and the host index: a crawl, a location, or '' for all crawls; None if not given.

    Raises:
        UsageError: One of them is given twice.
    """
    hosts = [name for name in given if name.partition(":")[0].lower() == _HOST_INDEX]
    captures = [name for name in given if name not in hosts]
    if len(hosts) > 1 or len(captures) > 1:
        raise UsageError("--table", expected="one table of captures, one host index", actual=" ".join(given))
    return (captures[0] if captures else None, hosts[0].partition(":")[2] if hosts else None)


def _engine() -> Callable[..., Any]:
    try:
        with Lasting(freeze=False):
            from crawlmill.indexes.columnar.sql.session import SqlSession  # noqa: PLC0415 - used here only
    except ImportError as error:
        raise MissingDependency(f"sql needs the package {error.name}: pip install 'crawlmill[columnar]'") from error
    return SqlSession


def _print(session: Any, storage: Storage, output: str, file: str | None) -> None:
    with Lasting(freeze=False):
        from crawlmill.indexes.columnar.sql.results import column_names, rows_of, write_parquet  # noqa: PLC0415

    result = session.run()
    if result is None:
        return
    names = column_names(result)
    check_columns(output, names)
    batches = session.guarded(result)
    with _target(storage, file) as target:
        if output == "parquet":
            write_parquet(result, batches, target)
        else:
            for text in text_of(output, names, rows_of(result, batches)):
                target.write(text.encode("utf-8", "surrogateescape"))


@contextmanager
def _target(storage: Storage, file: str | None) -> Iterator[BinaryIO]:
    if file is None:
        yield sys.stdout.buffer
        return
    try:
        with storage.write(file) as target:
            yield target
    except SourceError as error:
        raise UsageError(f"cannot write {redact(file)}: {error}") from error


def _print_plan(session: Any, storage: Storage, *, as_json: bool) -> None:
    from crawlmill.indexes.columnar.sql.plan import plan_query  # noqa: PLC0415

    try:
        plan = plan_query(session, storage.size_of)
    except SourceError as error:
        raise UsageError(f"a part of the table cannot be read: {error}") from error
    values = {
        "files": plan.files,
        "bytes": plan.bytes,
        "files_total": plan.files_total,
        "bytes_total": plan.bytes_total,
    }
    if as_json:
        sys.stdout.write(f"{json.dumps(values)}\n")
    else:
        sys.stdout.write(f"files {plan.files} of {plan.files_total}\nbytes {plan.bytes} of {plan.bytes_total}\n")
