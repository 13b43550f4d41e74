"""The host index and annotations: what joins what, which keys are wrong, and that published queries run."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS, surt_host_name

CRAWLS = ("CC-MAIN-2025-08", "CC-MAIN-2025-13")
V2 = "projects/host-index-testing/v2"

INTEGERS = """
warc_record_length_av warc_record_length_median fetch_200 fetch_200_lote fetch_200_lote_pct fetch_3xx fetch_4xx
fetch_5xx fetch_gone fetch_notModified fetch_other fetch_redirPerm fetch_redirTemp nutch_fetched nutch_fetched_pct
nutch_gone nutch_gone_pct nutch_notModified nutch_notModified_pct nutch_numRecords nutch_redirPerm nutch_redirPerm_pct
nutch_redirTemp nutch_redirTemp_pct nutch_unfetched nutch_unfetched_pct robots_200 robots_3xx robots_4xx robots_5xx
robots_gone robots_notModified robots_other robots_redirPerm robots_redirTemp
"""  # athena_schema.v2.sql of cc-host-index, da5e464

PUBLISHED = """SELECT
  crawl, fetch_200, fetch_200_lote, prank10, hcrank10
FROM cchost_index_testing_v2
WHERE surt_host_name = 'org,commoncrawl'
  AND url_host_tld = 'org'
ORDER BY crawl ASC
"""  # of the README of cc-host-index


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A base URL with a host index of two crawls, whose older one lacks a column, and a table of three captures."""
    folder = tmp_path_factory.mktemp("base")
    keys = []
    for number, crawl in enumerate(CRAWLS):
        keys.append(f"{V2}/crawl={crawl}/part-00000.gz.parquet")
        path = folder / keys[-1]
        path.parent.mkdir(parents=True)
        columns = {
            "surt_host_name": ["org,commoncrawl", "va,vatican"],
            "url_host_tld": ["org", "va"],
            "fetch_200": pa.array([10 * number + 3, 4], pa.int64()),
            "hcrank10": [5.5, 4.5],
        }
        pq.write_table(pa.table(columns | ({"new_in_v3": ["x", "y"]} if number else {})), path)
    (folder / f"{V2}.paths.gz").write_bytes(gzip.compress("".join(f"{key}\n" for key in keys).encode()))
    place = folder / "table" / f"crawl={CRAWLS[1]}" / "subset=warc"
    place.mkdir(parents=True)
    rows = {
        "url_surtkey": ["com,www)/", "org,commoncrawl)/a", "org,commoncrawl:8080)/b"],
        "url": ["http://www.com/", "https://commoncrawl.org/a", "http://commoncrawl.org:8080/b"],
        "url_host_name": ["www.com", "commoncrawl.org", "commoncrawl.org"],
        "fetch_time": pa.array([0, 1000, 2000], pa.timestamp("ms", "UTC")),
    }
    rows["url_surtkey"][0] = "com)/"
    pq.write_table(pa.table(rows), place / "part-0.parquet")
    return folder


@pytest.fixture(autouse=True)
def _here(base, monkeypatch):
    monkeypatch.chdir(base)


@pytest.fixture
def ask(run, base):
    """The rows of a query, as objects; the exit code; stderr."""

    def ask(text, *options):
        code, out, err = run("sql", text, "--base-url", base, "--output", "json", *options)
        return [json.loads(line) for line in out.splitlines()], code, err

    return ask


def test_columns_are_those_of_the_published_schema():
    assert [(each.name, each.type) for each in HOST_COLUMNS] == [
        *((name, "string") for name in ("surt_host_name", "url_host_registered_domain", "url_host_tld")),
        *((name, "double") for name in ("hcrank10", "prank10", "prank", "hcrank")),
        *((name, "int32") for name in INTEGERS.split()),
    ]


@pytest.mark.parametrize(
    ("host", "key"),
    [("commoncrawl.org", "org,commoncrawl"), ("www.commoncrawl.org", "org,commoncrawl"), ("www.com", "com,www"),
     ("migrants-refugees.va", "va,migrants-refugees"), ("137.184.1.0", "0,1,184,137"), ("WWW2.Example.com", "com,example")],
)  # fmt: skip
def test_hosts_have_the_keys_that_the_host_index_gives_them(host, key):
    assert surt_host_name(host) == key


