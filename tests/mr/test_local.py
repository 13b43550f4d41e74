"""The local runner as users see it: worker processes, what they know, how they die; signals; publishing under fire."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import HANG_S, SCRIPTS, finish, rows, run, start, wait_until

FRAGILE = SCRIPTS / "fragile.py"
LOCAL = ("-r", "local", "--num-cores", "2", "--no-progress")


@pytest.fixture
def marks(tmp_path):
    """The environment in which `fragile.py` can tell its attempts apart, and temporary files can be found."""
    for name in ("marks", "temporary"):
        (tmp_path / name).mkdir()
    return {"FRAGILE": str(tmp_path / "marks"), "TMPDIR": str(tmp_path / "temporary")}


def left_behind(marks):
    return [path.name for path in Path(marks["TMPDIR"]).iterdir() if not path.name.startswith("crawlmill-ledger")]


def running(marks):
    """Processes of a run: those whose environment names its folder of marks."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"FRAGILE={marks['FRAGILE']}".encode() in environment.read_bytes():
                found.append(int(environment.parent.name))
        except OSError:
            continue
    return found


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc here to find processes in")


def test_users_own_job_ships_runs_anywhere_and_gives_what_inline_gives(crawl, tmp_path):
    names = [
        crawl.warc(f"{n}.gz", *(f"http://{n}.org/{k}" for k in range(n)), cut=0 if n % 3 else 5) for n in range(1, 8)
    ]
    lst = crawl.list(*names, crawl.folder / "gone")
    script = crawl.write("elsewhere/mime_count.py", (SCRIPTS / "mime_count.py").read_bytes())
    ended = {}
    for runner in ("local", "inline"):
        ended[runner] = run(script, "-r", runner, "--ledger", tmp_path / f"{runner}.jsonl", lst, cwd=tmp_path)
        assert ended[runner].code == 2
    assert ended["local"].pairs == ended["inline"].pairs == {'"text/html"': 26}
    assert (tmp_path / "local.jsonl").read_bytes() == (tmp_path / "inline.jsonl").read_bytes()
    assert len(rows(tmp_path / "local.jsonl")) == 8


def test_workers_import_the_shipped_package_in_an_empty_folder_of_their_own(crawl):
    script = crawl.write(
        "where.py",
        b"""
import os, sys
from crawlmill.mr import CrawlJob
import crawlmill

class Where(CrawlJob):
    '''Say where a task runs.'''
    def process(self, record):
        yield "package", crawlmill.__file__
        yield "folder", sorted(os.listdir("."))
        yield "path", sys.path[0] == os.getcwd()
        yield "partition", os.environ["mapreduce_task_partition"]
        yield "attempt", os.environ["mapreduce_task_attempt_id"]
        yield "given", os.environ["GIVEN"]

if __name__ == "__main__":
    Where.run()
""",
    )
    ended = run(script, "-r", "local", "--cmdenv", "GIVEN=a b", crawl.list(crawl.warc("a")))
    found = ended.pairs
    assert found['"package"'].endswith("crawlmill.zip/crawlmill/__init__.pyc")
    assert found['"folder"'] == ["where.py"]
    assert found['"path"'] is True
    assert found['"partition"'] == "0"
    assert found['"attempt"'].endswith("_m_000000_0")
    assert found['"given"'] == "a b"


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_files_that_a_job_uploads_lie_in_the_folder_of_its_tasks(crawl, runner):
    crawl.write("stop.txt", b"de\n")
    script = crawl.write(
        "stopped.py",
        b"""
from pathlib import Path
from crawlmill.mr import CrawlJob

class Stopped(CrawlJob):
    '''Read two files.'''
    FILES = ["stop.txt"]
    def configure_args(self):
        super().configure_args()
        self.add_file_arg("--words")
    def process(self, record):
        yield Path("stop.txt").read_text(), Path(self.options.words).read_text()

if __name__ == "__main__":
    Stopped.run()
""",
    )
    words = crawl.write("other/words.txt", b"la\n")
    ended = run(script, "-r", runner, "--words", words, crawl.list(crawl.warc("a")))
    assert ended.pairs == {'"de\\n"': "la\n"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("raise", "RuntimeError: bad luck"),
        ("kill", "killed by signal 9"),
        ("exit", "exit code 3"),
        ("orphan", "killed by signal 9"),
    ],
)
def test_task_that_dies_once_is_tried_again_and_counted_once(crawl, marks, how, said):
    paths = [crawl.warc(f"{n}", f"http://ok{n}/", f"http://{name}") for n, name in enumerate((f"{how}/1", "x/", "y/"))]
    ended = run(FRAGILE, *LOCAL, crawl.list(*paths), **marks)
    assert ended.code == 0, ended.err
    assert ended.pairs == {f'"{name}"': 1 for name in ("ok0", "ok1", "ok2", how, "x", "y")}
    assert "task map-00000 failed and is tried again: " in ended.err
    assert said in ended.err
    assert "3 inputs: 3 ok; 9 records" in ended.err
    assert left_behind(marks) == []
    assert running(marks) == []


