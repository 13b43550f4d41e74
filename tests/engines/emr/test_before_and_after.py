"""`-r emr` where moto alone suffices: what ends a run before it begins, stops, and what is left to collect."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests import builders
from tests.engines.conftest import ended, wait_for
from tests.engines.emr.double import KEYS
from tests.engines.emr.services import Proxy, refusing
from tests.mr.helpers import PROJECT, Ended, run

from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.cancel import cancel
from crawlmill.mr.engines.emr.logs import ClusterLogs
from crawlmill.mr.engines.emr.record import EmrRun, Step
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.mr.engines.emr.watch import EmrWatch
from crawlmill.mr.engines.emr.workers import Workers
from crawlmill.mr.engines.hadoop.log import failure_of_task
from crawlmill.mr.engines.record import marker_of
from crawlmill.mr.run.conf import with_s3_settings
from crawlmill.mr.run.ending import RunInfo
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.storage import Storage, StorageOptions

pytestmark = pytest.mark.slow  # all together: each starts a service and a launcher, some of them several

TAGS = PROJECT / "jobs" / "tag_count.py"
TMP = ["--cloud-tmp-dir", "s3://tmp/runs/"]
NOWHERE = {"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
           "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}  # fmt: skip


@pytest.fixture
def lst(tmp_path: Path) -> Path:
    (tmp_path / "a.warc.gz").write_bytes(builders.pack(builders.pages(1)))
    (tmp_path / "x.paths").write_text("a.warc.gz\n")
    return tmp_path / "x.paths"


def one_line(result: Ended) -> str:
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1), result.err
    return result.err.removesuffix("\n")


@pytest.mark.parametrize("options", [(), TMP])
def test_no_credentials(lst, options):
    line = one_line(run(TAGS, "-r", "emr", *options, lst, **NOWHERE))
    assert line == "tag_count: -r emr: no AWS credentials are found (environment, ~/.aws, role of the machine)"


def test_no_temporary_folder_and_no_list_of_buckets(lst):
    who = "User: arn:aws:iam::1:user/x is not authorized to perform: s3:ListAllMyBuckets"
    denied = f"<Error><Code>AccessDenied</Code><Message>{who}</Message></Error>"
    with refusing(403, denied) as (url, _):
        result = run(TAGS, "-r", "emr", lst, **{**NOWHERE, **KEYS, "AWS_ENDPOINT_URL": url})
    assert one_line(result) == (
        f"tag_count: -r emr: S3 refuses ListBuckets: AccessDenied: {who}: name a folder for temporary files with "
        "--cloud-tmp-dir s3://BUCKET/tmp/, or as cloud_tmp_dir in mrjob.conf"
    )


def test_bucket_of_mrjob_in_the_region_is_used_again(idle_emr):
    s3 = idle_emr.double.client("s3")
    s3.create_bucket(Bucket="mrjob-far", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.create_bucket(Bucket="mrjob-here")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in idle_emr.double.environment.items():
            patch.setenv(name, value)
        runner = EmrRunner(conf_paths=[], input_paths=["x"])
    assert (runner.aws.region, runner.new_bucket) == ("us-east-1", None)
    assert runner.folder.startswith("s3://mrjob-here/tmp/")


def test_credentials_of_mrjob_conf_reach_our_storage_when_they_are_lent_and_not_before(tmp_path, monkeypatch):
    """Whoever names keys means these alone: a token of the environment belongs to others."""
    theirs = {"AWS_SESSION_TOKEN": "of others", "AWS_ACCESS_KEY_ID": "other", "AWS_SECRET_ACCESS_KEY": "other"}
    for name, value in {**NOWHERE, **theirs}.items():
        monkeypatch.setenv(name, value)
    conf = tmp_path / "mrjob.conf"
    keys = {name.lower(): value for name, value in KEYS.items()}
    conf.write_text(json.dumps({"runners": {"emr": {**keys, "cloud_tmp_dir": "s3://tmp/"}}}))
    runner = EmrRunner(conf_paths=[str(conf)], input_paths=["x"])
    found = runner.aws._session.get_credentials()
    assert (found.access_key, found.secret_key, found.token) == ("AKIDEXAMPLE", "s3cr3t", None)
    assert os.environ["AWS_SESSION_TOKEN"] == "of others"
    runner.lend_credentials()
    assert (os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]) == ("AKIDEXAMPLE", "s3cr3t")
    assert "AWS_SESSION_TOKEN" not in os.environ


def test_encryption_of_the_command_line_counts_before_that_of_mrjob_conf(tmp_path):
    conf = tmp_path / "mrjob.conf"
    conf.write_text(json.dumps({"runners": {"emr": {"s3_sse": "aws:kms", "s3_sse_kms_key_id": "arn:k"}}}))
    given = with_s3_settings(StorageOptions(), [str(conf)], "emr")
    assert (given.s3_sse, given.s3_sse_kms_key_id) == ("aws:kms", "arn:k")
    given = with_s3_settings(StorageOptions(s3_sse="AES256"), [str(conf)], "emr")
    assert (given.s3_sse, given.s3_sse_kms_key_id) == ("AES256", None)
    conf.write_text(json.dumps({"runners": {"emr": {"s3_sse": "aes"}}}))
    with pytest.raises(UsageError, match="AES256 or aws:kms"):
        with_s3_settings(StorageOptions(), [str(conf)], "emr")


def test_pool_of_clusters_is_not_spoken_to(lst):
    assert "--cluster-id" in one_line(run(TAGS, "-r", "emr", *TMP, "--pool-clusters", lst, **NOWHERE))


def test_service_that_cannot_be_reached(lst):
    line = one_line(run(TAGS, "-r", "emr", *TMP, "--region", "us-east-1", lst, **NOWHERE, **KEYS))
    assert re.match(
        r"tag_count: -r emr: EMR cannot be reached: .*127\.0\.0\.1:9.*; `crawlmill doctor emr` says more", line
    )


def test_credentials_that_are_refused(lst):
    who = "User: arn:aws:iam::1:user/x is not authorized to perform: elasticmapreduce:ListClusters"
    with refusing(400, {"__type": "AccessDeniedException", "Message": who}) as (url, asked):
        result = run(
            TAGS, "-r", "emr", *TMP, "--region", "us-east-1", lst, **{**NOWHERE, **KEYS, "AWS_ENDPOINT_URL": url}
        )
    assert one_line(result) == (
        f"tag_count: -r emr: EMR refuses ListClusters: AccessDeniedException: {who}; `crawlmill doctor emr` says more"
    )
    assert asked == ["ElasticMapReduce.ListClusters"]


def test_bucket_that_is_not_there(idle_emr, lst):
    line = one_line(idle_emr.run(TAGS, "--cloud-tmp-dir", "s3://nobodys/tmp", lst))
    assert line.startswith("tag_count: -r emr: the temporary folder: ")
    assert "NoSuchBucket" in line or "not-found" in line
    assert idle_emr.double.clusters == []


@pytest.mark.parametrize("state", ["TERMINATED", None])
def test_named_cluster_that_takes_no_steps(idle_emr, lst, state):
    cluster = "j-NOBODYS"
    if state is not None:
        cluster = idle_emr.double.waiting_cluster()
        wait_for(lambda: idle_emr.double.clusters[0].state == "WAITING")
        idle_emr.double.client("emr").terminate_job_flows(JobFlowIds=[cluster])
        wait_for(lambda: idle_emr.double.clusters[0].state == state)
    line = one_line(idle_emr.run(TAGS, "--cluster-id", cluster, lst))
    assert ("it is terminated" in line) if state else ("is not valid" in line)
    assert idle_emr.left == []


def test_steps_that_must_follow_each_other_are_not_given_to_a_cluster_that_runs_several(idle_emr, lst):
    cluster = idle_emr.double.waiting_cluster(StepConcurrencyLevel=3)
    line = one_line(idle_emr.run(PROJECT / "jobs/near_duplicates.py", "--cluster-id", cluster, lst))
    assert "step concurrency" in line


def their_step(emr, cluster: str) -> Any:
    """A step of somebody else, on a cluster that was there before."""
    jar = {"Jar": "command-runner.jar", "Args": ["hadoop-streaming"]}
    step = {"Name": "theirs", "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}
    emr.double.client("emr").add_job_flow_steps(JobFlowId=cluster, Steps=[step])
    return emr.double.clusters[0].steps[-1]


def test_steps_and_jobs_of_a_stopped_run_end_on_a_cluster_that_runs_several_and_nobody_elses(idle_emr, lst):
    cluster = idle_emr.double.waiting_cluster(StepConcurrencyLevel=3)
    theirs = their_step(idle_emr, cluster)
    result = stopped_when_it_runs(idle_emr, lst, "--cluster-id", cluster, "-D", "mapreduce.job.tags=Mine")
    assert result.code == 130, result.err
    _, ours, end = idle_emr.double.clusters[0].steps
    assert [ours.state, end.state, theirs.state] == ["CANCELLED", "COMPLETED", "RUNNING"]
    key = end.name.removeprefix("end of ")
    assert f"mapreduce.job.tags=Mine,{key}" in ours.args
    assert f"yarn application -list -appTags {key}\n" in idle_emr.double.calls.read_text()
    assert idle_emr.left == []


def test_action_on_failure_that_a_cluster_refuses_is_one_line(idle_emr, lst, tmp_path):
    cluster = idle_emr.double.waiting_cluster(StepConcurrencyLevel=2)
    line = one_line(idle_emr.run(TAGS, "--cluster-id", cluster, "--emr-action-on-failure", "CANCEL_AND_WAIT", lst))
    assert line.endswith("refuses steps with emr_action_on_failure: CANCEL_AND_WAIT; leave that setting out")


def test_steps_behind_one_that_failed_are_cancelled_and_not_those_of_others(idle_emr, tmp_path):
    (tmp_path / "x.wet.gz").write_bytes(builders.pack([builders.warcinfo()]))
    (tmp_path / "x.paths").write_text("x.wet.gz\n")
    cluster = idle_emr.double.waiting_cluster()
    pairs = PROJECT / "jobs" / "near_duplicates.py"
    with idle_emr.started(pairs, "--cluster-id", cluster, tmp_path / "x.paths") as process:
        wait_for(lambda: "; its logs come to " in process.stderr.readline().decode(), process)
        steps = idle_emr.double.clusters[0].steps
        theirs = their_step(idle_emr, cluster)
        said = (
            b"2026-01-01 00:00:01,000 ERROR streaming.StreamJob: Error Launching job : no\nStreaming Command Failed!\n"
        )
        idle_emr.double.put(f"s3://tmp/mine/{cluster}/steps/{steps[0].id}/syslog", said)
        wait_for(lambda: steps[0].state == "RUNNING", process)
        steps[0].state = "FAILED"
        wait_for(lambda: theirs.state == "RUNNING", process)
        theirs.state = "COMPLETED"  # what ends our jobs comes after it
        result = ended(process)
    assert result.code == 1, result.err
    assert "near_duplicates: Step 1 of 3 failed: no; logs, " in result.err
    assert [step.state for step in steps[:3]] == ["FAILED", "CANCELLED", "CANCELLED"]
    assert idle_emr.left == []


def test_end_of_jobs_that_waits_behind_steps_of_others_is_told(idle_emr, monkeypatch):
    for name, value in idle_emr.double.environment.items():
        monkeypatch.setenv(name, value)
    cluster = idle_emr.double.waiting_cluster()
    ours, _ = their_step(idle_emr, cluster), their_step(idle_emr, cluster)
    wait_for(lambda: ours.state == "RUNNING")
    run = EmrRun(RunInfo("x", "emr", [], 0.0), "X.1", "s3://tmp/", "", "us-east-1", None, "s3://tmp/logs/",
                 own_cluster=False, cluster=cluster, steps=(Step(ours.id, "theirs"),))  # fmt: skip
    said = cancel(Aws(), run, every_s=0.05, within_s=0.2)
    assert re.fullmatch(
        rf"the jobs of this run on cluster {cluster} may still run until step s-\w+ has ended them \(it is pending\), "
        r"or end its jobs there with `yarn application -list -appTags x\.1` and `-kill`", said
    )  # fmt: skip


def test_output_folder_that_exists(idle_emr, lst):
    idle_emr.double.put("s3://mine/out/x", b"")
    line = one_line(idle_emr.run(TAGS, "--output-dir", "s3://mine/out", lst))
    assert line == "tag_count: the output folder exists: s3://mine/out"
    assert idle_emr.left == []


def test_bootstrap_action_that_fails_is_told_with_its_last_words(idle_emr, lst):
    idle_emr.double.log_delay_s = 1
    fails = "echo 'no package python9' >&2; false"
    result = idle_emr.run(TAGS, "--bootstrap", fails, "--output-dir", "s3://mine/out", lst)
    assert result.code == 1
    last = result.err.rstrip("\n").rpartition("\n")[2]
    assert re.fullmatch(
        r"tag_count: Step 1 of 1 was cancelled: cluster j-\w+ ended with errors: On the master instance \(i-\w+\), "
        r"bootstrap action 1 returned a non-zero return code \(no package python9\); "
        r"BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE: The bootstrap action failed\. "
        r"\(primary-instance-id i-\w+, bootstrap-action 1, return-code 1\); logs, .*: s3://tmp/runs/logs/j-\w+",
        last,
    ), last  # fmt: skip
    assert idle_emr.double.keys("s3://mine/") == ["s3://mine/out.failed.jsonl"]
    assert idle_emr.left == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_run_ends_its_own_cluster(idle_emr, lst, number, code):
    with idle_emr.started(TAGS, "--output-dir", "s3://mine/out", lst) as process:
        wait_for(lambda: idle_emr.double.clusters and idle_emr.double.clusters[0].state == "RUNNING", process)
        process.send_signal(number)
        result = ended(process)
    assert result.code == code, result.err
    assert f"stopped by {number.name}; the ledger so far: s3://mine/out.interrupted.jsonl" in result.err
    wait_for(lambda: idle_emr.double.clusters[0].state == "TERMINATED")
    assert idle_emr.double.keys("s3://mine/") == ["s3://mine/out.interrupted.jsonl"]
    assert idle_emr.left == []


THROTTLED = json.dumps({"__type": "ThrottlingException", "Message": "Rate exceeded"}).encode()


def stopped_when_it_runs(emr, lst: Path, *options: object) -> Ended:
    """A run that is stopped once its step runs."""
    with emr.started(TAGS, *options, lst) as process:
        wait_for(lambda: "; its logs come to " in process.stderr.readline().decode(), process)
        process.send_signal(signal.SIGINT)
        return ended(process)


@pytest.mark.parametrize("own", [True, False])
def test_request_whose_answer_got_lost_is_not_sent_again_and_its_run_is_found(idle_emr, lst, own):
    answers: list[bytes] = []

    def drop(forward: Callable[[], bytes]) -> bytes | None:
        answers.append(forward())
        return answers[-1] if len(answers) > 1 else None

    cluster = [] if own else ["--cluster-id", idle_emr.double.waiting_cluster()]
    operation = "RunJobFlow" if own else "AddJobFlowSteps"
    with Proxy(idle_emr.double.url, operation, drop) as proxy:
        result = stopped_when_it_runs(idle_emr, lst, "--emr-endpoint", proxy.url, *cluster)
    assert result.code == 130, result.err
    assert proxy.asked.count(operation) == 1 + (not own)  # the other is for what ends its jobs
    (cluster,) = idle_emr.double.clusters
    wait_for(lambda: cluster.state == ("TERMINATED" if own else "WAITING"))
    assert [step.state for step in cluster.steps] == ["CANCELLED", *["COMPLETED"] * (not own)]
    assert idle_emr.left == []


def test_request_that_emr_throttles_is_sent_again(idle_emr, lst):
    refusals = [b"HTTP/1.1 400 X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(THROTTLED) + THROTTLED]
    with Proxy(idle_emr.double.url, "RunJobFlow", lambda forward: refusals.pop() if refusals else forward()) as proxy:
        result = stopped_when_it_runs(idle_emr, lst, "--emr-endpoint", proxy.url)
    assert result.code == 130, result.err
    assert proxy.asked.count("RunJobFlow") == 2
    assert len(idle_emr.double.clusters) == 1


@pytest.mark.parametrize("own", [True, False])
def test_run_that_is_stopped_while_emr_is_asked_for_it_ends_what_it_gets(idle_emr, lst, own):
    asked, stopped = threading.Event(), threading.Event()

    def late(forward: Callable[[], bytes]) -> bytes:
        asked.set()
        stopped.wait(600)
        time.sleep(0.5)
        return forward()

    cluster = [] if own else ["--cluster-id", idle_emr.double.waiting_cluster()]
    operation = "RunJobFlow" if own else "AddJobFlowSteps"
    with (
        Proxy(idle_emr.double.url, operation, late) as proxy,
        idle_emr.started(TAGS, "--emr-endpoint", proxy.url, "--output-dir", "s3://mine/out", *cluster, lst) as process,
    ):
        wait_for(asked.is_set, process)
        process.send_signal(signal.SIGTERM)
        stopped.set()
        result = ended(process)
    assert result.code == 143, result.err
    (cluster,) = idle_emr.double.clusters
    wait_for(lambda: cluster.steps[0].state == "CANCELLED")
    wait_for(lambda: cluster.state == ("TERMINATED" if own else "WAITING"))
    assert idle_emr.double.keys("s3://mine/") == ["s3://mine/out.interrupted.jsonl"]
    assert idle_emr.left == []


def test_run_of_which_nobody_knows_whether_emr_has_it_can_be_collected(idle_emr, lst):
    with Proxy(idle_emr.double.url, "RunJobFlow", lambda _: None) as proxy:
        result = idle_emr.run(TAGS, "--emr-endpoint", proxy.url, "--output-dir", "s3://mine/out", lst)
    assert (result.code, proxy.asked.count("RunJobFlow")) == (1, 1)
    assert "the run is kept: crawlmill ledger --collect s3://mine/out ends it" in result.err
    assert re.search(
        r"EMR cannot be reached: .*; it may have the job all the same: look for a cluster called tag_count\.\w+\n",
        result.err,
    )
    with Proxy(idle_emr.double.url, "-", lambda _: None) as proxy:
        marker = json.loads(idle_emr.double.get("s3://mine/out.running.json"))
        record = json.loads(idle_emr.double.get(marker["record"]))
        idle_emr.double.put(marker["record"], json.dumps({**record, "endpoint": proxy.url}).encode())
        line = one_line(idle_emr.crawlmill("ledger", "--collect", "s3://mine/out"))
    assert line == "crawlmill: nothing to collect: EMR never had the job; run it again"
    assert idle_emr.left == []


def test_refused_request_for_a_cluster_leaves_nothing(idle_emr, lst):
    denied = json.dumps({"__type": "ValidationException", "Message": "Invalid InstanceProfile"}).encode()
    answer = b"HTTP/1.1 400 X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(denied) + denied
    with Proxy(idle_emr.double.url, "RunJobFlow", lambda _: answer) as proxy:
        result = idle_emr.run(TAGS, "--emr-endpoint", proxy.url, "--output-dir", "s3://mine/out", lst)
    assert result.code == 1
    assert result.err.endswith("EMR refuses RunJobFlow: ValidationException: Invalid InstanceProfile\n")
    assert "s3://mine/out.running.json" not in idle_emr.double.keys("s3://mine/")
    assert idle_emr.left == []


def killed(emr, lst: Path, *options: object) -> None:
    """A run whose launcher was killed while its step ran."""
    with emr.started(TAGS, "--output-dir", "s3://mine/out", *options, lst) as process:
        wait_for(lambda: emr.double.clusters and emr.double.clusters[-1].state == "RUNNING", process)
        wait_for(lambda: "cluster j-" in process.stderr.readline().decode(), process)
        process.send_signal(signal.SIGKILL)


def test_run_that_fails_without_its_launcher_is_collected_as_failed(idle_emr, lst):
    killed(idle_emr, lst)
    idle_emr.double.client("emr").terminate_job_flows(JobFlowIds=[idle_emr.double.clusters[0].id])
    wait_for(lambda: idle_emr.double.clusters[0].state == "TERMINATED")
    result = idle_emr.crawlmill("ledger", "--collect", "s3://mine/out")
    assert result.code == 1
    assert re.search(r"^tag_count: Step 1 of 1 was cancelled: cluster j-\w+ was terminated: ", result.err, re.MULTILINE)
    assert idle_emr.double.keys("s3://mine/") == ["s3://mine/out.failed.jsonl"]
    assert idle_emr.left == []
    again = idle_emr.crawlmill("ledger", "--collect", "s3://mine/out")
    assert one_line(again).startswith("crawlmill: nothing to collect: there is no s3://mine/out.running.json")


def test_steps_that_the_launcher_had_no_time_to_note_down_are_found(idle_emr, lst):
    killed(idle_emr, lst)
    marker = json.loads(idle_emr.double.get("s3://mine/out.running.json"))
    record = json.loads(idle_emr.double.get(marker["record"]))
    idle_emr.double.put(marker["record"], json.dumps({**record, "cluster": None, "steps": []}).encode())
    line = one_line(idle_emr.crawlmill("ledger", "--collect", "s3://mine/out"))
    assert f"the run goes on: cluster {idle_emr.double.clusters[0].id}, step 1 of 1 is running" in line


def test_run_that_emr_never_had_is_forgotten(idle_emr, monkeypatch):
    for name, value in idle_emr.double.environment.items():
        monkeypatch.setenv(name, value)
    info = RunInfo("tag_count", "emr", [], 0.0, "s3://mine/out")
    record = EmrRun(info, "x.1", "s3://tmp/runs/x.1/", "", "us-east-1", None, "s3://tmp/logs/", own_cluster=True)
    with Storage() as storage:
        record.save(storage, marker_of("s3://mine/out"))
    line = one_line(idle_emr.crawlmill("ledger", "--collect", "s3://mine/out"))
    assert line == "crawlmill: nothing to collect: EMR never had the job; run it again"
    assert idle_emr.left == []
    assert idle_emr.double.keys("s3://mine/") == []


def test_run_that_cannot_be_ended_here_is_kept_and_collected(idle_emr, lst, tmp_path):
    """Its steps have ended, but the launcher's disk is gone."""
    ledger, disk = tmp_path / "x.jsonl", tmp_path / "disk"
    disk.mkdir()
    options = ("--output-dir", "s3://mine/out", "--ledger", ledger, "--local-tmp-dir", disk)
    with idle_emr.started(TAGS, *options, lst) as process:
        wait_for(lambda: idle_emr.double.clusters and idle_emr.double.clusters[0].state == "RUNNING", process)
        shutil.rmtree(disk)
        record = json.loads(idle_emr.double.get("s3://mine/out.running.json"))["record"]
        idle_emr.double.put(record.replace("run.json", "output/part-00000"), b'"a"\t1\n')
        idle_emr.double.clusters[0].steps[0].state = "COMPLETED"
        result = ended(process)
    assert result.code == 1
    assert "the run is kept: crawlmill ledger --collect s3://mine/out ends it" in result.err
    idle_emr.double.put("s3://mine/out/part-00000", b"of an end that did not come to its end")
    ledger.unlink(missing_ok=True)  # what could be said of the run here
    late = idle_emr.crawlmill("ledger", "--collect", "s3://mine/out")
    assert late.code == 2, late.err
    assert idle_emr.double.get("s3://mine/out/part-00000") == b'"a"\t1\n'
    assert ledger.exists()
    assert idle_emr.left == []


