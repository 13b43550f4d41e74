"""`-r hadoop` where something is missing: one line before anything is launched. Needs no cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run

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
        "tag_count: -r hadoop: no hadoop to be found (is it on the PATH, or HADOOP_HOME set?)"
    )


def test_no_streaming_jar(tmp_path, lst, home):
    (home / "hadoop-streaming-3.jar").unlink()
    line = refused(tmp_path, lst, HADOOP_HOME=str(home))
    assert line.startswith(f"tag_count: -r hadoop: no hadoop-streaming jar below {home}")
    assert line.endswith("name it with --hadoop-streaming-jar")


def test_streaming_jar_that_is_not_there(tmp_path, lst, home):
    line = refused(tmp_path, lst, "--hadoop-streaming-jar", tmp_path / "no.jar", HADOOP_HOME=str(home))
    assert line == f"tag_count: -r hadoop: the hadoop-streaming jar is not there: {tmp_path}/no.jar"


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
