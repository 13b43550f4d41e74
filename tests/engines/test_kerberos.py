"""`-r hadoop` where HDFS wants Kerberos: all goes through the program `hadoop`; that is a stand-in. Needs no cluster."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, Ended, run

TAGS = PROJECT / "jobs" / "tag_count.py"
DOUBLE = PROJECT / "tests" / "storage" / "hadoop_double.py"
CORE = """<configuration>
<property><name>fs.defaultFS</name><value>hdfs://127.0.0.1:9</value></property>
<property><name>hadoop.security.authentication</name><value>kerberos</value></property>
</configuration>"""


@pytest.fixture
def job(tmp_path: Path):
    """Runs a job; the folder `hdfs` stands for HDFS, and `submitted` holds the command that runs it."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "etc/hadoop").mkdir(parents=True)
    (home / "hadoop-streaming-3.jar").touch()
    (home / "etc/hadoop/core-site.xml").write_text(CORE)
    (home / "bin/hadoop").write_text(
        f'#!/bin/sh\nif [ "$1" = fs ]; then exec {sys.executable} -S {DOUBLE} {tmp_path}/hdfs "$@"; fi\n'
        f'echo "$@" >> {tmp_path}/submitted\nfind {tmp_path}/hdfs -type f > {tmp_path}/there\n'
        "echo 'the queue is closed' >&2\nexit 1\n"
    )
    (home / "bin/hadoop").chmod(0o755)
    (tmp_path / "hdfs").mkdir()
    (tmp_path / "a.warc.gz").write_bytes(builders.pack(builders.pages(1)))
    (tmp_path / "x.paths").write_text("a.warc.gz\n")

    def start(**variables: str) -> Ended:
        return run(
            TAGS, "-r", "hadoop", tmp_path / "x.paths", HADOOP_HOME=str(home), HADOOP_USER_NAME="me", **variables
        )

    return start


def test_run_comes_as_far_as_the_job_and_leaves_nothing(tmp_path, job):
    result = job()
    assert result.code == 1
    assert result.err.splitlines()[-1] == "tag_count: Hadoop did not take the job: the queue is closed"
    submitted = (tmp_path / "submitted").read_text()
    assert "hadoop-streaming-3.jar" in submitted
    assert "crawlmill.reports" not in submitted
    assert "/user/me/.crawlmill/" in (tmp_path / "there").read_text()
    assert "tasks.jsonl" in (tmp_path / "there").read_text()
    assert not [path for path in (tmp_path / "hdfs").rglob("*") if path.is_file()]


def test_user_without_a_ticket_is_told_in_one_line(tmp_path, job):
    result = job(HADOOP_DOUBLE="ticket")
    assert result.code == 1
    assert result.err.startswith("tag_count: -r hadoop: HDFS at hdfs:///user/me/.crawlmill/")
    assert "Client cannot authenticate via:[TOKEN, KERBEROS]" in result.err
    assert result.err.count("\n") == 1
    assert not (tmp_path / "submitted").exists()
