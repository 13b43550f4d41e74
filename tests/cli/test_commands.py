"""The commands as a user meets them: what they print, where, and how they end."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import arc, gzip_member, http, pack, pages, record, response, warcinfo
from tests.formats.archives import uri_of
from tests.storage.faults import Fault, FaultServer, Thing

from crawlmill.cli.main import COMMANDS, make_parser

RECORDS = pages(3)


@pytest.fixture
def crawl(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(pack(RECORDS))
    return path


def json_lines(out: bytes):
    return [json.loads(line) for line in out.split(b"\n") if line]


def test_check_prints_a_line_per_file_and_its_problems(run, crawl, tmp_path):
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(crawl.read_bytes()[:-9])
    code, out, err = run("check", crawl, cut, tmp_path / "gone")
    lines = out.decode().splitlines()
    assert code == 2
    assert lines[0].split() == ["ok", str(crawl), "10", str(crawl.stat().st_size)]
    assert lines[1].split()[:3] == ["partial", str(cut), "9"]
    assert lines[2].strip().startswith("truncated: truncated gzip member: expected ")
    assert lines[3].split() == ["failed", str(tmp_path / "gone"), "0", "0"]
    assert lines[4].strip().startswith("not-found: ")
    assert "3 inputs: 1 ok, 1 partial, 1 failed; 19 records" in err


def test_check_json_prints_ledger_objects(run, crawl):
    code, out, _ = run("check", "--json", crawl)
    assert code == 0
    (row,) = json_lines(out)
    assert (row["outcome"], row["format"], row["records"], row["verified"]) == ("ok", "warc", 10, True)


def test_check_digests_finds_a_wrong_one(run, tmp_path):
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack([warcinfo(), response("http://e.org/", b"<p>one").replace(b"<p>one", b"<p>two")]))
    assert run("check", path)[0] == 0
    code, out, _ = run("check", "--digests", "--json", path)
    assert code == 2
    (row,) = json_lines(out)
    assert (row["records"], row["lost"]) == (2, {"bad-digest": 2})


def test_records_json_has_every_field_with_numbers_as_numbers(run, crawl):
    code, out, err = run("records", "--json", "--sha256", crawl)
    assert (code, err) == (0, "")
    rows = json_lines(out)
    assert [(row["type"], row["uri"]) for row in rows] == [uri_of(content) for content in RECORDS]
    block = RECORDS[2].partition(b"\r\n\r\n")[2][:-4]
    assert rows[2] == {
        "offset": sum(len(gzip_member(c)) for c in RECORDS[:2]),
        "length": len(gzip_member(RECORDS[2])),
        "index": 0,
        "type": "response",
        "id": rows[2]["id"],
        "uri": "http://example.org/0",
        "date": "2026-01-05T10:00:00Z",
        "content_type": "application/http; msgtype=response",
        "content_length": len(block),
        "http_status": 200,
        "http_content_type": "text/html; charset=utf-8",
        "payload_digest": rows[2]["payload_digest"],
        "truncated": None,
        "sha256": hashlib.sha256(block).hexdigest(),
    }
    assert rows[0]["uri"] is rows[0]["http_status"] is None


def test_records_of_an_arc_have_its_own_fields(run, tmp_path):
    path = tmp_path / "x.arc.gz"
    path.write_bytes(arc([("http://e.org/a b", http([("Content-Type", "text/html")], b"<p>"))]))
    code, out, _ = run("records", "--json", path)
    rows = json_lines(out)
    assert code == 0
    assert [row["type"] for row in rows] == ["filedesc", "response"]
    assert rows[1].keys() == {
        "offset",
        "length",
        "type",
        "uri",
        "ip",
        "date",
        "content_type",
        "declared_length",
        "content_length",
        "http_status",
        "http_content_type",
        "truncated",
    }
    assert (rows[1]["uri"], rows[1]["ip"], rows[1]["http_status"]) == ("http://e.org/a b", "192.0.2.1", 200)


def test_records_of_several_files_begin_with_the_file(run, crawl):
    code, out, _ = run("records", "--fields", "type,offset", crawl, crawl)
    lines = out.decode().splitlines()
    assert code == 0
    assert lines[0] == "file\ttype\toffset"
    assert lines[1] == f"{crawl}\twarcinfo\t0"
    assert len(lines) == 21


def test_records_escape_what_would_break_the_table(run, tmp_path):
    path = tmp_path / "x.arc.gz"
    path.write_bytes(arc([("http://e.org/a\tb\\c", b"HTTP/1.0 200 OK\r\n\r\n")]))
    _, out, _ = run("records", "--fields", "uri,ip", path)
    assert out.decode().splitlines()[2] == "http://e.org/a\\tb\\\\c\t192.0.2.1"


def test_records_list_what_lies_behind_damage(run, tmp_path):
    parts = [bytearray(gzip_member(content)) for content in RECORDS]
    parts[4][30] ^= 0xFF
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(parts))
    code, out, err = run("records", "--json", path)
    assert code == 2
    assert len(json_lines(out)) == 9
    assert str(sum(map(len, parts[:4]))) in err


@pytest.mark.parametrize("options", [(), ("--sha256",), ("--content",)])
def test_records_tell_of_the_http_response_of_a_record_that_is_not_held(run, tmp_path, options):
    path = tmp_path / "x.warc"
    block = http([("Content-Type", "x/y"), ("X-Long", "y" * 20_000)], b"x" * (3 << 20), "HTTP/1.1 203 OK")
    path.write_bytes(record("response", block, "http://e.org/", "application/http"))
    code, out, _ = run("records", "--json", *options, path)
    (row,) = json_lines(out)
    assert (code, row["http_status"], row["http_content_type"]) == (0, 203, "x/y")
    assert row.get("sha256") in (None, hashlib.sha256(block).hexdigest())
    assert row.get("content") in (None, block.decode())


@pytest.fixture
def lost_and_sound(monkeypatch):
    """Two locations of records 0 to 2, of which the first has its connection cut within record 1 and stays away."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    data = b"".join(record("resource", b"x" * size, f"http://e.org/{n}") for n, size in enumerate((9, 4 << 20, 9)))
    with FaultServer() as server:
        server.things["/lost"] = Thing(data, always=Fault(2 << 20), ranges=False)
        server.things["/sound"] = Thing(data)
        yield f"{server.url}/lost", f"{server.url}/sound"


