"""Building a table of the columnar index, and running the two queries of its announcement on it.

The queries are compared with DuckDB itself on the same files (loops/duckdb_loop.py): the first one unchanged, the
second one with split paths, since DuckDB cannot read its pattern. If you have Java and Common Crawl's own converter,
docs/performance.md says how to compare the job with that.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.captures import make_captures
from bench.harness import AtMost, AtMostBeyond, Comparison, Contender, Goal, lines_answer
from bench.lab import LOOPS, Lab, local_job

__all__ = ["measure"]

_LINES = {"full": 2_000_000, "medium": 500_000, "small": 20_000}
_FILES = 4
_WHERE = "crawl = 'CC-MAIN-2026-04' AND subset = 'warc'"
_LANGUAGES = "COUNT(DISTINCT lang) AS n_lang, COUNT(*) AS n_pages, histogram(lang) AS lang_counts"
_BY_DOMAIN = "GROUP BY url_host_registered_domain HAVING COUNT(*) >= 100"

_NOTHING = "SELECT 1 AS one"
_FIRST = (
    f"SELECT COUNT(*) AS count, url_host_registered_domain FROM ccindex WHERE {_WHERE} "
    f"AND url_host_tld = 'org' {_BY_DOMAIN} ORDER BY count DESC"
)
_SECOND = (
    f"SELECT url_host_registered_domain AS domain, {_LANGUAGES} FROM ccindex, "
    "UNNEST(regexp_extract_all(url_path, '(?<=/)(?:[a-z][a-z])(?=/)')) AS t (lang) "
    f"WHERE {_WHERE} AND url_host_registry_suffix = 'org' {_BY_DOMAIN} ORDER BY n_pages DESC"
)
_SECOND_OF_DUCKDB = (
    f"SELECT url_host_registered_domain AS domain, {_LANGUAGES} FROM (SELECT url_host_registered_domain, unnest("
    "list_filter(string_split(url_path, '/')[2:-2], lambda x: regexp_full_match(x, '[a-z]{2}'))) AS lang "
    f"FROM ccindex WHERE {_WHERE} AND url_host_registry_suffix = 'org') {_BY_DOMAIN} ORDER BY n_pages DESC"
)


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table for the job, and one for each query."""
    lines = _LINES[lab.corpus.scale.name]
    folder = lab.folder(f"table-{lines}", f"{lines:,} captures and their table", lambda folder: _prepare(folder, lines))
    yield lab.compare("tables", f"url_table of {lines:,} captures, two cores", lab.each_core(_job(folder, "out")), None)
    for title, ours, theirs, factor in (
        ("the first query", _FIRST, _FIRST, 1.1),
        ("the second query", _SECOND, _SECOND_OF_DUCKDB, 3),
    ):
        yield _query(lab, folder / "table", title, ours, theirs, factor)


def _prepare(folder: Path, lines: int) -> None:
    """Captures, a list of them, and their table."""
    paths = make_captures(folder / "captures", lines, _FILES)
    (folder / "captures.paths").write_text("".join(f"{path}\n" for path in paths))
    subprocess.run(_job(folder, str(folder / "table")), check=True)


def _job(folder: Path, output: str) -> list[str]:
    return local_job("url_table.py", "--quiet", "--output-dir", output, str(folder / "captures.paths"))


def _query(lab: Lab, table: Path, title: str, ours: str, theirs: str, factor: float) -> Comparison:
    command = [sys.executable, "-m", "crawlmill", "sql", "--table", str(table), "--output", "json"]
    peer = [sys.executable, str(LOOPS / "duckdb_loop.py"), str(table)]
    contenders = [
        Contender("crawlmill sql", [*command, ours], answer=lines_answer),
        Contender("crawlmill sql, SELECT 1", [*command, _NOTHING], answer=lines_answer),
        Contender("DuckDB", [*peer, theirs], answer=lines_answer),
        Contender("DuckDB, SELECT 1", [*peer, _NOTHING], answer=lines_answer),
    ]
    goals: list[Goal] = [
        AtMostBeyond("crawlmill sql", "DuckDB", ", SELECT 1", "wall", factor),
        AtMost("crawlmill sql, SELECT 1", "DuckDB, SELECT 1", "wall", 1.0),
    ]
    return lab.compare("tables", f"the announcement's queries: {title}", contenders, None, goals=goals)