@pytest.mark.parametrize(("options", "attempts"), [((), 3), (("--task-retries", "0"), 1)])
def test_task_that_always_dies_fails_the_run_with_the_cause_and_leaves_nothing(
    crawl, marks, tmp_path, options, attempts
):
    lst = crawl.list(crawl.warc("a", "http://raise/9"), crawl.warc("b", "http://fine/"))
    out = tmp_path / "out"
    ended = run(FRAGILE, *LOCAL, *options, "--output-dir", out, lst, **marks)
    assert (ended.code, ended.out) == (1, "")
    assert len((Path(marks["FRAGILE"]) / "raise").read_text().split()) == attempts
    assert ended.err.count("Traceback") == 1
    assert ended.err.endswith(
        f"fragile: task map-00000 failed {attempts} times, last error: "
        f"RuntimeError: bad luck (at offset {len(builders.pack([builders.warcinfo()]))} of {crawl.folder / 'a'})\n"
    )
    assert not out.exists()
    assert rows(tmp_path / "out.failed.jsonl")[str(crawl.folder / "a")]["lost"] == {"unaccounted": 1}
    assert left_behind(marks) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_missing_package_in_a_task_ends_the_run_at_once_with_its_name(crawl, marks):
    ended = run(FRAGILE, *LOCAL, crawl.list(crawl.warc("a", "http://miss/9")), **marks)
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert ended.err.endswith("fragile: the package nowhere is not installed\n")
    assert len((Path(marks["FRAGILE"]) / "miss").read_text().split()) == 1


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_what_user_code_prints_corrupts_nothing_and_counters_show_only_if_asked_for(crawl, marks, runner):
    lst = crawl.list(crawl.warc("a", "http://print/9"))
    for options in ((), ("--verbose",)):
        ended = run(FRAGILE, "-r", runner, *options, lst, **marks)
        assert ended.pairs == {'"print"': 1}
        for text in ("not a pair", "nor\tthis", "said by the task"):
            assert text in ended.err
        assert "reporter:" not in ended.err
        assert ("step 1, tasks: printed = 2" in ended.err) == bool(options)


def test_record_that_a_job_cannot_take_makes_its_input_partial(crawl, marks, tmp_path):
    lst = crawl.list(crawl.warc("a", "http://lose/9", "http://fine/"))
    ended = run(FRAGILE, *LOCAL, "--ledger", tmp_path / "l", lst, **marks)
    assert (ended.code, ended.pairs) == (2, {'"fine"': 1})
    [row] = rows(tmp_path / "l").values()
    assert (row["outcome"], row["records"], row["lost"]) == ("partial", 3, {"bad-json": 1})


def test_inline_job_that_raises_shows_its_traceback_once_and_is_not_tried_again(crawl, marks):
    ended = run(FRAGILE, "-r", "inline", crawl.list(crawl.warc("a", "http://raise/1")), **marks)
    assert ended.code == 1
    offset = len(builders.pack([builders.warcinfo()]))
    assert ended.err.endswith(f"RuntimeError: bad luck\n(at offset {offset} of {crawl.folder / 'a'})\n")
    assert ended.err.count("RuntimeError: bad luck") == 1
    assert left_behind(marks) == []


@needs_proc
@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_run_ends_at_once_with_its_ledger_so_far_and_no_process_or_file(
    crawl, marks, tmp_path, runner, number, code
):
    lst = crawl.list(crawl.warc("a", "http://fine/"), crawl.warc("b", "http://wait/9"), crawl.warc("c", "http://fine/"))
    out = tmp_path / "out"
    process = start(FRAGILE, "-r", runner, "--num-cores", "1", "--output-dir", out, lst, **marks)
    wait_until((Path(marks["FRAGILE"]) / "wait").exists, process)
    process.send_signal(number)
    ended = finish(process)  # long before its task would end
    assert (ended.code, ended.out) == (code, "")
    assert ended.err == f"fragile: stopped by {number.name}; the ledger so far: {out}.interrupted.jsonl\n"
    assert [row["outcome"] for row in rows(tmp_path / "out.interrupted.jsonl").values()] == ["ok"]
    assert not out.exists()
    assert left_behind(marks) == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    wait_until(lambda: not running(marks))


@needs_proc
def test_workers_of_a_launcher_that_was_killed_end_by_themselves(crawl, marks):
    process = start(
        FRAGILE, *LOCAL, crawl.list(crawl.warc("a", "http://wait/9"), crawl.warc("b", "http://fine/")), **marks
    )
    wait_until((Path(marks["FRAGILE"]) / "wait").exists, process)
    process.kill()
    process.communicate()
    wait_until(lambda: not running(marks))


@needs_proc
def test_worker_killed_from_outside_is_replaced_and_the_others_go_on(crawl, marks):
    lst = crawl.list(crawl.warc("a", "http://wait/1"), crawl.warc("b", "http://fine/"))
    process = start(FRAGILE, *LOCAL, lst, **marks)
    mark = Path(marks["FRAGILE"]) / "wait"
    wait_until(lambda: mark.exists() and mark.read_text().endswith("\n"), process)
    os.kill(int(mark.read_text().split()[0]), signal.SIGKILL)
    ended = finish(process)
    assert (ended.code, ended.pairs) == (0, {'"wait"': 1, '"fine"': 1})


