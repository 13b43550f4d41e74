"""`crawlmill crawls`, `paths` and `plan` as a user sees them: one line for whatever is wrong, and never nothing."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.indexes.captures import make_cluster, make_lines, text

from crawlmill.inputs.common_crawl import catalogue
from crawlmill.units import size

ID = "CC-MAIN-2026-04"
SEGMENTS = ("1768000011.11", "1768000012.12", "1768000013.13")
KEYS = [
    f"crawl-data/{ID}/segments/{segment}/warc/{ID}-{number:05}.warc.gz" for segment in SEGMENTS for number in range(20)
]
FULL = Path("/dev/full")


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """The working folder: a mirror with one crawl, and a list of a file that is there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "INDEX_URL", f"{(tmp_path / 'nowhere').as_uri()}/")
    folder = tmp_path / "crawl-data" / ID
    folder.mkdir(parents=True)
    (tmp_path / "collinfo.json").write_text(
        f'[{{"id": "{ID}", "name": "January 2026 Index", "from": "2026-01-05T00:00:00", "to": "2026-01-19T00:00:00"}}]'
    )
    (folder / "warc.paths.gz").write_bytes(gzip.compress("".join(f"{key}\n" for key in KEYS).encode(), mtime=0))
    (folder / "cc-index.paths.gz").write_bytes(gzip.compress(b"cc-index/cdx-00000.gz\n", mtime=0))
    Path("x.paths").write_text("collinfo.json\n")
    return tmp_path


@pytest.fixture
def paths(run, mirror):
    """Run `paths` of the crawl; exit code, lines of stdout, stderr."""

    def paths(*arguments):
        code, out, err = run("paths", "--index-url", mirror, "--base-url", mirror, *arguments)
        return code, out.decode().splitlines(), err

    return paths


def test_crawls_are_rows(run, mirror):
    assert run("crawls", "--index-url", mirror) == (
        0,
        f"{ID}\tJanuary 2026 Index\t2026-01-05\t2026-01-19\n".encode(),
        "",
    )


def test_crawls_without_a_server_say_which_list_they_are_of(run, mirror):
    code, out, err = run("crawls", "latest")
    assert (code, out) == (0, b"CC-MAIN-2023-14\tMarch/April 2023\n")
    assert err.endswith("crawls by the bundled list of spring 2023\n")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("text", ["[]", "{}", '[{"id": 5}]', "[" * 100_000, "<html>"])
@pytest.mark.parametrize("command", [("crawls",), ("paths", "latest", "warc")])
def test_mirror_without_a_list_of_crawls_is_one_line(run, mirror, command, text):
    (mirror / "collinfo.json").write_text(text)
    code, out, err = run(*command, "--index-url", mirror)
    assert (code, out) == (2, b"")
    assert len(err.splitlines()) == 1
    assert str(mirror / "collinfo.json") in err


def test_entry_that_is_left_out_is_one_line(run, mirror):
    (mirror / "collinfo.json").write_text(f'[{{"id": 5}}, {{"id": "{ID}"}}]')
    code, out, err = run("crawls", "--index-url", mirror)
    assert (code, out) == (0, f"{ID}\n".encode())
    assert err == (
        f"1 of 2 entries of {mirror / 'collinfo.json'} make no sense and are left out; "
        "entry 1: expected an id such as CC-MAIN-2024-10, got 5\n"
    )


@pytest.mark.parametrize("name", ["latest:0", "1999", "nonsense"])
def test_crawl_that_is_none_is_one_line(run, mirror, name):
    for command in (("crawls", name), ("paths", name, "warc")):
        code, out, err = run(*command, "--index-url", mirror)
        assert (code, out) == (1, b"")
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), KEYS),
        (("--head", 1), KEYS[:1]),
        (("--head", 60), KEYS),
        (("--head", sys.maxsize), KEYS),
        (("--sample", 60), KEYS),
        (("--sample", sys.maxsize, "--seed", 0), KEYS),
        (("--per-segment", 1), KEYS[::20]),
        (("--per-segment", 21), KEYS),
        (("--per-segment", 2, "--head", 3), [KEYS[0], KEYS[1], KEYS[20]]),
        (("--per-segment", 1, "--sample", 3), KEYS[::20]),
        (("--segment", SEGMENTS[1]), KEYS[20:40]),
        (("--segment", SEGMENTS[1], "--per-segment", 1, "--sample", 9, "--head", 9), KEYS[20:21]),
        (("--as", "warc", "--head", 1), KEYS[:1]),
        (("--as", "wat", "--per-segment", 1), [key.replace("/warc/", "/wat/")[:-2] + "wat.gz" for key in KEYS[::20]]),
        (("--as", "wet", "--head", 1), [KEYS[0].replace("/warc/", "/wet/")[:-2] + "wet.gz"]),
    ],
)
def test_options_take_of_the_list(paths, options, expected):
    assert paths(ID, "warc", *options) == (0, expected, "")


def test_sample_is_some_of_the_list_in_its_order(paths):
    code, found, _ = paths("latest", "warc", "--sample", 7, "--seed", 3, "--segment", SEGMENTS[0])
    assert code == 0
    assert len(found) == 7
    assert found == [key for key in KEYS[:20] if key in found]
    _, short, _ = paths("latest", "warc", "--sample", 7, "--seed", 3, "--segment", SEGMENTS[0], "--head", 2)
    assert short == found[:2]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--head", 0), "1 or more"),
        (("--head", -1), "1 or more"),
        (("--head", 10**20), "1 or more"),
        (("--sample", 0), "1 or more"),
        (("--sample", "x"), "1 or more"),
        (("--sample", 3, "--seed", -1), "0 or more"),
        (("--per-segment", 0), "1 or more"),
        (("--as", "arc"), "invalid choice"),
        (("--segment", "nope"), "none of the files is in a segment nope"),
        (("--segment", ""), "none of the files is in a segment"),
        (("--segment", "nope", "--as", "wat", "--sample", 3), "none of the files is in a segment nope"),
    ],
)
def test_option_that_makes_no_sense_is_one_line(paths, options, word):
    code, out, err = paths(ID, "warc", *options)
    assert (code, out) == (1, [])
    assert len(err.splitlines()) == 1
    assert word in err