@pytest.mark.parametrize("options", [(), ("--digests",)])
def test_check_goes_on_behind_a_file_whose_source_is_lost(run, lost_and_sound, options):
    code, out, err = run("check", "--json", "--retries", 0, *options, *lost_and_sound)
    assert code == 2
    assert [(row["outcome"], row["records"], row["lost"]) for row in json_lines(out)] == [
        ("partial", 1, {"unavailable": 1}),
        ("ok", 3, {}),
    ]
    assert "2 inputs: 1 ok, 1 partial; 4 records" in err


def test_check_goes_on_behind_a_location_that_cannot_be_one(run, crawl, monkeypatch):
    (crawl.parent / "cluster.idx").write_bytes(b"")
    monkeypatch.chdir(crawl.parent)
    names = ["x" * 5000, "file://elsewhere/x", "", "http://", "http://a..b/x", "--retries=--"]
    code, out, err = run("check", "--json", "--", *names, crawl)
    assert code == 2
    assert [(row["input"], row["outcome"]) for row in json_lines(out)] == [
        *((name, "failed") for name in names),
        (str(crawl), "ok"),
    ]
    assert "7 inputs: 1 ok, 6 failed" in err


@pytest.mark.parametrize("options", [(), ("--sha256",), ("--content",), ("--sha256", "--content"), ("--heads-only",)])
def test_records_go_on_behind_a_file_whose_source_is_lost(run, lost_and_sound, options):
    code, out, err = run("records", "--json", "--retries", 0, *options, *lost_and_sound)
    assert code == 2
    lost, sound = lost_and_sound
    assert [(row["file"], row["uri"]) for row in json_lines(out)] == [
        (lost, "http://e.org/0"),
        *((sound, f"http://e.org/{n}") for n in range(3)),
    ]
    assert err.count("unavailable: ") == 1


