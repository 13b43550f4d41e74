"""SQL on tables of captures: what the published queries give on a known table, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data import shared

from crawlmill.errors import CrawlmillError
from crawlmill.indexes.columnar.filesystem import PartFilesystem
from crawlmill.indexes.columnar.sql.patterns import between
from crawlmill.indexes.columnar.sql.results import rows_of
from crawlmill.indexes.columnar.sql.session import SqlSession
from crawlmill.indexes.columnar.table import TablePart


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of three crawls, written by pyarrow: the oldest lacks columns, and has them in another order and type."""
    folder = tmp_path_factory.mktemp("table")
    for crawl, subset, rows in (
        ("CC-A", "warc", range(4)),
        ("CC-B", "warc", range(4, 10)),
        ("CC-B", "robotstxt", [10]),
    ):
        place = folder / f"crawl={crawl}" / f"subset={subset}"
        place.mkdir(parents=True)
        columns = {
            "url_surtkey": [f"org,example)/{n:02}" for n in rows],
            "url": [f"http://example.org/{n:02}" for n in rows],
            "warc_filename": [f"f{n}.warc.gz" for n in rows],
            "warc_record_offset": pa.array([n * 10 for n in rows], pa.int64()),
            "warc_record_length": pa.array([5 for _ in rows], pa.int32()),
        }
        if crawl == "CC-B":
            columns["content_languages"] = ["isl" if n % 2 else None for n in rows]
            columns["fetch_time"] = pa.array([n * 86_400_000 for n in rows], pa.timestamp("ms", "UTC"))
        else:
            columns = dict(reversed(columns.items()))
        pq.write_table(pa.table(columns), place / "part-0.zstd.parquet", row_group_size=2)
    (folder / "_SUCCESS").touch()
    return folder


def parts_of(folder):
    return [TablePart.of(str(path)) for path in sorted(folder.rglob("*.parquet"))]


def ask(text, folder):
    with SqlSession(
        text, lambda: parts_of(folder), find_parts=lambda _: [], open_source=None, local_path=lambda place: place
    ) as session:
        result = session.run()
        return list(rows_of(result, session.guarded(result))), list(result.schema.names)


def test_parts_of_all_ages_are_one_table(table):
    rows, _ = ask(
        "SELECT crawl, subset, COUNT(*), COUNT(content_languages), MAX(fetch_time), SUM(warc_record_offset) "
        'FROM "ccindex"."ccindex" GROUP BY 1, 2 ORDER BY 1, 2',
        table,
    )
    assert rows == [
        ["CC-A", "warc", 4, 0, None, 60],
        ["CC-B", "robotstxt", 1, 0, "1970-01-11 00:00:00", 100],
        ["CC-B", "warc", 6, 3, "1970-01-10 00:00:00", 390],
    ]


def test_local_tables_need_nothing_for_remote_ones_or_parquet(table):
    command = [sys.executable, "-X", "importtime", "-m", "crawlmill", "sql", "SELECT COUNT(*) FROM ccindex"]
    done = subprocess.run([*command, "--table", str(table)], capture_output=True, check=True, text=True)
    assert done.stdout.split()[-1] == "11"
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "duckdb" in names
    assert not names & {"fsspec", "pyarrow.parquet", "crawlmill.inputs.reading"}
    assert all(line.startswith("import time:") for line in done.stderr.splitlines())


@pytest.mark.slow
def test_published_queries_run_verbatim():
    known, answers = shared("columnar/known"), json.loads(shared("columnar/answers.json").read_text())
    for path in sorted(shared("columnar/sql").glob("*.sql")):
        answer = answers.get(path.stem)
        if answer is None:
            continue
        rows, names = ask(path.read_text(), known)
        assert names == answer["columns"], path.stem
        exact = [
            n for n, name in enumerate(names)
            if name not in answer.get("entries", ()) and not any(isinstance(row[n], float) for row in answer["rows"])
            and not name.startswith("perc")
        ]  # fmt: skip
        found = sorted(json.dumps([row[n] for n in exact], sort_keys=True) for row in rows)
        assert found == sorted(json.dumps([row[n] for n in exact], sort_keys=True) for row in answer["rows"]), path.stem