def test_sibling_of_a_file_that_has_none_is_one_line(paths):
    code, out, err = paths(ID, "cc-index", "--as", "wat")
    assert (code, out) == (1, [])
    assert err == "crawlmill: not a WARC, WAT or WET file: got cc-index/cdx-00000.gz\n"


@pytest.mark.parametrize("kind", ["arc", "foo", "wet"])
def test_list_that_a_crawl_has_not_is_one_line_that_names_those_it_has(paths, kind):
    assert paths(ID, kind) == (1, [], f"crawlmill: {ID} has no list of {kind} files; it has warc, cc-index\n")


def test_empty_list_is_one_line(paths, mirror):
    (mirror / "crawl-data" / ID / "warc.paths.gz").write_bytes(b"")
    code, out, err = paths(ID, "warc")
    assert (code, out) == (1, [])
    assert err.startswith(f"crawlmill: the list of warc files of {ID} is empty (")
    assert len(err.splitlines()) == 1


def plan_of(out):
    return dict(line.split(None, 1) for line in out.decode().splitlines())


def test_plan_of_a_mirror_that_is_down_says_so_in_one_line(run, mirror):
    Path("dead.paths").write_text("".join(f"http://127.0.0.1:1/{n}\n" for n in range(1000)))
    code, out, err = run("plan", "dead.paths")
    assert code == 2
    assert err.startswith("200 of the sample could not be asked for: ")
    assert len(err.splitlines()) == 1
    assert plan_of(out) == {
        "inputs": "1,000: 1,000 files, 0 ranges",
        "bytes": "unknown: no file could be asked for",
        "requests": "1,000 at least",
        "unknown": "200 of 200 files checked",
    }


def test_plan_estimates_from_those_that_could_be_asked_for(run, mirror):
    for number in range(3):
        Path(f"f{number}").write_bytes(b"x" * 1000)
    Path("some.paths").write_text("f0\nf1\nf2\nhttp://127.0.0.1:1/x\n")
    code, out, _ = run("plan", "some.paths", "--retries", 0)
    assert code == 2
    assert plan_of(out)["bytes"] == "4.0 kB"
    assert plan_of(out)["unknown"] == "1 of 4 files checked"


def test_plan_of_ranges_needs_no_sizes(run, mirror):
    Path("ranges.paths").write_text("http://127.0.0.1:1/x\t0\t500\nhttp://127.0.0.1:1/x\t500\t500\n")
    code, out, err = run("plan", "ranges.paths")
    assert (code, err) == (0, "")
    assert (plan_of(out)["bytes"], plan_of(out)["requests"]) == ("1.0 kB", "1 at least")


def test_plan_knows_clusters_and_index_files(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = make_lines(90)
    make_cluster(tmp_path / "c", lines, per=10, shards=3)
    (tmp_path / "x.cdxj").write_bytes(text(lines))
    (tmp_path / "y.cdx").write_bytes(b" CDX N b a m s k r V g\ncom,a)/ 20240101000000 http://a.com/ - - - - 1 x\n")
    (tmp_path / "l.paths").write_text("c/cluster.idx\nx.cdxj\n")
    shards = sum(path.stat().st_size for path in (tmp_path / "c").glob("cdx-*"))
    for lists, files, more in (
        (["c"], 3, 0),
        (["c/cluster.idx"], 3, 0),
        (["l.paths"], 4, len(text(lines))),
        (["c", "l.paths"], 4, len(text(lines))),
        (["--index-files", "c", "x.cdxj", "y.cdx"], 5, len(text(lines)) + (tmp_path / "y.cdx").stat().st_size),
    ):
        code, out, err = run("plan", *lists)
        assert (code, err.count("\n")) == (0, 0), err
        assert plan_of(out)["inputs"] == f"{files}: {files} files, 0 ranges"
        assert plan_of(out)["bytes"] == size(shards + more)
    code, out, _ = run("plan", "x.cdxj")
    assert plan_of(out)["inputs"] == "90: 0 files, 90 ranges"


def test_plan_names_the_first_ten_that_are_missing(run, mirror):
    Path("gone.paths").write_text("".join(f"gone{n}\n" for n in range(30)))
    code, out, err = run("plan", "gone.paths")
    assert code == 2
    assert plan_of(out)["missing"] == "30 of 30 files checked"
    lines = err.splitlines()
    assert len(lines) == 11
    assert all(line.startswith("not-found: ") for line in lines[:10])
    assert lines[10] == "and 20 more"


COMMANDS = ["crawls --index-url .", f"paths --index-url . --base-url . {ID} warc", "plan x.paths"]


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_written_is_one_line(mirror, command):
    arguments = [sys.executable, "-m", "crawlmill", *command.split()]
    closed = subprocess.run(arguments, capture_output=True, preexec_fn=lambda: os.close(1), check=False)
    assert (closed.returncode, closed.stderr) == (1, b"crawlmill: Bad file descriptor\n")
    if FULL.exists():
        with FULL.open("wb") as full:
            ended = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (ended.returncode, ended.stderr) == (1, b"crawlmill: No space left on device\n")