def test_records_content_is_the_block_or_base64(run, tmp_path):
    path = tmp_path / "x.warc"
    path.write_bytes(
        record("resource", "Täst".encode(), "http://e.org/") + record("resource", b"\xff\0", "http://e.org/")
    )
    _, out, _ = run("records", "--json", "--content", path)
    assert [row["content"] for row in json_lines(out)] == ["Täst", {"base64": base64.b64encode(b"\xff\0").decode()}]


@pytest.mark.parametrize("option", ["--sha256", "--content"])
def test_records_heads_only_reports_damage_to_what_is_shown(run, tmp_path, option):
    parts = [gzip_member(response(f"http://e.org/{n}", random.Random(n).randbytes(9000))) for n in range(3)]
    damaged = bytearray(b"".join(parts))
    damaged[len(parts[0]) + 5000] ^= 1
    (tmp_path / "x.warc.gz").write_bytes(damaged)
    code, out, err = run("records", "--json", "--heads-only", option, tmp_path / "x.warc.gz")
    assert code == 2
    assert [row["uri"] for row in json_lines(out)] == ["http://e.org/0", "http://e.org/2"]
    assert f"offset {len(parts[0])} in" in err


def test_records_heads_only_gives_the_same_rows(run, crawl):
    assert run("records", "--json", "--heads-only", crawl) == run("records", "--json", crawl)


@pytest.mark.parametrize(("fields", "name"), [("offset,nonsense", "no field nonsense: "), ("", "no field '': ")])
def test_unknown_field_is_a_mistake(run, crawl, fields, name):
    code, out, err = run("records", "--fields", fields, crawl)
    assert (code, out) == (1, b"")
    assert name in err


def test_cat_gives_a_member_of_many_records_that_is_too_large_to_be_held(run, tmp_path):
    large = record("resource", bytes(17 << 20), "http://e.org/large")
    members = [gzip_member(warcinfo()), gzip_member(large + response("http://e.org/", b"x")), gzip_member(large)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(members))
    assert run("cat", path, "--offset", len(members[0]), "--part", "raw") == (0, members[1], "")
    assert run("cat", path, "--offset", len(members[0]), "--part", "record") == (0, large, "")


def test_cat_gives_each_part(run, tmp_path):
    body = gzip.compress("déjà".encode("latin-1"), mtime=0)
    fields = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain; charset=ISO-8859-1")]
    content = response("http://e.org/", body, fields)
    parts = [gzip_member(warcinfo()), gzip_member(content)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(parts))
    header, _, block = content.partition(b"\r\n\r\n")

    def cat(part, *more):
        code, out, err = run("cat", path, "--offset", len(parts[0]), "--part", part, *more)
        assert (code, err) == (0, "")
        return out

    assert cat("raw") == cat("raw", "--length", len(parts[1])) == parts[1]
    assert cat("record") == content
    assert cat("headers") == header + b"\r\n\r\n" + http(fields)
    assert cat("payload") == "déjà".encode("latin-1")
    assert cat("text") == "déjà".encode()
    assert block.endswith(b"\r\n\r\n")


def test_cat_counts_records_within_a_member(run, tmp_path):
    path = tmp_path / "one.warc.gz"
    path.write_bytes(gzip_member(b"".join(RECORDS)))
    for number in (0, 4, 9):
        assert run("cat", path, "--offset", 0, "--index", number)[1] == RECORDS[number]
    assert run("cat", path, "--offset", 0, "--index", 10)[0] == 2


