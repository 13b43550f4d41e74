"""`crawlmill run`, doors and an installed wheel: the same jobs, whichever way they are called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, environment

from crawlmill.cli.jobs import job_names
from crawlmill.jobs.tag_count import TagCount

RESULT = '"b"\t1\n"p"\t1\n'


@pytest.fixture
def lst(tmp_path: Path) -> Path:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(builders.pack([builders.warcinfo(), builders.response("http://e.org/", b"<p><b>x</b>")]))
    (tmp_path / "x.paths").write_text(f"{path}\n")
    return tmp_path / "x.paths"


def call(*command: object, cwd: Path | str = "/", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_job_is_run_from_any_folder(lst, tmp_path, runner):
    done = call("-m", "crawlmill", "run", "tag_count", "-r", runner, "--no-conf", "--output-dir", tmp_path / "o", lst)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "".join(path.read_text() for path in sorted((tmp_path / "o").glob("part-*"))) == RESULT
    report = json.loads((tmp_path / "o" / "_run.json").read_text())
    assert report["job"] == "tag_count"
    assert report["progress"][0] == [0, 0, 0, 0]
    assert report["progress"][-1] == [report["seconds"], report["inputs"]["all"], report["records"], report["bytes"]]
    assert report["arguments"] == ["-r", runner, "--no-conf", "--output-dir", str(tmp_path / "o"), str(lst)]


def test_exit_code_and_last_line_are_those_of_the_job(tmp_path):
    (tmp_path / "x.paths").write_text("gone.warc.gz\n")
    done = call("-m", "crawlmill", "run", "tag_count", "-r", "inline", "--no-conf", tmp_path / "x.paths")
    assert done.returncode == 2
    assert "1 input: 1 failed" in done.stderr
    usage = call("-m", "crawlmill", "run", "tag_count", "--nonsense", tmp_path / "x.paths")
    assert (usage.returncode, usage.stderr.count("\n")) == (1, 1), usage.stderr


@pytest.mark.parametrize(
    ("name", "hint"), [("tag_cuont", "did you mean tag_count?"), ("xyz", f"one of {', '.join(job_names())}")]
)
def test_name_that_no_job_has_gets_a_hint(name, hint):
    done = call("-m", "crawlmill", "run", name)
    assert (done.returncode, done.stderr) == (1, f"crawlmill: no job is called {name}: {hint}\n")


def test_help_lists_the_jobs_and_help_of_a_job_calls_it_as_it_was_called():
    shown = call("-m", "crawlmill", "run", "--help").stdout
    for name in job_names():
        assert f"\n  {name} " in shown
    assert call("-m", "crawlmill", "run", "tag_count", "--help").stdout.startswith("usage: crawlmill run tag_count ")
    assert call(PROJECT / "jobs/tag_count.py", "--help").stdout.startswith("usage: python jobs/tag_count.py ")


@pytest.mark.parametrize("runner", ["emr", "spark"])
def test_help_of_a_runner_lists_its_options(runner, capsys):
    with pytest.raises(SystemExit) as end:
        TagCount(["-r", runner, "--help"])
    assert end.value.code == 0
    assert {"emr": "--cluster-id", "spark": "--spark-args"}[runner] in capsys.readouterr().out


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, made of what is needed for it."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(
        PROJECT / "lib", folder / "lib", symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    (folder / "docs").mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "mrjob.conf", "docs/crawlmill.1"):
        shutil.copy(PROJECT / name, folder / name)
    done = call("-c", "from setuptools import build_meta; build_meta.build_wheel('dist')", cwd=folder)
    assert done.returncode == 0, done.stderr
    (found,) = (folder / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def elsewhere(wheel: Path) -> Path:
    """The package out of a wheel, with nothing of a clone around it; its requirements are those of this Python."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "site")
    return wheel.parent / "site"


def test_wheel_has_the_manual_page_and_the_projects_mrjob_conf(elsewhere):
    (page,) = elsewhere.glob("crawlmill-*.data/data/share/man/man1/crawlmill.1")
    assert page.read_text() == (PROJECT / "docs/crawlmill.1").read_text()
    assert (elsewhere / "crawlmill/mrjob.conf").read_text() == (PROJECT / "mrjob.conf").read_text()


def test_installed_package_uses_its_own_mrjob_conf_and_ships_it_to_nobody(lst, elsewhere):
    code = (
        "from crawlmill.mr.run.conf import conf_paths\nfrom crawlmill.jobs.tag_count import TagCount\n"
        "from crawlmill.mr.engines.shipping import package_files\n"
        "print(*conf_paths(None, TagCount.mr_job_script()), *(name for name, _ in package_files() if 'mrjob' in name.rpartition('/')[2]))"
    )
    done = call("-c", code, PYTHONPATH=str(elsewhere), HOME=str(lst.parent))
    assert done.stdout == f"{elsewhere}/crawlmill/mrjob.conf\n", done.stderr


def test_installed_package_has_the_jobs(lst, elsewhere):
    done = call(
        "-c",
        "import crawlmill, sys; sys.stderr.write(crawlmill.__file__ + '\\n')\nfrom crawlmill.cli import main\n"
        "sys.exit(main())",
        "run",
        "tag_count",
        "-r",
        "local",
        "--no-conf",
        lst,
        PYTHONPATH=str(elsewhere),
    )
    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr
    assert done.stderr.startswith(f"{elsewhere}/crawlmill/")


def clone(folder: Path) -> Path:
    """A bare clone: doors, package, configuration."""
    (folder / "clone" / "jobs").mkdir(parents=True)
    (folder / "clone" / "jobs" / "tag_count.py").write_text((PROJECT / "jobs/tag_count.py").read_text())
    (folder / "clone" / "lib").symlink_to(PROJECT / "lib")
    return folder / "clone"


def requirements() -> str:
    """What makes the packages of this Python importable without ours."""
    return os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_door_of_a_bare_clone_finds_the_package_beside_it(lst, tmp_path, runner):
    door = clone(tmp_path) / "jobs" / "tag_count.py"
    done = call("-S", door, "-r", runner, "--no-conf", lst, PYTHONPATH=requirements())
    assert (done.returncode, done.stdout) == (0, RESULT), done.stderr


def test_door_prefers_an_installed_package(lst, tmp_path, elsewhere):
    door = clone(tmp_path) / "jobs" / "tag_count.py"
    code = f"import sys, runpy; sys.argv[0] = {str(door)!r}; runpy.run_path(sys.argv[0], run_name='x')\n"
    done = call(
        "-S", "-c", f"{code}import crawlmill; print(crawlmill.__file__)", PYTHONPATH=f"{elsewhere}:{requirements()}"
    )
    assert done.stdout == f"{elsewhere}/crawlmill/__init__.py\n", done.stderr


def test_door_is_the_script_of_the_run_so_the_clones_mrjob_conf_is_found(lst, tmp_path, elsewhere):
    """With an installed package, nothing but the door leads to the clone."""
    here = clone(tmp_path)
    conf = {"runners": {"inline": {"setup": ["echo from the clone"]}}}
    (here / "mrjob.conf").write_text(json.dumps(conf))
    found = call(
        "-S",
        here / "jobs" / "tag_count.py",
        "-r",
        "inline",
        lst,
        PYTHONPATH=f"{elsewhere}:{requirements()}",
        HOME=str(tmp_path),
    )
    assert found.returncode == 1
    assert "runs no setup commands" in found.stderr
