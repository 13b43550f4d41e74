"""`crawlmill new`: a job that runs, a test that can fail, and names that cannot work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import environment

from crawlmill.cli.new_job import check_name, write_job
from crawlmill.errors import UsageError


def python(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_job_and_test_are_written_and_named(run, here):
    code, out, err = run("new", "link_counts")
    assert (code, out) == (0, b"link_counts.py\ntest_link_counts.py\n")
    assert "python -m unittest test_link_counts" in err
    assert sorted(path.name for path in here.iterdir()) == ["link_counts.py", "test_link_counts.py"]
    assert "class LinkCounts(CountJob)" in (here / "link_counts.py").read_text()


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_new_job_runs(here, tmp_path, runner):
    write_job("path", here)  # its class is called like one of pathlib
    page = builders.response("http://e.org/", b"<p>x")
    (tmp_path / "a.warc.gz").write_bytes(builders.pack([builders.warcinfo(), page]))
    (tmp_path / "x.paths").write_text(f"{tmp_path}/a.warc.gz\n")
    done = python(here / "path.py", "-r", runner, "--no-conf", "--no-progress", tmp_path / "x.paths", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, '"text/html"\t1\n'), done.stderr


def test_new_test_passes_and_fails_if_process_gives_nothing(here):
    job, _ = write_job("path", here)
    for runner in (("unittest", "test_path"), ("pytest", "-q", "-p", "no:cacheprovider", "test_path.py")):
        done = python("-m", *runner, cwd=here)
        assert done.returncode == 0, done
        assert re.search(r"Ran 1 test|1 passed", done.stdout + done.stderr)
    job.write_text(job.read_text().replace("yield record.http.media_type, 1", "yield from ()"))
    done = python("-m", "unittest", "test_path", cwd=here)
    assert done.returncode == 1
    assert "FAIL: " in done.stderr


def test_help_of_the_new_job_calls_it_by_its_file(here):
    write_job("link_counts", here)
    assert python("link_counts.py", "--help", cwd=here).stdout.startswith("usage: python link_counts.py [-r RUNNER]")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("3x", "identifier"),
        ("a-b", "identifier"),
        ("a b", "identifier"),
        ("../up", "identifier"),
        ("", "identifier"),
        ("Upper", "identifier"),
        ("naïve", "identifier"),
        ("x.py", "identifier"),
        ("_x", "identifier"),
        ("x\n", "identifier"),
        ("class", "keyword"),
        ("match", "keyword"),
        ("json", "module of Python"),
        ("sys", "module of Python"),
        ("mrjob", "module of mrjob"),
        ("crawlmill", "module of crawlmill"),
        ("urls", "module of crawlmill"),
        ("tag_count", "another one"),
        ("warcio", "installed module"),
    ],
)
def test_name_that_cannot_work_is_refused(name, said):
    with pytest.raises(UsageError, match=said):
        check_name(name)


@pytest.mark.parametrize("name", ["x", "link_counts", "my_job_1", "tags"])
def test_name_that_can_work_is_taken(here, name):
    (here / name).mkdir()  # a folder is no module to import
    check_name(name)


@pytest.mark.parametrize("existing", ["mine.py", "test_mine.py"])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_nothing_is_overwritten(run, here, existing, kind):
    if kind == "file":
        (here / existing).write_text("precious\n")
    else:
        (here / existing).symlink_to("nowhere")
    code, out, err = run("new", "mine")
    assert (code, out, err) == (1, b"", f"crawlmill: {existing} exists: nothing is overwritten\n")
    assert [path.name for path in here.iterdir()] == [existing]
    assert kind == "link" or (here / existing).read_text() == "precious\n"


def test_job_without_its_test_is_not_left_behind(here, monkeypatch):
    opened = Path.open

    def full(path: Path, *arguments: object, **more: object):
        if path.name.startswith("test_"):
            raise OSError(28, "No space left on device", path.name)
        return opened(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        write_job("mine", here)
    assert not list(here.iterdir())
