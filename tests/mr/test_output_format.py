"""Results in other formats than pairs: as csv, json and pyarrow read them, wherever they are written."""

from __future__ import annotations

import csv
import io
import json

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run, run_here
from tests.mr.test_launch import INLINE, UriCount
from tests.storage.webhdfs import WebHdfs

from crawlmill.jobs.crawl_metadata import CrawlMetadata
from crawlmill.jobs.crawl_statistics import CrawlStatistics
from crawlmill.jobs.extract_records import ExtractRecords
from crawlmill.jobs.host_statistics import HostStatistics
from crawlmill.jobs.page_links import PageLinks
from crawlmill.jobs.server_addresses import ServerAddresses
from crawlmill.jobs.server_count import ServerCount
from crawlmill.jobs.sitemaps import Sitemaps
from crawlmill.jobs.structured_data import StructuredData
from crawlmill.jobs.tag_count import TagCount
from crawlmill.jobs.url_index import UrlIndex
from crawlmill.jobs.word_count import WordCount
from crawlmill.mr import Columns, CountJob, CrawlJob, RawValueProtocol
from crawlmill.results.folder import ResultFolder
from crawlmill.storage import Storage

SERVERS = ["nginx", 'say "hi"', "a,b\tc", "=1+1", "-", "漢", "12"]


@pytest.fixture
def servers(crawl):
    """A list of two WARCs; each of SERVERS is in both, a response without a server once."""
    named = [builders.response(f"http://e.org/{n}", b"", [("Server", name)]) for n, name in enumerate(SERVERS)]
    more = [*named, builders.response("http://e.org/x", b"", [("X", "y")])]
    return crawl.list(
        *(crawl.write(f"{n}.warc.gz", builders.pack([builders.warcinfo(), *r])) for n, r in enumerate((named, more)))
    )


COUNTS = {**dict.fromkeys(SERVERS, 2), None: 1}