def test_cat_of_a_place_where_no_record_begins_is_an_error(run, crawl):
    for offset in (1, 100, 10**9):
        code, out, err = run("cat", crawl, "--offset", offset)
        assert (code, out) == (2, b"")
        assert len(err.splitlines()) == 1
    assert run("cat", crawl, "--offset", -1)[0] == 1


@pytest.mark.parametrize("command", ["check", "check --json", "records", "cat --offset 0", "cat --offset 1", "ledger"])
def test_secret_in_a_location_is_not_shown(run, crawl, command):
    with FaultServer({"/x": Thing(crawl.read_bytes()[:100])}) as web:
        name, *options = command.split()
        code, out, err = run(name, f"{web.url}/x?token=SECRET", *options)
    assert code != 0
    assert "SECRET" not in out.decode() + err


def test_ledger_prints_the_summary_or_the_list_of_what_failed(run, crawl, tmp_path):
    gone = tmp_path / "gone.warc.gz"
    _, rows, _ = run("check", "--json", crawl, gone)
    ledger = tmp_path / "ledger"
    ledger.write_bytes(rows)
    code, out, _ = run("ledger", ledger)
    assert code == 0
    assert out.decode().startswith("2 inputs: 1 ok, 1 failed; 10 records")
    assert run("ledger", ledger, "--failed")[1].decode() == f"{gone}\n"
    ledger.rename(tmp_path / "_ledger.jsonl")
    assert run("ledger", tmp_path) == (0, out, "")


def test_ledger_that_is_none_is_an_error(run, crawl, tmp_path):
    for path in (crawl, tmp_path / "gone"):
        code, out, err = run("ledger", path)
        assert (code, out) == (2, b"")
        assert len(err.splitlines()) == 1


def test_ledger_of_no_input_says_so(run, tmp_path):
    (tmp_path / "empty").touch()
    assert run("ledger", tmp_path / "empty") == (0, b"0 inputs; 0 records, 0 B read\n", "")


def test_range_that_ends_within_a_record_is_not_said_to_be_the_end_of_the_file(run, crawl):
    code, out, err = run("cat", crawl, "--offset", 0, "--length", 20)
    assert (code, out, err.count("\n")) == (2, b"", 1)
    assert "expected more compressed data, got the end of the data at 20 (offset 0 in " in err


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_ledger_without_line_ends_is_not_read_for_ever(run, monkeypatch):
    monkeypatch.setattr("crawlmill.cli.commands.runs.ledger._MAX_ROW", 1 << 20)
    code, out, err = run("ledger", "/dev/zero")
    assert (code, out) == (2, b"")
    assert err == "crawlmill: a line of text: expected at most 1048576 bytes, got more (/dev/zero)\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nosuch"],
        ["check"],
        ["check", "--nosuch", "x"],
        ["check", "--retries=--", "x"],
        ["records", "x", "--fields=--"],
        ["records", "x", "--from", "202402", "--to", "2023"],
        ["cat", "x"],
        ["cat", "x", "--off", "3"],
        ["cat", "x", "--offset", "-1"],
        ["cat", "x", "--offset", "99999999999999999999"],
        ["sample"],
    ],
)
def test_mistake_is_one_line_and_exit_code_1(run, arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (1, b"")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record", "x"], "no command is called record: did you mean records?"),
        (["zzz"], "no command is called zzz: one of run, new, check, "),
        (["records", "x", "--field", "uri"], "--field uri: did you mean --fields? (see crawlmill records --help)"),
        (["check", "x", "--digest"], "crawlmill check: unrecognized arguments: --digest: did you mean --digests?"),
        (
            ["run", "tag_count", "--ouput-dir=x", "y"],
            "unrecognized arguments: --ouput-dir=x: did you mean --output-dir?",
        ),
        (["run", "tag_count", "--zzz", "y"], "tag_count: unrecognized arguments: --zzz (see --help)"),
    ],
)
def test_similar_name_is_suggested_for_an_unknown_one(run, arguments, said):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert said in err


