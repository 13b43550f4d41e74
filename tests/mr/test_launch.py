"""The launcher, in this process: how runs end, what they publish, and what users get wrong."""

from __future__ import annotations

import errno
import gzip
import json
import logging
import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import rows, run, run_here
from tests.storage.faults import FaultServer

import crawlmill
from crawlmill.errors import SourceError
from crawlmill.ledger.row import LedgerRow
from crawlmill.mr import CountJob, CrawlJob
from crawlmill.mr.engines.registry import ENGINES
from crawlmill.mr.task.failures import Stopped, TaskError

INLINE = ("-r", "inline")


class UriCount(CountJob):
    """Count URIs."""

    formats = ("warc",)
    types = ("response",)
    heads_suffice = True

    def process(self, record):
        yield record.uri, 1


class NeedsBodies(UriCount):
    """Needs bodies."""

    heads_suffice = False


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """A folder for temporary files, in which no run may leave any but a ledger."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert {path.name.rpartition("-")[0] for path in folder.iterdir()} <= {"crawlmill-ledger"}


@pytest.fixture
def mixed(crawl):
    """A list of a good, a cut, a missing and a foreign file."""
    crawl.warc("good.warc.gz", "http://e.org/1", "http://e.org/2")
    crawl.warc("cut.warc.gz", "http://e.org/1", "http://e.org/3", cut=9)
    crawl.write("notes.warc.gz", b"nothing of a crawl\n" * 9)
    return crawl.list("good.warc.gz", "cut.warc.gz", "gone.warc.gz", "notes.warc.gz", "good.warc.gz")


COUNTS = {'"http://e.org/1"': 2, '"http://e.org/2"': 1}
OUTCOMES = {"cut.warc.gz": "partial", "gone.warc.gz": "failed", "good.warc.gz": "ok", "notes.warc.gz": "failed"}


def test_run_with_bad_inputs_counts_the_rest_sums_up_and_ends_with_2(mixed, tmp_path):
    ended = run_here(UriCount, *INLINE, "--ledger", tmp_path / "l", mixed)
    assert (ended.code, ended.pairs) == (2, COUNTS)
    found = rows(tmp_path / "l")
    assert {name: row["outcome"] for name, row in found.items()} == OUTCOMES
    assert {name: set(row["lost"]) for name, row in found.items()} == {
        "cut.warc.gz": {"truncated"},
        "gone.warc.gz": {"not-found"},
        "good.warc.gz": set(),
        "notes.warc.gz": {"unknown-format"},
    }
    lines = ended.err.splitlines()
    assert lines[0] == "1 repeated line left out"
    assert re.fullmatch(r"4 inputs: 1 ok, 1 partial, 2 failed; 5 records, [\d.]+ [kM]?B read in [\d.]+ s", lines[1])
    assert [line.split()[1] for line in lines[2:5]] == ["cut.warc.gz:", "gone.warc.gz:", "notes.warc.gz:"]
    assert lines[5:] == [f"ledger: {tmp_path / 'l'}"]


def test_run_with_all_ok_ends_with_0_and_keeps_no_ledger(crawl, temporary):
    ended = run_here(UriCount, *INLINE, crawl.list(crawl.warc("a", "http://e.org/1")))
    assert (ended.code, ended.pairs) == (0, {'"http://e.org/1"': 1})
    assert len(ended.err.splitlines()) == 1
    assert list(temporary.iterdir()) == []


def test_ledger_without_a_place_is_kept_in_a_temporary_folder_only_for_bad_inputs(mixed, temporary):
    ended = run_here(UriCount, *INLINE, mixed)
    place = ended.err.splitlines()[-1].removeprefix("ledger: ")
    assert Path(place).parent.parent == temporary
    assert len(rows(Path(place))) == 4


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--on-bad-input", "fail"), 1),
        (("--on-bad-input", "skip"), 2),
        (("--max-bad-inputs", "2"), 1),
        (("--max-bad-inputs", "3"), 2),
        (("--max-bad-inputs", "74.9%"), 1),
        (("--max-bad-inputs", "75%"), 2),
    ],
)
def test_bad_inputs_above_the_limit_fail_the_job_and_publish_nothing(mixed, tmp_path, options, code):
    out = tmp_path / "out"
    ended = run_here(UriCount, *INLINE, *options, "--output-dir", out, mixed)
    assert ended.code == code
    assert ended.out == ""
    place = out / "_ledger.jsonl" if code == 2 else tmp_path / "out.failed.jsonl"
    assert out.exists() == (code == 2)
    assert set(rows(place)) == set(OUTCOMES)
    if code == 1:
        assert re.search(r"more than --\S+ \S+ allows;( \d (was|were) not read;)? nothing is published\n$", ended.err)


def test_run_stops_as_soon_as_too_many_inputs_are_bad(crawl, tmp_path):
    crawl.warc("z.warc.gz", "http://e.org/")
    lst = crawl.list("gone1", "gone2", "z.warc.gz")
    ended = run_here(UriCount, *INLINE, "--max-bad-inputs", "1", "--ledger", tmp_path / "l", lst)
    assert ended.code == 1
    assert rows(tmp_path / "l")["z.warc.gz"]["lost"] == {"unaccounted": 1}
    lines = ended.err.splitlines()
    assert lines[0].startswith("3 inputs: 3 failed (1 unaccounted); ")
    said = "2 of 3 inputs are bad, more than --max-bad-inputs 1 allows; 1 was not read; nothing is published"
    assert lines[-1].partition(": ")[2] == said


def test_share_of_bad_inputs_is_of_those_that_were_read_and_lost_something(crawl):
    lst = crawl.list(*(f"{name}-gone" for name in range(50)), *(crawl.warc(f"z{name}") for name in range(50)))
    ended = run_here(UriCount, *INLINE, "--max-bad-inputs", "2%", lst)
    assert ended.code == 1
    said = "3 of 100 inputs are bad, more than --max-bad-inputs 2% allows; 97 were not read; nothing is published"
    assert ended.err.splitlines()[-1].partition(": ")[2] == said


def test_few_bad_inputs_under_fail_still_end_with_0_if_there_are_none(crawl):
    assert run_here(UriCount, *INLINE, "--on-bad-input", "fail", crawl.list(crawl.warc("a"))).code == 0


def test_first_ten_bad_inputs_are_shown_and_all_are_in_the_ledger(crawl, tmp_path):
    names = [f"gone-{n:02}" for n in range(25)]
    ended = run_here(UriCount, *INLINE, "--ledger", tmp_path / "l", crawl.list(*names))
    assert (ended.code, ended.out) == (2, "")
    assert len(set(re.findall(r"gone-\d\d", ended.err))) == 10
    assert sorted(rows(tmp_path / "l")) == names


def test_output_folder_holds_parts_ledger_report_and_success(mixed, tmp_path):
    out = tmp_path / "new" / "out"
    ended = run_here(UriCount, *INLINE, "--output-dir", out, mixed)
    assert (ended.code, ended.out) == (2, "")
    assert sorted(path.name for path in out.iterdir()) == ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000"]
    assert (out / "part-00000").read_text() == '"http://e.org/1"\t2\n"http://e.org/2"\t1\n'
    assert (out / "_SUCCESS").read_bytes() == b""
    assert set(rows(out / "_ledger.jsonl")) == set(OUTCOMES)
    report = json.loads((out / "_run.json").read_text())
    assert (report["job"], report["runner"], report["records"]) == ("test_launch", "inline", 5)
    assert report["inputs"] == {"all": 4, "ok": 1, "partial": 1, "failed": 2}
    assert report["versions"]["mrjob"] == "0.7.4"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("options", [(), ("--cat-output",)])
def test_ledger_given_beside_an_output_folder_goes_where_it_was_given(crawl, tmp_path, options):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    (tmp_path / "l").write_text("old")
    ended = run_here(UriCount, *INLINE, "--output-dir", tmp_path / "out", "--ledger", tmp_path / "l", *options, lst)
    assert ended.out == ('"http://e.org/1"\t1\n' if options else "")
    assert len(rows(tmp_path / "l")) == 1
    assert not (tmp_path / "out/_ledger.jsonl").exists()
    assert (tmp_path / "out/part-00000").exists()


def test_several_steps_leave_only_the_last_ones_output(crawl, tmp_path):
    lst = crawl.list(crawl.warc("a", "http://e.org/1", "http://e.org/2"))
    run_here(UriCount, *INLINE, "--top", "1", "--output-dir", tmp_path / "out", lst)
    assert (tmp_path / "out/part-00000").read_text() == '"http://e.org/1"\t1\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "out", "x.paths"]


def test_a_run_leaves_the_loggers_of_its_process_as_they_were(crawl):
    before = [logging.getLogger(name).level for name in ("crawlmill", "mrjob")]
    run_here(UriCount, *INLINE, "--quiet", crawl.list(crawl.warc("a", "http://e.org/1")))
    assert [logging.getLogger(name).level for name in ("crawlmill", "mrjob")] == before


def test_quiet_run_says_nothing_unless_something_was_lost(crawl, mixed):
    good = crawl.list(crawl.warc("a", "http://e.org/1"), crawl.folder / "a", name="good")
    assert run_here(UriCount, *INLINE, "--quiet", good).err == ""
    assert "4 inputs" in run_here(UriCount, *INLINE, "--quiet", mixed).err


def test_several_lists_gzip_and_stdin_are_one_run(crawl, tmp_path):
    for name in "abc":
        crawl.warc(f"{name}.warc.gz", f"http://{name}.org/")
    one = crawl.list("a.warc.gz", name="one")
    two = crawl.write("two.gz", gzip.compress(b"b.warc.gz\na.warc.gz\n"))
    ended = run_here(UriCount, *INLINE, one, "-", two, stdin=f"{tmp_path}/c.warc.gz".encode())
    assert ended.pairs == {f'"http://{name}.org/"': 1 for name in "abc"}
    assert "1 repeated line left out" in ended.err


def test_ranges_are_read_and_accounted_for_one_by_one(crawl, tmp_path):
    path = crawl.warc("a.warc.gz", *(f"http://e.org/{n}" for n in range(3)))
    data = path.read_bytes()
    starts = [found.start() for found in re.finditer(rb"\x1f\x8b\x08", data)] + [len(data)]
    lines = [f"{path}\t{starts[n]}\t{starts[n + 1] - starts[n]}" for n in (3, 1)]
    ended = run_here(UriCount, *INLINE, "--ledger", tmp_path / "l", crawl.list(*lines))
    assert ended.pairs == {'"http://e.org/0"': 1, '"http://e.org/2"': 1}
    found = rows(tmp_path / "l")
    assert {name: (row["records"], row["bytes"], row["offset"]) for name, row in found.items()} == {
        line: (1, starts[n + 1] - starts[n], starts[n]) for line, n in zip(lines, (3, 1), strict=True)
    }


def test_unaccounted_input_is_failed(crawl, tmp_path, monkeypatch):
    class Forgetful(UriCount):
        """Forgets one input."""

        def mapper(self, key, line):
            return super().mapper(key, line) if "forgotten" not in line else iter(())

    lst = crawl.list(crawl.warc("forgotten", "http://e.org/"), crawl.warc("a", "http://e.org/"))
    ended = run_here(Forgetful, *INLINE, "--ledger", tmp_path / "l", lst)
    assert ended.code == 2
    assert rows(tmp_path / "l")[str(crawl.folder / "forgotten")]["lost"] == {"unaccounted": 1}


def test_input_accounted_for_twice_fails_the_run(crawl, tmp_path):
    class Double(UriCount):
        """Accounts for its inputs twice."""

        def mapper(self, key, line):
            yield from super().mapper(key, line)
            yield from self.monitor.account(0, LedgerRow("x", "x"))

    out = tmp_path / "out"
    ended = run_here(Double, *INLINE, "--output-dir", out, crawl.list(crawl.warc("a")))
    assert ended.code == 1
    assert "two rows" in ended.err
    assert not out.exists()


def test_heads_only_is_said_in_the_ledger(crawl, tmp_path):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    ended = run_here(UriCount, *INLINE, "--heads-only", "--ledger", tmp_path / "l", lst)
    assert ended.code == 0
    assert [row["verified"] for row in rows(tmp_path / "l").values()] == [False]


def test_secrets_of_an_input_are_shown_nowhere(crawl, tmp_path):
    lst = crawl.list("http://user:topsecret@127.0.0.1:9/x?token=topsecret")
    out = tmp_path / "out"
    ended = run_here(UriCount, *INLINE, "--retries", "0", "--output-dir", out, lst)
    assert ended.code == 2
    shown = ended.out + ended.err + "".join(path.read_text() for path in out.iterdir())
    assert "topsecret" not in shown
    assert "http://…@127.0.0.1:9/x?token=…" in shown


# What users get wrong

MISTAKES = [
    ((), "input list"),
    (("nowhere.paths",), "nowhere.paths"),
    (("empty.paths",), "empty"),
    (("a.warc.gz",), "list"),
    (("good.paths", "a.warc.gz"), "list"),
    (("--output-dir", "there", "good.paths"), "there"),
    (("--output-dir", "a.warc.gz/out", "good.paths"), "a.warc.gz"),
    (("--ledger", "there", "good.paths"), "there"),
    (("--ledger", "nowhere/l", "good.paths"), "nowhere"),
    (("--ledger", "hdfs:///l", "good.paths"), "HADOOP_CONF_DIR"),
    (("--ledger", "hdfs://127.0.0.1:9/l", "good.paths"), "the ledger cannot be written"),
    (("--ledger", "http://127.0.0.1:9/l", "good.paths"), "nothing can be written over HTTP"),
    (("--max-bad-inputs", "banana", "good.paths"), "banana"),
    (("--max-bad-inputs", "-1", "good.paths"), "-1"),
    (("--max-bad-inputs", "101%", "good.paths"), "101%"),
    (("--max-bad-inputs", "nan%", "good.paths"), "nan%"),
    (("--on-bad-input", "maybe", "good.paths"), "maybe"),
    (("--top", "many", "good.paths"), "many"),
    (("--top", "0", "good.paths"), "--top"),
    (("--min-count", "x", "good.paths"), "--min-count"),
    (("--retries", "-1", "good.paths"), "--retries"),
    (("--read-timeout", "0", "good.paths"), "--read-timeout"),
    (("--max-body", "0", "good.paths"), "--max-body"),
    (("--no-such-option", "good.paths"), "no-such-option"),
    (("--min-c", "5", "good.paths"), "--min-c"),
    (("--output", "x", "good.paths"), "--output"),
    (("--output-dir", "", "good.paths"), "--output-dir: expected a location, got ''"),
    (("--ledger", "", "good.paths"), "--ledger: expected a location, got ''"),
    *(
        (("--output-dir", place, "good.paths"), f"cannot write to the output folder {place.rstrip('/')}//")
        for place in ("s3://", "s3:///")
    ),
    (("--output-dir", "hdfs:///", "good.paths"), "hdfs:///… needs a cluster"),
    (("--output-dir", "file:///", "good.paths"), "the output folder exists: file:///"),
    (("-r", "nosuch", "good.paths"), "nosuch"),
    (("-r", "hadoop", "good.paths"), "hadoop"),
    (("-r", "hadoop", "--checkpoint", "c", "good.paths"), "--checkpoint"),
    (("-r", "local", "--num-cores", "0", "good.paths"), "--num-cores"),
    (("-c", "nowhere.conf", "good.paths"), "nowhere.conf"),
    (("-c", "broken.conf", "good.paths"), "broken.conf"),
    (("--verify", "--heads-only", "good.paths"), "--verify"),
    (("--from", "2025", "--to", "202412", "good.paths"), "--from 2025 is after --to 202412"),
    *(
        (("-D", f"mapreduce.job.reduces={n}", "good.paths"), f"reduces: expected a number of 1 or more, got {n!r}")
        for n in ("x", "0", "-1", "1.5", "")
    ),
    (("--files", "no.txt", "good.paths"), "no.txt"),
    (("--archives", "no.zip", "good.paths"), "no.zip"),
    (("--dirs", "no", "good.paths"), "no is not a directory"),
    (("--files", "there", "good.paths"), "a folder cannot be shipped with --files: there; ship it with --dirs"),
    (("--archives", "there", "good.paths"), "a folder cannot be shipped with --archives: there"),
    *(
        ((option, " ", "good.paths"), "not the name of a file to ship")
        for option in ("--files", "--archives", "--dirs")
    ),
    (("--files=--", "good.paths"), "argument --files: expected a value other than '--'"),
    (("--read-timeout=--", "good.paths"), "argument --read-timeout: expected a value other than '--'"),
    (("--local-tmp-dir", "no/where", "good.paths"), "no temporary folder can be made in no/where: No such file"),
    (("--py-files", "no.py", "good.paths"), "no.py"),
    (("--s3-endpoint", "nonsense", "good.paths"), "nonsense"),
    (("--s3-region", "no where", "good.paths"), "no where"),
    (("--webhdfs", "namenode:9870", "good.paths"), "namenode:9870"),
]


@pytest.mark.parametrize(
    ("args", "word"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_mistake_ends_before_anything_runs_with_one_line(crawl, monkeypatch, args, word):
    crawl.warc("a.warc.gz", "http://e.org/")
    crawl.list("a.warc.gz", name="good.paths")
    crawl.list("# nothing", name="empty.paths")
    crawl.write("there/part-00000", b"old\n")
    crawl.write("broken.conf", b"runners: [\n")
    for name in os.environ:
        if "HADOOP" in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.chdir(crawl.folder)
    before = sorted(crawl.folder.rglob("*"))
    ended = run_here(UriCount, *(() if "-r" in args else INLINE), *args)
    assert (ended.code, ended.out) == (1, "")
    assert word in ended.err
    assert len(ended.err.splitlines()) == 1, ended.err
    assert sorted(crawl.folder.rglob("*")) == before


def test_heads_only_for_a_job_that_needs_bodies_is_a_mistake(crawl):
    ended = run_here(NeedsBodies, *INLINE, "--heads-only", crawl.list(crawl.warc("a")))
    assert ended.code == 1
    assert "needs the bodies" in ended.err


def test_format_that_the_job_cannot_count_fails_the_input(crawl, tmp_path):
    crawl.write("a.wet.gz", builders.pack([builders.warcinfo(), builders.conversion("http://e.org/", "x")]))
    ended = run_here(UriCount, *INLINE, "--ledger", tmp_path / "l", crawl.list("a.wet.gz"))
    assert ended.code == 2
    row = rows(tmp_path / "l")["a.wet.gz"]
    assert (row["outcome"], row["format"], set(row["lost"])) == ("failed", "wet", {"unsupported-format"})


# Checkpoints


def test_checkpoint_spares_reading_inputs_that_were_ok_and_does_the_others_again(crawl, tmp_path):
    files = [crawl.warc(name, f"http://{name}.org/") for name in ("b", "a")]
    late = crawl.folder / "late"
    lst = crawl.list(*files, late)
    first = run_here(UriCount, *INLINE, "--checkpoint", tmp_path / "c", "--ledger", tmp_path / "l", lst)
    assert first.code == 2
    assert len(list((tmp_path / "c").iterdir())) == 2
    opened = []

    class Watched(UriCount):
        """Knows what it reads."""

        def read(self, reading):
            opened.append(reading.item.given)
            return super().read(reading)

    crawl.warc("late", "http://a.org/")
    more = crawl.list(crawl.warc("0", "http://0.org/"), *reversed(files), late, name="more")
    second = run_here(Watched, *INLINE, "--checkpoint", tmp_path / "c", "--ledger", tmp_path / "l", more)
    assert second.code == 0
    assert second.pairs == {'"http://0.org/"': 1, '"http://a.org/"': 2, '"http://b.org/"': 1}
    assert opened == [str(crawl.folder / "0"), str(late)]
    assert {row["records"] for row in rows(tmp_path / "l").values()} == {2}


@pytest.mark.parametrize("options", [("--min-count", "2"), ("--verify",), ("--max-body", "5")])
def test_checkpoint_of_other_options_is_not_used(crawl, tmp_path, options):
    lst = crawl.list(crawl.warc("a", "http://e.org/"))
    for more in ((), options):
        run_here(UriCount, *INLINE, "--checkpoint", tmp_path / "c", *more, lst)
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_checkpoint_of_a_file_that_has_changed_is_not_used(crawl, tmp_path):
    for uri in ("http://e.org/old", "http://e.org/newer"):
        lst = crawl.list(crawl.warc("a", uri))
        ended = run_here(UriCount, *INLINE, "--checkpoint", tmp_path / "c", lst)
    assert ended.pairs == {'"http://e.org/newer"': 1}


UPLOADS = b"""
from pathlib import Path
import os
from crawlmill.mr import CrawlJob

