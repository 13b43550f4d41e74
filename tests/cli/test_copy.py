"""`crawlmill copy`: what it would cost, and copies that end, are stopped, and are gone on with."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zlib

import pytest
from tests.builders import gzip_member, metadata, pack, response, warcinfo
from tests.mr.helpers import wait_until
from tests.storage.faults import STALL, Fault, FaultServer, Thing


def crawl(host, count):
    """A WARC of responses with metadata between, and (offset, member) of each response."""
    data, found = pack([warcinfo()]), []
    for number in range(count):
        url = f"http://{host}.example/{number:02}"
        member = gzip_member(response(url, os.urandom(3000)))
        found.append((url, len(data), member))
        data += member + gzip_member(metadata(url))
    return data, found


class Crawl:
    """Two files on a server, `a` and `b`, and a list of their captures."""

    def __init__(self, folder, server):
        self.folder, self.server, self.members, lines = folder, server, {}, []
        for name, count in (("a", 12), ("b", 8)):
            data, found = crawl(name, count)
            server.things[f"/{name}.warc.gz"] = Thing(data)
            for url, offset, member in found:
                place = {
                    "url": url,
                    "filename": f"{server.url}/{name}.warc.gz",
                    "offset": str(offset),
                    "length": str(len(member)),
                }
                lines.append(f"example,{name})/{url[-2:]} 20260105100000 {json.dumps(place)}\n")
                self.members[url] = member
        self.list = folder / "index.cdxj"
        self.list.write_text("".join(sorted(lines)))
        self.out = folder / "out"

    def asked(self):
        """The GETs since it was asked last, by file."""
        found = [seen.path[1] for seen in self.server.seen if seen.method == "GET"]
        self.server.seen.clear()
        return found

    def copied(self):
        """The records that are there, in their order."""
        found = []
        for path in sorted(self.out.glob("*.gz")):
            data = path.read_bytes()
            for number, start in enumerate(starts := [*boundaries(data), len(data)][:-1]):
                end = [*starts, len(data)][number + 1]
                if number:
                    found.append(data[start:end])
        return found

    def ledger(self):
        rows = [json.loads(line) for line in (self.out / "_ledger.jsonl").read_bytes().splitlines()]
        assert [row["input"] for row in rows] == sorted(row["input"] for row in rows)
        return rows


def boundaries(data):
    at = 0
    while at < len(data):
        yield at
        inflater = zlib.decompressobj(31)
        inflater.decompress(data[at:])
        assert inflater.eof
        at = len(data) - len(inflater.unused_data)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "cache"))
    with FaultServer() as server:
        yield Crawl(tmp_path, server)


def test_check_prints_what_it_would_cost_and_fetches_nothing(run, copy):
    size = sum(len(member) for member in copy.members.values())
    code, out, _ = run("copy", copy.list, "--check")
    assert (code, out.decode().splitlines()) == (0, ["captures 20", "files 2", f"bytes {size}", "requests 2"])
    size = sum(len(member) for url, member in copy.members.items() if "//b" in url)
    code, out, _ = run("copy", "*.b.example", "--index", copy.list, "--check")
    assert (code, out.decode().splitlines()) == (0, ["captures 8", "files 1", f"bytes {size}", "requests 1"])
    assert not copy.asked()


def test_check_counts_the_requests_of_the_files_that_would_be_written(run, copy):
    for options in (("--max-size", "20KB"), ("--max-size", "20KB", "--provenance")):
        code, out, _ = run("copy", copy.list, "--check", *options)
        assert run("copy", copy.list, "--output-dir", copy.out / str(len(options)), *options)[0] == code == 0
        assert out.decode().splitlines()[-1] == f"requests {len(copy.asked())}"


@pytest.mark.parametrize("size", ["1GB", "20KB"])
def test_records_are_copied_once_and_a_second_run_fetches_nothing(run, copy, size):
    given = ("copy", copy.list, "--output-dir", copy.out, "--max-size", size)
    assert run(*given)[0] == 0
    assert copy.copied() == list(copy.members.values())
    assert {(row["outcome"], row["records"]) for row in copy.ledger()} == {("ok", 1)}
    files = {path.name: path.read_bytes() for path in copy.out.glob("records*")}
    assert {name.rpartition("-")[2][5:] for name in files} == {".warc.gz", ".cdxj"}
    for name, data in files.items():
        if name.endswith(".cdxj"):
            assert data.splitlines() == sorted(data.splitlines())
    copy.asked()
    code, _, err = run(*given)
    assert (code, copy.asked()) == (0, [])
    assert "20 inputs: 20 ok" in err
    assert {path.name: path.read_bytes() for path in copy.out.glob("records*")} == files


def test_what_kill_has_ended_is_gone_on_with(run, copy):
    thing = copy.server.things["/b.warc.gz"]
    thing.always = Fault(len(thing.data) // 2, STALL)
    process = subprocess.Popen(
        [sys.executable, "-m", "crawlmill", "copy", copy.list, "--output-dir", copy.out],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = copy.out / "_copy" / "00000.journal"
    wait_until(lambda: journal.exists() and len(journal.read_bytes().splitlines()) >= 13, process)
    process.kill()
    process.wait()
    assert not list(copy.out.glob("records*"))
    with journal.open("ab") as file:
        file.write(b'[{"input": "half a li')
    part = copy.out / "_copy" / "records-00000.warc.gz.part"
    with part.open("ab") as file:
        file.write(b"half a member")
    thing.always = None
    copy.server.over.set()
    copy.asked()
    code, _, _ = run("copy", copy.list, "--output-dir", copy.out)
    assert (code, set(copy.asked())) == (0, {"b"})
    assert copy.copied() == list(copy.members.values())
    assert len(copy.ledger()) == 20
    assert len((copy.out / "records-00000.cdxj").read_bytes().splitlines()) == 20


def test_what_could_not_be_read_is_tried_again_and_nothing_else(run, copy):
    thing = copy.server.things.pop("/b.warc.gz")
    given = ("copy", copy.list, "--output-dir", copy.out, "--retries", 0)
    assert run(*given)[0] == 2
    assert copy.copied() == list(copy.members.values())[:12]
    assert {tuple(row["lost"]) for row in copy.ledger()} == {(), ("not-found",)}
    copy.server.things["/b.warc.gz"] = thing
    copy.asked()
    assert run(*given)[0] == 0
    # The first record of an output file stands behind what describes the file, and is fetched again.
    assert sorted(copy.asked()) == ["a", "b"]  # two requests are under way at a time
    assert copy.copied() == list(copy.members.values())
    assert {row["outcome"] for row in copy.ledger()} == {"ok"}


def test_what_was_copied_stays_though_its_source_is_gone_meanwhile(run, copy):
    thing = copy.server.things.pop("/b.warc.gz")
    given = ("copy", copy.list, "--output-dir", copy.out, "--retries", 0)
    assert run(*given)[0] == 2
    copied = copy.copied()
    copy.server.things["/b.warc.gz"] = thing
    copy.server.things.pop("/a.warc.gz")
    assert run(*given)[0] == 2
    assert copy.copied()[: len(copied)] == copied == list(copy.members.values())[:12]


def test_damage_is_not_tried_again(run, copy):
    thing = copy.server.things["/a.warc.gz"]
    member = list(copy.members.values())[3]
    at = thing.data.index(member) + 100
    thing.data = thing.data[:at] + bytes([thing.data[at] ^ 1]) + thing.data[at + 1 :]
    given = ("copy", copy.list, "--output-dir", copy.out)
    assert run(*given)[0] == 2
    assert copy.copied() == [each for each in copy.members.values() if each is not member]
    copy.asked()
    assert run(*given)[0] == 2
    assert copy.asked() == []


def test_another_list_other_options_and_a_used_folder_are_mistakes(run, copy):
    assert run("copy", copy.list, "--output-dir", copy.out)[0] == 0
    for more in (("--prefix", "x"), ("--max-size", "9MB"), ("--provenance",)):
        code, _, err = run("copy", copy.list, "--output-dir", copy.out, *more)
        assert (code, err.count("\n")) == (1, 1)
        assert "another list, or of other options" in err
    (copy.folder / "used").mkdir()
    (copy.folder / "used" / "x").touch()
    code, _, err = run("copy", copy.list, "--output-dir", copy.folder / "used")
    assert (code, err.count("\n")) == (1, 1)
    assert "has something else in it" in err


@pytest.mark.parametrize(
    "args",
    [
        ("LIST",),
        ("LIST", "--check", "--output-dir", "x"),
        ("LIST", "--check", "--ledger", "x"),
        ("--check",),
        ("gone", "--check"),
    ],
)
def test_mistakes_are_one_line(run, copy, args):
    code, _, err = run("copy", *(copy.list if each == "LIST" else each for each in args))
    assert (code, err.count("\n")) == (1, 1)


def test_the_files_are_those_of_the_job(run, copy, monkeypatch):
    from tests.mr.helpers import PROJECT  # noqa: PLC0415
    from tests.mr.helpers import run as run_job  # noqa: PLC0415

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert run("copy", copy.list, "--output-dir", copy.out, "--provenance")[0] == 0
    job = PROJECT / "jobs" / "extract_records.py"
    ended = run_job(job, "-r", "inline", "--output-dir", copy.folder / "job", "--provenance", copy.list)
    assert ended.code == 0, ended.err
    for path in copy.out.glob("records*"):
        assert (copy.folder / "job" / path.name).read_bytes() == path.read_bytes()
    assert gzip.decompress((copy.out / "records-00000.warc.gz").read_bytes()).count(b"source-offset: ") == 20
