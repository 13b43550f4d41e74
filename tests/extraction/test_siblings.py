"""Records of the same pages in WAT and WET files: found by name, and each file read once."""

from __future__ import annotations

import json

import pytest
from tests import builders

from crawlmill.extraction.headers import RunInfo
from crawlmill.extraction.output import OutputFile
from crawlmill.extraction.siblings import extract_siblings, sibling_of
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ReadOptions
from crawlmill.storage import Storage

INFO = RunInfo("20260101000000", "seed", ("list",))


@pytest.mark.parametrize(
    ("location", "sibling"),
    [
        (
            "s3://cc/crawl-data/C/segments/1/warc/a-00001.warc.gz",
            "s3://cc/crawl-data/C/segments/1/wet/a-00001.warc.wet.gz",
        ),
        ("/d/warc/x/warc/a.warc.gz", "/d/warc/x/wet/a.warc.wet.gz"),
        ("whirlwind.warc.gz", "whirlwind.warc.wet.gz"),
        ("https://h/a.warc.gz?token=1", "https://h/a.warc.wet.gz?token=1"),
        ("/d/a.warc", "/d/a.warc.wet"),
        ("/d/a.arc.gz", None),
        ("/d/warc.gz", None),
    ],
)
def test_a_sibling_is_named_as_common_crawl_names_it(location, sibling):
    assert sibling_of(location, "wet") == sibling


class Counting:
    def __init__(self, storage):
        self.storage, self.opened = storage, []

    def open_stream(self, location, start=0, length=None):
        self.opened.append(location.rpartition("/")[2])
        return self.storage.open_stream(location, start, length)

    def __getattr__(self, name):
        return getattr(self.storage, name)