EXPIRED = json.dumps(
    {"__type": "ExpiredTokenException", "Message": "The security token included in the request is expired"}
)


def test_run_without_an_output_folder_whose_credentials_expire_is_kept_and_collected(idle_emr, lst, tmp_path):
    """A session's credentials: EMR refuses them from some moment on. The buckets demand a header for encryption."""
    key = "arn:aws:kms:us-east-1:123456789012:key/k"
    idle_emr.double.demand_encryption(key)
    encrypted = ["--s3-sse", "aws:kms", "--s3-sse-kms-key-id", key]
    expired = threading.Event()
    refusal = b"HTTP/1.1 400 X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(EXPIRED) + EXPIRED.encode()
    with (
        Proxy(idle_emr.double.url, "DescribeCluster", lambda ask: refusal if expired.is_set() else ask()) as proxy,
        idle_emr.started(TAGS, "--emr-endpoint", proxy.url, *encrypted, lst) as process,
    ):
        wait_for(lambda: idle_emr.double.clusters and idle_emr.double.clusters[0].state == "RUNNING", process)
        expired.set()
        result = ended(process)
        assert result.code == 1
        found = re.search(
            r"^if this launcher dies or its credentials expire, (crawlmill ledger --collect (\S+)) ends the run$",
            result.err, re.MULTILINE,
        )  # fmt: skip
        assert f"the run is kept: {found[1]} ends it\n" in result.err
        assert "cannot be followed any more: EMR refuses DescribeCluster: ExpiredTokenException: " in result.err
        expired.clear()
        early = idle_emr.crawlmill("ledger", "--collect", found[2], *encrypted)
        assert "step 1 of 1 is running; try again later, or give --wait" in one_line(early)
        parts = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key}
        idle_emr.double.put(f"{found[2]}/output/part-00000", b'"a"\t1\n', **parts)
        idle_emr.double.clusters[0].steps[0].state = "COMPLETED"
        conf = tmp_path / "mrjob.conf"  # which the command finds as jobs do
        keys = {name.lower(): value for name, value in KEYS.items()}
        conf.write_text(json.dumps({"runners": {"emr": {**keys, "s3_sse": "aws:kms", "s3_sse_kms_key_id": key}}}))
        nobody = dict.fromkeys(KEYS, "")
        late = idle_emr.crawlmill("ledger", "--collect", found[2], MRJOB_CONF=str(conf), **nobody)
    assert (late.code, late.out) == (2, '"a"\t1\n'), late.err
    assert "1 input: 1 failed" in late.err
    assert idle_emr.left == []


