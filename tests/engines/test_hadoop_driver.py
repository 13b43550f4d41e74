"""`-r hadoop` whose driver dies: the job, which goes on without it, is ended. Needs no cluster: HDFS is a double, and
`hadoop` a script that says what Hadoop 3.4 says.
"""

from __future__ import annotations

import pytest
from tests.mr.conftest import Crawl
from tests.mr.helpers import run_here
from tests.mr.test_launch import UriCount
from tests.storage.webhdfs import WebHdfs

from crawlmill.mr.engines.hadoop import work
from crawlmill.mr.run.progress import Progress

JOB = "job_1700000000000_0007"
SUBMITTING = f"echo '26/01/01 00:00:00 INFO mapreduce.JobSubmitter: Submitting tokens for job: {JOB}'"
SUBMITTED = f"""{SUBMITTING}
echo '26/01/01 00:00:01 INFO impl.YarnClientImpl: Submitted application application_1700000000000_0007'
echo '26/01/01 00:00:01 INFO mapreduce.Job: Running job: {JOB}'
"""
CONF = "<configuration><property><name>fs.defaultFS</name><value>hdfs://nowhere</value></property></configuration>"


@pytest.fixture
def launched(tmp_path, monkeypatch):
    """Launches a job whose driver is this script; gives how it ended, and which jobs were told to end."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "etc/hadoop").mkdir(parents=True)
    (home / "hadoop-streaming-3.jar").touch()
    (home / "etc/hadoop/core-site.xml").write_text(CONF)
    monkeypatch.setenv("HADOOP_HOME", str(home))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(home / "etc/hadoop"))
    monkeypatch.setenv("HADOOP_USER_NAME", "researcher")
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    told = tmp_path / "told"
    told.touch()

    def launch(driver: str, kill: str = "exit 0"):
        program = home / "bin/hadoop"
        program.write_text(f'#!/bin/sh\nif [ "$1 $2" = "job -kill" ]; then echo "$3" >> {told}; {kill}; fi\n{driver}\n')
        program.chmod(0o755)
        lst = Crawl(tmp_path).list("a.warc.gz")
        with WebHdfs() as cluster:
            ended = run_here(UriCount, "-r", "hadoop", "--webhdfs", cluster.url, "--ledger", tmp_path / "ledger", lst)
            assert not [path for path in cluster.files if ".crawlmill" in path]
        return ended, told.read_text().split()

    return launch


@pytest.mark.parametrize("end", ["kill -9 $$", "kill -TERM $$", "echo 'java.net.ConnectException: refused'; exit 1"])
def test_driver_that_dies_takes_its_job_with_it(launched, end):
    ended, killed = launched(f"{SUBMITTED}\n{end}")
    assert (ended.code, killed) == (1, [JOB])
    assert "yarn logs -applicationId application_1700000000000_0007" in ended.err.splitlines()[-1]


def test_job_that_cannot_be_ended_is_told_of(launched):
    ended, killed = launched(f"{SUBMITTED}\nkill -9 $$", kill="exit 255")
    assert (ended.code, killed) == (1, [JOB])
    assert f"could not tell the cluster to end the job: hadoop job -kill {JOB}\n" in ended.err


def test_cluster_that_does_not_answer_is_waited_for_a_while_and_the_user_is_told(launched, monkeypatch):
    monkeypatch.setattr(work, "_SILENT_S", 0.2)
    monkeypatch.setattr(work, "_KILL_S", 1.2)
    ended, killed = launched(f"{SUBMITTED}\nkill -9 $$", kill="exec sleep 99")
    assert (ended.code, killed) == (1, [JOB])
    waiting = "the cluster does not answer; it has 1 s to end the job\n"
    assert f"{waiting}could not tell the cluster to end the job: hadoop job -kill {JOB}\n" in ended.err


def test_job_that_was_perhaps_not_taken_is_ended_without_a_word(launched):
    ended, killed = launched(f"{SUBMITTING}\necho 'no such queue'\nexit 1", kill="exit 255")
    assert (ended.code, killed) == (1, [JOB])
    assert "could not tell" not in ended.err
    assert "Hadoop did not take the job: " in ended.err.splitlines()[-1]


@pytest.mark.parametrize(
    "end",
    [f"echo '26/01/01 00:00:09 INFO mapreduce.Job: Job {JOB} failed with state FAILED due to: x'; exit 1", "exit 0"],
)
def test_job_that_has_ended_by_itself_is_left_alone(launched, end):
    ended, killed = launched(f"{SUBMITTED}\n{end}")
    assert (ended.code, killed) == (1, [])


def test_driver_that_never_submitted_leaves_nothing_to_end(launched):
    ended, killed = launched("echo 'Error: could not find or load main class'; exit 1")
    assert (ended.code, killed) == (1, [])


def fail_while_watching(monkeypatch, error):
    def tick(progress):
        if progress.phase == "waiting for the cluster":
            raise error

    monkeypatch.setattr(Progress, "tick", tick)


def test_trouble_of_the_system_while_the_launcher_watches_ends_the_job_and_is_one_line(launched, monkeypatch):
    fail_while_watching(monkeypatch, OSError("odd"))
    ended, killed = launched(f"{SUBMITTED}\nexec sleep 600")
    assert (ended.code, killed) == (1, [JOB])
    assert ended.err.splitlines()[-1] == "odd"


@pytest.mark.parametrize("error", [LookupError("odd"), KeyboardInterrupt()])
def test_launcher_that_fails_while_it_watches_ends_the_job(launched, tmp_path, monkeypatch, error):
    fail_while_watching(monkeypatch, error)
    with pytest.raises(type(error)):
        launched(f"{SUBMITTED}\nexec sleep 600")
    assert (tmp_path / "told").read_text().split() == [JOB]