def rows_of(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def parts_of(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_each_part_has_a_header_and_printed_they_share_one(servers, tmp_path, kind, delimiter):
    reduces = ("--jobconf", "mapreduce.job.reduces=3")
    ended = run_here(
        ServerCount,
        *INLINE,
        *reduces,
        "--output-format",
        kind,
        "--output-dir",
        tmp_path / "out",
        "--cat-output",
        servers,
    )
    assert ended.code == 0, ended.err
    parts = parts_of(tmp_path / "out")
    assert list(parts) == [f"part-0000{n}.{kind}" for n in range(3)]
    tables = [rows_of(content.decode(), delimiter) for content in parts.values()]
    assert [table[0] for table in tables] == [["server", "count"]] * 3
    rows = [row for table in tables for row in table[1:]]
    assert sorted(rows) == sorted([name or "", str(count)] for name, count in COUNTS.items())
    assert rows_of(ended.out, delimiter) == [["server", "count"], *rows]
    assert all(content.count(b"\n") == content.count(b"\r\n") for content in parts.values())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "_SUCCESS",
        "_ledger.jsonl",
        "_run.json",
        *parts,
    ]
    said = json.loads((tmp_path / "out" / "_run.json").read_text())
    assert (said["output_format"], said["columns"]) == (
        kind,
        {"key": {"server": "string"}, "value": {"count": "int64"}},
    )


def test_objects_of_json_lines_in_the_order_of_top(servers):
    ended = run_here(ServerCount, *INLINE, "--output-format", "jsonl", "--top", 3, servers)
    top = sorted(SERVERS, key=lambda name: json.dumps(name, ensure_ascii=False).encode())[:3]
    assert [json.loads(line) for line in ended.out.splitlines()] == [{"server": name, "count": 2} for name in top]


@pytest.mark.parametrize("runner", [(*INLINE,), ("-r", "local", "--no-progress", "--num-cores", 2)])
def test_parquet_has_the_types_of_the_job_in_every_part(servers, crawl, tmp_path, runner):
    pq = pytest.importorskip("pyarrow.parquet")
    empty = crawl.list(crawl.write("none.warc.gz", builders.pack([builders.warcinfo()])), name="empty.paths")
    for lst, wanted in ((servers, COUNTS), (empty, {})):
        script, out = PROJECT / "jobs" / "server_count.py", tmp_path / lst.stem
        ended = run(script, *runner, "--output-format", "parquet", "--output-dir", out, lst)
        assert ended.code == 0, ended.err
        tables = [pq.read_table(path) for path in out.glob("part-*.parquet")]
        assert tables
        assert {str(table.schema.remove_metadata()) for table in tables} == {"server: string\ncount: int64"}
        assert {row["server"]: row["count"] for table in tables for row in table.to_pylist()} == wanted


def test_empty_results_are_a_header_alone(crawl):
    lst = crawl.list(crawl.write("none.warc.gz", builders.pack([builders.warcinfo()])))
    assert run_here(ServerCount, *INLINE, "--output-format", "csv", lst).out == "server,count\r\n"
    assert run_here(PageLinks, *INLINE, "--output-format", "csv", lst).out == "url,target,kind\r\n"
    assert run_here(ServerCount, *INLINE, "--output-format", "jsonl", lst).out == ""


def test_texts_that_are_formulas_are_told_of_or_made_harmless(servers):
    plain = run_here(ServerCount, *INLINE, "--output-format", "csv", servers)
    assert "warning: 2 texts begin with = + - @" in plain.err
    assert dict(rows_of(plain.out)[1:])["=1+1"] == "2"
    safe = run_here(ServerCount, *INLINE, "--output-format", "tsv", "--spreadsheet-safe", servers)
    assert "spreadsheet" not in safe.err
    assert {name for name, _ in rows_of(safe.out, "\t")[1:]} == {*SERVERS, "'=1+1", "'-", ""} - {"=1+1", "-"}
    for quiet in (("--output-format", "jsonl"), ("--output-format", "csv", "--quiet"), ()):
        assert "spreadsheet" not in run_here(ServerCount, *INLINE, *quiet, servers).err


class Odd(CountJob):
    """A job that names no columns."""

    types = ("response",)

    def process(self, record):
        yield [None, "text", 5, ["a", 1], "[1]", "5", {"b": None}][int(record.uri[-1])], 1.5


def test_a_job_without_columns_has_key_and_value_as_json(crawl):
    lst = crawl.list(crawl.warc("a", *(f"http://e.org/{n}" for n in range(7))))
    keys = {"null", '"text"', "5", '["a",1]', '"[1]"', '"5"', '{"b":null}'}
    found = rows_of(run_here(Odd, *INLINE, "--output-format", "csv", lst).out)
    assert found[0] == ["key", "value"]
    assert {(key, value) for key, value in found[1:]} == {(key, "1.5") for key in keys}
    lines = run_here(Odd, *INLINE, "--output-format", "jsonl", lst).out.splitlines()
    assert sorted(lines) == sorted(f'{{"key":{key},"value":1.5}}' for key in keys)


def test_a_result_that_does_not_fit_the_columns_fails_in_one_line(crawl):
    class Wrong(Odd):
        columns = Columns({"key": "string"}, {"count": "int64"})

    ended = run_here(Wrong, *INLINE, "--output-format", "csv", crawl.list(crawl.warc("a", "http://e.org/1")))
    assert ended.code == 1
    assert "a result does not fit the column count: expected int64, got 1.5" in ended.err


HTML = [("Content-Type", "text/html"), ("Server", "x")]
PAGES = [
    builders.response("http://a.org/", b'<p><a href="/b">x</a><img src="//c.org/e.png">', HTML),
    builders.response("http://b.org/robots.txt", b"Sitemap: http://b.org/map.xml\n", [("Content-Type", "text/plain")]),
]


@pytest.mark.parametrize(
    "job", [TagCount, ServerCount, ServerAddresses, Sitemaps, PageLinks, HostStatistics, CrawlStatistics, UriCount]
)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_every_job_has_the_same_results_in_every_format(crawl, tmp_path, job, kind):
    lst = crawl.list(crawl.write("a.warc.gz", builders.pack([builders.warcinfo(), *PAGES])))
    for name in ("pairs", kind):
        ended = run_here(job, *INLINE, "--output-format", name, "--output-dir", tmp_path / name, lst)
        assert ended.code == 0, ended.err
    pairs, found = (list(ResultFolder(str(tmp_path / name), Storage()).pairs()) for name in ("pairs", kind))
    assert found == pairs
    assert len(pairs) > 0


def test_document_frequency_is_a_column_more(crawl):
    texts = [builders.conversion("http://e.org/1", "a a b"), builders.conversion("http://e.org/2", "a")]
    lst = crawl.list(crawl.write("a.wet.gz", builders.pack([builders.warcinfo(), *texts])))
    ended = run_here(WordCount, *INLINE, "--output-format", "csv", "--document-frequency", lst)
    assert rows_of(ended.out) == [["word", "count", "documents"], ["a", "3", "2"], ["b", "1", "1"]]


class Raw(CrawlJob):
    """Writes lines of its own."""

    OUTPUT_PROTOCOL = RawValueProtocol


class Finishing(UriCount):
    """Makes files of its results."""

    def finish(self, results):
        pass


@pytest.mark.parametrize(
    ("job", "options", "says"),
    [
        (ServerCount, ("--output-format", "xlsx"), "xlsx"),
        (ServerCount, ("--output-format", "parquet"), "--output-dir"),
        (ServerCount, ("--output-format", "parquet", "--output-dir", "o", "--cat-output"), "cannot be printed"),
        (ServerCount, ("--spreadsheet-safe",), "csv or tsv"),
        (ServerCount, ("--spreadsheet-safe", "--output-format", "jsonl"), "csv or tsv"),
        (ExtractRecords, ("--output-format", "csv", "--output-dir", "o"), "not pairs"),
        (UrlIndex, ("--output-format", "csv", "--output-dir", "o"), "not pairs"),
        (StructuredData, ("--output-format", "jsonl"), "not pairs"),
        (CrawlMetadata, ("--output-format", "csv", "--locate"), "not pairs"),
        (Finishing, ("--output-format", "csv"), "not pairs"),
        (Raw, ("--output-format", "csv"), "protocol of its own"),
    ],
)
def test_what_cannot_be_written_so_is_refused_in_one_line(servers, monkeypatch, tmp_path, job, options, says):
    monkeypatch.chdir(tmp_path)
    ended = run_here(job, *INLINE, *options, servers)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert says in ended.err
    assert not (tmp_path / "o").exists()


def test_parquet_without_its_package_is_refused_before_the_launch(servers, tmp_path):
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('No module named pyarrow', name='pyarrow')\n")
    script = PROJECT / "jobs" / "server_count.py"
    ended = run(
        script, *INLINE, "--output-format", "parquet", "--output-dir", tmp_path / "o", servers, PYTHONPATH=str(tmp_path)
    )
    assert (ended.code, ended.err) == (
        1,
        "server_count: parquet needs the package pyarrow: pip install 'crawlmill[columnar]'\n",
    )


def test_losses_and_endings_are_those_of_pairs(crawl, tmp_path):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"), crawl.warc("b", "http://e.org/2", "http://e.org/3", cut=9))
    codes = [
        run_here(UriCount, *INLINE, "--output-format", kind, "--output-dir", tmp_path / kind, lst).code
        for kind in ("pairs", "csv")
    ]
    assert codes == [2, 2]
    assert (tmp_path / "pairs" / "_ledger.jsonl").read_bytes() == (tmp_path / "csv" / "_ledger.jsonl").read_bytes()


def test_parts_on_hdfs_and_s3_are_those_on_local_folders(servers, tmp_path, s3, monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    options = (*INLINE, "--output-format", "csv", "--output-dir")
    with WebHdfs() as cluster:
        run_here(ServerCount, "--webhdfs", cluster.url, *options, "hdfs:///d/out", servers)
        there = {name.removeprefix("/d/out/"): content for name, content in cluster.files.items()}
    run_here(ServerCount, *options, tmp_path / "out", servers)
    ended = run_here(ServerCount, *options, "s3://bucket/out", servers)
    assert ended.code == 0, ended.err
    names = [
        found["Key"].removeprefix("out/") for found in s3.list_objects_v2(Bucket="bucket", Prefix="out/")["Contents"]
    ]
    assert sorted(there) == sorted(names) == ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000.csv"]
    part = (tmp_path / "out" / "part-00000.csv").read_bytes()
    assert there["part-00000.csv"] == s3.get_object(Bucket="bucket", Key="out/part-00000.csv")["Body"].read() == part
    assert dict(ResultFolder("s3://bucket/out", Storage()).pairs()) == COUNTS


def test_kept_tasks_come_back_as_parts_of_their_numbers(crawl, tmp_path):
    first, second = crawl.warc("a", "http://e.org/1"), crawl.warc("b", "http://e.org/2")
    page = b'<a href="http://x.org/">'
    for path, uri in ((first, "http://e.org/1"), (second, "http://e.org/2")):
        path.write_bytes(builders.pack([builders.warcinfo(), builders.response(uri, page, HTML)]))
    options = (*INLINE, "--checkpoint", tmp_path / "kept", "--output-format", "csv")
    for lines in ([second], [first, second], [first, second]):
        found = rows_of(run_here(PageLinks, *options, crawl.list(*lines)).out)[1:]
        assert sorted(found) == sorted(
            [f"http://e.org/{1 + (path is second)}", "http://x.org/", "A@/href"] for path in lines
        )