def test_published_queries_on_the_host_index_run(ask):
    rows, code, _ = ask(PUBLISHED, "--table", "hostindex")
    assert code == 0
    assert rows == [
        {"crawl": crawl, "fetch_200": n, "fetch_200_lote": None, "prank10": None, "hcrank10": 5.5}
        for crawl, n in zip(CRAWLS, (3, 13), strict=True)
    ]


@pytest.mark.parametrize(
    ("table", "crawls"),
    [("hostindex", CRAWLS), ("hostindex:latest", CRAWLS[1:]), ("hostindex:2025", CRAWLS),
     ("hostindex:cc-main-2025-08", CRAWLS[:1])],
)  # fmt: skip
def test_a_host_index_is_cut_by_crawl(ask, table, crawls):
    rows, _, _ = ask("SELECT DISTINCT crawl FROM hostindex ORDER BY 1", "--table", table)
    assert [row["crawl"] for row in rows] == list(crawls)


def test_columns_that_are_new_are_shown(ask):
    rows, _, _ = ask(
        "SELECT new_in_v3 AS x FROM hostindex WHERE url_host_tld = 'va' ORDER BY crawl", "--table", "hostindex"
    )
    assert rows == [{"x": None}, {"x": "y"}]


def test_a_crawl_that_the_host_index_lacks_is_named(run, base):
    code, _, err = run("sql", "SELECT 1 FROM hostindex", "--base-url", base, "--table", "hostindex:CC-MAIN-2009-01")
    assert (code, err.count("\n")) == (1, 1)
    assert "CC-MAIN-2025-13, CC-MAIN-2025-08" in err


def test_ranks_of_the_web_graph_join_hosts_and_pages(ask, tmp_path):
    ranks = tmp_path / "cc-main-2025-host-ranks.txt.gz"
    head = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n"
    ranks.write_bytes(gzip.compress(head.encode()) + gzip.compress(b"7\t2.5E7\t3\t1.5e-9\torg.commoncrawl\n"))
    options = ("--join", f"ranks={ranks}", "--table")
    text = (
        "SELECT crawl, surt_host_name AS host, harmonicc_pos + 1 AS pos, harmonicc_val AS val FROM joined ORDER BY 1, 2"
    )
    rows, code, err = ask(text, *options, "hostindex:latest")
    assert (code, err) == (0, "")
    assert rows == [
        {"crawl": CRAWLS[1], "host": "org,commoncrawl", "pos": 8, "val": 2.5e7},
        {"crawl": CRAWLS[1], "host": "va,vatican", "pos": None, "val": None},
    ]
    rows, _, _ = ask("SELECT url, pr_pos FROM joined ORDER BY url_surtkey", *options, "table")
    assert [row["pr_pos"] for row in rows] == [None, 3, 3]


def test_both_tables_are_joined_by_host_and_crawl(ask):
    rows, _, _ = ask(
        "SELECT url_surtkey AS k, surt_host_name AS h, fetch_200 AS n FROM joined ORDER BY 1",
        "--table", "hostindex", "--table", "table",
    )  # fmt: skip
    assert rows == [
        {"k": "com)/", "h": "com,www", "n": None},
        {"k": "org,commoncrawl)/a", "h": "org,commoncrawl", "n": 13},
        {"k": "org,commoncrawl:8080)/b", "h": "org,commoncrawl", "n": 13},
    ]


def test_keys_that_are_missing_or_doubled_are_counted(ask, tmp_path):
    csv = tmp_path / "x.csv"
    csv.write_text('surt_host_name,crawl,code\n"va,vatican",CC-MAIN-2025-13,007\n"va,vatican",CC-MAIN-2025-13,1\n'
                   '"org,commoncrawl",,1\n,CC-MAIN-2025-13,"a\nb"\n')  # fmt: skip
    rows, code, err = ask(
        "SELECT h.surt_host_name AS h, x.code FROM hostindex h JOIN x USING (surt_host_name, crawl) ORDER BY 2",
        "--table", "hostindex", "--join", f"x={csv}",
    )  # fmt: skip
    assert code == 2
    assert rows == [{"h": "va,vatican", "code": "007"}, {"h": "va,vatican", "code": "1"}]
    assert err == (
        "crawlmill: annotation x: of 4 rows, 2 without a value of surt_host_name, crawl: they join nothing; "
        "2 that share 1 of the keys: they multiply the rows that they join\n"
    )


