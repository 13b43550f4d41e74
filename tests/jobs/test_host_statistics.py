"""What a crawl has of each host: counted by hand, from indexes, look-ups, archives and WAT."""

from __future__ import annotations

import json

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run, run_here

from crawlmill.jobs.host_statistics import HostStatistics

JOB = PROJECT / "jobs" / "host_statistics.py"
INLINE = ("-r", "inline")


def capture(url, day, **fields):
    said = {"url": url, "mime": "text/html", "status": "200", "digest": "A", "length": "10", "filename": "x", **fields}
    return f"k)/ {day}120000 {json.dumps({name: value for name, value in said.items() if value is not None})}\n"


CAPTURES = [
    capture("http://www.b\u00fccher.example/a/b/c", "20240301"),
    capture("http://WWW.xn--bcher-kva.example.:80/a/b/c", "20240201", status="404", digest="B"),
    capture("https://www.b%C3%BCcher.example/a/x", "20240210", mime=None, length="5"),
    capture("https://www.b%C3%BCcher.example/a/x", "20240211", status=None, digest=None),
    capture("http://e.co.uk/", "20240101"),
    capture("http://www.e.co.uk/?q", "20240102"),
    capture("http://[2001:DB8::1]:81/", "20240103"),
]
HOST = {
    "captures": 4, "urls": 3, "digests": 2, "first": "2024-02-01", "last": "2024-03-01",
    "status": {"-": 1, "200": 2, "404": 1}, "mime": {"text/html": 3, "unk": 1}, "bytes": 35,
}  # fmt: skip


@pytest.fixture
def captures(tmp_path):
    path = tmp_path / "captures.cdxj"
    path.write_text("".join(CAPTURES))
    return path


def counts(ended):
    return {json.loads(key): row["captures"] for key, row in ended.pairs.items()}


def test_hosts_are_one_however_they_are_written_and_captures_are_not_fetched(captures):
    ended = run_here(HostStatistics, *INLINE, captures)
    assert ended.code == 0, ended.err
    assert ended.pairs['"www.xn--bcher-kva.example"'] == HOST
    assert counts(ended) == {"www.xn--bcher-kva.example": 4, "e.co.uk": 1, "www.e.co.uk": 1, "[2001:db8::1]": 1}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("domain", {"xn--bcher-kva.example": 4, "e.co.uk": 2, "[2001:db8::1]": 1}),
        ("tld", {"example": 4, "co.uk": 2, "[2001:db8::1]": 1}),
        ("path:1", {"www.xn--bcher-kva.example/a": 4, "e.co.uk/": 1, "www.e.co.uk/": 1, "[2001:db8::1]/": 1}),
        ("path:2", {"www.xn--bcher-kva.example/a/b": 2, "www.xn--bcher-kva.example/a/x": 2, "e.co.uk/": 1,
                    "www.e.co.uk/": 1, "[2001:db8::1]/": 1}),
    ],
)  # fmt: skip
def test_captures_are_grouped_by_domain_suffix_and_path(captures, by, expected):
    assert counts(run_here(HostStatistics, *INLINE, "--by", by, captures)) == expected


def test_largest_groups_and_those_of_enough_captures(captures):
    top = run_here(HostStatistics, *INLINE, "--top", 2, captures)
    assert list(counts(top)) == ["www.xn--bcher-kva.example", "[2001:db8::1]"]
    assert top.pairs['"www.xn--bcher-kva.example"'] == HOST
    assert counts(run_here(HostStatistics, *INLINE, "--min-count", 2, captures)) == {"www.xn--bcher-kva.example": 4}


def test_engines_and_cuts_of_the_files_give_the_same_bytes(tmp_path, captures):
    names = []
    for number in range(3):
        names.append(tmp_path / f"{number}.cdxj")
        names[-1].write_text("".join(CAPTURES[number::3]))
    (tmp_path / "x.paths").write_text("".join(f"{name}\n" for name in names))
    local = run(JOB, "-r", "local", "--num-cores", "2", tmp_path / "x.paths")
    assert local.code == 0, local.err
    assert local.out == run_here(HostStatistics, *INLINE, captures).out


def test_captures_of_2012_as_a_look_up_prints_them(tmp_path):
    row = {"key": "edu.ncsu.lib.www/:http", "url": "http://www.lib.ncsu.edu/", "arcSourceSegmentId": 1,
           "arcFileDate": 1346943319237, "arcFilePartition": 4092, "arcFileOffset": 64, "compressedSize": 800}  # fmt: skip
    path = tmp_path / "captures.json"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n{{}}\n")
    ended = run_here(HostStatistics, *INLINE, path)
    found = ended.pairs['"www.lib.ncsu.edu"']
    assert (ended.code, found["captures"], found["urls"], found["bytes"]) == (2, 2, 1, 1600)
    assert found["first"] == found["last"] == "2012-09-06"
    assert "line 3 is not a capture" in ended.err


def test_archives_and_wat_count_their_pages(tmp_path):
    pages = [("http://a.org/", b"<p>1"), ("http://a.org/", b"<p>2"), ("http://b.org/x", b"<p>1")]
    envelope = {"WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Date": "2026-01-05T10:00:00Z"}}
    described = []
    for kind, payload in (("response", {"HTTP-Response-Metadata": {"Response-Message": {"Status": "200"},
                                                                   "Headers": {"content-type": "text/html; x"}}}),
                          ("request", {})):  # fmt: skip
        for uri, _ in pages:
            header = {**envelope["WARC-Header-Metadata"], "WARC-Type": kind, "WARC-Target-URI": uri}
            said = {"Envelope": {"WARC-Header-Metadata": header, "Payload-Metadata": payload},
                    "Container": {"Gzip-Metadata": {"Deflate-Length": "7"}}}  # fmt: skip
            described.append(builders.record("metadata", json.dumps(said).encode(), uri, "application/json"))
    files = {"a.warc.gz": [builders.response(*page) for page in pages], "a.wat.gz": described}
    for name, records in files.items():
        (tmp_path / name).write_bytes(builders.pack([builders.warcinfo(), *records]))
        (tmp_path / "x.paths").write_text(f"{name}\n")
        ended = run_here(HostStatistics, *INLINE, tmp_path / "x.paths")
        found = {json.loads(key): (row["captures"], row["urls"], row["status"]) for key, row in ended.pairs.items()}
        assert found == {"a.org": (2, 1, {"200": 2}), "b.org": (1, 1, {"200": 1})}, name
    assert ended.pairs['"a.org"']["mime"] == {"text/html": 2}
    assert ended.pairs['"a.org"']["bytes"] == 14


@pytest.mark.parametrize("by", ["country", "path", "path:0", "path:-1", "path:x"])
def test_groupings_that_mean_nothing_are_told(captures, by):
    ended = run_here(HostStatistics, *INLINE, "--by", by, captures)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