def test_queries_mean_the_same_after_a_declaration():
    """A parser that takes the query for Hive, as the declaration before it is, counts groups and elements otherwise."""
    known, folder = shared("columnar/known"), shared("columnar/sql")
    declared = (folder / "cc-index-create-table-flat.sql").read_text() + "\nMSCK REPAIR TABLE ccindex;\n"
    query = (folder / "get-language-translations-url-path.sql").read_text()
    rows, _ = ask(declared + query, known)
    assert rows == ask(query, known)[0]
    assert rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("MSCK REPAIR TABLE ccindex; SELECT regexp_extract('/en/', '(?<=/)[a-z]{2}'), split('a.b', '.')[1]", [["en", "a"]]),
        ("CREATE DATABASE x; -- don't; stop\nSELECT 'a;b', 'it''s;', \"x;y\" /* ; */ FROM (VALUES 1) AS t (\"x;y\") ; -- end;",
         [["a;b", "it's;", 1]]),
        (";;SELECT 6 / 2 - 1;", [[2]]),
    ],
)  # fmt: skip
def test_statements_end_at_semicolons_that_are_not_in_names_texts_or_comments(table, text, rows):
    assert ask(text, table)[0] == rows


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("regexp_extract('abc', 'x')", None),
        ("regexp_extract('abc', '^([a-z]{2})', 1)", "ab"),
        ("regexp_extract_all('/en/fr/x', '(?<=/)[a-z]{2}(?=/)')", ["en", "fr"]),
        ("regexp_extract_all('aXbX', '[a-z](?=X)')", ["a", "b"]),
        ("regexp_like('\u00e9', '\\P{ASCII}')", True),
        ("7 / 2", 3),
        ("slice(ARRAY[1, 2, 3, 4], 2, 2)", [2, 3]),
        ("array_sort(ARRAY[3, 1, 2], (a, b) -> IF(a < b, 1, IF(a = b, 0, -1)))", [3, 2, 1]),
        ("reverse(split('a.b.c', '.'))", ["c", "b", "a"]),
        ("map_filter(histogram(x), (k, v) -> v > 1)", {"a": 2}),
        ("cardinality(histogram(x))", 2),
        ("url_decode('a%20b+c')", "a b c"),
        ("url_extract_path('http://a.example/b%20c?d#e')", "/b c"),
        ("url_extract_parameter('http://a.example/?b=1&c=2', 'c')", "2"),
    ],
)
def test_functions_mean_what_they_mean_in_presto(table, expression, value):
    rows, _ = ask(f"SELECT {expression} AS y FROM (VALUES ('a'), ('a'), (NULL), ('b')) AS t (x)" if "(x)" in expression
                  else f"SELECT {expression} AS y", table)  # fmt: skip
    assert rows == [[value]]


@pytest.mark.parametrize(
    ("joined", "rows"),
    [
        (", UNNEST(split(url, '/')) AS t (x) WHERE t.x LIKE '0%'", ["00", "01", "02", "03"]),
        ("CROSS JOIN UNNEST(split(url, '/')) AS t (x) WHERE ccindex.url LIKE '%/02' AND x <> ''",
         ["02", "example.org", "http:"]),
        (", UNNEST(filter(split(url, '/'), p -> p = '03')) AS t (x)", ["03"]),
        ("LEFT JOIN UNNEST(filter(split(url, '/'), p -> p = '03')) AS t (x) ON TRUE", ["03", None, None, None]),
        (", UNNEST(split(url, '/')) AS t (y), UNNEST(split(t.y, '.')) AS u (x) WHERE y LIKE 'e%' AND url LIKE '%0'",
         ["example", "org"]),
        (", UNNEST(split(url, '/')) WITH ORDINALITY AS t (x, n) WHERE n = 4", ["00", "01", "02", "03"]),
    ],
)  # fmt: skip
def test_rows_are_joined_with_the_elements_of_arrays(table, joined, rows):
    """Rows counted by hand: the crawl has http://example.org/00 to /03."""
    query = f"SELECT x FROM (SELECT * FROM ccindex WHERE crawl = 'CC-A') AS ccindex {joined} ORDER BY x NULLS LAST"
    found, _ = ask(query, table)
    assert [x for (x,) in found] == rows


