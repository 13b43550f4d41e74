"""Captures of an index as the inputs of a job: `--index` is a shorthand of `lookup | job`."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys

import pytest
from tests import builders
from tests.indexes.captures import key_of, make_cluster
from tests.mr.helpers import PROJECT, SCRIPTS, rows, run, run_here
from tests.storage.faults import FaultServer, Thing

from crawlmill.jobs.tag_count import TagCount

PAGES = {
    "http://example.org/": b"<p>",
    "http://example.org/b": b"<p><b>",
    "http://sub.example.org/": b"<i>",
    "http://example.org:8080/": b"<u><u>",
    "http://example-org.net/": b"<s>",
    "http://other.net/": b"<em>",
}


class Archive:
    """Pages in two WARC files, and the lines that an index has of them; offsets are those of the members written."""

    def __init__(self, folder):
        self.folder, self.lines, self.cdx = folder, [], [b" CDX N b a m s k r M S V g\n"]
        for name, urls in (("a.warc.gz", list(PAGES)[::2]), ("b.warc.gz", list(PAGES)[1::2])):
            data = builders.pack([builders.warcinfo()])
            for url in urls:
                member = builders.pack([builders.response(url, PAGES[url])])
                key, length, offset = key_of(url), len(member), len(data)
                fields = {
                    "url": url,
                    "mime": "text/html",
                    "status": "200",
                    "length": f"{length}",
                    "offset": f"{offset}",
                    "filename": name,
                }
                self.lines.append(f"{key} 20240101000000 {json.dumps(fields)}")
                line = f"{key} 20240101000000 {url} text/html 200 - - - {length} {offset} {name}\n"
                self.cdx.append(line.encode())
                data += member
            (folder / name).write_bytes(data)
        self.lines.sort(key=str.encode)
        (folder / "x.cdxj").write_text("".join(f"{line}\n" for line in self.lines))
        (folder / "x.cdx").write_bytes(b"".join(sorted(self.cdx)))


@pytest.fixture
def archive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Archive(tmp_path)


def tags(ended):
    """The results of a job by their keys."""
    return {json.loads(key): number for key, number in ended.pairs.items()}


def piped(*arguments):
    """What the command `lookup` prints, and the job says of it."""
    done = subprocess.run([sys.executable, "-m", "crawlmill", "lookup", *arguments], capture_output=True, check=False)
    return run_here(TagCount, "-r", "inline", "--ledger", "piped.jsonl", "-", stdin=done.stdout)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--match", "domain", "example.org"], {"p": 2, "b": 1, "i": 1, "u": 2}),
        (["*.example.org", "--limit", "1"], {"p": 1}),
        (["*.example.org", "--filter", "~url:.*/b"], {"p": 1, "b": 1}),
        (["--key", "org,example)/b"], {"p": 1, "b": 1}),
        (["other.net", "http://example.org/*"], {"em": 1, "p": 2, "b": 1}),
        (["--from", "2023", "--to", "2024", "--newest", "--distinct", "status", "other.net"], {"em": 1}),
    ],
)
def test_captures_are_inputs_as_those_of_the_command(archive, arguments, wanted):
    ended = run_here(TagCount, "-r", "inline", "--index", "x.cdxj", "--ledger", "own.jsonl", *arguments)
    assert (ended.code, tags(ended)) == (0, wanted), ended.err
    assert (tags(piped("--index", "x.cdxj", *arguments)), rows(archive.folder / "piped.jsonl").keys()) == (
        wanted,
        rows(archive.folder / "own.jsonl").keys(),
    )


def test_a_local_run_counts_a_cluster_and_a_file_and_a_capture_of_both_once(archive):
    make_cluster(archive.folder / "c", archive.lines[:3], per=1, shards=2)
    given = ("--index", "c", "--index", "x.cdxj", "*.example.org", "example.org")
    ended = run(SCRIPTS / "mime_count.py", "-r", "local", *given, cwd=archive.folder)
    assert (ended.code, tags(ended)) == (0, {"text/html": 4}), ended.err


def test_patterns_come_from_stdin(archive):
    ended = run_here(TagCount, "-r", "inline", "--index", "x.cdxj", "-", stdin=b"other.net\r\n\nexample.org/b\n")
    assert (ended.code, tags(ended)) == (0, {"em": 1, "p": 1, "b": 1}), ended.err


def test_lines_of_cdx_are_inputs_that_the_ledger_names_by_file_and_range(archive):
    ended = run_here(
        TagCount, "-r", "inline", "--index", "x.cdx", "--ledger", "l.jsonl", "--match", "host", "other.net"
    )
    assert (ended.code, tags(ended)) == (0, {"em": 1}), ended.err
    fields = json.loads(next(line for line in archive.lines if "other.net" in line).split(" ", 2)[2])
    assert list(rows(archive.folder / "l.jsonl")) == [f"b.warc.gz\t{fields['offset']}\t{fields['length']}"]


def test_files_are_found_below_the_base_url(archive, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ended = run_here(TagCount, "-r", "inline", "--index", "../x.cdxj", "--base-url", f"{tmp_path}/", "other.net")
    assert (ended.code, tags(ended)) == (0, {"em": 1}), ended.err


def test_a_lost_block_is_told_the_rest_is_counted_and_the_exit_code_is_2(archive):
    make_cluster(archive.folder / "c", archive.lines, per=1, shards=1)
    shard = archive.folder / "c/cdx-00000.gz"
    second = len(gzip.compress(f"{archive.lines[0]}\n".encode(), mtime=0))
    data = bytearray(shard.read_bytes())
    data[second + 12] ^= 0xFF
    shard.write_bytes(data)
    wanted = {key_of(url) for url in PAGES} - {archive.lines[1].split(" ")[0]}
    ended = run_here(TagCount, "-r", "inline", "--index", "c", "--match", "prefix", "--key", *sorted(wanted))
    assert ended.code == 2, ended.err
    lost = [line for line in ended.err.splitlines() if "cdx-00000.gz" in line]
    assert len(lost) == 1
    assert "captures may be missing" in ended.err.splitlines()[-1]
    strict = run_here(
        TagCount,
        "-r",
        "inline",
        "--index",
        "c",
        "--on-bad-input",
        "fail",
        "--match",
        "prefix",
        "--key",
        *sorted(wanted),
    )
    assert (strict.code, strict.out) == (1, "")


def test_a_capture_without_a_place_is_told_and_left_out(archive):
    (archive.folder / "x.cdxj").write_text(
        'net,other)/ 20230101000000 {"url": "http://other.net/", "filename": "b.warc.gz", "offset": "0"}\n'
        + "".join(f"{line}\n" for line in archive.lines if line.startswith("net,other"))
    )
    ended = run_here(TagCount, "-r", "inline", "--index", "x.cdxj", "other.net")
    assert (ended.code, tags(ended)) == (2, {"em": 1})
    assert "bad-header: the capture net,other)/ 20230101000000 does not say where its record is" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--index", "x.cdxj", "--limit", "0", "*.example.com"], "--limit: expected 1 or more"),
        (["--index", "x.cdxj", "*.nowhere.example"], "no capture of *.nowhere.example in x.cdxj"),
        (["--index", "x.cdxj"], "no pattern given"),
        (["--index", "gone.cdxj", "other.net"], "cannot use this index"),
        (["--index", "x.cdxj", "--from", "soon", "other.net"], "--from: expected 1 to 14 digits of a time"),
        (["--index", "x.cdxj", "--match", "some", "other.net"], "argument --match: invalid choice"),
        (["--match", "host", "x.cdxj"], "--match is for look-ups: name an index with --index"),
        (["--limit", "0", "x.cdxj"], "--limit is for look-ups: name an index with --index"),
        (["--newest", "x.cdxj"], "--newest is for look-ups"),
        (["--filter", "=status:200", "x.cdxj"], "--filter is for look-ups"),
        (["--index-url", "http://127.0.0.1:9/", "x.cdxj"], "--index-url is for look-ups"),
    ],
)
def test_mistakes_are_one_line(archive, arguments, said):
    ended = run_here(TagCount, "-r", "inline", *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1), ended.err
    assert said in ended.err


def test_a_job_that_looks_nothing_up_loads_nothing_of_indexes(archive):
    (archive.folder / "x.paths").write_text("a.warc.gz\n")
    code = (
        "import sys, runpy; sys.argv = ['tag_count.py', '-r', 'inline', '--no-conf', '--quiet', 'x.paths']\n"
        f"runpy.run_path({str(PROJECT / 'jobs/tag_count.py')!r}, run_name='__main__')\n"
        "print(*sorted(sys.modules), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert "crawlmill.mr.launch" in loaded
    looks_up = ["mr.run.lookup", "inputs.indexes", "indexes.lookup", "indexes.query", "indexes.cluster", "urls.surt"]
    assert not {f"crawlmill.{name}" for name in looks_up} & set(loaded)


def test_ranges_of_one_file_near_to_each_other_are_one_request(archive, monkeypatch):
    monkeypatch.chdir("/")  # a file beside a list would win over the base URL
    with FaultServer({"/b.warc.gz": Thing((archive.folder / "b.warc.gz").read_bytes())}) as web:
        ended = run_here(
            TagCount,
            "-r",
            "inline",
            "--index",
            archive.folder / "x.cdxj",
            "--base-url",
            f"{web.url}/",
            "--filter",
            "=filename:b.warc.gz",
            "--match",
            "prefix",
            "--key",
            "net",
            "org",
        )
    assert (ended.code, tags(ended)) == (0, {"p": 1, "b": 1, "u": 2, "em": 1}), ended.err
    assert len(web.seen) == 1


def test_very_many_captures_of_a_file_are_few_requests(tmp_path, monkeypatch):
    data, lines = builders.pack([builders.warcinfo()]), []
    for number in range(300):
        url = f"http://example.org/{number:03}"
        member = builders.pack([builders.response(url, b"<p>")])
        if number % 100 < 70:
            fields = {"url": url, "length": f"{len(member)}", "offset": f"{len(data)}", "filename": "a.warc.gz"}
            lines.append(f"{key_of(url)} 20240101000000 {json.dumps(fields)}\n")
        elif number % 100 == 80:
            data += builders.pack([builders.response(url, random.Random(number).randbytes(200_000))])  # a gap
        data += member
    (tmp_path / "x.cdxj").write_text("".join(lines))
    monkeypatch.chdir("/")
    with FaultServer({"/a.warc.gz": Thing(data)}) as web:
        ended = run_here(
            TagCount, "-r", "local", "--index", tmp_path / "x.cdxj", "--base-url", f"{web.url}/", "*.example.org"
        )
    assert (ended.code, tags(ended)) == (0, {"p": 210}), ended.err
    assert len(web.seen) == 3
