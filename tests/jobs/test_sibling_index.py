"""The job that builds a sibling index: places by warcio, and by the sizes of members; what joins and looks up in it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from tests import builders
from tests.mr.helpers import PROJECT, rows, run, run_here
from warcio.archiveiterator import ArchiveIterator

from crawlmill.cli.main import main
from crawlmill.jobs.sibling_index import SiblingIndex
from crawlmill.sample import write_sample

JOB = PROJECT / "jobs" / "sibling_index.py"
URL = "http://example.org/{}"


def table(folder):
    return [row for path in sorted(folder.glob("crawl=*/*.parquet")) for row in pq.read_table(path).to_pylist()]


def build(folder, *options, code=0, out="out"):
    ended = run_here(SiblingIndex, "-r", "inline", folder / "x.paths", "--output-dir", folder / out, *options)
    assert ended.code == code, ended.err
    return table(folder / out), ended


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """A sample crawl of three files, and the list of its WARC files."""
    folder = tmp_path_factory.mktemp("crawl")
    write_sample(folder, pages=60, files=3, formats=("warc", "wat", "wet"))
    (folder / "x.paths").write_text("".join(f"{path}\n" for path in sorted(folder.rglob("*.warc.gz"))))
    return folder


def records(folder, pattern):
    """What warcio says of the records of files: type, id, the id referred to, and where each is."""
    for path in sorted(folder.rglob(pattern)):
        with path.open("rb") as stream:
            reader = ArchiveIterator(stream)
            for record in reader:
                get, offset = record.rec_headers.get_header, reader.get_record_offset()
                said = [get(f"WARC-{name}") for name in ("Type", "Record-ID", "Refers-To", "Target-URI")]
                yield (*said, (path.name, offset, reader.get_record_length()))


def test_each_page_is_where_warcio_finds_it_in_all_three_files(crawl):
    found, _ = build(crawl)
    wat = {refers: place for _, _, refers, _, place in records(crawl, "*.warc.wat.gz")}
    wet = {refers: place for _, _, refers, _, place in records(crawl, "*.warc.wet.gz")}
    expected = {
        name: (url, place, wat.get(name), wet.get(name))
        for kind, name, _, url, place in records(crawl, "*.warc.gz")
        if kind in ("response", "revisit")
    }
    assert len(expected) == len(found) > 50

    def place(row, kind):
        name = row[f"{kind}_filename"]
        return name and (name.rpartition("/")[2], row[f"{kind}_record_offset"], row[f"{kind}_record_length"])

    ids = {row["warc_record_id"].hex(): row for row in found}
    for name, (url, *places) in expected.items():
        row = ids[name[10:-1].replace("-", "")]
        assert (row["url"], *(place(row, kind) for kind in ("warc", "wat", "wet"))) == (url, *places)
    assert all(row["wat_filename"] for row in found)
    assert any(row["wet_filename"] for row in found)
    assert [row["url_surtkey"] for row in found] == sorted(row["url_surtkey"] for row in found)


def test_engines_and_parts_give_the_same_rows(crawl, tmp_path):
    whole, _ = build(crawl, out="whole")
    ended = run(
        JOB, "-r", "local", "--num-cores", "2", crawl / "x.paths", "--parts", 3, "--output-dir", tmp_path / "out"
    )
    assert ended.code == 0, ended.err
    assert len(list((tmp_path / "out").glob("crawl=CC-SAMPLE-2026-01/part-0000[012].gz.parquet"))) == 3
    assert table(tmp_path / "out") == whole


def write(folder, **files):
    """Files of these records in one folder; where each record is."""
    places = {}
    for kind, some in files.items():
        data = b""
        for number, each in enumerate(some):
            member = builders.gzip_member(each)
            places[kind, number] = (len(data), len(member))
            data += member
        name = "a.warc.gz" if kind == "warc" else f"a.warc.{kind}.gz"
        (folder / name).write_bytes(data)
    (folder / "x.paths").write_text("a.warc.gz\n")
    return places


def wat(url, offset):
    said = {"Container": {"Filename": "a.warc.gz", "Offset": str(offset)}, "Envelope": {"WARC-Header-Metadata": {}}}
    return builders.record("metadata", json.dumps(said).encode(), url, "application/json")


def place(row, kind):
    return row[f"{kind}_record_offset"], row[f"{kind}_record_length"]


def test_records_that_refer_to_none_are_found_by_offset_and_by_url_and_date(tmp_path):
    moment = [("Content-Type", "text/html"), ("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")]
    pages = [
        builders.warcinfo(),
        builders.response(URL.format(1), b"1", moment),
        builders.response(URL.format(2), b"2"),
    ]
    at = write(tmp_path, warc=pages)["warc", 2][0]
    places = write(
        tmp_path,
        warc=pages,
        wat=[builders.warcinfo(), wat(URL.format(1), 7), wat(URL.format(2), at)],
        wet=[builders.conversion(URL.format(2), "two"), builders.conversion(URL.format(1), "one")],
    )
    first, second = build(tmp_path)[0]
    assert (first["wat_filename"], place(first, "wet")) == (None, places["wet", 1])
    assert (place(second, "wat"), place(second, "wet")) == (places["wat", 2], places["wet", 0])
    assert (str(first["last_modified"]), second["last_modified"]) == ("2026-01-02 03:04:05+00:00", None)


def test_files_that_are_missing_or_damaged_are_in_the_ledger_and_cost_no_page(tmp_path):
    conversions = [builders.conversion(URL.format(n), f"text {n}" * 99) for n in (1, 2, 3)]
    places = write(tmp_path, warc=[builders.response(URL.format(n), b"x") for n in (1, 2)], wet=conversions)
    path = tmp_path / "a.warc.wet.gz"
    path.write_bytes(path.read_bytes()[:-20])
    found, _ = build(tmp_path, code=2)
    assert [place(row, "wet") for row in found] == [places["wet", 0], places["wet", 1]]
    (row,) = rows(tmp_path / "out" / "_ledger.jsonl").values()
    assert row["lost"] == {"not-found": 1, "truncated": 1}
    assert [
        name for problem in row["problems"] for name in ("wat", "wet") if f"a.warc.{name}.gz" in problem["message"]
    ] == [
        "wat",
        "wet",
    ]
    path.write_bytes(b"".join(builders.gzip_member(each) for each in conversions))
    _, ended = build(tmp_path, "--siblings", "wet", code=2, out="again")
    assert "1 records are of no page of the WARC file" in ended.err


def test_records_of_requests_are_no_page_and_need_no_siblings(tmp_path):
    write(tmp_path, warc=[builders.request(URL.format(1)), builders.response(URL.format(1), b"x")])
    found, _ = build(tmp_path, "--siblings", "")
    assert len(found) == 1
    ended = run_here(SiblingIndex, tmp_path / "x.paths", "--siblings", "arc", "--output-dir", tmp_path / "o")
    assert (ended.code, "--siblings arc: expected wat, wet" in ended.err) == (1, True)


@pytest.fixture
def ask(capfdbinary):
    """A command's exit code, and what it prints."""

    def ask(*arguments):
        code = main([str(each) for each in arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return ask


def test_a_look_up_prints_where_records_of_a_kind_are(crawl, ask):
    build(crawl, out="index")
    wet = {url: place for _, _, _, url, place in records(crawl, "*.warc.wet.gz") if url}
    url, (name, offset, length) = next(iter(wet.items()))
    code, out, _ = ask("lookup", "--kind", "wet", "--index", crawl / "index", url)
    (fields,) = [json.loads(line.split(" ", 2)[2]) for line in out.splitlines()]
    assert (code, fields["url"], fields["offset"], fields["length"]) == (0, url, str(offset), str(length))
    assert fields["filename"].endswith(f"/wet/{name}")
    assert ask("lookup", "--index", crawl / "index", "--output", "list", url)[1].split("\t")[0].endswith(".warc.gz")
    count = sum(
        int(ask("lookup", "--kind", "wet", "--index", crawl / "index", "--count", f"*.{tld}")[1])
        for tld in ("org", "net", "com")
    )
    assert 0 < count <= len(wet)


def test_other_indexes_do_not_know_where_wet_records_are(tmp_path, ask):
    (tmp_path / "x.cdxj").write_text('org,example)/ 20260101000000 {"url": "http://example.org/"}\n')
    code, _, err = ask("lookup", "--kind", "wet", "--index", tmp_path / "x.cdxj", "example.org")
    assert (code, "a sibling index" in err) == (1, True)


def test_it_joins_a_table_of_captures_by_key_crawl_and_time(crawl, ask):
    build(crawl, out="joined")
    assert (
        run(PROJECT / "jobs" / "url_table.py", crawl / "x.paths", "-r", "inline", "--output-dir", crawl / "t").code == 0
    )
    text = "SELECT count(*) AS n, count(wat_filename) AS wat, sum(warc_record_offset - s_warc_record_offset) AS off FROM joined"
    code, out, err = ask("sql", text, "--table", crawl / "t", "--join", f"s={crawl}/joined", "--output", "json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert (said["n"], said["off"]) == (said["wat"], 0)
