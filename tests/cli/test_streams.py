"""The standard streams of commands: full, closed, in other locales; and names that are no text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import pack, pages, warcinfo

FULL = Path("/dev/full")
NAME = os.fsdecode(b"caf\xe9.warc.gz")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with what the commands below read."""
    monkeypatch.chdir(tmp_path)
    Path("x.warc.gz").write_bytes(pack([warcinfo(), *pages(1)]))
    Path("x.paths").write_text("x.warc.gz\n")
    ledger = subprocess.run(crawlmill("check", "--json", "x.warc.gz", "nosuch"), capture_output=True, check=False)
    Path("ledger").write_bytes(ledger.stdout)
    return tmp_path


def crawlmill(*arguments):
    return [sys.executable, "-m", "crawlmill", *arguments]


COMMANDS = [
    "check x.warc.gz",
    "check --json nosuch",
    "records x.warc.gz",
    "records --json x.warc.gz nosuch",
    "cat x.warc.gz --offset 0",
    "plan x.paths",
    "ledger ledger",
    "ledger ledger --failed",
    "simhash x.paths",
    "sample made --pages 1 --files 1",
    "doctor local",
    "--help",
    "records --help",
    "--version",
]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "unbuffered"), [*((command, "") for command in COMMANDS), ("records x.warc.gz", "1"), ("--help", "1")]
)
def test_full_disk_is_one_line(folder, command, unbuffered):
    with FULL.open("wb") as full:
        ended = subprocess.run(
            crawlmill(*command.split()),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    lines = ended.stderr.decode().splitlines()
    assert ended.returncode == 1
    assert lines[-1] == "crawlmill: No space left on device"
    assert "Traceback" not in ended.stderr.decode()
    assert [line for line in lines if "No space" in line] == lines[-1:]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_stderr_that_takes_nothing_ends_without_a_traceback_elsewhere(folder):
    with FULL.open("wb") as full:
        ended = subprocess.run(crawlmill("records", "nosuch"), stdout=subprocess.PIPE, stderr=full, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")


@pytest.mark.parametrize(
    ("command", "closed", "code", "said"),
    [
        ("check x.warc.gz", 1, 1, ["crawlmill: Bad file descriptor"]),
        ("check x.warc.gz", 2, 0, []),
        ("check nosuch", 2, 2, []),
        ("plan -", 0, 1, ["crawlmill: no input in -: the list is empty"]),
        ("download - made", 0, 1, ["crawlmill: no input in -: the list is empty"]),
        ("simhash -", 0, 0, []),
    ],
)
def test_stream_that_is_closed(folder, command, closed, code, said):
    ended = subprocess.run(
        crawlmill(*command.split()), capture_output=True, preexec_fn=lambda: os.close(closed), check=False
    )
    assert ended.stderr.decode().splitlines() == said
    assert ended.returncode == code


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict", "latin-1"])
def test_name_that_is_no_utf8_is_printed_as_its_bytes(folder, encoding):
    try:
        Path("x.warc.gz").rename(NAME)
    except OSError:
        pytest.skip("file names are UTF-8 here")

    def out(*arguments):
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        ended = subprocess.run(crawlmill(*arguments), capture_output=True, check=False, env=env)
        assert b"Traceback" not in ended.stderr
        return ended.stdout

    assert out("check", NAME).split()[1] == os.fsencode(NAME)
    assert out("records", "--fields", "type", NAME, NAME).split()[2] == os.fsencode(NAME)
    assert out("simhash", NAME).split()[1] == os.fsencode(NAME)
    row = out("check", "--json", NAME)
    assert b'"input": "caf\\udce9.warc.gz"' in row
    assert json.loads(row)["location"] == NAME
    assert json.loads(out("records", "--json", NAME, NAME).splitlines()[0])["file"] == NAME


def test_list_that_a_ledger_gives_has_the_names_as_they_were(run, tmp_path):
    names = [NAME, "né", "half \ud800"]
    row = {"format": None, "records": 0, "bytes": 0, "verified": True, "lost": {"not-found": 1}, "problems": []}
    ledger = tmp_path / "ledger"
    ledger.write_text("".join(json.dumps({"input": name, "location": name, **row}) + "\n" for name in names))
    code, out, _ = run("ledger", "--failed", ledger)
    assert code == 0
    assert out.split(b"\n") == [b"caf\xe9.warc.gz", "né".encode(), b"half \\ud800", b""]