def test_bucket_that_demands_a_header_for_encryption_is_not_written_without(idle_emr, lst):
    idle_emr.double.demand_encryption("arn:aws:kms:us-east-1:123456789012:key/k")
    result = idle_emr.run(TAGS, lst)
    assert result.code == 1
    assert "AccessDenied" in result.err
    assert idle_emr.double.clusters == []


def test_job_that_hadoop_does_not_take_is_told_in_hadoops_words(idle_emr, lst):
    said = (
        "2026-01-01 00:00:00,000 INFO mapreduce.JobSubmitter: number of splits:1\n"
        "2026-01-01 00:00:01,000 ERROR streaming.StreamJob: Error Launching job : Invalid resource request! Cannot\n"
        "Streaming Command Failed!\n"
    )
    with idle_emr.started(TAGS, lst) as process:
        wait_for(lambda: idle_emr.double.clusters and idle_emr.double.clusters[0].state == "RUNNING", process)
        cluster = idle_emr.double.clusters[0]
        log = f"s3://tmp/runs/logs/{cluster.id}/steps/{cluster.steps[0].id}/syslog.gz"
        cluster.steps[0].state = "FAILED"
        wait_for(lambda: "waiting for its log" in process.stderr.readline().decode(), process)
        idle_emr.double.put(log, gzip.compress(said.encode()))
        result = ended(process)
    assert result.code == 1
    assert "tag_count: Step 1 of 1 failed: Invalid resource request! Cannot; logs, " in result.err
    assert "Traceback" not in result.err
    assert idle_emr.left == []


