"""Statistics of crawls: counted by hand on small indexes, the same from archives, engines and any cut of the files."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, rows, run, run_here

from crawlmill.jobs.crawl_statistics import CrawlStatistics
from crawlmill.jobs.host_statistics import HostStatistics
from crawlmill.jobs.url_table import UrlTable

JOB = PROJECT / "jobs" / "crawl_statistics.py"
CRAWL = "CC-MAIN-2026-05"
INLINE = ("-r", "inline")


def line(url, key, *, crawl=CRAWL, folder="warc", digest="A", **fields):
    name = f"crawl-data/{crawl}/segments/1.1/{folder}/{crawl}-00000.warc.gz"
    said = {"url": url, "mime": "text/html", "status": "200", "digest": digest, "length": "9", "offset": "0"}
    said |= {"filename": name} | {field.replace("_", "-"): value for field, value in fields.items()}
    return f"{key} 20260201000000 {json.dumps({name: value for name, value in said.items() if value is not None})}\n"


LINES = [
    line("http://www.e.co.uk/", "uk,co,e)/", languages="eng,deu", charset="UTF-8"),
    line("http://www.e.co.uk/", "uk,co,e)/", digest="B", mime="text/plain"),
    line("http://E.co.uk:81/a", "uk,co,e:81)/a", mime_detected="text/html"),
    line("https://192.0.2.7/", "7,2,0,192)/", mime=None),
    line("http://localhost/", "localhost)/", digest=None),
    line("http://[bad/", "[bad/"),
    line("http://www.e.co.uk/gone", "uk,co,e)/gone", status="404", folder="crawldiagnostics"),
    line("http://www.e.co.uk/odd", "uk,co,e)/odd", status=None, folder="crawldiagnostics"),
    line("http://www.e.co.uk/robots.txt", "uk,co,e)/robots.txt", folder="robotstxt"),
    line("http://www.e.co.uk/robots.txt", "uk,co,e)/robots.txt", folder="robotstxt"),
]
COUNTED = {
    ("host", "www.e.co.uk"): [2, 1], ("host", "e.co.uk"): 1, ("host", "192.0.2.7"): 1, ("host", "localhost"): 1,
    ("domain", "e.co.uk"): [3, 2], ("domain", "192.0.2.7"): 1, ("domain", "localhost"): 1,
    ("tld", "co.uk"): [3, 2, 2, 1], ("tld", "(ip address)"): 1, ("tld", ""): 1,
    ("surt_domain", "uk,co,e"): [2, 1], ("surt_domain", "uk,co,e:81"): 1, ("surt_domain", "7,2,0,192"): 1,
    ("surt_domain", "localhost"): 1, ("surt_domain", "[bad/"): [1, 1, 0],
    ("scheme", "http"): [5, 4], ("scheme", "https"): 1,
    ("mimetype", "text/html"): 4, ("mimetype", "text/plain"): 1, ("mimetype", "unk"): 1,
    ("mimetype_detected", "text/html"): 1, ("charset", "UTF-8"): 1, ("languages", "eng,deu"): 1,
    ("primary_language", "eng"): 1, ("robotstxt_status", 200): [2, 1],
    ("http_status", 200): 6, ("http_status", 404): 1, ("http_status", -1): 1,
    ("size", "page"): 6, ("size", "fetch"): 10, ("size", "url"): 5, ("size", "digest"): 2, ("size", "host"): 4,
    ("size", "domain"): 3, ("size", "tld"): 3, ("size", "surt_domain"): 5, ("size", "scheme"): 2,
    ("size", "mimetype"): 3, ("size", "mimetype_detected"): 1, ("size", "charset"): 1, ("size", "languages"): 1,
    ("size", "primary_language"): 1, ("size", "robotstxt_status"): 1, ("size", "http_status"): 3,
    ("size_robotstxt", "page"): 2, ("size_robotstxt", "url"): 1, ("new_items", "url"): 5, ("new_items", "digest"): 2,
}  # fmt: skip


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        gzip.compress("".join(lines).encode(), mtime=0) if path.suffix == ".gz" else "".join(lines).encode()
    )
    return path


def listed(tmp_path, *paths):
    return write(tmp_path / "x.paths", [f"{path}\n" for path in paths])


def counted(pairs):
    """All lines but sketches and histograms, by metric and item."""
    found = {tuple(json.loads(key)): value for key, value in pairs.items()}
    assert {key[2] for key in found} == {CRAWL}
    return {key[:2]: value for key, value in found.items() if key[0] not in ("size_estimate", "histogram")}


def test_every_metric_is_as_counted_by_hand(tmp_path):
    ended = run_here(CrawlStatistics, *INLINE, listed(tmp_path, write(tmp_path / "a.cdxj", LINES)))
    assert ended.code == 0, ended.err
    assert counted(ended.pairs) == COUNTED
    histograms = {tuple(json.loads(key)): number for key, number in ended.pairs.items() if "histogram" in key}
    by = {key[1:2] + key[3:]: number for key, number in histograms.items()}
    assert {key: number for key, number in by.items() if key[0] in ("url", "digest", "host", "tld", "http_status")} == {
        ("url", "page", 1): 4, ("url", "page", 2): 1, ("digest", "page", 1): 1, ("digest", "page", 4): 1,
        ("host", "page", 1): 3, ("host", "page", 2): 1, ("host", "url", 1): 4,
        ("tld", "page", 1): 2, ("tld", "page", 3): 1, ("tld", "url", 1): 2, ("tld", "url", 2): 1,
        ("tld", "host", 1): 2, ("tld", "host", 2): 1, ("tld", "domain", 1): 3,
        ("http_status", "page", 1): 2, ("http_status", "page", 6): 1,
        ("http_status", "url", 1): 2, ("http_status", "url", 6): 1,
    }  # fmt: skip
    assert ended.pairs[f'["size_estimate","url","{CRAWL}"]']["card"] == pytest.approx(5, abs=0.01)


def test_files_may_be_cut_anywhere_and_engines_print_the_same_bytes(tmp_path):
    whole = run(JOB, *INLINE, listed(tmp_path, write(tmp_path / "a.cdxj.gz", LINES)))
    pieces = [write(tmp_path / f"{n}.cdxj", LINES[n::3]) for n in range(3)]
    local = run(JOB, "-r", "local", "--num-cores", "2", listed(tmp_path, *pieces))
    assert (whole.code, local.code) == (0, 0), local.err
    assert local.out == whole.out
    assert run_here(CrawlStatistics, *INLINE, tmp_path / "a.cdxj.gz").out == whole.out  # an index given as the list


def test_sketch_leaves_out_what_needs_all_digests_and_new_items(tmp_path):
    listing = listed(tmp_path, write(tmp_path / "a.cdxj", LINES))
    exact, sketch = (run_here(CrawlStatistics, *INLINE, option, listing).pairs for option in ("--exact", "--sketch"))
    gone = {tuple(json.loads(key)) for key in set(exact) - set(sketch)}
    assert {key[:2] for key in gone} == {
        ("size", "digest"), ("new_items", "url"), ("new_items", "digest"), ("histogram", "url"), ("histogram", "digest"),
    }  # fmt: skip
    assert {key: exact[key] for key in sketch} == sketch


def test_crawls_are_told_apart_and_new_items_follow_their_order(tmp_path):
    first = [
        line("http://a.org/", "org,a)/", crawl="CC-MAIN-2025-05"),
        line("http://b.org/", "org,b)/", crawl="CC-MAIN-2025-05"),
    ]
    second = [line("http://b.org/", "org,b)/", digest="C"), line("http://c.org/", "org,c)/")]
    pairs = run_here(CrawlStatistics, *INLINE, listed(tmp_path, write(tmp_path / "x.cdxj", second + first))).pairs
    new = {key: number for key, number in pairs.items() if key.startswith('["new_items"')}
    assert new == {
        '["new_items","url","CC-MAIN-2025-05"]': 2, '["new_items","digest","CC-MAIN-2025-05"]': 1,
        f'["new_items","url","{CRAWL}"]': 1, f'["new_items","digest","{CRAWL}"]': 1,
    }  # fmt: skip
    bare = [each.replace("crawl-data/CC-MAIN-2025-05", "x").replace("CC-MAIN-2025-05", "y") for each in first]
    named = run_here(CrawlStatistics, *INLINE, listed(tmp_path, write(tmp_path / "CC-MAIN-2024-10/a.cdxj", bare))).pairs
    assert named['["size","page","CC-MAIN-2024-10"]'] == 2
    assert '["size","page","unknown"]' in run_here(CrawlStatistics, *INLINE, write(tmp_path / "b.cdxj", bare)).pairs
    given = run_here(CrawlStatistics, *INLINE, "--crawl", "mine", tmp_path / "x.cdxj").pairs
    assert given['["size","page","mine"]'] == 4


def test_archives_count_as_their_index_does(tmp_path):
    name = f"crawl-data/{CRAWL}/segments/1/warc/a.warc.gz"
    pages = [("http://a.org/", b"<p>1"), ("http://a.org/", b"<p>2"), ("http://b.org/x", b"<p>1")]
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(builders.pack([builders.warcinfo(), *(builders.response(*page) for page in pages)]))
    pairs = run_here(CrawlStatistics, *INLINE, listed(tmp_path, tmp_path / name)).pairs
    assert counted(pairs)["host", "a.org"] == [2, 1]
    assert counted(pairs)["size", "digest"] == 2


def test_tables_count_as_their_captures_do(tmp_path):
    index = write(tmp_path / "a.cdxj", [each for each in LINES if "[bad" not in each])
    table = tmp_path / "table"
    assert run_here(UrlTable, *INLINE, "--output-dir", table, listed(tmp_path, index)).code == 0
    parts = sorted(table.rglob("*.parquet"))
    assert len(parts) > 1
    for job in (CrawlStatistics, HostStatistics):
        wanted = run_here(job, *INLINE, index)
        for source in (table, listed(tmp_path, *parts)):
            ended = run_here(job, *INLINE, "--ledger", tmp_path / "ledger", source)
            assert (ended.code, ended.out) == (0, wanted.out), ended.err
            read = rows(tmp_path / "ledger").values()
            assert {row["format"] for row in read} == {"parquet"}
            assert sum(row["records"] for row in read) == len(LINES) - 1
    some = run_here(CrawlStatistics, *INLINE, "--status", "404", table)
    assert counted(some.pairs)["size", "fetch"] == 1
    whole = parts[0].read_bytes()
    parts[0].write_bytes(whole[: len(whole) // 2])
    ended = run_here(CrawlStatistics, *INLINE, "--ledger", tmp_path / "ledger", parts[0])
    assert (ended.code, rows(tmp_path / "ledger")[str(parts[0])]["outcome"]) == (2, "failed"), ended.err


def test_other_jobs_and_ranges_refuse_tables(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    ended = run_here(UrlTable, *INLINE, "--output-dir", tmp_path / "out", listed(tmp_path, path))
    assert ended.code == 2
    assert "parquet" in ended.err
    ranged = write(tmp_path / "y.paths", [json.dumps({"filename": str(path), "offset": "0", "length": "50"}) + "\n"])
    ended = run_here(CrawlStatistics, *INLINE, ranged)
    assert ended.code == 2
    assert "a range of a Parquet file" in ended.err


def test_earlier_crawls_are_compared_with_from_a_folder_of_output(tmp_path):
    before = write(tmp_path / "old.cdxj", [line("http://a.org/", "org,a)/", crawl="CC-MAIN-2025-05"),
                                           line("http://b.org/", "org,b)/", crawl="CC-MAIN-2025-05")])  # fmt: skip
    assert run_here(CrawlStatistics, *INLINE, "--output-dir", tmp_path / "own", before).code == 0
    now = write(tmp_path / "new.cdxj", [line("http://b.org/", "org,b)/"), line("http://c.org/", "org,c)/")])
    ended = run(JOB, "-r", "local", "--compare", "own", "--", now, cwd=tmp_path)
    assert ended.code == 0, ended.err
    pairs = ended.pairs
    overlap = pairs[f'["overlap","url","CC-MAIN-2025-05","{CRAWL}"]']
    assert overlap == {"intersection": 1, "union": 3, "jaccard": pytest.approx(1 / 3)}
    assert pairs['["cumulative","url","CC-MAIN-2025-05"]'] == {"size": 2, "new": 2}
    assert pairs[f'["cumulative","url","{CRAWL}"]'] == {"size": 3, "new": 1}


def test_top_keeps_the_largest_items_of_each_metric(tmp_path):
    pairs = run_here(CrawlStatistics, *INLINE, "--top", 1, write(tmp_path / "a.cdxj", LINES)).pairs
    items = [key for key in pairs if key.startswith(('["host"', '["tld"', '["http_status"'))]
    assert items == [
        f'["host","www.e.co.uk","{CRAWL}"]',
        f'["http_status",200,"{CRAWL}"]',
        f'["tld","co.uk","{CRAWL}"]',
    ]
    assert pairs[f'["size","host","{CRAWL}"]'] == 4


def test_lines_that_are_no_captures_are_lost_and_all_else_is_counted(tmp_path):
    bad = ["com,example)/l 20240101000000 [1, 2]\n", 'com,example)/u 20240101000000 {"status": "200"}\n', "x\n"]
    path = write(tmp_path / "a.cdxj", [*LINES[:3], *bad, *LINES[3:]])
    ended = run_here(CrawlStatistics, *INLINE, "--ledger", tmp_path / "ledger", listed(tmp_path, path))
    assert (ended.code, counted(ended.pairs)) == (2, COUNTED)
    row = rows(tmp_path / "ledger")[str(path)]
    assert (row["outcome"], row["records"], row["lost"]) == ("partial", len(LINES), {"bad-header": 3})
    assert "line 5" in " ".join(problem["message"] for problem in row["problems"])


def test_captures_are_selected_by_their_lines(tmp_path):
    path = write(tmp_path / "a.cdxj", LINES)
    ended = run_here(CrawlStatistics, *INLINE, "--domain", "e.co.uk", "--status", "200", path)
    assert counted(ended.pairs)["size", "fetch"] == 5
    assert "5 left out by the selectors" in ended.err


@pytest.mark.parametrize(
    "options", [["--exact", "--sketch"], ["--compare", "/nowhere"], ["--compare", JOB], ["--top", "0"]]
)
def test_mistakes_are_told_before_anything_runs(tmp_path, options):
    ended = run_here(CrawlStatistics, *INLINE, *options, write(tmp_path / "a.cdxj", LINES))
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1), ended.err


def test_later_steps_read_lines_as_hadoop_hands_them_on():
    # The key of its shuffle is two fields: lines that have no more get a TAB.
    job = CrawlStatistics(["--no-conf", "--reducer", "--step-num", "1"])
    lines = b'["charset","x","c"]\t[1,1]\t\n["charset","x","c"]\t[2,1]\t\n'
    made = io.BytesIO()
    job.sandbox(stdin=io.BytesIO(lines), stdout=made)
    job.run_reducer(1)
    assert b'["charset","x","c"]\t[3,2]\n' in made.getvalue()
