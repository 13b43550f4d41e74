"""`crawlmill download` where servers, disks, users and other downloads are in the way."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import brotli
import pytest
from tests.builders import pack, pages
from tests.mr.helpers import wait_until
from tests.storage.faults import RESET, STALL, Fault, FaultServer, Thing

from crawlmill.cli.commands.crawls.download import _interrupted
from crawlmill.inputs import part as part_module
from crawlmill.inputs.part import Part, open_part
from crawlmill.storage.resume import Identity

DATA = random.Random(3).randbytes(400_000)
OTHER = DATA[:100] + b"another version" + DATA[115:]  # of the same size
LATER = "Sun, 18 Jan 2026 08:15:00 GMT"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server():
    with FaultServer({"/a": Thing(DATA)}) as server:
        yield server


@pytest.fixture
def fetch(run, server, tmp_path):
    """Downloads lines from the server into `target`; (exit code, stderr, rows by input)."""

    def fetch(*lines, options=()):
        lst = tmp_path / "x.paths"
        lst.write_bytes(b"".join(os.fsencode(line) + b"\n" for line in lines))
        given = ("--retries", 0, "--no-progress", "--base-url", f"{server.url}/", *options)
        code, _, err = run("download", *given, lst, tmp_path / "target")
        ledger = tmp_path / "target/_ledger.jsonl"
        rows = [json.loads(line) for line in ledger.read_bytes().splitlines()] if ledger.is_file() else []
        return code, err, {row["input"]: row for row in rows}

    return fetch


def halved(fetch, server, tmp_path):
    """A download that has ended amid the file; how many bytes are there."""
    server.things["/a"].faults = [Fault(300_000, RESET)]
    assert fetch("a")[0] == 2
    there = (tmp_path / "target/a.part").read_bytes()
    assert 0 < len(there) <= 300_000
    assert there == DATA[: len(there)]
    server.seen.clear()
    return len(there)


# Half a file, and what is said of it


@pytest.mark.parametrize("etag", ['"one"', None])
def test_half_a_file_is_gone_on_with_if_storage_has_the_same_version(fetch, server, tmp_path, etag):
    server.things["/a"].etag = etag
    there = halved(fetch, server, tmp_path)
    assert fetch("a")[0] == 0
    assert [each.range for each in server.seen] == [None, f"bytes={there}-{len(DATA) - 1}"]
    assert (tmp_path / "target/a").read_bytes() == DATA
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["_ledger.jsonl", "a"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"etag": '"one"'}, {"etag": '"two"'}),
        ({"etag": None}, {"modified": LATER}),
        ({"etag": None}, {"modified": None}),
        ({"etag": None, "modified": None}, {}),
        ({"etag": 'W/"one"', "modified": None}, {}),
        ({}, {"data": OTHER + b"longer", "etag": '"two"'}),
    ],
)
def test_half_of_another_version_or_of_none_that_is_known_is_begun_anew(fetch, server, tmp_path, before, after):
    thing = server.things["/a"]
    for name, value in before.items():
        setattr(thing, name, value)
    halved(fetch, server, tmp_path)
    for name, value in {"data": OTHER, **after}.items():
        setattr(thing, name, value)
    assert fetch("a")[0] == 0
    assert [each.range for each in server.seen] == [None]
    assert (tmp_path / "target/a").read_bytes() == thing.data


@pytest.mark.parametrize(
    "said", [None, "", "{", "[]", '{"etag": 5}', '{"location": 5, "colour": 1}', "\u00e9", "[" * 60_000]
)
def test_half_a_file_of_which_nothing_is_known_is_begun_anew(fetch, tmp_path, said):
    (tmp_path / "target").mkdir()
    (tmp_path / "target/a.part").write_bytes(OTHER[:200_000])
    if said is not None:
        (tmp_path / "target/a.part.json").write_text(said)
    assert fetch("a")[0] == 0
    assert (tmp_path / "target/a").read_bytes() == DATA
    assert not list((tmp_path / "target").glob("a.part*"))


def test_half_of_a_file_of_another_place_is_begun_anew(fetch, server, tmp_path):
    """An ETag tells versions of one object apart, not objects."""
    halved(fetch, server, tmp_path)
    server.things["/other/a"] = Thing(OTHER)
    assert fetch("a", options=("--base-url", f"{server.url}/other"))[0] == 0
    assert (tmp_path / "target/a").read_bytes() == OTHER


def test_object_that_changes_while_it_comes_is_changed_and_begun_anew_by_the_next_run(fetch, server, tmp_path):
    server.things["/a"].faults = [Fault(300_000, RESET)]
    server.things["/a"].later = {"data": OTHER, "etag": '"two"'}
    code, _, rows = fetch("a", options=("--retries", 1))
    assert (code, rows["a"]["lost"]) == (2, {"changed": 1})
    assert not (tmp_path / "target/a").exists()
    assert fetch("a")[0] == 0
    assert (tmp_path / "target/a").read_bytes() == OTHER


def test_file_that_was_all_there_but_for_its_name_is_not_fetched_again(fetch, server, tmp_path):
    halved(fetch, server, tmp_path)
    (tmp_path / "target/a.part").write_bytes(DATA)
    assert fetch("a")[0] == 0
    assert [each.range for each in server.seen] == [None]
    assert (tmp_path / "target/a").read_bytes() == DATA


def test_version_is_written_without_secrets(fetch, server, tmp_path):
    server.things["/a"].faults = [Fault(300_000, RESET)]
    _, err, rows = fetch("a?X-Amz-Signature=topsecret")
    assert "topsecret" not in (tmp_path / "target/a.part.json").read_text() + err + json.dumps(rows)


# Two at once


def test_file_that_another_download_writes_is_unavailable_and_left_alone(fetch, tmp_path):
    (tmp_path / "target").mkdir()
    with open_part(tmp_path / "target/a") as other:
        other.begin("elsewhere", Identity('"x"', None, 3))
        other.write(b"its")
        code, err, rows = fetch("a")
        assert (code, rows["a"]["lost"]) == (2, {"unavailable": 1})
        assert "another download is at work on this file" in err
        other.publish()
    assert (tmp_path / "target/a").read_bytes() == b"its"
    assert fetch("a")[0] == 0
    assert (tmp_path / "target/a").read_bytes() == DATA


def test_lock_that_comes_when_another_download_has_just_ended_is_not_of_its_file(tmp_path, monkeypatch):
    target = tmp_path / "a"
    (tmp_path / "a.part").write_bytes(b"of the other")
    lock, locked = part_module._lock, []

    def late(handle, path):
        if not locked:
            path.replace(target)
        locked.append(handle)
        lock(handle, path)

    monkeypatch.setattr(part_module, "_lock", late)
    with open_part(target) as part:
        assert part.begin("x", Identity('"e"', None, 4)) == 0
        part.write(b"mine")
    assert len(locked) == 2
    assert target.read_bytes() == b"of the other"
    assert (tmp_path / "a.part").read_bytes() == b"mine"


def test_file_that_another_run_brings_meanwhile_is_not_fetched_again(fetch, server, tmp_path):
    def bring(_http, _body):
        (tmp_path / "target/a").write_bytes(DATA)
        return False

    server.handle = bring
    assert fetch("a")[0] == 0
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["_ledger.jsonl", "a"]


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_file_system_without_locks_is_written_without(fetch, tmp_path, monkeypatch, code):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(part_module.fcntl, "flock", refuse)
    assert fetch("a")[0] == 0
    assert (tmp_path / "target/a").read_bytes() == DATA


# Stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("trouble", ["stalled", "told to wait"])
def test_download_that_waits_ends_at_a_signal_and_keeps_the_ledger_so_far(server, tmp_path, trouble, number):
    waits = Thing(DATA, always=Fault(300_000, STALL))
    server.things["/b"] = waits if trouble == "stalled" else Thing(every=(503, {"Retry-After": "100"}))
    lst = tmp_path / "x.paths"
    lst.write_text("a\nb\nc\n")
    target = tmp_path / "target"
    command = [sys.executable, "-m", "crawlmill", "download", "--connections", "1", "--base-url", f"{server.url}/"]
    part = target / "b.part"  # one without a byte is removed
    ready = lambda: server.asked("/b") and (trouble != "stalled" or (part.exists() and part.stat().st_size))  # noqa: E731
    with subprocess.Popen([*command, lst, target], stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until(ready, process)
            process.send_signal(number)
            _, err = process.communicate(timeout=50)  # before the stalled read is given up
        finally:
            process.kill()
    assert process.returncode == 128 + number
    ledger = tmp_path / "target.interrupted.jsonl"
    assert err == f"crawlmill: stopped by {number.name}\nthe ledger so far: {ledger}\n"
    rows = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [(row["input"], row["outcome"]) for row in rows] == [("a", "ok")]
    assert not (target / "_ledger.jsonl").exists()
    assert part.exists() == (trouble == "stalled")


# What cannot be written


def test_trouble_with_one_file_costs_its_own_row(fetch, server, tmp_path):
    target = tmp_path / "target"
    (target / "b").mkdir(parents=True)
    (target / "c.part").mkdir()
    (target / "d").write_text("no folder")
    os.mkfifo(target / "e")
    names = ["a", "b", "c", "d/x", "e", "f" * 300]
    server.things = {f"/{name}": Thing(DATA) for name in names}
    code, err, rows = fetch(*names, "http://[::1/x")
    assert code == 2
    assert "7 inputs: 1 ok, 6 failed" in err
    assert [rows[name]["outcome"] for name in names] == ["ok", *["failed"] * 5]
    assert all(row["lost"] == {"unavailable": 1} for name, row in rows.items() if name != "a")
    said = {name: rows[name]["problems"][0]["message"] for name in names[1:]}
    assert "Is a directory" in said["c"]
    assert "Not a directory" in said["d/x"]
    assert "File name too long" in said["f" * 300]
    assert not [path for path in target.rglob("*.part") if path.is_file()]


@pytest.mark.parametrize(
    ("code", "reason"),
    [(errno.EACCES, "denied"), (errno.EROFS, "denied"), (errno.EFBIG, "unavailable"), (errno.EIO, "unavailable")],
)
def test_error_of_the_system_is_told_in_its_words(fetch, monkeypatch, code, reason):
    def fail(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Part, "write", fail)
    _, _, rows = fetch("a")
    assert rows["a"]["lost"] == {reason: 1}
    assert os.strerror(code) in rows["a"]["problems"][0]["message"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_ends_the_run_with_the_ledger_of_what_was_done(fetch, server, monkeypatch, code):
    server.things.update({"/b": Thing(DATA), "/c": Thing(DATA)})
    write, written = Part.write, []

    def fail(part, piece):
        written.append(len(piece))
        if sum(written) > len(DATA):
            raise OSError(code, os.strerror(code))
        write(part, piece)

    monkeypatch.setattr(Part, "write", fail)
    ended, err, rows = fetch("a", "b", "c", options=("--connections", 1))
    assert ended == 1
    assert err.splitlines()[-1].startswith(f"crawlmill: {os.strerror(code)}: ")
    assert [rows[name]["lost"] for name in "abc"] == [{}, {"unaccounted": 1}, {"unaccounted": 1}]


def test_ledger_that_cannot_be_written_at_the_end_is_kept_elsewhere(fetch, server, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def spoil(_http, _body):
        (tmp_path / "target/_ledger.jsonl").mkdir(exist_ok=True)
        return False

    server.handle = spoil
    code, err, _ = fetch("a")
    assert code == 1
    assert "ledger cannot be kept: " in err
    kept = next(tmp_path.glob("crawlmill-ledger-*/ledger.jsonl"))
    assert err.endswith(f"ledger: {kept}\n")
    assert json.loads(kept.read_text())["outcome"] == "ok"


@pytest.mark.parametrize("ledger", ["nowhere/l", "target", "http://127.0.0.1:9/l", "file://other/l"])
def test_ledger_at_an_impossible_place_is_noticed_before_anything_is_fetched(
    fetch, server, tmp_path, monkeypatch, ledger
):
    monkeypatch.chdir(tmp_path)
    code, err, _ = fetch("a", options=("--ledger", ledger))
    assert code == 1
    assert len(err.splitlines()) == 1
    assert not server.seen


@pytest.mark.parametrize("line", ["_ledger.jsonl", "_ledger.jsonl/x"])
def test_line_at_the_place_of_the_ledger_is_refused(fetch, server, line):
    code, err, _ = fetch("a", line)
    assert code == 1
    assert err == f"crawlmill: a line names the place of the ledger: got {line}\n"
    assert not server.seen


def test_line_at_the_place_that_is_given_for_the_ledger_is_refused(fetch, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ledger in ("target/a", "target/a.part", tmp_path / "target/a"):
        code, err, _ = fetch("a", options=("--ledger", ledger))
        assert (code, server.seen) == (1, [])
        assert "a line names the place of the ledger" in err


# What else


def test_requests_are_one_a_file_over_as_many_connections_as_asked_for(fetch, server):
    names = [f"f{n}" for n in range(12)]
    server.things = {f"/{name}": Thing(DATA) for name in names}
    assert fetch(*names)[0] == 0
    assert len(server.seen) == 12
    assert len({each.connection for each in server.seen}) <= 2


def test_no_more_files_come_at_a_time_than_the_host_allows_connections(fetch, server):
    names = [f"f{n}" for n in range(6)]
    server.things = {f"/{name}": Thing(DATA) for name in names}
    code, err, rows = fetch(*names, options=("--connections", 4, "--max-connections-per-host", 1))
    assert (code, {row["outcome"] for row in rows.values()}) == (0, {"ok"})
    assert "1 files at a time, for 127.0.0.1 allows no more connections" in err
    assert len({each.connection for each in server.seen}) == 1


def test_size_that_comes_with_no_body_is_asked_for(fetch, server, tmp_path):
    server.things["/a"].coding = "chunked"
    code, _, rows = fetch("a")
    assert (code, rows["a"]["bytes"]) == (0, len(DATA))
    assert (tmp_path / "target/a").read_bytes() == DATA


def test_pipe_among_the_lines_is_refused_without_waiting_for_its_writer(fetch, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    _, _, rows = fetch(str(tmp_path / "pipe"))
    assert rows[str(tmp_path / "pipe")]["lost"] == {"not-found": 1}


def test_name_that_is_no_utf8_comes_from_a_server_and_is_accounted_for(fetch, server, tmp_path):
    server.things["/caf%E9"] = Thing(DATA)
    name = os.fsdecode(b"caf\xe9")
    code, _, rows = fetch(name)
    assert code == 0
    assert (tmp_path / "target" / name).read_bytes() == DATA
    assert rows[name]["outcome"] == "ok"


def test_links_in_the_folder_are_followed_but_a_file_that_is_one_is_replaced(fetch, server, tmp_path):
    server.things["/linked/b"] = Thing(DATA)
    target, out = tmp_path / "target", tmp_path / "out"
    target.mkdir()
    out.mkdir()
    (out / "precious").write_text("precious")
    (target / "linked").symlink_to(out)
    (target / "a").symlink_to(out / "precious")
    (target / "linked/b.part").symlink_to(out / "precious")
    code, _, rows = fetch("a", "linked/b")
    assert (code, rows["linked/b"]["lost"]) == (2, {"unavailable": 1})
    (target / "linked/b.part").unlink()
    assert fetch("a", "linked/b")[0] == 0
    assert (out / "b").read_bytes() == DATA
    assert (out / "precious").read_text() == "precious"
    assert not (target / "a").is_symlink()


@pytest.mark.parametrize(("writable", "place"), [(True, "d.interrupted.jsonl"), (False, "d/_ledger.interrupted.jsonl")])
def test_ledger_so_far_is_beside_the_folder_or_in_it(tmp_path, monkeypatch, writable, place):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: writable)
    assert _interrupted(Path("d/")) == str(tmp_path / place)


# What something on the way has encoded

CRAWL_FILE = pack(pages(20))


@pytest.mark.parametrize(
    ("encode", "shown"),
    [
        (gzip.compress, "gzip within gzip"),
        (brotli.compress, ""),
        (lambda _: b"<!DOCTYPE html><title>Sign in</title>" * 50, "<!DOCTYPE html><title>Si"),
    ],
)
def test_file_that_came_encoded_is_not_kept(fetch, server, tmp_path, encode, shown):
    server.things["/x.warc.gz"] = Thing(encode(CRAWL_FILE))
    for _ in range(2):  # nor gone on with
        code, _, rows = fetch("x.warc.gz")
        row = rows["x.warc.gz"]
        assert (code, row["outcome"], row["lost"]) == (2, "failed", {"unknown-format": 1})
        assert shown in row["problems"][0]["message"]
        assert [path.name for path in (tmp_path / "target").iterdir()] == ["_ledger.jsonl"]
    server.things["/x.warc.gz"] = Thing(CRAWL_FILE)
    assert fetch("x.warc.gz")[0] == 0
    assert (tmp_path / "target/x.warc.gz").read_bytes() == CRAWL_FILE


def test_file_that_was_kept_encoded_is_brought_again(fetch, server, tmp_path):
    server.things["/x.warc.gz"] = Thing(CRAWL_FILE)
    there = tmp_path / "target/x.warc.gz"
    there.parent.mkdir()
    twice = gzip.compress(CRAWL_FILE)
    there.write_bytes((twice + bytes(len(CRAWL_FILE)))[: len(CRAWL_FILE)])  # of the right size
    assert fetch("x.warc.gz")[0] == 0
    assert there.read_bytes() == CRAWL_FILE


@pytest.mark.parametrize("name", ["x.warc.gz", "a.gz", "plain"])
def test_damaged_and_odd_files_are_brought_as_they_are(fetch, server, tmp_path, name):
    server.things[f"/{name}"] = Thing(CRAWL_FILE[5:])  # reading finds the next member
    assert fetch(name)[0] == 0
    assert (tmp_path / "target" / name).read_bytes() == CRAWL_FILE[5:]