def test_driver_that_loses_its_job_is_told_in_its_last_words(tmp_path):
    (tmp_path / "j-1" / "steps" / "s-1").mkdir(parents=True)
    (tmp_path / "j-1" / "steps" / "s-1" / "syslog").write_text(
        "2026-01-01 00:00:00,000 INFO impl.YarnClientImpl: Submitted application application_1_0001\n"
        "2026-01-01 00:00:01,000 INFO mapreduce.Job:  map 0% reduce 0%\n"
        "2026-01-01 00:00:02,000 ERROR streaming.StreamJob: Error Launching job : Connection refused\n"
    )
    run = EmrRun(RunInfo("x", "emr", [], 0.0), "X.1", "s3://tmp/", "", "us-east-1", None, str(tmp_path),
                 own_cluster=False, cluster="j-1")  # fmt: skip
    with Storage() as storage:
        log = ClusterLogs(storage, run, lambda: None, 0.0)
        assert log.of_step(Step("s-1", "Step 1 of 1")) == "the job ended: Connection refused"
        assert log.of_step(Step("s-2", "Step 1 of 1")) == ""


@pytest.mark.parametrize("fleets", [True, False])
def test_workers_that_have_not_started_are_told(idle_emr, monkeypatch, fleets):
    for name, value in idle_emr.double.environment.items():
        monkeypatch.setenv(name, value)
    aws = Aws()
    kinds = [("MASTER", 1, 0), ("CORE", 1, 0), ("TASK", 0, 4)]
    if fleets:
        asked = {"InstanceFleets": [
            {"InstanceFleetType": kind, "TargetOnDemandCapacity": most, "TargetSpotCapacity": spot,
             "InstanceTypeConfigs": [{"InstanceType": "m6i.xlarge"}]} for kind, most, spot in kinds
        ]}  # fmt: skip
    else:
        asked = {"InstanceGroups": [{"InstanceRole": kind, "InstanceType": "m6i.xlarge", "InstanceCount": most + spot}
                                    for kind, most, spot in kinds]}  # fmt: skip
    cluster = idle_emr.double.waiting_cluster(Instances={**asked, "KeepJobFlowAliveWhenNoSteps": True})
    described = aws.ask("emr", "describe_cluster", ClusterId=cluster)["Cluster"]
    assert Workers(aws, cluster).said(described) == ""
    idle_emr.double.grant(cluster, 2)
    assert Workers(aws, cluster).said(described) == ", 2 of 4 workers"