def test_pages_join_by_key_crawl_and_time(ask, tmp_path):
    table = {
        "url_surtkey": ["org,commoncrawl)/a", "org,commoncrawl:8080)/b"],
        "fetch_time": pa.array([1000, 9000], pa.timestamp("ms", "UTC")),
        "url": ["other", "names"],
    }
    place = tmp_path / f"crawl={CRAWLS[1]}"
    place.mkdir()
    pq.write_table(pa.table(table), place / "x.parquet")
    rows, code, _ = ask(
        "SELECT url, a_url FROM joined ORDER BY url_surtkey", "--table", "table", "--join", f"a={tmp_path}"
    )
    assert code == 0
    assert [row["a_url"] for row in rows] == [None, "other", None]
    _, code, err = ask("SELECT 1 FROM joined", "--table", "hostindex", "--join", f"a={tmp_path}")
    assert (code, "about pages" in err) == (1, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"www.commoncrawl.org"\t{"captures":3,"status":{"200":3}}\n["x"]\t{}\n', 3),
        ('"https://commoncrawl.org/a"\t3\n', 3),
        ('org,commoncrawl)/a 19700101000001 {"url": "https://commoncrawl.org/a", "captures": "3"}\n', 3),
        ('{"url": "https://commoncrawl.org/a", "captures": 3}\n', 3),
        ('{"host": "commoncrawl.org", "captures": 3}\n\n{"more": 1}\n', 3),
    ],
)
def test_results_of_jobs_join_back(ask, tmp_path, text, found):
    (tmp_path / "part-00000").write_text(text)
    (tmp_path / "_SUCCESS").touch()
    name = "value" if "\t3" in text else "captures"
    rows, code, _ = ask(
        f"SELECT {name} AS n FROM joined WHERE url_surtkey = 'org,commoncrawl)/a'",
        "--table", "table", "--join", f"mine={tmp_path}",
    )  # fmt: skip
    assert rows == [{"n": found}]
    assert code == (2 if len(text.splitlines()) > 1 else 0)  # lines that have no key


@pytest.mark.parametrize(
    ("join", "text", "said"),
    [
        ("x={}", "a,b\n1,2\n", "has no key"), ("x={}", "host,b\n1\n", "record 2 of an annotation: expected 2 columns, got 1"),
        ("x={}", '{"host": 1}\n"a"\t1\n', "record 2"), ("joined={}", "host\na\n", "expected a name"), ("x={}", "", "without rows"),
        ("x", "", "expected NAME=LOCATION"), ("x={}.not", "", "No such file"), ("x={}", "host,Host\n1,2\n", "different names"),
        ("x={}", b"host\n\xff\n", "not UTF-8"), ("x={}", gzip.compress(b"host\na\n" * 9999)[:-9], "annotation"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(run, base, tmp_path, join, text, said):
    path = tmp_path / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = run(
        "sql", "SELECT * FROM joined", "--base-url", base, "--table", "table", "--join", join.format(path)
    )
    assert (code, out) == (1, b"")
    assert said in err.splitlines()[-1]


def test_annotations_cannot_reach_other_files(run, base, tmp_path):
    (tmp_path / "x.csv").write_text("host\na\n")
    (tmp_path / "secret.csv").write_text("hunter2\n")
    code, out, _ = run(
        "sql", f"SELECT * FROM x, read_csv('{tmp_path}/secret.csv')", "--table", base / "table",
        "--join", f"x={tmp_path}/x.csv",
    )  # fmt: skip
    assert (code, out) == (1, b"")


def test_an_annotation_that_no_statement_names_is_not_read(ask, tmp_path):
    rows, code, _ = ask("SELECT count(*) AS n FROM ccindex", "--table", "table", "--join", f"x={tmp_path}/not-there")
    assert (rows, code) == ([{"n": 3}], 0)
