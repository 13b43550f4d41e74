"""The job that builds a host index: rows counted by hand, in files that `sql` reads as the published ones."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from tests.builders import pack, response, warcinfo
from tests.mr.helpers import PROJECT, run, run_here

from crawlmill.cli.main import main
from crawlmill.indexes.columnar.host_layout import HOST_COLUMNS
from crawlmill.indexes.columnar.host_rows import outcome_of
from crawlmill.jobs.host_index import HostIndex

JOB = PROJECT / "jobs" / "host_index.py"
WARC = "crawl-data/CC-MAIN-2025-13/segments/1.2/{}/a.warc.gz"


def capture(key, subset="warc", /, **fields):
    said = {"url": f"https://{key.partition(')')[0]}/", "status": "200", "filename": WARC.format(subset), **fields}
    return f"{key} 20250301000000 {json.dumps(said)}\n"


CAPTURES = [
    capture("org,example)/", length="10", languages="eng"),
    capture("org,example)/a", length="30", languages="deu,eng"),
    capture("org,example:8080)/a", length="31", languages="fra", url="http://www.example.org:8080/a"),
    capture("org,example)/b", length="2000", status="206"),
    capture("org,example)/b", length="7", status="404"),
    capture("org,example)/c", "crawldiagnostics", status="301", length="9"),
    capture("org,example)/c", "crawldiagnostics", status="303"),
    capture("org,example)/c", "crawldiagnostics", status="304", mime="warc/revisit"),
    capture("org,example)/robots.txt", "robotstxt", length="99"),
    capture("org,example)/robots.txt", "robotstxt", status="410"),
    capture("org,example,a)/", status="-"),
    capture("org,example-shop)/", status="500"),
    capture("com)/", url="http://www.com/"),
    capture("0,1,184,137)/", status="302", filename="mine.warc.gz"),
    capture("uk,co,example)/", languages="eng,deu"),
]
EXAMPLE = {
    "surt_host_name": "org,example",
    "url_host_registered_domain": "example.org",
    "url_host_tld": "org",
    "warc_record_length_av": 517,
    "warc_record_length_median": 30,
    "fetch_200": 4,
    "fetch_200_lote": 2,
    "fetch_200_lote_pct": 50,
    "fetch_3xx": 1,
    "fetch_4xx": 0,
    "fetch_5xx": 0,
    "fetch_gone": 1,
    "fetch_notModified": 1,
    "fetch_other": 0,
    "fetch_redirPerm": 1,
    "fetch_redirTemp": 0,
    "robots_200": 1,
    "robots_gone": 1,
}


@pytest.fixture
def captures(tmp_path):
    path = tmp_path / "captures.cdxj"
    path.write_text("".join(sorted(CAPTURES)))
    return path


def table(folder):
    found = [
        (path, row) for path in sorted(folder.glob("crawl=*/*.parquet")) for row in pq.read_table(path).to_pylist()
    ]
    return {(path.parent.name.partition("=")[2], row["surt_host_name"]): row for path, row in found}


def test_a_row_is_what_captures_tell_of_a_host(tmp_path, captures):
    ended = run_here(HostIndex, "-r", "inline", captures, "--output-dir", tmp_path / "out")
    assert ended.code == 0, ended.err
    rows = table(tmp_path / "out")
    example = {name: value for name, value in rows["CC-MAIN-2025-13", "org,example"].items() if value is not None}
    assert {name: example.get(name) for name in EXAMPLE} == EXAMPLE
    assert not [name for name, value in example.items() if name not in EXAMPLE and value]
    hosts = ["com,www", "org,example", "org,example,a", "org,example-shop", "uk,co,example"]
    assert list(rows) == [*(("CC-MAIN-2025-13", host) for host in hosts), ("local", "0,1,184,137")]
    assert rows["CC-MAIN-2025-13", "uk,co,example"]["url_host_registered_domain"] == "example.co.uk"
    assert rows["CC-MAIN-2025-13", "uk,co,example"]["fetch_200_lote"] == 0
    assert rows["CC-MAIN-2025-13", "org,example,a"]["fetch_other"] == 1
    address = rows["local", "0,1,184,137"]
    assert (address["url_host_tld"], address["fetch_redirTemp"], address["fetch_200_lote_pct"]) == (None, 1, None)


def test_files_have_the_published_columns(tmp_path, captures):
    run_here(HostIndex, "-r", "inline", captures, "--output-dir", tmp_path / "out")
    schema = pq.read_schema(tmp_path / "out/crawl=CC-MAIN-2025-13/part-00000.gz.parquet")
    assert schema.names == [column.name for column in HOST_COLUMNS]
    assert {str(schema.field(name).type) for name in schema.names} == {"string", "double", "int32"}


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("200", "200"),
        ("204", "200"),
        ("300", "3xx"),
        ("303", "3xx"),
        ("308", "redirPerm"),
        ("307", "redirTemp"),
        ("304", "notModified"),
        ("410", "gone"),
        ("403", "4xx"),
        ("503", "5xx"),
        ("999", "other"),
        ("-", "other"),
        (None, "other"),
        ("20", "other"),
        (404, "gone"),
    ],
)
def test_statuses_are_the_classes_of_the_published_schema(status, outcome):
    assert outcome_of(status) == outcome


def test_engines_and_cuts_give_the_same_bytes_and_no_host_is_in_two_parts(tmp_path):
    names = []
    for number in range(3):
        names.append(tmp_path / f"{number}.cdxj")
        lines = [capture(f"org,h{host})/{page:03}", length="5") for host in range(6) for page in range(60)]
        names[-1].write_text("".join(sorted(lines[number::3])))
    (tmp_path / "x.paths").write_text("".join(f"{name}\n" for name in names))
    options = (tmp_path / "x.paths", "--parts", 3, "--output-dir")
    local = run(JOB, "-r", "local", "--num-cores", "2", *options, tmp_path / "local")
    assert local.code == 0, local.err
    assert run_here(HostIndex, "-r", "inline", *options, tmp_path / "inline").code == 0
    parts = sorted((tmp_path / "local").glob("*/*.parquet"))
    assert len(parts) > 1
    assert {row["fetch_200"] for row in table(tmp_path / "local").values()} == {60}
    assert sum(pq.read_metadata(path).num_rows for path in parts) == 6
    for path in parts:
        assert path.read_bytes() == (tmp_path / "inline" / path.relative_to(tmp_path / "local")).read_bytes()


def test_lines_without_a_host_are_lost_with_their_number(tmp_path):
    path = tmp_path / "x.cdxj"
    path.write_text(capture("dns:example.org", url="dns:example.org") + capture("org,example)/"))
    ended = run_here(HostIndex, "-r", "inline", path, "--output-dir", tmp_path / "out")
    assert (ended.code, len(table(tmp_path / "out"))) == (2, 1)
    assert "line 1 is not a capture of a host" in ended.err


def test_record_without_a_host_is_lost_without_a_false_offset(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(
        pack([warcinfo(), response("http://example.org/"), response("dns:example.org")])
    )
    (tmp_path / "x.paths").write_text("a.warc.gz\n")
    ended = run_here(HostIndex, "-r", "inline", tmp_path / "x.paths", "--output-dir", tmp_path / "out")
    assert ended.code == 2
    [problem] = json.loads((tmp_path / "out/_ledger.jsonl").read_text())["problems"]
    assert (problem["reason"], problem["offset"]) == ("bad-header", None)
    assert "line 2 is not a capture of a host" in problem["message"]


def test_archives_and_tables_give_the_same_index(tmp_path, captures):
    table_job = PROJECT / "jobs" / "url_table.py"
    lines = [line for line in sorted(CAPTURES) if '"length"' in line]
    numbered = [line.replace('"filename"', f'"offset": "{n}", "filename"') for n, line in enumerate(lines)]
    captures.write_text("".join(numbered))
    assert run(table_job, "-r", "inline", captures, "--output-dir", tmp_path / "table").code == 0
    for source in (captures, tmp_path / "table"):
        assert run_here(HostIndex, "-r", "inline", source, "--output-dir", tmp_path / f"{source.name}.out").code == 0
    assert table(tmp_path / "captures.cdxj.out") == table(tmp_path / "table.out")


def test_sql_reads_it_as_the_published_one(tmp_path, captures, capfd):
    run_here(HostIndex, "-r", "inline", captures, "--output-dir", tmp_path / "out")
    text = "SELECT crawl, fetch_200_lote_pct AS pct FROM cchost_index_testing_v2 WHERE surt_host_name = 'org,example'"
    assert main(["sql", text, "--table", f"hostindex:{tmp_path}/out", "--output", "csv"]) == 0
    assert capfd.readouterr().out == "crawl,pct\nCC-MAIN-2025-13,50\n"
