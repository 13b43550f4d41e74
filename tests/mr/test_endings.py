"""How runs end where the ground gives way: closed streams, full files, folders that vanish, Ctrl-C, an old Python."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.mr.helpers import HANG_S, PROJECT, SCRIPTS, environment, rows, run, run_here

from crawlmill.mr import CountJob
from crawlmill.mr.run.signals import stoppable, undisturbed
from crawlmill.mr.task.failures import Stopped

JOB = SCRIPTS / "mime_count.py"


def ends(command, **options):
    """Exit code, stdout, lines of stderr; no traceback in them."""
    ended = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        cwd="/",
        env=environment(),
        check=False,
        timeout=HANG_S,
        **options,
    )
    err = ended.stderr.decode()
    assert "Traceback" not in err, err
    return ended.returncode, ended.stdout, err.splitlines()


def job(*arguments):
    return [sys.executable, JOB, "--no-conf", "--no-progress", *arguments]


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        ((0,), 0, "1 input: 1 ok"),
        ((1,), 1, "mime_count: the results cannot be written to stdout: Bad file descriptor"),
        ((2,), 0, None),
        ((0, 1), 1, "mime_count: the results cannot be written to stdout: Bad file descriptor"),
        ((0, 1, 2), 1, None),
    ],
)
def test_job_whose_streams_are_closed_ends_as_it_should(crawl, runner, closed, code, said):
    lst = crawl.list(crawl.warc("x.warc.gz", "http://e.org/1"))
    ended, out, err = ends(job("-r", runner, lst), preexec_fn=lambda: [os.close(each) for each in closed])
    assert ended == code
    assert (out == b'"text/html"\t1\n') == (1 not in closed)
    assert said is None or err[-1].startswith(said)


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_job_without_stdout_publishes_its_folder(crawl, tmp_path, runner):
    lst = crawl.list(crawl.warc("x.warc.gz", "http://e.org/1"))
    command = job("-r", runner, "--output-dir", tmp_path / "out", lst)
    code, _, _ = ends(command, preexec_fn=lambda: [os.close(each) for each in (0, 1, 2)])
    assert code == 0
    assert (tmp_path / "out" / "part-00000").read_bytes() == b'"text/html"\t1\n'


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_file_that_may_not_grow_is_one_line(crawl, runner):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    lst = crawl.list(crawl.warc("x.warc.gz", "http://e.org/1"))
    code, out, err = ends(job("-r", runner, lst), preexec_fn=limit)
    assert (code, out) == (1, b"")
    assert "File too large" in err[-1]


class Vanish(CountJob):
    """Removes a folder while the run needs it."""

    types = ("response",)
    folders = ""
    within = ""

    def process(self, record):
        for folder in Path(self.within).glob(self.folders):
            shutil.rmtree(folder)
        yield record.uri, 1


@pytest.mark.parametrize(("folders", "kept"), [("out/.*", 1), ("out", 1), ("temporary/crawlmill-*", 0)])
def test_folder_that_vanishes_during_a_run_is_one_line_and_the_ledger_is_kept(
    crawl, tmp_path, monkeypatch, folders, kept
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(Vanish, "folders", folders)
    monkeypatch.setattr(Vanish, "within", str(tmp_path))
    lst = crawl.list(*(crawl.warc(name, "http://e.org/1") for name in "ab"))
    ended = run_here(Vanish, "-r", "inline", "--output-dir", tmp_path / "out" / "put", "--ledger", tmp_path / "l", lst)
    assert ended.code == 1
    assert "No such file or directory" in ended.err.splitlines()[-1]
    found = rows(tmp_path / "l")
    assert len(found) == 2
    assert {row["outcome"] for row in found.values()} <= {"ok", "failed"}
    assert sum(row["outcome"] == "ok" for row in found.values()) >= kept


def test_error_of_the_job_itself_keeps_its_traceback(crawl, tmp_path):
    script = tmp_path / "opens.py"
    script.write_text(
        "from crawlmill.mr import CountJob\n\n\nclass Opens(CountJob):\n    '''Opens.'''\n\n"
        "    def process(self, record):\n        open('/nosuch/file')\n\n\nif __name__ == '__main__':\n    Opens.run()\n"
    )
    lst = crawl.list(crawl.warc("x.warc.gz", "http://e.org/1"))
    for runner in ("inline", "local"):
        ended = run(script, "-r", runner, lst)
        assert (ended.code, "in process" in ended.err, "/nosuch/file" in ended.err) == (1, True, True)


@pytest.mark.parametrize(
    ("configure", "said"),
    [
        (
            "super().configure_args(); self.add_passthru_arg('--top')",
            "argument --top: conflicting option string: --top",
        ),
        ("self.add_passthru_arg('--own')", "configure_args() of Own does not call super().configure_args()"),
    ],
)
def test_options_that_a_job_declares_wrongly_are_one_line(crawl, tmp_path, configure, said):
    script = tmp_path / "own.py"
    script.write_text(
        "from crawlmill.mr import CountJob\n\n\nclass Own(CountJob):\n    '''Own.'''\n\n"
        f"    def configure_args(self):\n        {configure}\n\n\nif __name__ == '__main__':\n    Own.run()\n"
    )
    code, _, err = ends([sys.executable, script, "-r", "inline", "--quiet", crawl.list("x")])
    assert (code, err) == (1, [f"own: {said}"])


@pytest.mark.parametrize("what", ["crawlmill.mr", "crawlmill.cli"])
def test_python_that_is_too_old_is_one_line(what):
    program = f"import sys; sys.version_info = (3, 10, 13); sys.version = '3.10.13 (main)'; import {what}"
    code, out, err = ends([sys.executable, "-c", program])
    assert (code, out) == (1, b"")
    assert err == [f"crawlmill needs Python 3.11 or later; this is 3.10.13 ({sys.executable})"]


@pytest.mark.parametrize(
    ("heavy", "start"),
    [
        ("mrjob", f"runpy.run_path({str(JOB)!r}, run_name='__main__')"),
        ("typing", "import crawlmill.mr"),
        ("mrjob", f"sys.path.insert(0, {str(PROJECT / 'jobs')!r}); import tag_count"),
        ("argparse", "import crawlmill.cli"),
        ("argparse", "runpy.run_module('crawlmill', run_name='__main__')"),
    ],
)
def test_ctrl_c_while_python_imports_ends_quietly_with_130(heavy, start):
    program = f"""
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {heavy!r}:
            raise KeyboardInterrupt

for name in [name for name in sys.modules if name == {heavy!r} or name.startswith({heavy + "."!r})]:
    del sys.modules[name]
sys.meta_path.insert(0, Interrupt())
if "runpy" in {start!r}:
    import runpy
{start}
"""
    assert ends([sys.executable, "-c", program]) == (130, b"", [])


def test_signal_waits_for_the_end_of_what_must_not_be_disturbed():
    done = []

    def disturbed():
        with stoppable():
            with undisturbed():
                os.kill(os.getpid(), signal.SIGTERM)
                done.append(1)
            done.append(2)

    with pytest.raises(Stopped) as stopped:
        disturbed()
    assert (done, stopped.value.signal_number) == ([1], signal.SIGTERM)


def test_signal_after_what_must_not_be_disturbed_does_not_wait():
    def disturbed():
        with stoppable():
            with undisturbed():
                pass
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()

    with pytest.raises(Stopped):
        disturbed()
