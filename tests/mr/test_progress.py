"""What a person sees while a run goes on."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.mr.helpers import PROJECT, environment

from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.task.attempt import Attempt, Result
from crawlmill.mr.task.monitor import Totals


class Terminal(io.BytesIO):
    """stderr as a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("crawlmill.mr.run.progress.time.monotonic", lambda: now[0])
    return now


def done(progress, number, totals):
    progress.done(Attempt("/", 0, "map", number, 1), Result((), totals, {}))


def test_progress_on_a_terminal_redraws_one_line_with_what_tasks_have_done(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    progress = Progress(Console(stream), lambda totals: None, shown=True)
    progress.inputs = 8
    done(progress, 0, Totals(1, 1000, 30_000_000, 0))
    clock[0] += 10
    progress.progress("map-00001", Totals(1, 500, 10_000_000, 1))
    progress.note("task map-00002 failed")
    clock[0] += 10
    progress.progress("map-00001", None)
    text = stream.getvalue().decode()
    first, rest = text.split("\r\x1b[K", 1)
    assert first == "2/8 inputs, 1,500 records, 40.0 MB, 4.0 MB/s, 1 bad, 0:00:30 left"
    assert rest.startswith("task map-00002 failed\n")
    assert rest.endswith("1/8 inputs, 1,000 records, 30.0 MB, 1.5 MB/s, 0:02:20 left")


def test_progress_elsewhere_is_a_line_every_ten_seconds(clock):
    stream = io.BytesIO()
    progress = Progress(Console(stream), lambda totals: None, shown=True)
    progress.inputs = 100
    for n in range(35):
        clock[0] += 1
        done(progress, n, Totals(1, 10, 1000, 0))
    assert len(stream.getvalue().splitlines()) == 3
    assert not re.search(rb"[\r\x1b]", stream.getvalue())


def test_progress_that_is_not_wanted_is_not_shown_but_judged(clock):
    stream, judged = Terminal(), []
    progress = Progress(Console(stream), judged.append, shown=False)
    progress.inputs = 2
    clock[0] += 100
    done(progress, 0, Totals(1, 2, 3, 1))
    done(progress, 1, Totals(1, 2, 3, 0))
    assert stream.getvalue() == b""
    assert judged == [(1, 2, 3, 1), (2, 4, 6, 1)]


@pytest.mark.parametrize("code", [errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EAGAIN])
def test_stderr_that_takes_nothing_ends_no_run(code):
    class Full(Terminal):
        def write(self, _):
            raise OSError(code, os.strerror(code))

    console = Console(Full())
    console.draw("1/2 inputs")
    console.say("a word")
    console.clear()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("runner", ["inline", "local"])
def test_run_with_stderr_on_a_full_disk_ends_as_any(crawl, runner):
    lst = crawl.list(crawl.warc("a", "http://e.org/1"), "gone.warc.gz")
    command = [sys.executable, str(PROJECT / "jobs/tag_count.py"), "--no-conf", "-r", runner, str(lst)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=full, check=False
        )
    assert (done.returncode, sorted(done.stdout.splitlines())) == (2, [b'"b"\t1', b'"p"\t1'])


@pytest.mark.parametrize(("most", "written"), [(3, b"a long word\n"), (None, b"")])
def test_stderr_that_takes_a_few_bytes_at_a_time_or_none_gets_what_it_takes(most, written):
    class Narrow(io.BytesIO):
        def write(self, data):
            return None if most is None else super().write(data[:most])

    stream = Narrow()
    Console(stream).say("a long word")
    assert stream.getvalue() == written


def test_line_longer_than_the_terminal_is_cut(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Console(stream).draw("x" * 50)
    assert stream.getvalue() == b"x" * 19