@pytest.mark.parametrize("place", ["s3://bucket/x", "s3://", "hdfs:///x", "https://host/x", "file://elsewhere/x", ""])
@pytest.mark.parametrize("command", [("sample",), ("download", "x.paths")])
def test_folder_elsewhere_is_not_taken_for_a_local_one(run, tmp_path, monkeypatch, command, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.paths").write_text("x.warc.gz\n")
    code, out, err = run(*command, place)
    assert (code, out, err.count("\n")) == (1, b"", 1)
    assert f"argument DIR: expected a folder of this machine, got {place!r}" in err
    assert [path.name for path in tmp_path.iterdir()] == ["x.paths"]


def test_sample_that_cannot_be_written_is_no_lost_input(run, monkeypatch, tmp_path):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("crawlmill.sample.crawl._write_lists", full)
    code, out, err = run("sample", tmp_path / "made", "--pages", 1, "--files", 1)
    assert (code, out) == (1, b"")
    assert err == f"crawlmill: the sample crawl could not be written: No space left on device ({tmp_path}/made)\n"


def test_sample_into_a_folder_that_holds_something_is_a_mistake(run, crawl):
    code, _, err = run("sample", crawl.parent)
    assert code == 1
    assert len(err.splitlines()) == 1


def test_sample_writes_its_crawl_and_its_answers(run, tmp_path):
    code, _, err = run("sample", tmp_path / "s", "--pages", 5, "--files", 1, "--seed", 3)
    last = err.splitlines()[-1]
    path_list = tmp_path / "s" / "crawl-data" / "CC-SAMPLE-2026-01" / "warc.paths.gz"
    assert path_list.exists()
    assert last == f"next: python jobs/tag_count.py --top 10 {path_list}"
    assert code == 0
    assert "answers.json" in err
    assert set(json.loads((tmp_path / "s/answers.json").read_text())) == {"tags", "servers", "words", "triples"}


def test_every_command_explains_itself_with_an_example(run):
    for command in COMMANDS:
        code, out, _ = run(command, "--help")
        assert code == 0
        assert f"crawlmill {command} " in out.decode().split("Examples:")[1]
    assert set(COMMANDS) <= set(make_parser().format_help().split())


def test_help_of_crawlmill_imports_no_command():
    code = "import sys; from crawlmill.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(COMMANDS) <= set(done.stdout.split())
    assert [name for name in done.stderr.split() if name.startswith("crawlmill.cli.commands.")] == []


def test_version_says_which_decoders_are_in_use(run):
    code, out, _ = run("--version")
    assert code == 0
    assert b"decoders: " in out


def test_closed_pipe_ends_quietly(crawl):
    command = [sys.executable, "-m", "crawlmill", "records", "--json", *[str(crawl)] * 400]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""


def test_closed_stdin_changes_nothing(crawl):
    command = [sys.executable, "-m", "crawlmill", "records", "--json", str(crawl)]
    usual = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True)
    closed = subprocess.run(command, capture_output=True, preexec_fn=lambda: os.close(0), check=True)
    assert closed.stdout == usual.stdout


@pytest.mark.parametrize(
    ("formats", "job"),
    [("wat", "server_count"), ("wet,wat", "word_count"), ("text", "word_count"), ("arc", "tag_count")],
)
def test_sample_names_a_job_and_a_list_that_fit_its_formats(run, tmp_path, formats, job):
    _, _, err = run("sample", tmp_path / "s p", "--pages", 1, "--files", 1, "--formats", formats)
    *_, name, top, ten, path_list = shlex.split(err.splitlines()[-1])
    assert (name, top, ten) == (f"jobs/{job}.py", "--top", "10")
    code, _, err = run("plan", path_list)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("offset", [999_999, 2**63 - 1])
def test_offset_behind_the_end_is_said_to_be_that(run, crawl, offset):
    code, _, err = run("cat", crawl, "--offset", offset)
    assert code == 2
    assert "the file ends before this offset" in err
    assert "empty" not in err
