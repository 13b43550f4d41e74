"""`crawlmill index`: lines on stdout, damage on stderr, and what a user gets wrong in one line."""

from __future__ import annotations

import json

import pytest
from tests.builders import arc, gzip_member, http, pack, pages, response, sha1_of, warcinfo

from crawlmill.cli.commands.indexes import index

PAGES = [warcinfo(), *(response(f"http://example.org/{n}", b"x" * n) for n in (3, 1, 2))]


@pytest.fixture
def crawl(tmp_path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack(PAGES))
    return path


def fields(out):
    return [json.loads(line.split(" ", 2)[2]) for line in out.decode().splitlines()]


def test_lines_are_in_the_order_of_the_files(run, crawl, tmp_path):
    plain = tmp_path / "y.warc"
    plain.write_bytes(b"".join(PAGES))
    code, out, err = run("index", crawl, plain)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.decode().splitlines()] == [f"org,example)/{n}" for n in (3, 1, 2, 3, 1, 2)]
    assert [row["filename"] for row in fields(out)] == [str(crawl)] * 3 + [str(plain)] * 3


@pytest.mark.parametrize("memory", [1 << 20, 100])
def test_sort_is_by_the_bytes_of_lines(run, crawl, monkeypatch, memory):
    monkeypatch.setattr(index, "_SORTED_IN_MEMORY", memory)
    _, plain, _ = run("index", crawl, crawl)
    code, out, _ = run("index", "--sort", crawl, crawl)
    assert code == 0
    assert out.splitlines() == sorted(plain.splitlines())
    assert run("index", "--sort", "--format", "cdx9", crawl)[1].startswith(b" CDX N b a m s k r V g\norg,example)/1 ")


def test_heads_only_gives_the_same_lines(run, tmp_path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack([*pages(5), response("http://example.org/big", bytes(range(256)) * 100)]))
    assert run("index", "--heads-only", path) == run("index", path)


def test_an_arc_has_computed_digests_and_no_line_for_its_filedesc(run, tmp_path):
    path = tmp_path / "x.arc.gz"
    path.write_bytes(arc([("http://www.e.org/a b", http([("Content-Type", "text/html; x")], b"<p>"))]))
    code, out, _ = run("index", path)
    assert code == 0
    assert out.startswith(b"org,e)/a%20b ")
    [row] = fields(out)
    assert (row["mime"], row["status"], "sha1:" + row["digest"]) == ("text/html", "200", sha1_of(b"<p>"))


def test_damage_costs_its_own_record(run, tmp_path):
    members = [gzip_member(each) for each in PAGES]
    broken = bytearray(members[2])
    broken[-6] ^= 1  # its checksum
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join([*members[:2], bytes(broken), members[3]]))
    code, out, err = run("index", tmp_path / "none.warc.gz", path)
    assert code == 2
    assert [row["url"][-1] for row in fields(out)] == ["3", "2"]
    assert [line.partition(":")[0] for line in err.splitlines()] == ["not-found", "bad-checksum"]


def test_a_sequencefile_has_no_captures(run, tmp_path):
    path = tmp_path / "metadata-00000"
    path.write_bytes(b"SEQ\x06\x19org.apache.hadoop.io.Text\x19org.apache.hadoop.io.Text\0\0\0\0\0\0" + bytes(16))
    code, out, err = run("index", path)
    assert (code, out) == (2, b"")
    assert err.startswith("un")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--records", "response,nonsense", "x"],
        ["--records", "warcinfo", "x"],
        ["--format", "cdx77", "x"],
        ["--fields", "+nonsense", "x"],
        ["--fields", "+recordid", "--format", "cdx11", "x"],
        ["--dir-root", "/a", "--filename-prefix", "b", "x"],
        ["--dir-root", "/nowhere", "x"],
    ],
)
def test_mistakes_are_one_line(run, arguments):
    code, out, err = run("index", *arguments)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert err.startswith("crawlmill")
