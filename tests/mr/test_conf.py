"""Which mrjob.conf counts."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.mr.helpers import PROJECT

from crawlmill.errors import UsageError
from crawlmill.mr.run.conf import conf_paths

GOOD = "runners:\n  local:\n    num_cores: 1\n"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home without a configuration, a project with one, and a working folder with a hostile one."""
    for name in ("home", "project/jobs", "here"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project/mrjob.conf").write_text(GOOD)
    (tmp_path / "here/mrjob.conf").write_text("runners: hostile")
    (tmp_path / "here/.mrjob.conf").write_text("runners: hostile")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MRJOB_CONF", raising=False)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def script(places):
    return str(places / "project/jobs/x.py")


def test_projects_own_conf_lies_above_the_folder_of_jobs(places):
    assert conf_paths(None, script(places)) == [str(places / "project/mrjob.conf")]


def test_conf_in_the_home_folder_comes_before_the_projects_own(places):
    (places / "home/.mrjob.conf").write_text(GOOD)
    assert conf_paths(None, script(places)) == [str(places / "home/.mrjob.conf")]


def test_conf_named_in_the_environment_comes_before_that_and_the_command_line_before_all(places, monkeypatch):
    (places / "home/.mrjob.conf").write_text(GOOD)
    (places / "a.conf").write_text(GOOD)
    monkeypatch.setenv("MRJOB_CONF", str(places / "a.conf"))
    assert conf_paths(None, script(places)) == [str(places / "a.conf")]
    given = [str(places / "project/mrjob.conf")]
    assert conf_paths(given, script(places)) == given
    assert conf_paths([], script(places)) == []


def test_conf_in_the_working_folder_or_above_any_other_script_is_never_read(places, monkeypatch):
    for path in (places / "here/x.py", places / "project/other/x.py"):
        found = conf_paths(None, str(path))
        assert not any(str(places) in each for each in found)


@pytest.mark.parametrize("text", ["runners: [\n", "[]", "runners: 5\n", "runners:\n  local: 5\n", "\x00"])
def test_file_that_is_no_conf_is_a_usage_error_of_one_line(places, text):
    (places / "bad.conf").write_text(text)
    with pytest.raises(UsageError, match=r"bad\.conf") as caught:
        conf_paths([str(places / "bad.conf")], None)
    assert "\n" not in str(caught.value)


def test_conf_that_is_named_and_missing_is_a_usage_error(places, monkeypatch):
    with pytest.raises(UsageError, match="gone"):
        conf_paths(["gone.conf"], None)
    monkeypatch.setenv("MRJOB_CONF", "gone.conf")
    with pytest.raises(UsageError, match="gone"):
        conf_paths(None, None)


def test_projects_conf_of_this_repository_is_one():
    assert conf_paths([str(PROJECT / "mrjob.conf")], None)


def test_conf_that_this_locale_cannot_read_is_a_usage_error_of_one_line(places):
    (places / "x.conf").write_text("# …\n" + GOOD, encoding="utf-8")
    job = PROJECT / "jobs" / "tag_count.py"
    command = [sys.executable, "-X", "utf8=0", str(job), "-c", str(places / "x.conf"), "x.paths"]
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"tag_count: mrjob.conf cannot be read: {places}/x.conf: 'ascii' codec can't decode")
    assert done.stderr.count("\n") == 1


def test_projects_conf_is_read_in_any_locale():
    assert (PROJECT / "mrjob.conf").read_bytes().isascii()