def extracted(folder, kind, captures):
    """Rows in the order of the captures, the bytes of the output's records, and what was opened."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    with Storage() as real, OutputFile("r-00000", lambda name: (out / name).open("wb"), INFO, kind=kind) as output:
        storage = Counting(real)
        task = list(enumerate(captures))
        rows = dict(extract_siblings(task, storage, ReadOptions(), kind, output))
    path = out / f"r-00000.warc.{kind}.gz"
    return [rows[n] for n in range(len(captures))], path.read_bytes() if path.exists() else b"", storage.opened


def capture(folder, url, offset=0, stamp="20260105100000"):
    path = str(folder / "warc" / "a.warc.gz")
    fields = {"url": url, "filename": path, "offset": str(offset), "length": "9"}
    return Input(f"x)/ {stamp} {json.dumps(fields)}", path, offset, 9)


def write(folder, kind, data):
    (folder / kind).mkdir()
    (folder / kind / f"a.warc.{kind}.gz").write_bytes(data)


def wat(url, *, offset=None, of="response", name="a.warc.gz"):
    container = {"Filename": name, **({} if offset is None else {"Offset": str(offset)})}
    header = {"WARC-Type": of, "WARC-Date": builders.DATE, "WARC-Target-URI": url}
    block = json.dumps({"Container": container, "Envelope": {"WARC-Header-Metadata": header}}).encode()
    return builders.gzip_member(builders.record("metadata", block, url, "application/json"))


def test_wet_records_are_found_by_url_and_date_and_the_file_is_read_once(tmp_path):
    texts = [builders.gzip_member(builders.conversion(f"http://e.org/{n}", f"text {n}")) for n in range(4)]
    write(tmp_path, "wet", builders.pack([builders.warcinfo()]) + b"".join(texts))
    captures = [
        capture(tmp_path, "http://e.org/2", 5),
        capture(tmp_path, "https://www.e.org/1", 50),
        capture(tmp_path, "http://e.org/3", 60, "20260105100001"),
        capture(tmp_path, "http://e.org/9", 70),
    ]
    rows, data, opened = extracted(tmp_path, "wet", captures)
    assert [(row.outcome, row.records, row.format) for row in rows] == [
        ("ok", 1, "wet"),
        ("ok", 1, "wet"),
        ("ok", 0, "wet"),
        ("ok", 0, "wet"),
    ]
    assert data.endswith(texts[1] + texts[2])
    assert opened == ["a.warc.wet.gz"]
    index = (tmp_path / "out" / "r-00000.cdxj").read_text().splitlines()
    assert [line.split(" ")[0] for line in index] == ["org,e)/1", "org,e)/2"]


def test_two_captures_of_a_page_at_a_time_have_two_records(tmp_path):
    texts = [builders.gzip_member(builders.conversion("http://e.org/", text)) for text in "ab"]
    write(tmp_path, "wet", b"".join(texts))
    rows, data, _ = extracted(tmp_path, "wet", [capture(tmp_path, "http://e.org/", n) for n in (1, 2, 3)])
    assert [row.records for row in rows] == [1, 1, 0]
    assert data.endswith(b"".join(texts))


def test_wat_records_are_found_by_the_offset_that_they_name(tmp_path):
    first, second = wat("http://e.org/", offset=10), wat("http://e.org/", offset=20)
    write(tmp_path, "wat", wat("http://e.org/", offset=5, of="request") + first + second)
    rows, data, _ = extracted(tmp_path, "wat", [capture(tmp_path, "http://e.org/", 20)])
    assert [row.records for row in rows] == [1]
    assert data.endswith(second)
    assert first not in data
    bare = Input(f"{tmp_path}/warc/a.warc.gz\t10\t9", f"{tmp_path}/warc/a.warc.gz", 10, 9)
    assert extracted(tmp_path, "wat", [bare])[1].endswith(first)


def test_wat_records_without_an_offset_are_found_by_url_and_date(tmp_path):
    page = wat("http://e.org/")
    write(tmp_path, "wat", wat("http://e.org/", of="request") + wat("http://e.org/", of="metadata") + page)
    rows, data, _ = extracted(tmp_path, "wat", [capture(tmp_path, "http://e.org/", 20)])
    assert [row.records for row in rows] == [1]
    assert data.endswith(page)
    assert extracted(tmp_path, "wat", [capture(tmp_path, "http://e.org/", 20, "2025")])[0][0].records == 0


def test_where_the_list_does_not_say_the_page_its_record_does(tmp_path):
    (tmp_path / "warc").mkdir()
    member = builders.gzip_member(builders.response("http://e.org/1", b"x"))
    (tmp_path / "warc" / "a.warc.gz").write_bytes(member)
    text = builders.gzip_member(builders.conversion("http://e.org/1", "text"))
    write(tmp_path, "wet", text)
    path = f"{tmp_path}/warc/a.warc.gz"
    captures = [Input(f"{path}\t{n}\t{len(member)}", path, n, len(member)) for n in (0, 1)]
    rows, data, _ = extracted(tmp_path, "wet", captures)
    assert [(row.outcome, row.records) for row in rows] == [("ok", 1), ("failed", 0)]
    assert data.endswith(text)


def test_a_range_of_several_members_has_the_records_of_all_its_pages(tmp_path):
    (tmp_path / "warc").mkdir()
    urls = ["http://e.org/1", "http://e.org/2", "http://e.org/3"]
    members = [
        [builders.gzip_member(make(url)) for make in (builders.request, lambda url: builders.response(url, b"x"))]
        for url in urls
    ]
    whole = b"".join(b"".join(pair) for pair in members)
    (tmp_path / "warc" / "a.warc.gz").write_bytes(whole)
    texts = [builders.gzip_member(builders.conversion(url, "text")) for url in urls]
    write(tmp_path, "wet", b"".join(texts))
    two = len(b"".join(members[0] + members[1]))
    path = f"{tmp_path}/warc/a.warc.gz"
    bare = Input(f"{path}\t0\t{two}", path, 0, two)
    rows, data, _ = extracted(tmp_path, "wet", [bare])
    assert [(row.outcome, row.records, row.bytes) for row in rows] == [("ok", 2, len(texts[0] + texts[1]))]
    assert data.endswith(texts[0] + texts[1])
    offsets = [0, len(members[0][0]), len(b"".join(members[0])), two]
    described = [wat(url, offset=offset) for url, offset in zip([urls[0], *urls], offsets, strict=True)]
    write(tmp_path, "wat", b"".join(described) + described[1])
    rows, data, _ = extracted(tmp_path, "wat", [bare])
    assert [(row.outcome, row.records) for row in rows] == [("ok", 3)]
    assert data.endswith(b"".join(described[:3]))


def test_a_sibling_that_is_missing_or_damaged_loses_what_was_not_found_in_it(tmp_path):
    rows, data, _ = extracted(tmp_path, "wet", [capture(tmp_path, "http://e.org/1")])
    assert [dict(row.lost) for row in rows] == [{"not-found": 1}]
    assert not data
    texts = [builders.gzip_member(builders.conversion(f"http://e.org/{n}", f"text {n}")) for n in range(2)]
    write(tmp_path, "wet", texts[0] + texts[1][:-3])
    rows, data, _ = extracted(tmp_path, "wet", [capture(tmp_path, f"http://e.org/{n}", n) for n in range(2)])
    assert [dict(row.lost) for row in rows] == [{}, {"truncated": 1}]
    assert data.endswith(texts[0])


def test_a_file_whose_name_says_nothing_has_no_sibling(tmp_path):
    rows, _, opened = extracted(tmp_path, "wet", [Input("x\t0\t9", "/data/x.arc.gz", 0, 9)])
    assert [dict(row.lost) for row in rows] == [{"not-found": 1}]
    assert not opened