@given(st.text("/ab-é\n", max_size=12))
def test_a_split_finds_what_look_around_finds(text):
    pattern = "(?<=/)(?:[a-z]{1,2}|-)(?=/)"
    mark, inner = between(pattern)
    pieces = [piece for piece in text.split(mark)[1:-1] if re.fullmatch(inner, piece)]
    assert pieces == re.findall(pattern, text)
    assert between("(?<=/).*(?=/)") is between("(?<=/)[^a]+(?=/)") is between("(?<=a)b(?=a)") is None


@pytest.mark.parametrize(
    "statement",
    [
        "COPY ccindex TO '{0}/x'", "SELECT * FROM '{0}/secret.csv'", "SELECT * FROM read_text('{0}/secret.csv')",
        "SELECT * FROM read_csv('{0}/secret.csv')", "SELECT 1; COPY (SELECT 1) TO '{0}/x'", "DROP VIEW ccindex",
        "ATTACH '{0}/x' AS x", "SET enable_external_access = true", "INSTALL httpfs", "PRAGMA version", "USE x",
        "CREATE TABLE x AS SELECT 1", "CREATE VIEW v AS SELECT * FROM read_text('{0}/secret.csv')", "CHECKPOINT",
        "CREATE OR REPLACE VIEW v AS SELECT * FROM read_text('{0}/secret.csv'); SELECT * FROM v",
        "SELECT (SELECT content FROM read_text('{0}/secret.csv'))", "SELECT getenv('HOME')", "INSERT INTO ccindex SELECT 1",
        "WITH t AS (SELECT * FROM glob('{0}/*')) SELECT * FROM t", "SELECT * FROM query('SELECT 1')",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}/x'", "SELECT * FROM duckdb_settings()", "SELECT write_log('x')",
        "SELECT * FROM information_schema.tables", "SELECT 1 INTO x", "DESCRIBE ccindex", "", ";",
        "FROM read_text('{0}/secret.csv')", 'TABLE "{0}/secret.csv"', "SELECT ('HOME').getenv()", "SELECT system.main.getenv('HOME')",
        "SELECT * REPLACE (getenv('HOME') AS url) FROM ccindex", "SELECT * FROM ccindex CROSS JOIN LATERAL read_text('{0}/secret.csv')",
        "WITH ccindex AS (SELECT * FROM read_text('{0}/secret.csv')) SELECT * FROM ccindex", "SELECT list_transform(['HOME'], x -> getenv(x))",
        "WITH x AS (DELETE FROM ccindex RETURNING *) SELECT * FROM x", "SELECT * FROM UNNEST((SELECT list(content) FROM read_text('{0}/secret.csv')))",
    ],
)  # fmt: skip
def test_what_does_not_only_read_the_table_is_refused(run, table, tmp_path, statement):
    (tmp_path / "secret.csv").write_text("hunter2\n")
    code, out, err = run("sql", statement.format(tmp_path), "--table", table)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert "hunter2" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELEC 1", "near '1' (line 1, column 7)"), ("SELECT (1", "line 1"), ("SELECT (", "something is missing near '('"), ("SELECT\n  nonsense FROM ccindex", "line 2, column 3"),
        ("SELECT regexp_extract(url, '(?<=h)t', 5) FROM ccindex", "Pattern has 0 groups. Cannot access group 5"), ("SELECT 1 / 0", "Division by zero"),
        ("SELECT url + 1 FROM ccindex", "types '+(VARCHAR,"), ("SELECT no_such(url) FROM ccindex", "no_such"), ("SELECT 1 FROM nowhere", "nowhere"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_with_the_place(run, table, statement, said):
    code, out, err = run("sql", statement, "--table", table)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert said in err
    assert not [word for word in ("UDF", "IndexError", "SET ") if word in err]


def test_table_that_is_unknown_where_none_is_named_says_how_to_name_one(run):
    code, out, err = run("sql", "SELECT 1 FROM 'x.parquet'")
    assert (code, out) == (1, b"")
    assert err == "crawlmill: no table 'x.parquet': expected a table that --table or --join names\n"


def test_outputs_hold_the_same_rows(run, table, tmp_path):
    text = "SELECT url, warc_filename, warc_record_offset, warc_record_length FROM ccindex WHERE subset = 'robotstxt'"
    row = ["http://example.org/10", "f10.warc.gz", 100, 5]
    names = ["url", "warc_filename", "warc_record_offset", "warc_record_length"]
    shown = {
        each: run("sql", f"-- a comment\n{text}", "--table", table, "--output", each)[1].decode()
        for each in ("table", "csv", "json", "list")
    }
    assert shown["table"].splitlines()[-1].split() == list(map(str, row))
    assert list(csv.reader(io.StringIO(shown["csv"]))) == [names, list(map(str, row))]
    assert json.loads(shown["json"]) == dict(zip(names, row, strict=True))
    assert shown["list"] == "f10.warc.gz\t100\t5\n"
    assert run("sql", text, "--table", table, "--output", "parquet", "-o", tmp_path / "x.parquet")[0] == 0
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == [dict(zip(names, row, strict=True))]
    assert run("sql", text, "--table", table, "-o", tmp_path / "x.parquet")[0] == 1
    assert run("sql", "SELECT url FROM ccindex", "--table", table, "--output", "list")[0] == 1


def test_a_plan_counts_files_and_the_bytes_of_columns_and_row_groups(run, table):
    text = "SELECT url FROM ccindex WHERE crawl = 'CC-B' AND url_surtkey = 'org,example)/05'"
    code, out, _ = run("sql", text, "--table", table, "--plan", "--output", "json")
    file = pq.ParquetFile(table / "crawl=CC-B" / "subset=warc" / "part-0.zstd.parquet").metadata
    group = file.row_group(0)
    columns = {group.column(n).path_in_schema: group.column(n).total_compressed_size for n in range(group.num_columns)}
    sizes = [path.stat().st_size for path in table.rglob("*.parquet")]
    assert (code, json.loads(out)) == (
        0, {"files": 2, "bytes": columns["url"] + columns["url_surtkey"], "files_total": 3, "bytes_total": sum(sizes)},
    )  # fmt: skip


class CountedSource:
    """A file that counts what is read of it."""

    def __init__(self, path):
        self.name, self.path, self.remote, self.spans = str(path), path, True, []

    def size(self):
        return self.path.stat().st_size

    def open(self, offset=0, length=None):
        self.spans.append((offset, length))
        return io.BytesIO(self.path.read_bytes()[offset : offset + length])


def test_of_remote_parts_only_the_needed_bytes_are_read(tmp_path):
    place = tmp_path / "crawl=C" / "subset=warc" / "part-0.parquet"
    place.parent.mkdir(parents=True)
    rows = pa.table({
        "url_surtkey": [f"k{n:05}" for n in range(40_000)],
        "url": [f"http://{n * 7919 % 1_000_003:x}.example/{n * 104_729 % 999_983:x}" for n in range(40_000)],
    })  # fmt: skip
    pq.write_table(rows, place, row_group_size=4000, compression="none", use_dictionary=False)
    sources = []

    def open_source(location):
        sources.append(CountedSource(place))
        return sources[-1]

    with SqlSession(
        "SELECT MAX(url) FROM ccindex WHERE url_surtkey = 'k10000'", lambda: [TablePart.of(str(place))],
        find_parts=lambda _: [], open_source=open_source, local_path=lambda _: None,
    ) as session:  # fmt: skip
        result = session.run()
        assert len(list(rows_of(result, session.guarded(result)))) == 1
    group = pq.ParquetFile(place).metadata.row_group(2)
    needed = sum(group.column(n).total_compressed_size for n in range(2))
    assert 0 < sum(length for _, length in sources[0].spans) <= 1.1 * needed + (16 << 10)


def test_a_part_that_cannot_be_read_ends_the_query(run, table, tmp_path):
    place = tmp_path / "crawl=C" / "subset=warc"
    place.mkdir(parents=True)
    whole = next(table.rglob("*.parquet")).read_bytes()
    (place / "part-0.parquet").write_bytes(whole)
    (place / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    code, out, err = run("sql", "SELECT MAX(url) FROM ccindex", "--table", tmp_path)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert "part-1" in err


def test_the_filesystem_knows_the_parts_alone(tmp_path):
    files = PartFilesystem(CountedSource)
    name = files.add(str(tmp_path / "a.parquet"))
    assert files.glob(name) == [name]
    assert files.glob("crawlmill://1/etc") == []
    with pytest.raises(PermissionError):
        files.open(name, "wb")


def test_no_other_command_loads_what_sql_needs():
    code = (
        "import sys; from crawlmill.cli.main import make_parser; make_parser(); "
        "print(*{name.partition('.')[0] for name in sys.modules} & {'duckdb', 'pyarrow', 'numpy', 'sqlglot'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_errors_are_ours():
    with pytest.raises(CrawlmillError, match="no SQL"):
        SqlSession("-- nothing", None, find_parts=lambda _: [], open_source=None, local_path=lambda place: place)


@pytest.mark.parametrize(
    "text",
    [
        (
            'CREATE OR REPLACE VIEW "x"" AS SELECT 1; COPY (SELECT 42 AS a) TO \'{0}\' (FORMAT parquet); --" AS SELECT 1; '
            "SELECT count(*) FROM ccindex"
        ),
        'WITH "{0}" AS (SELECT 1) SELECT count(*) FROM "{0}"',
        'SELECT * FROM (WITH "{0}" AS (SELECT 1) SELECT * FROM "{0}") a, "{0}" b',
        'SELECT array_sort(ARRAY[1, 2], ("x}}) || \'", b) -> IF("x}}) || \'" < b, 1, -1)) FROM ccindex',
    ],
)
def test_names_cannot_smuggle_statements_or_files_past_the_check(text, table, tmp_path):
    part = tmp_path / "crawl=C" / "subset=warc" / "part-0.parquet"
    part.parent.mkdir(parents=True)
    part.write_bytes(next(iter(table.rglob("*.parquet"))).read_bytes())
    before = part.read_bytes()
    try:
        rows, _ = ask(text.format(part), tmp_path)
    except CrawlmillError:
        rows = None
    assert part.read_bytes() == before
    assert rows in (None, [[4]])


def test_the_names_of_a_row_are_names_whatever_is_in_them(table):
    """In DuckDB's words they are texts between quotes."""
    odd = "a': read_text('/etc/passwd'), 'b"
    rows, _ = ask(f'SELECT CAST(ARRAY[ROW(4)] AS ARRAY(ROW("{odd}" BIGINT))) FROM ccindex LIMIT 1', table)
    assert rows == [[[{odd: 4}]]]


def test_deep_sql_and_times_beyond_pythons_are_refused_in_one_line(table):
    for text in (
        f"SELECT {'+'.join(['1'] * 4000)} FROM ccindex",
        "SELECT TIMESTAMP '20000-01-01 00:00:00' FROM ccindex",
    ):
        with pytest.raises(CrawlmillError) as caught:
            ask(text, table)
        assert "\n" not in str(caught.value)
