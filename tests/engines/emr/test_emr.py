"""`-r emr` end to end, on the double: the same results, ledger and exit code as in this process."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import builders
from tests.engines.conftest import ended, wait_for
from tests.engines.emr.double import KEYS
from tests.engines.jobs import warc
from tests.mr.helpers import PROJECT, environment, rows, run

pytestmark = pytest.mark.hadoop

TAGS = PROJECT / "jobs" / "tag_count.py"
PAIRS = PROJECT / "jobs" / "near_duplicates.py"
UNLUCKY = Path(__file__).parents[1] / "scripts" / "unlucky.py"


KEY = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ENCRYPTED = ["--s3-sse", "aws:kms", "--s3-sse-kms-key-id", KEY]


def test_run_gives_what_inline_gives_and_is_published_on_s3(emr, tmp_path):
    """Inputs on S3, a cut one, one that is not there, one twice; buckets demand a header for encryption."""
    good = emr.double.put("s3://mine/crawl/good.warc.gz", warc("http://e.org/1", "http://e.org/2"))
    emr.double.put("s3://mine/crawl/cut.warc.gz", warc("http://e.org/3", "http://e.org/4", cut=9))
    lst = tmp_path / "x.paths"
    lst.write_text(f"{good}\n# c\n\ns3://mine/crawl/cut.warc.gz\ns3://mine/crawl/gone.warc.gz\n{good}\n")
    emr.double.metadata.slow = 1
    emr.double.demand_encryption(KEY)
    there = emr.run(TAGS, *ENCRYPTED, "--output-dir", "s3://mine/out", lst)
    here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "inline", lst, **emr.double.environment)
    assert (there.code, here.code) == (2, 2), there.err
    assert there.out == ""
    assert here.out == '"b"\t3\n"p"\t3\n'
    names = [key.removeprefix("s3://mine/out/") for key in emr.double.keys("s3://mine/out")]
    assert sorted(names) == ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000"]
    assert emr.double.get("s3://mine/out/part-00000").decode() == here.out
    assert emr.double.get("s3://mine/out/_ledger.jsonl") == (tmp_path / "inline").read_bytes()
    assert len(rows(tmp_path / "inline")) == 3
    report = json.loads(emr.double.get("s3://mine/out/_run.json"))
    assert (report["runner"], report["core_of_tasks"]) == ("emr", [report["core"]])
    assert re.search(r"^3 inputs: 1 ok, 1 partial, 1 failed; ", there.err, re.MULTILINE)
    assert emr.left == []
    if report["core"] == "native":  # what is shipped comes first, so it is that one which the tasks had
        assert any(
            arg.endswith("/crawlmill-native.zip#crawlmill-native") for arg in emr.double.clusters[0].steps[0].args
        )
    calls = emr.double.calls.read_text()
    assert "dnf install -y python3.11" in calls
    assert "python3.11 -m pip install" in calls
    assert [cluster.state for cluster in emr.double.clusters] == ["TERMINATED"]


def list_of(emr, tmp_path: Path, *uris: str) -> Path:
    """A list of one WARC on S3 for each URI."""
    lines = [emr.double.put(f"s3://mine/{number}.warc.gz", warc(uri)) for number, uri in enumerate(uris)]
    lst = tmp_path / "x.paths"
    lst.write_text("".join(f"{line}\n" for line in lines))
    return lst


def texts(tmp_path: Path) -> Path:
    """A WET whose pages 0 and 1 differ in a word."""
    words = " ".join(f"word{number * 7919}" for number in range(400))
    pages = [words, words.replace("word7919 ", "other "), words[::-1]]
    records = [builders.conversion(f"http://e.org/{n}", text) for n, text in enumerate(pages)]
    (tmp_path / "x.wet.gz").write_bytes(builders.pack([builders.warcinfo(), *records]))
    (tmp_path / "x.paths").write_text("x.wet.gz\n")
    return tmp_path / "x.paths"


def test_services_named_by_options_suffice_for_files_of_this_machine(emr, tmp_path):
    """As for a private endpoint. A job of several steps is in tests/engines/test_matrix.py."""
    (tmp_path / "a.warc.gz").write_bytes(warc("http://e.org/1"))
    (tmp_path / "x.paths").write_text("a.warc.gz\n")
    ends = [option for name in ("emr", "s3", "ec2", "iam") for option in (f"--{name}-endpoint", emr.double.url)]
    there = emr.run(TAGS, *ends, tmp_path / "x.paths", AWS_ENDPOINT_URL="")
    assert (there.code, there.out) == (0, '"b"\t1\n"p"\t1\n'), there.err
    assert emr.left == []


def test_settings_of_an_mrjob_conf_suffice_and_a_bucket_is_made_if_none_is_named(emr, tmp_path):
    """Endpoints and keys as mrjob's users write them down; nothing in the environment."""
    ends = {f"{name}_endpoint": emr.double.url for name in ("emr", "s3", "ec2", "iam")}
    keys = {name.lower(): value for name, value in KEYS.items()}
    conf = tmp_path / "mrjob.conf"
    settings = {**ends, **keys, "check_cluster_every": 0.2}
    conf.write_text(json.dumps({"include": str(PROJECT / "mrjob.conf"), "runners": {"emr": settings}}))
    good = emr.double.put("s3://mine/crawl/good.warc.gz", warc("http://e.org/1"))
    (tmp_path / "x.paths").write_text(f"{good}\n")
    nowhere = {**emr.double.environment, "AWS_ENDPOINT_URL": "", **dict.fromkeys(KEYS, "")}
    command = [sys.executable, str(TAGS), "-r", "emr", "-c", str(conf), str(tmp_path / "x.paths")]
    there = subprocess.run(
        command,
        cwd="/",
        env=environment(**nowhere),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (there.returncode, there.stdout) == (0, '"b"\t1\n"p"\t1\n'), there.stderr
    made = re.search(r"temporary files go to a new bucket, which stays: s3://(mrjob-[0-9a-f]{16})/", there.stderr)[1]
    assert all("/logs/" in key for key in emr.double.keys(f"s3://{made}/"))
    assert emr.double.keys(f"s3://{made}/") != []


def test_task_that_always_fails_ends_the_run_with_its_error_in_one_line(emr, tmp_path):
    lst = list_of(emr, tmp_path, "http://raise/99", "http://fine/")
    emr.double.demand_encryption(KEY)
    result = emr.run(UNLUCKY, *ENCRYPTED, "-D", "mapreduce.map.maxattempts=2", "--output-dir", "s3://mine/out", lst)
    assert (result.code, result.out) == (1, "")
    last = result.err.rstrip("\n").rpartition("\n")[2]
    assert re.fullmatch(
        r"unlucky: task map-0000[01] failed 2 times, last error: RuntimeError: bad luck, ä 'quoted' "
        r"\(at offset \d+ of \S+\); logs, some minutes after the end: s3://tmp/runs/logs/j-\w+",
        last,
    ), last
    assert 'in do_raise\n    raise RuntimeError("bad luck' in result.err
    assert result.err.count("Traceback") == 1
    (tmp_path / "ledger").write_bytes(emr.double.get("s3://mine/out.failed.jsonl"))
    assert [row["lost"] for row in rows(tmp_path / "ledger").values()] == [{"unaccounted": 1}] * 2
    assert emr.double.keys("s3://mine/out") == ["s3://mine/out.failed.jsonl"]
    assert emr.left == []
    assert emr.double.clusters[0].state == "TERMINATED_WITH_ERRORS"


def test_node_without_our_packages_is_told_which_one_it_lacks(emr, tmp_path):
    emr.double.python = f"{sys.executable} -S"
    lst = list_of(emr, tmp_path, "http://fine/")
    once = ["-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1"]
    result = emr.run(TAGS, *once, lst)
    assert result.code == 1
    assert re.search(
        r"tag_count: task \w+-00000 failed once: ModuleNotFoundError: No module named '\w+'(?: \(at .*\))?; "
        r"the nodes' Python lacks a package; ",
        result.err,
    ), result.err
    assert emr.left == []


def test_cluster_that_dies_between_steps_is_told_and_leaves_nothing(emr, tmp_path):
    emr.double.dies_after_steps = 1
    result = emr.run(PAIRS, "--output-dir", "s3://mine/out", texts(tmp_path))
    assert result.code == 1
    assert re.search(
        r"^near_duplicates: Step 2 of 3 was cancelled: cluster j-\w+ ended with errors: The master failed: instance ",
        result.err,
        re.MULTILINE,
    ), result.err
    assert emr.double.keys("s3://mine/out") == ["s3://mine/out.failed.jsonl"]
    assert emr.left == []


def test_run_whose_launcher_is_killed_goes_on_and_is_collected(emr, tmp_path):
    """On a cluster of the user's own, which stays."""
    cluster = emr.double.waiting_cluster()
    lst = list_of(emr, tmp_path, "http://fine/1", "http://fine/2", "http://fine/3")
    with lst.open("a") as file:
        file.write("s3://mine/gone.warc.gz\n")
    with emr.started(TAGS, "--cluster-id", cluster, "--output-dir", "s3://mine/out", lst) as process:
        wait_for(lambda: emr.double.clusters[0].steps and emr.double.clusters[0].steps[0].state == "RUNNING", process)
        process.send_signal(signal.SIGKILL)
    early = emr.crawlmill("ledger", "--collect", "s3://mine/out")
    assert (early.code, early.err.count("\n")) == (1, 1), early.err
    assert f"the run goes on: cluster {cluster}, step 1 of 1 is running" in early.err
    again = emr.run(TAGS, "--cluster-id", cluster, "--output-dir", "s3://mine/out", lst)
    assert (again.code, again.err.count("\n")) == (1, 1), again.err
    assert "crawlmill ledger --collect" in again.err
    late = emr.crawlmill("ledger", "--collect", "--wait", "s3://mine/out")
    here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "inline", lst, **emr.double.environment)
    assert (late.code, here.code) == (2, 2), late.err
    assert re.search(r"^4 inputs: 3 ok, 1 failed; ", late.err, re.MULTILINE)
    assert emr.double.get("s3://mine/out/part-00000").decode() == here.out
    assert emr.double.get("s3://mine/out/_ledger.jsonl") == (tmp_path / "inline").read_bytes()
    assert emr.double.keys("s3://mine/out/_SUCCESS")
    assert emr.left == []
    assert not emr.double.keys("s3://mine/out.running.json")
    assert emr.double.clusters[0].state in ("RUNNING", "WAITING")
    over = emr.crawlmill("ledger", "--collect", "s3://mine/out")
    assert (over.code, over.err) == (1, "crawlmill: nothing to collect: s3://mine/out is finished\n")


def test_stopped_run_on_a_cluster_of_the_users_own_cancels_its_step_and_leaves_the_cluster(emr, tmp_path):
    cluster = emr.double.waiting_cluster()
    lst = list_of(emr, tmp_path, "http://hang/99")
    with emr.started(UNLUCKY, "--cluster-id", cluster, "--output-dir", "s3://mine/out", lst) as process:
        wait_for(emr.hadoop_runs, process)
        process.send_signal(signal.SIGINT)
        result = ended(process)
    assert result.code == 130, result.err
    assert not emr.hadoop_runs()
    assert [step.state for step in emr.double.clusters[0].steps] == ["CANCELLED", "COMPLETED"]
    assert emr.double.clusters[0].state in ("RUNNING", "WAITING")
    assert emr.double.keys("s3://mine/out") == ["s3://mine/out.interrupted.jsonl"]
    assert emr.left == []
