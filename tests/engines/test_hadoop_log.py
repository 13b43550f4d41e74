"""What Hadoop's client says is understood; its lines here are those that Hadoop 3.4.2 wrote."""

from __future__ import annotations

import pytest

from crawlmill.mr.engines.hadoop.log import FailedAttempt, HadoopLog

AT = "2026-01-05 10:00:00,123 "
STARTED = f"""\
{AT}INFO client.DefaultNoHARMFailoverProxyProvider: Connecting to ResourceManager at /127.0.0.1:37001
{AT}INFO mapred.FileInputFormat: Total input files to process : 1
{AT}INFO mapreduce.JobSubmitter: number of splits:2
{AT}INFO mapreduce.JobSubmitter: Submitting tokens for job: job_1795272650084_0012
{AT}INFO impl.YarnClientImpl: Submitted application application_1795272650084_0012
{AT}INFO mapreduce.Job: The url to track the job: http://127.0.0.1:8088/proxy/application_1795272650084_0012/
{AT}INFO mapreduce.Job: Running job: job_1795272650084_0012
{AT}INFO mapreduce.Job: Job job_1795272650084_0012 running in uber mode : false
{AT}INFO mapreduce.Job:  map 0% reduce 0%
"""
FAILURE = f"""\
{AT}INFO mapreduce.Job: Task Id : attempt_1795272650084_0012_m_000001_0, Status : FAILED
Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)
\tat org.apache.hadoop.streaming.PipeMapRed.mapRedFinished(PipeMapRed.java:539)

"""
TIMEOUT = f"""\
{AT}INFO mapreduce.Job: Task Id : attempt_1795272650084_0012_r_000000_2, Status : FAILED
[2026-01-05 10:00:00.001]AttemptID:attempt_1795272650084_0012_r_000000_2 task timeout set: 8s, taskTimedOut: true;
"""
DONE = f"""\
{AT}INFO mapreduce.Job:  map 100% reduce 100%
{AT}INFO mapreduce.Job: Job job_1795272650084_0012 completed successfully
{AT}INFO mapreduce.Job: Counters: 55
\tFile System Counters
\t\tFILE: Number of bytes read=5181
\tcrawlmill
\t\tinputs=3
\tShuffle Errors
\t\tBAD_ID=0
{AT}INFO streaming.StreamJob: Output directory: hdfs:///x
"""
ENDED = f"""\
{AT}INFO mapreduce.Job: Job job_1795272650084_0012 failed with state FAILED due to: Task failed task_1795272650084_0012_m_000001
Job failed as tasks failed. failedMaps:1 failedReduces:0 killedMaps:0 killedReduces: 0

{AT}ERROR streaming.StreamJob: Job not successful!
Streaming Command Failed!
"""


def fed(*texts: str) -> tuple[HadoopLog, list[FailedAttempt]]:
    log = HadoopLog()
    failures = [log.feed(line) for text in texts for line in text.splitlines(keepends=True)]
    return log, [failure for failure in failures if failure]


def test_job_is_known_when_it_is_submitted():
    log, _ = fed(STARTED)
    assert log.application == "application_1795272650084_0012"
    assert log.job == "job_1795272650084_0012"
    assert log.tracking_url == "http://127.0.0.1:8088/proxy/application_1795272650084_0012/"
    assert log.phase == "map 0 %, reduce 0 %"


@pytest.mark.parametrize("layout", ["26/01/05 10:00:00 INFO ", "INFO  ", ""])
def test_layout_of_the_log_does_not_matter(layout):
    log, failures = fed(STARTED.replace(f"{AT}INFO ", layout), FAILURE.replace(f"{AT}INFO ", layout))
    assert (log.job, log.phase) == ("job_1795272650084_0012", "map 0 %, reduce 0 %")
    assert [failure.name for failure in failures] == ["map-00001"]


def test_failed_attempts_are_told_with_the_line_after():
    log, failures = fed(STARTED, FAILURE, TIMEOUT)
    assert failures == log.failures
    assert [(failure.name, failure.task) for failure in failures] == [
        ("map-00001", "1795272650084_0012_m_000001"),
        ("reduce-00000", "1795272650084_0012_r_000000"),
    ]
    assert failures[0].said == (
        "java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1"
    )
    assert failures[1].said == (
        "AttemptID:attempt_1795272650084_0012_r_000000_2 task timeout set: 8s, taskTimedOut: true;"
    )


def test_failed_attempt_without_a_word_is_told_all_the_same():
    _, failures = fed(FAILURE.splitlines()[0] + "\n", STARTED)
    assert [failure.said for failure in failures] == ["Hadoop does not say why"]


def test_counters_are_those_of_the_block():
    log, _ = fed(STARTED, DONE)
    assert log.counters == {
        "File System Counters: FILE: Number of bytes read": 5181,
        "crawlmill: inputs": 3,
        "Shuffle Errors: BAD_ID": 0,
    }
    assert log.phase == "map 100 %, reduce 100 %"
    assert log.ended is None


def test_end_of_the_job_names_the_culprit():
    log, _ = fed(STARTED, FAILURE, ENDED)
    assert log.ended == "failed: Task failed task_1795272650084_0012_m_000001"
    assert log.culprit == log.failures[0].task


def test_killed_job_has_no_culprit():
    log, _ = fed(
        STARTED, f"{AT}INFO mapreduce.Job: Job job_1_0012 failed with state KILLED due to: Kill job by alice\n"
    )
    assert (log.ended, log.culprit) == ("was killed: Kill job by alice", None)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (
            f"{AT}INFO x.Y: fine\n{AT}ERROR streaming.StreamJob: Error Launching job : Output directory x already exists\n",
            "Output directory x already exists",
        ),
        (
            'Exception in thread "main" java.lang.ClassNotFoundException: X\n\tat java.net.URLClassLoader\n',
            "java.lang.ClassNotFoundException: X",
        ),
        (
            "/opt/hadoop/bin/hadoop: line 3: java: command not found\n",
            "/opt/hadoop/bin/hadoop: line 3: java: command not found",
        ),
        ("", "it does not say why"),
    ],
)
def test_complaint_is_what_says_most(lines, complaint):
    assert fed(lines)[0].complaint() == complaint


def test_server_that_is_waited_for_is_named():
    log, _ = fed(
        f"{AT}INFO ipc.Client: Retrying connect to server: rm.example.org/10.0.0.1:8032. Already tried 0 time(s);\n"
    )
    assert log.phase == "waiting for 10.0.0.1:8032"