def test_services_that_are_away_for_a_while_are_waited_for(monkeypatch):
    answers = [
        AwsError("away", transient=True),
        SourceError("away", reason="unavailable"),
        "step 1 of 1 is running",
        None,
    ]

    def look(_self: object) -> str | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(EmrWatch, "look", look)
    progress = Progress(Console(io.BytesIO()), lambda _: None, shown=False)
    watch = EmrWatch(None, None, None, Path(), progress, 0.0)
    watch.wait()
    assert answers == []
    answers.append(AwsError("EMR refuses DescribeCluster", code="AccessDenied"))
    monkeypatch.setattr(watch, "_run", SimpleNamespace(cluster="j-1"))
    with pytest.raises(CrawlmillError, match=r"cluster j-1 cannot be followed any more: EMR refuses DescribeCluster"):
        watch.wait()


def test_record_holds_no_secret_of_the_command_line(idle_emr, lst):
    secret = "https://e.org/crawl/?token=s3cr3t"
    killed(idle_emr, lst, "--base-url", secret)
    marker = idle_emr.double.get("s3://mine/out.running.json")
    record = idle_emr.double.get(json.loads(marker)["record"])
    assert b"e.org/crawl" in record
    assert b"s3cr3t" not in marker + record


def test_task_that_failed_most_often_in_the_last_job_is_the_one_that_is_told():
    attempts = [
        "attempt_1_0001_m_000007_3",
        *(f"attempt_1_0002_m_000002_{n}" for n in range(3)),
        "attempt_1_0002_r_000001_0",
    ]
    error = failure_of_task(attempts, lambda attempt: (f"word of {attempt}", "trace\n"), "logs: here")
    assert str(error) == "task map-00002 failed 3 times, last error: word of attempt_1_0002_m_000002_2; logs: here"
    assert failure_of_task([], lambda _: ("", ""), "") is None
