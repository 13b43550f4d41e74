"""`-r hadoop` where something is missing: one line before anything is launched. Needs no cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run

from crawlmill.cli import main
from crawlmill.storage.hdfs.conf import user_name

TAGS = PROJECT / "jobs" / "tag_count.py"
SITE = "<configuration><property><name>{}</name><value>{}</value></property></configuration>"


@pytest.fixture
def lst(tmp_path: Path) -> Path:
    (tmp_path / "a.warc.gz").write_bytes(builders.pack(builders.pages(1)))
    (tmp_path / "x.paths").write_text("a.warc.gz\n")
    return tmp_path / "x.paths"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A HADOOP_HOME whose program must not be started."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin/hadoop").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (home / "bin/hadoop").chmod(0o755)
    (home / "hadoop-streaming-3.jar").touch()
    (home / "etc/hadoop").mkdir(parents=True)
    (home / "etc/hadoop/core-site.xml").write_text(SITE.format("fs.defaultFS", "hdfs://127.0.0.1:9"))
    (home / "etc/hadoop/hdfs-site.xml").write_text(SITE.format("dfs.namenode.http-address", "127.0.0.1:9"))
    return home


def refused(tmp_path: Path, lst: Path, *options: object, **variables: str) -> str:
    """The one line with which the run ends."""
    result = run(TAGS, "-r", "hadoop", *options, lst, **{"PATH": "/usr/bin:/bin", **variables})
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1), result.err
    assert not (tmp_path / "started").exists()
    return result.err.removesuffix("\n")


def test_no_program(tmp_path, lst):
    assert refused(tmp_path, lst, PATH=str(tmp_path)) == (
        "tag_count: -r hadoop: no hadoop was found (is it on the PATH, or HADOOP_HOME set?)"
    )


def test_no_streaming_jar(tmp_path, lst, home):
    (home / "hadoop-streaming-3.jar").unlink()
    line = refused(tmp_path, lst, HADOOP_HOME=str(home))
    assert line.startswith(f"tag_count: -r hadoop: no hadoop-streaming jar below {home}")
    assert line.endswith("name it with --hadoop-streaming-jar")


def test_streaming_jar_that_is_not_there(tmp_path, lst, home):
    line = refused(tmp_path, lst, "--hadoop-streaming-jar", tmp_path / "no.jar", HADOOP_HOME=str(home))
    assert line == f"tag_count: -r hadoop: hadoop-streaming jar not found: {tmp_path}/no.jar"


NOBODY = """\
import pwd, runpy
def getpwuid(number): raise KeyError("getpwuid(): uid not found")
pwd.getpwuid = getpwuid
runpy.run_path({!r}, run_name="__main__")
"""


@pytest.mark.parametrize(
    "options",
    [
        ["hadoop"],
        ["hadoop", "--hadoop-tmp-dir", "mine"],
        ["spark"],
        ["spark", "--spark-master", "spark://elsewhere:1"],
    ],
)
def test_user_without_an_entry_in_passwd(tmp_path, lst, home, options):
    """As in a container that runs under a number."""
    (tmp_path / "nobody.py").write_text(NOBODY.format(str(TAGS)))
    for program in ("spark-submit", "java"):
        (home / "bin" / program).write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
        (home / "bin" / program).chmod(0o755)
    unnamed = {**dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), ""), "HADOOP_USER_NAME": ""}
    where = {"HADOOP_HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", "JAVA_HOME": ""}
    result = run(tmp_path / "nobody.py", "-r", *options, lst, **where, **unnamed)
    assert (result.code, result.err.count("\n")) == (1, 1), result.err
    assert result.err.startswith(f"tag_count: user {os.geteuid()} has no name on this machine, ")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 4711"), OSError("No username set")])
def test_name_of_a_user_who_has_none(monkeypatch, error):
    """Python until 3.12 raises the one, later the other."""

    def getuser() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", getuser)
    monkeypatch.delenv("HADOOP_USER_NAME", raising=False)
    assert user_name() is None
    monkeypatch.setenv("HADOOP_USER_NAME", "researcher")
    assert user_name() == "researcher"


@pytest.mark.parametrize("engine", ["hadoop", "spark"])
def test_doctor_tells_a_user_without_a_name(monkeypatch, capsys, home, engine):
    for program in ("spark-submit", "java"):
        (home / "bin" / program).symlink_to("/bin/true")
    monkeypatch.setattr("getpass.getuser", lambda: (_ for _ in ()).throw(KeyError("uid not found")))
    monkeypatch.delenv("HADOOP_USER_NAME", raising=False)
    monkeypatch.setenv("PATH", f"{home}/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["doctor", engine]) == 1
    assert f"problem: user {os.geteuid()} has no name on this machine, " in capsys.readouterr().out


@pytest.mark.parametrize("given", ["x", "0", "-1", "2.5", ""])
def test_number_of_reducers_that_is_none(tmp_path, lst, home, given):
    line = refused(tmp_path, lst, "-D", f"mapreduce.job.reduces={given}", HADOOP_HOME=str(home))
    assert line == f"tag_count: mapreduce.job.reduces: expected a number of 1 or more, got {given!r}"


@pytest.mark.parametrize("option", ["--files", "--archives", "--dirs", "--py-files"])
def test_what_is_to_be_shipped_is_not_there(tmp_path, lst, home, option):
    line = refused(tmp_path, lst, option, tmp_path / "gone.zip", HADOOP_HOME=str(home))
    assert line.startswith(f"tag_count: file to ship not found: {tmp_path}/gone.zip")


def test_no_configuration(tmp_path, lst, home):
    (home / "etc/hadoop/core-site.xml").unlink()
    assert "HADOOP_CONF_DIR" in refused(tmp_path, lst, HADOOP_HOME=str(home))


@pytest.mark.parametrize("options", [(), ("--output-dir", "hdfs:///x")])
def test_namenode_that_does_not_answer(tmp_path, lst, home, options):
    line = refused(tmp_path, lst, *options, HADOOP_HOME=str(home))
    assert line == "tag_count: -r hadoop: HDFS at http://127.0.0.1:9: the connection failed: Connection refused"


def test_configuration_is_found_beside_the_program(tmp_path, lst, home):
    line = refused(tmp_path, lst, PATH=f"{home}/bin:/usr/bin:/bin")
    assert "HDFS at http://127.0.0.1:9: " in line


def test_output_folder_that_exists_here(tmp_path, lst, home):
    assert "127.0.0.1:9" in refused(tmp_path, lst, "--output-dir", tmp_path, HADOOP_HOME=str(home))


def test_checkpoint_is_not_for_clusters(tmp_path, lst, home):
    assert "--checkpoint" in refused(tmp_path, lst, "--checkpoint", tmp_path / "c", HADOOP_HOME=str(home))