def files_below(folder, name):
    """How many files there are in folders of this name, also while they are renamed."""
    return sum(len(files) for path, _, files in os.walk(folder) if name in path)


def test_launcher_killed_at_any_moment_never_shows_half_an_output_folder(crawl, marks, tmp_path):
    lst = crawl.list(*(crawl.warc(f"{n}", "http://fine/") for n in range(4)))
    whole = 0
    for written in range(8):  # files of the folder, under whatever name it has by then; there are fewer
        out = tmp_path / f"out{written}"
        process = start(FRAGILE, *LOCAL, "--output-dir", out, lst, **marks)
        while process.poll() is None and files_below(tmp_path, out.name) < written:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        if out.exists():
            whole += 1
            assert (out / "_SUCCESS").exists()
            assert len(rows(out / "_ledger.jsonl")) == 4
            assert sum(map(json.loads, "".join(p.read_text() for p in out.glob("part-*")).split()[1::2])) == 4
    assert 0 < whole < 8


def test_results_in_a_pipe_that_is_closed_end_quietly(crawl, marks):
    lst = crawl.list(crawl.warc("a", *(f"http://{'x' * 200}{n}/" for n in range(2000))))
    process = start(FRAGILE, *LOCAL, lst, **marks)
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == 0
    assert err.startswith("1 input: 1 ok")
    assert len(err.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("what", ["results", "help"])
def test_full_disk_under_stdout_is_one_clear_line(crawl, marks, what):
    options = ["--help"] if what == "help" else ["-r", "inline", crawl.list(crawl.warc("a", "http://fine/"))]
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            ["env", f"FRAGILE={marks['FRAGILE']}", os.sys.executable, FRAGILE, "--no-conf", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=HANG_S,
            check=False,
        )
    assert process.returncode == 1
    said = process.stderr.decode().splitlines()[-1]
    assert said == f"fragile: the {what} cannot be written to stdout: No space left on device"


@pytest.mark.parametrize("place", ["sealed/out", "/proc/out", "x.paths/out"])
def test_output_folder_where_none_can_be_made_is_one_clear_line(crawl, marks, tmp_path, place):
    if place.startswith("sealed") and os.geteuid() == 0:
        place = "/proc/self/out"  # root may write into a sealed folder
    lst = crawl.list(crawl.warc("a", "http://fine/"))
    (tmp_path / "sealed").mkdir(mode=0o555)
    ended = run(FRAGILE, *LOCAL, "--output-dir", tmp_path / place, lst, **marks)
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 1
    assert place in ended.err


def test_workers_that_cannot_start_fail_the_run_soon(crawl):
    script = crawl.write(
        "broken.py",
        b"""
import sys
from crawlmill.mr import CrawlJob
if any(arg.startswith("--worker") for arg in sys.argv):
    raise RuntimeError("not here")

class Broken(CrawlJob):
    '''Does not start.'''

if __name__ == "__main__":
    Broken.run()
""",
    )
    ended = run(script, "-r", "local", crawl.list(crawl.warc("a")))
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "broken: workers do not start: its worker ended: exit code 1"


def test_run_on_no_terminal_says_no_more_than_its_summary(crawl, marks):
    ended = run(FRAGILE, "-r", "local", crawl.list(crawl.warc("a", "http://fine/")), **marks)
    assert len(ended.err.splitlines()) == 1


def test_locale_of_the_user_changes_no_byte(crawl, tmp_path):
    lst = crawl.list(crawl.warc("nä.warc.gz", "http://e.org/ü\u2028漢/"))
    outs = [run(FRAGILE, *LOCAL, lst, LC_ALL=locale, PYTHONCOERCECLOCALE="0").out for locale in ("C", "C.UTF-8")]
    assert outs[0] == outs[1]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_folders_that_a_job_uploads_lie_unpacked_beside_its_tasks(crawl, runner):
    crawl.write("stop/de.txt", b"die\n")
    script = crawl.write(
        "stopped.py",
        b"""
from pathlib import Path
from crawlmill.mr import CrawlJob

class Stopped(CrawlJob):
    '''Read a file of a folder.'''
    DIRS = ["stop"]
    def process(self, record):
        yield "stop", Path("stop/de.txt").read_text()

if __name__ == "__main__":
    Stopped.run()
""",
    )
    ended = run(script, "-r", runner, crawl.list(crawl.warc("a")))
    assert ended.pairs == {'"stop"': "die\n"}, ended.err


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_step_that_is_a_command_is_a_usage_error(crawl, runner):
    script = crawl.write(
        "command.py",
        b"""
from crawlmill.mr import CrawlJob

class Command(CrawlJob):
    '''Runs cat.'''
    def reducer_cmd(self):
        return "cat"

if __name__ == "__main__":
    Command.run()
""",
    )
    ended = run(script, "-r", runner, crawl.list(crawl.warc("a")))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"command: the {runner} runner only runs steps of Python methods; step 1 is not one\n"