class Uploads(CrawlJob):
    '''Say what its tasks find.'''
    DIRS = ["words"]
    def configure_args(self):
        super().configure_args()
        self.add_file_arg("--stop")
    def process(self, record):
        if record.type == "response":
            yield "found", [Path(self.options.stop).read_text(), Path("words/x/de").read_text(),
                            os.environ.get("COLOUR"), os.environ.get("my_colour")]

if __name__ == "__main__":
    Uploads.run()
"""


def test_checkpoint_knows_all_that_is_shipped_to_tasks(crawl, tmp_path):
    script = crawl.write("uploads.py", UPLOADS)
    lst = crawl.list(crawl.warc("a", "http://e.org/"))

    def found(stop="la", words="die", colour="red", mine="blue"):
        stop_file = crawl.write("stop.txt", stop.encode())
        crawl.write("words/x/de", words.encode())
        ended = run(
            script,
            "-r",
            "inline",
            "--checkpoint",
            tmp_path / "c",
            "--stop",
            stop_file,
            "--cmdenv",
            f"COLOUR={colour}",
            "-D",
            f"my.colour={mine}",
            lst,
        )
        return ended.pairs['"found"']

    for change in ({}, {"stop": "le"}, {"words": "der"}, {"colour": "green"}, {"mine": "grey"}, {}):
        given = {"stop": "la", "words": "die", "colour": "red", "mine": "blue", **change}
        assert found(**change) == list(given.values())
    assert len(list((tmp_path / "c").iterdir())) == 5


@pytest.mark.parametrize("what", ["unicode", "data of the package"])
def test_checkpoint_of_another_unicode_or_package_is_not_used(crawl, tmp_path, monkeypatch, what):
    lst = crawl.list(crawl.warc("a", "http://e.org/"))
    options = (*INLINE, "--checkpoint", tmp_path / "c", lst)
    run_here(UriCount, *options)
    if what == "unicode":
        monkeypatch.setattr("crawlmill.mr.engines.machine.checkpoint.unidata_version", "1.1.5")
    else:
        package = tmp_path / "crawlmill"
        shutil.copytree(Path(crawlmill.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        data = next(package.rglob("*.json"))
        data.write_bytes(data.read_bytes() + b"\n")
        monkeypatch.setattr("crawlmill.__file__", str(package / "__init__.py"))
    run_here(UriCount, *options)
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_checkpoint_does_not_change_with_the_output(crawl, tmp_path):
    class Uris(CrawlJob):
        """URIs as they come, without a reducer."""

        types = ("response",)

        def process(self, record):
            yield record.uri, 1

    lst = crawl.list(crawl.warc("a", "http://e.org/"))
    for name in ("one", "two", "three"):
        out = tmp_path / name
        ended = run_here(Uris, *INLINE, "--checkpoint", tmp_path / "c", "--output-dir", out, lst)
        assert ended.code == 0
        assert (out / "part-00000").read_text() == '"http://e.org/"\t1\n'
        with (out / "part-00000").open("a") as part:
            part.write("of the user's own\n")


def test_line_that_cannot_be_opened_here_fails_its_input_alone(crawl, tmp_path, monkeypatch):
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    bad = {
        "hdfs:///x": ("unavailable", "HADOOP_CONF_DIR"),
        "http://e.org/x": ("unavailable", "socks5"),
        "s3://b/x": ("unavailable", "nobody"),
        "file://otherhost/x": ("not-found", "another host"),
    }
    lst = crawl.list(*bad, crawl.warc("a", "http://e.org/1"))
    options = ("--checkpoint", tmp_path / "c", "--ledger", tmp_path / "l")
    ended = run_here(UriCount, *INLINE, *options, lst)
    assert (ended.code, ended.pairs) == (2, {'"http://e.org/1"': 1})
    found = rows(tmp_path / "l")
    assert len(found) == 5
    for line, (reason, word) in bad.items():
        assert (found[line]["outcome"], found[line]["lost"]) == ("failed", {reason: 1})
        assert word in found[line]["problems"][0]["message"]


# Runs that end otherwise: nothing is published, and the ledger of what was read is kept


class Breaks(UriCount):
    """Raises at one record."""

    def process(self, record):
        if "bad" in record.uri:
            raise LookupError(record.uri)
        return super().process(record)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (("--ledger", "l"), "l"),
        (("--output-dir", "out"), "out.failed.jsonl"),
        (("--output-dir", "out", "--ledger", "l"), "l"),
    ],
)
def test_inline_job_that_raises_keeps_the_ledger_of_what_was_read(crawl, tmp_path, monkeypatch, options, place):
    monkeypatch.chdir(tmp_path)
    lst = crawl.list(crawl.warc("a", "http://e.org/1"), crawl.warc("b", "http://bad/"), crawl.warc("c"))
    with pytest.raises(LookupError):
        run_here(Breaks, *INLINE, *options, lst)
    found = rows(tmp_path / place)
    assert [row["outcome"] for row in found.values()] == ["ok", "failed", "failed"]
    assert [row["lost"] for row in found.values()][1:] == [{"unaccounted": 1}] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a", "b", "c", "x.paths", place])


@pytest.mark.parametrize("code", [0, 3, None])
def test_inline_job_that_ends_the_process_has_failed(crawl, tmp_path, code):
    class Ends(UriCount):
        """Ends the process."""

        def process(self, record):
            raise SystemExit(code)

    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    ended = run_here(Ends, *INLINE, "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith(f"test_launch: task map-00000 failed: it ended the process, exit code {code}\n")
    assert [row["outcome"] for row in rows(tmp_path / "l").values()] == ["failed"]


@pytest.mark.parametrize("error", [SourceError("gone", reason="unavailable"), Stopped(15), OSError("odd")])
@pytest.mark.parametrize("given", [False, True])
def test_run_that_ends_while_it_publishes_keeps_its_ledger(crawl, tmp_path, monkeypatch, error, given):
    def publish(*_):
        raise error

    monkeypatch.setattr("crawlmill.mr.run.output_folder.OutputFolder.publish", publish)
    out, ledger = tmp_path / "out", tmp_path / "l"
    options = ("--ledger", ledger) if given else ()
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    if type(error) is OSError:
        with pytest.raises(OSError, match="odd"):
            run_here(UriCount, *INLINE, "--output-dir", out, *options, lst)
    else:
        ended = run_here(UriCount, *INLINE, "--output-dir", out, *options, lst)
        assert ended.code == (143 if isinstance(error, Stopped) else 1)
    kind = "interrupted" if isinstance(error, Stopped) else "failed"
    place = ledger if given else tmp_path / f"out.{kind}.jsonl"
    assert [row["outcome"] for row in rows(place).values()] == ["ok"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a", "x.paths", place.name])


def test_ledger_that_cannot_be_kept_hides_neither_the_error_nor_the_signal(crawl, tmp_path, monkeypatch):
    ended = []
    folder = tmp_path / "ledgers"
    causes = (Stopped(2), SourceError("HDFS is gone", reason="unavailable"), TaskError("HDFS is gone"))
    for error in causes:
        folder.mkdir()

        def run(self, error=error):
            folder.rmdir()
            folder.touch()
            raise error

        monkeypatch.setattr("crawlmill.mr.engines.machine.runner.InlineRunner.run", run)
        lst = crawl.list(crawl.warc("a", "http://e.org/1"))
        ended.append(run_here(UriCount, *INLINE, "--ledger", folder / "l", lst))
        folder.unlink()
    assert [each.code for each in ended] == [130, 1, 1]
    assert "stopped by SIGINT; the ledger so far cannot be kept: " in ended[0].err
    for each in ended[1:]:
        assert "the ledger cannot be kept: " in each.err
        assert each.err.endswith("HDFS is gone\n")


@pytest.mark.parametrize(
    ("damage", "name"),
    [("cut", "spill-*"), ("missing", "spill-*"), ("missing", "_rows"), ("cut", "result"), ("missing", "result")],
)
def test_checkpoint_of_which_something_is_missing_is_made_again(crawl, tmp_path, damage, name):
    opened = []

    class Watched(UriCount):
        """Knows what it reads."""

        def read(self, reading):
            opened.append(reading.item.given)
            return super().read(reading)

    options = (*INLINE, "--checkpoint", tmp_path / "c", crawl.list(crawl.warc("a", "http://e.org/")))
    for opens in (1, 2, 2):
        ended = run_here(Watched, *options)
        assert (ended.code, ended.pairs, len(opened)) == (0, {'"http://e.org/"': 1}, opens)
        if opens == 1:
            (path,) = (tmp_path / "c").glob(f"*/{name}")
            path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:-1])
        else:
            assert len(list((tmp_path / "c").iterdir())) == 1


def test_checkpoint_of_an_input_that_changes_while_it_is_read_is_not_kept(crawl, tmp_path):
    path = crawl.warc("a", "http://old.org/")

    class Changing(UriCount):
        """Has its input replaced under its eyes."""

        def read(self, reading):
            pairs = list(super().read(reading))
            crawl.warc("a", "http://new.example.org/")
            return iter(pairs)

    options = (*INLINE, "--checkpoint", tmp_path / "c", crawl.list(path))
    assert run_here(Changing, *options).pairs == {'"http://old.org/"': 1}
    assert run_here(UriCount, *options).pairs == {'"http://new.example.org/"': 1}


def test_checkpoint_that_cannot_be_written_any_more_is_told_once_and_gone_without(crawl, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("crawlmill.mr.engines.machine.checkpoint._put", full)
    lst = crawl.list(*(crawl.warc(name, f"http://{name}.org/") for name in "xyz"))
    ended = run_here(UriCount, *INLINE, "--checkpoint", tmp_path / "c", lst)
    assert (ended.code, len(ended.pairs), ended.err.count("No space left")) == (0, 3, 1)
    assert not list((tmp_path / "c").iterdir())


@pytest.mark.parametrize("place", ["s3://bucket/x", "", "FILE", "FILE/below"])
def test_checkpoint_at_a_place_that_cannot_be_is_one_line_before_anything_is_read(crawl, tmp_path, place):
    (tmp_path / "file").write_bytes(b"")
    place = place.replace("FILE", str(tmp_path / "file"))
    ended = run_here(UriCount, *INLINE, "--checkpoint", place, crawl.list("/nowhere/x.warc.gz"))
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "--checkpoint" in ended.err
    assert not Path("s3:").exists()


@pytest.mark.parametrize(
    ("attribute", "names", "got"),
    [
        ("types", "response", "got 'response'"),
        ("types", ("responses",), "got 'responses'"),
        ("types", ["response"], "got ['response']"),
        ("types", ("response", None), "got None"),
        ("types", None, "got None"),
        ("formats", "warc", "got 'warc'"),
        ("formats", ("warcs", "WARC"), "got 'warcs', 'WARC'"),
    ],
)
@pytest.mark.parametrize("runner", ["inline", "local", "hadoop"])
def test_formats_and_types_that_are_no_tuple_of_known_names_are_refused_before_launch(
    mixed, attribute, names, got, runner
):
    ended = run_here(type("Slip", (UriCount,), {attribute: names}), "-r", runner, mixed)
    assert (ended.code, ended.out) == (1, "")
    (line,) = ended.err.splitlines()
    assert f"`{attribute}` of Slip: expected " in line
    assert got in line


def test_keys_that_fail_at_the_default_base_and_exist_beside_the_list_are_pointed_out(crawl, monkeypatch):
    keys = [f"crawl-data/CC-X/{name}" for name in ("a.warc.gz", "b.warc.gz", "gone.warc.gz")]
    for key in keys[:2]:
        crawl.warc(key, "http://e.org/1")
    beside, below = crawl.list(*keys), crawl.list(*keys[:2], name="crawl-data/CC-X/warc.paths")
    with FaultServer() as web:
        monkeypatch.setitem(ENGINES, "inline", replace(ENGINES["inline"], default_base=web.url))
        ended = run_here(UriCount, *INLINE, beside)
        hints = [line for line in ended.err.splitlines() if line.startswith("hint: ")]
        assert ended.code == 2
        assert hints == [
            f"hint: 2 inputs that failed exist beside the list: --base-url {crawl.folder} reads from there"
        ]
        assert run_here(UriCount, *INLINE, below).pairs == {'"http://e.org/1"': 2}
        ended = run_here(UriCount, *INLINE, "--base-url", crawl.folder, beside)
        assert (ended.code, ended.pairs, "hint" in ended.err) == (2, {'"http://e.org/1"': 2}, False)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("x.warc.gz 0 400", "hint: x.warc.gz 0 400: LOCATION, OFFSET and LENGTH are separated by tabs, not by blanks"),
        ('"x.warc.gz"', 'hint: "x.warc.gz": quotes are part of the name: leave them out'),
        ("myhost", "hint: is this an input list? No line of it looks like a location"),
    ],
)
def test_line_that_names_nothing_gets_a_hint(crawl, line, hint):
    ended = run_here(UriCount, *INLINE, crawl.list(line))
    assert ended.code == 2
    assert [each for each in ended.err.splitlines() if each.startswith("hint: ")] == [hint]


@pytest.mark.parametrize("base", ["example.com", "data.example.com/store", "localhost:9000", "www.e.org/"])
def test_base_url_without_a_scheme_is_refused(crawl, base):
    ended = run_here(UriCount, *INLINE, "--base-url", base, crawl.list("x"))
    assert ended.code == 1
    assert f"expected a location such as https://{base}, got {base}" in ended.err


def test_module_beside_the_script_is_named_where_no_worker_starts(crawl, tmp_path):
    helper, script = tmp_path / "helper.py", tmp_path / "own.py"
    helper.write_text("")
    script.write_text(
        "import helper\n\nfrom crawlmill.mr import CountJob\n\n\nclass Own(CountJob):\n    '''Own.'''\n\n"
        "    def process(self, record):\n        yield record.type, 1\n\n\nif __name__ == '__main__':\n    Own.run()\n"
    )
    lst = crawl.list(crawl.warc("a", "http://e.org/1"))
    ended = run(script, "-r", "local", lst)
    assert ended.code == 1
    assert ended.err.splitlines()[-1].endswith(f"modules next to the script are not shipped: add --files {helper}")
    assert run(script, "-r", "local", "--files", helper, lst).code == 0
