"""`-r hadoop` on real daemons: the same results, ledger and exit code as in this process, whatever happens to tasks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import builders
from tests.engines.conftest import ended, wait_for
from tests.engines.jobs import counters, unlucky, warc
from tests.mr.helpers import PROJECT, rows, run
from tests.mr.task.test_files import OURS, SHARDS, URLS, WANTED, published
from tests.storage.faults import FaultServer, Thing

from crawlmill.results.folder import ResultFolder

pytestmark = pytest.mark.hadoop

TAGS = PROJECT / "jobs" / "tag_count.py"
SERVERS = PROJECT / "jobs" / "server_count.py"
LINKS = PROJECT / "jobs" / "page_links.py"
UNLUCKY = Path(__file__).parent / "scripts" / "unlucky.py"


def hdfs_rows(hadoop, location: str, tmp_path: Path) -> dict:
    """The rows of a ledger on HDFS."""
    (tmp_path / "ledger").write_bytes(hadoop.storage.read_all(location, limit=1 << 20))
    return rows(tmp_path / "ledger")


def test_run_on_hdfs_gives_what_inline_gives_and_is_published_whole(hadoop, folder, tmp_path):
    """Lists and inputs anywhere, a range, a cut file, one that is not there, one input twice."""
    good = hadoop.put(f"{folder}/good.warc.gz", warc("http://e.org/1", "http://e.org/2"))
    ranged = tmp_path / "ranged.warc.gz"
    ranged.write_bytes(warc("http://e.org/3", "http://e.org/4"))
    first = len(builders.gzip_member(builders.warcinfo()))
    length = len(builders.gzip_member(builders.response("http://e.org/3", b"<p><b>x</b>")))
    with FaultServer() as web:
        web.things["/web.warc.gz"] = Thing(warc("http://e.org/5"))
        hadoop.put(f"{folder}/cut.warc.gz", warc("http://e.org/6", "http://e.org/7", cut=9))
        lines = [good, f"{ranged}\t{first}\t{length}", f"{web.url}/web.warc.gz", "cut.warc.gz", "gone.warc.gz", good]
        lst = hadoop.put(f"{folder}/x.paths.gz", gzip.compress("\n".join(["# comment", "", *lines]).encode()))
        options = ["--output-dir", f"hdfs://{folder}/out", "--on-bad-input", "skip", "--inputs-per-task", 3]
        there = hadoop.run(TAGS, *options, lst)
        here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "inline", lst, **hadoop.environment)
    assert (there.code, here.code) == (2, 2), there.err
    assert there.out == ""
    assert here.out.splitlines() == ['"b"\t5', '"p"\t5']
    names = list(hadoop.storage.list(f"hdfs://{folder}/out"))
    assert names == ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000"]
    assert hadoop.storage.read_all(f"hdfs://{folder}/out/part-00000", limit=999).decode() == here.out
    assert (
        hadoop.storage.read_all(f"hdfs://{folder}/out/_ledger.jsonl", limit=9999) == (tmp_path / "inline").read_bytes()
    )
    assert [row["outcome"] for row in rows(tmp_path / "inline").values()].count("ok") == 3
    assert json.loads(hadoop.storage.read_all(f"hdfs://{folder}/out/_run.json", limit=9999))["runner"] == "hadoop"
    assert f"hdfs://{folder}/out/_ledger.jsonl" in there.err
    assert "1 repeated line left out" in there.err
    assert re.search(r"^5 inputs: 3 ok, 1 partial, 1 failed; ", there.err, re.MULTILINE)
    assert len(list(hadoop.storage.list(f"hdfs://{folder}"))) == 3 + len(names)
    assert hadoop.nothing_is_left()


def test_files_of_tasks_are_published_by_rename_but_not_those_of_attempts_that_failed(hadoop, folder, tmp_path):
    """Of map and reduce tasks; a reduce attempt is killed after its shard is written."""
    lst = tmp_path / "x.paths"
    for name, *uris in (("a", *URLS[:2]), ("b", *URLS[2:]), ("c", "http://kill/")):
        (tmp_path / name).write_bytes(warc(*uris))
    lst.write_text("a\nb\nc\n")
    there = hadoop.run(SHARDS, "--output-dir", f"hdfs://{folder}/out", "-D", "mapreduce.job.reduces=2", lst)
    here = run(SHARDS, "-r", "local", "--output-dir", tmp_path / "out", lst)
    assert (there.code, here.code) == (0, 0), there.err + here.err
    names = [name for name in hadoop.storage.list(f"hdfs://{folder}/out") if name not in OURS]
    found = {name: hadoop.storage.read_all(f"hdfs://{folder}/out/{name}", limit=9999).decode() for name in names}
    assert found == published(tmp_path / "out")
    assert found["inputs/name=a"] == WANTED["inputs/name=a"]
    assert "task reduce-" in there.err
    assert hadoop.nothing_is_left()


def test_tables_are_written_by_the_tasks_and_published_by_rename(hadoop, folder, tmp_path):
    """A part for each reducer, with what its cells say of themselves; and for each mapper, if none reduces."""
    names = ["nginx", "a,b", "=1+1", "é"]
    pages = [
        builders.response(f"http://e.org/{n}", b"<a href=/x>", [("Content-Type", "text/html"), ("Server", name)])
        for n, name in enumerate(names)
    ]
    for n in range(2):
        (tmp_path / f"{n}.warc.gz").write_bytes(builders.pack([builders.warcinfo(), *pages[2 * n : 2 * n + 2]]))
    lst = tmp_path / "x.paths"
    lst.write_text("0.warc.gz\n1.warc.gz\n")
    tables = {"csv": (SERVERS, "-D", "mapreduce.job.reduces=3"), "parquet": (LINKS, "--inputs-per-task", 1)}
    for kind, (job, *options) in tables.items():
        there = hadoop.run(job, "--output-format", kind, "--output-dir", f"hdfs://{folder}/{kind}", *options, lst)
        assert there.code == 0, there.err
        assert ("1 text begins with =" in there.err) == (kind == "csv")
    parts = {
        name: hadoop.storage.read_all(f"hdfs://{folder}/csv/{name}", limit=9999).decode()
        for name in hadoop.storage.list(f"hdfs://{folder}/csv")
        if name not in OURS
    }
    assert list(parts) == [f"part-0000{n}.csv" for n in range(3)]
    tables = [list(csv.reader(io.StringIO(text, newline=""))) for text in parts.values()]
    assert [table[0] for table in tables] == [["server", "count"]] * 3
    assert sorted(row for table in tables for row in table[1:]) == sorted([name, "1"] for name in names)
    links = ResultFolder(f"hdfs://{folder}/parquet", hadoop.storage)
    assert [part.name for part in links.parts] == ["part-00000.parquet", "part-00001.parquet"]
    assert sorted(links.pairs()) == [(f"http://e.org/{n}", ["http://e.org/x", "A@/href"]) for n in range(4)]
    assert hadoop.nothing_is_left()


def test_largest_counts_of_two_reducers_come_to_stdout_in_order(hadoop, tmp_path):
    pages = {"a": 3, "b": 2, "i": 2, "u": 1, "em": 5}
    for name, count in pages.items():
        body = f"<{name}>".encode() * count
        (tmp_path / f"{name}.warc.gz").write_bytes(
            builders.pack([builders.warcinfo(), builders.response("http://e.org/", body)])
        )
    lst = tmp_path / "x.paths"
    lst.write_text("".join(f"{tmp_path / name}.warc.gz\n" for name in pages))
    result = hadoop.run(TAGS, "--top", 3, "--inputs-per-task", 3, "-D", "mapreduce.job.reduces=2", "--verbose", lst)
    assert result.code == 0, result.err
    assert result.out == '"em"\t5\n"a"\t3\n"b"\t2\n'
    found = counters(result)
    assert found["Job Counters: Launched map tasks"] == 2
    assert found["Job Counters: Launched reduce tasks"] == 2
    assert found["crawlmill: inputs"] == 5
    assert "5 inputs: 5 ok" in result.err


def test_lines_that_a_reducer_prints_without_a_value_end_where_they_end(hadoop, tmp_path):
    page = b'<p itemscope itemid="http://e.org/i"><b itemprop="http://e.org/p">a b</b></p>'
    lst = tmp_path / "x.paths"
    lst.write_text("a.warc.gz\n")
    (tmp_path / "a.warc.gz").write_bytes(builders.pack([builders.warcinfo(), builders.response("http://e.org/", page)]))
    job = PROJECT / "jobs" / "structured_data.py"
    there = hadoop.run(job, "--parts", 1, "-D", "mapreduce.job.reduces=2", lst)
    assert there.code == 0, there.err
    assert '<http://e.org/i> <http://e.org/p> "a b" <http://e.org/> .\n' in there.out
    assert "\t" not in there.out


def test_tasks_that_fail_die_and_hang_are_tried_again_and_counted_once(hadoop, tmp_path):
    lst = unlucky(tmp_path, "http://raise/1", "http://kill/1", "http://hang/1", "http://fine/")
    result = hadoop.run(
        UNLUCKY,
        "-D",
        "mapreduce.task.timeout=45000",
        "-D",
        "mapreduce.task.timeout.check-interval-ms=1000",
        "--ledger",
        tmp_path / "ledger",
        "--verbose",
        lst,
    )
    assert result.code == 0, result.err
    assert result.pairs == {'"fine"': 1, '"hang"': 1, '"kill"': 1, '"raise"': 1, '"records"': 4}
    found = rows(tmp_path / "ledger")
    assert [(row["outcome"], row["records"]) for row in found.values()] == [("ok", 2)] * 4
    assert counters(result)["tests: records"] == counters(result)["crawlmill: inputs"] == 4
    assert counters(result)["Job Counters: Failed map tasks"] == 3
    assert re.search(
        r"task map-0000[0-3] failed: RuntimeError: bad luck, ä 'quoted' \(at offset \d+ of \S+\)\n", result.err
    )
    assert re.search(r"task map-0000[0-3] failed: .*code 137", result.err)
    assert len(re.findall(r"^task map-0000[0-3] failed: ", result.err, re.MULTILINE)) == 3


def test_task_that_always_fails_ends_the_run_with_its_error_in_one_line(hadoop, folder, tmp_path):
    lst = unlucky(tmp_path, "http://raise/99", "http://fine/")
    result = hadoop.run(UNLUCKY, "-D", "mapreduce.map.maxattempts=2", "--output-dir", f"hdfs://{folder}/out", lst)
    assert (result.code, result.out) == (1, "")
    last = result.err.rstrip("\n").rpartition("\n")[2]
    assert re.fullmatch(
        r"unlucky: task map-0000[01] failed 2 times, last error: RuntimeError: bad luck, ä 'quoted' "
        r"\(at offset \d+ of \S+\); logs: yarn logs -applicationId application_\d+_\d+",
        last,
    )
    assert 'in do_raise\n    raise RuntimeError("bad luck' in result.err
    assert result.err.count("Traceback") == 1
    assert f"ledger: hdfs://{folder}/out.failed.jsonl" in result.err
    found = hdfs_rows(hadoop, f"hdfs://{folder}/out.failed.jsonl", tmp_path)
    assert [row["lost"] for row in found.values()] == [{"unaccounted": 1}] * 2
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["out.failed.jsonl"]
    assert hadoop.nothing_is_left()


def test_node_with_nothing_but_python_is_told_which_package_it_lacks(hadoop, tmp_path):
    lst = unlucky(tmp_path, "http://fine/")
    once = ["-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1"]
    result = hadoop.run(TAGS, *once, "--task-python-bin", f"{sys.executable} -S", lst)
    assert result.code == 1
    assert re.search(
        r"tag_count: task \w+-00000 failed once: ModuleNotFoundError: No module named '\w+'(?: \(at .*\))?; "
        r"the nodes' Python lacks a package; logs: .*\n$",
        result.err,
    )


def test_nodemanager_that_is_killed_and_comes_back_changes_nothing(hadoop, tmp_path):
    lst = unlucky(tmp_path, "http://fine/", "http://wait/9999")
    options = ["--cmdenv", f"MARKS={tmp_path}", "--ledger", tmp_path / "ledger"]
    with hadoop.started(UNLUCKY, *options, lst) as process:
        try:
            wait_for((tmp_path / "waiting").exists, process)
            hadoop.kill("nodemanager")
            hadoop.restart()
        finally:
            (tmp_path / "go").touch()
        result = ended(process)
    assert result.code == 0, result.err
    assert result.pairs == {'"fine"': 1, '"records"': 2, '"wait"': 1}
    assert [row["outcome"] for row in rows(tmp_path / "ledger").values()] == ["ok", "ok"]


def test_attempts_that_race_are_counted_once(hadoop, tmp_path):
    lst = unlucky(tmp_path, *["http://fine/"] * 3, "http://hang/1")
    speculation = [
        "map.speculative=true",
        "job.speculative.minimum-allowed-tasks=1",
        "job.speculative.retry-after-no-speculate=500",
        "job.speculative.retry-after-speculate=500",
    ]
    settings = [part for each in speculation for part in ("-D", f"mapreduce.{each}")]
    result = hadoop.run(UNLUCKY, *settings, "--ledger", tmp_path / "ledger", "--verbose", lst)
    assert result.code == 0, result.err
    assert result.pairs == {'"fine"': 3, '"hang"': 1, '"records"': 4}
    assert [row["outcome"] for row in rows(tmp_path / "ledger").values()] == ["ok"] * 4
    assert counters(result)["Job Counters: Launched map tasks"] == 5


def test_interrupted_run_ends_its_job_and_leaves_nothing(hadoop, folder, tmp_path):
    lst = unlucky(tmp_path, "http://wait/9999")
    before = hadoop.applications()
    options = ["--cmdenv", f"MARKS={tmp_path}", "--output-dir", f"hdfs://{folder}/out"]
    with hadoop.started(UNLUCKY, *options, lst) as process:
        try:
            wait_for((tmp_path / "waiting").exists, process)
            process.send_signal(signal.SIGINT)
            result = ended(process)
        finally:
            (tmp_path / "go").touch()
    assert result.code == 130
    (application,) = hadoop.applications().keys() - before.keys()
    wait_for(lambda: hadoop.applications()[application] == "KILLED")
    assert result.err.endswith(
        f"unlucky: stopped by SIGINT; the ledger so far: hdfs://{folder}/out.interrupted.jsonl\n"
    )
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["out.interrupted.jsonl"]
    assert hadoop.nothing_is_left()


def test_run_whose_launcher_is_killed_goes_on_and_is_collected(hadoop, folder, tmp_path):
    lst = unlucky(tmp_path, "http://fine/1", "http://wait/9999")
    with lst.open("a") as file:
        file.write("gone.warc.gz\n")
    out = f"hdfs://{folder}/out"
    options = ["--cmdenv", f"MARKS={tmp_path}", "--output-dir", out]
    with hadoop.started(UNLUCKY, *options, lst) as process:
        try:
            wait_for((tmp_path / "waiting").exists, process)
            living = hadoop.crawlmill("ledger", "--collect", out)
            process.kill()
            process.wait()
            early = hadoop.crawlmill("ledger", "--collect", out)
            again = hadoop.run(UNLUCKY, *options, lst)
        finally:
            (tmp_path / "go").touch()
    assert (living.code, living.err) == (1, "crawlmill: the run goes on: its launcher is alive\n")
    assert early.code == 1
    assert re.fullmatch(
        r"crawlmill: the run goes on: application_\w+, step 1 of 1 is running; try again later, or give --wait\n",
        early.err,
    )
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert f"an earlier run into this output folder has not ended ({out}.running.json): " in again.err
    late = hadoop.crawlmill("ledger", "--collect", "--wait", out)
    assert late.code == 2, late.err
    assert re.search(r"^3 inputs: 2 ok, 1 failed; 4 records, ", late.err, re.MULTILINE)
    assert list(hadoop.storage.list(out)) == ["_SUCCESS", "_ledger.jsonl", "_run.json", "part-00000"]
    assert hadoop.storage.read_all(f"{out}/part-00000", limit=999) == b'"fine"\t1\n"records"\t2\n"wait"\t1\n'
    found = hdfs_rows(hadoop, f"{out}/_ledger.jsonl", tmp_path)
    assert [row["outcome"] for row in found.values()] == ["ok", "ok", "failed"]
    assert len(list(hadoop.storage.list(f"hdfs://{folder}"))) == 4
    assert hadoop.nothing_is_left()
    over = hadoop.crawlmill("ledger", "--collect", out)
    assert (over.code, over.err) == (1, f"crawlmill: nothing to collect: {out} is finished\n")


def test_driver_that_is_killed_takes_its_job_with_it(hadoop, folder, tmp_path):
    lst = unlucky(tmp_path, "http://wait/9999")
    before = hadoop.applications()
    options = ["--cmdenv", f"MARKS={tmp_path}", "--output-dir", f"hdfs://{folder}/out"]
    with hadoop.started(UNLUCKY, *options, lst) as process:
        try:
            wait_for((tmp_path / "waiting").exists, process)
            (driver,) = subprocess.run(
                ["pgrep", "-P", str(process.pid)], capture_output=True, check=True
            ).stdout.split()
            os.kill(int(driver), signal.SIGKILL)
            result = ended(process)
            (application,) = hadoop.applications().keys() - before.keys()
            wait_for(lambda: hadoop.applications()[application] == "KILLED")
        finally:
            (tmp_path / "go").touch()
    assert result.code == 1
    assert result.err.endswith(f"; logs: yarn logs -applicationId {application}\n")
    assert "could not tell" not in result.err
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["out.failed.jsonl"]
    assert hadoop.nothing_is_left()


def test_quota_that_is_full_in_the_reducer_is_a_clean_failure(hadoop, folder, tmp_path):
    hadoop.put(f"{folder}/full/x", b"")
    lst = unlucky(tmp_path, "http://wait/9999")
    options = ["--cmdenv", f"MARKS={tmp_path}", "-D", "mapreduce.reduce.maxattempts=1", "--ledger", tmp_path / "ledger"]
    with hadoop.started(UNLUCKY, *options, "--output-dir", f"hdfs://{folder}/full/out", lst) as process:
        try:
            wait_for((tmp_path / "waiting").exists, process)
            hadoop.set_space_quota(f"{folder}/full", 1)  # behind the launcher, which writes the run's record there
        finally:
            (tmp_path / "go").touch()
        result = ended(process)
    hadoop.set_space_quota(f"{folder}/full", 1 << 30)
    assert result.code == 1
    assert re.search(r"^unlucky: .*reduce-00000.*[Qq]uota", result.err.splitlines()[-1])
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["full/x"]


def test_quota_that_is_full_already_is_told_before_the_job_is_submitted(hadoop, folder, tmp_path):
    hadoop.put(f"{folder}/full/x", b"")
    hadoop.set_space_quota(f"{folder}/full", 1)
    before = hadoop.applications()
    out = f"hdfs://{folder}/full/out"
    result = hadoop.run(
        UNLUCKY, "--output-dir", out, "--ledger", tmp_path / "ledger", unlucky(tmp_path, "http://fine/")
    )
    hadoop.set_space_quota(f"{folder}/full", 1 << 30)
    assert result.code == 1
    assert re.search(r"^unlucky: .*[Qq]uota", result.err.splitlines()[-1])
    assert hadoop.applications() == before
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["full/x"]


def test_output_folder_that_exists_is_a_usage_error_before_launch(hadoop, folder, tmp_path):
    hadoop.put(f"{folder}/out/x", b"")
    before = hadoop.applications()
    result = hadoop.run(TAGS, "--output-dir", f"hdfs://{folder}/out", unlucky(tmp_path, "http://fine/"))
    assert (result.code, result.out, result.err) == (
        1,
        "",
        f"tag_count: the output folder exists: hdfs://{folder}/out\n",
    )
    assert hadoop.applications() == before


def test_tasks_together_keep_to_the_limits_of_a_host(hadoop, tmp_path):
    """Of four tasks two run at a time, and each sends a request in five seconds."""
    times = []
    with FaultServer() as web:
        lst = tmp_path / "x.paths"
        lst.write_text("".join(f"{web.url}/{number}\n" for number in range(4)))
        for number in range(4):
            web.things[f"/{number}"] = Thing(warc(f"http://e.org/{number}"))
        web.handle = lambda *_: times.append(time.monotonic())  # gives None: the things are served
        result = hadoop.run(
            TAGS,
            "--max-requests-per-second",
            0.4,
            "--max-connections-per-host",
            2,
            "--ledger",
            tmp_path / "ledger",
            lst,
        )
    assert result.code == 0, result.err
    assert "at most 2 map tasks run at a time: more connections to 127.0.0.1 are not allowed" in result.err
    assert [row["outcome"] for row in rows(tmp_path / "ledger").values()] == ["ok"] * 4
    assert len(times) == 4
    # Of three requests, two are of tasks that ran in the same place, or of one.
    assert all(third - first > 4.5 for first, third in zip(times, times[2:], strict=False))


def test_job_that_yarn_does_not_take_says_why(hadoop, tmp_path):
    result = hadoop.run(TAGS, "-D", "mapreduce.job.queuename=nowhere", unlucky(tmp_path, "http://fine/"))
    assert result.code == 1
    assert re.search(r"^tag_count: Hadoop did not take the job: .*nowhere", result.err.splitlines()[-1])


def test_second_start_of_the_cluster_does_nothing(hadoop):
    before = hadoop.state
    hadoop.restart()
    assert hadoop.state == before
    assert all(Path(f"/proc/{pid}").exists() for pid in before["pids"].values()) or os.uname().sysname != "Linux"


def test_processes_take_their_classes_from_the_archive(hadoop):
    """What they cost depends on it, and nothing else shows it."""
    if "SharedArchiveFile" not in (hadoop.home / "etc/hadoop/java.options").read_text():
        assert os.environ.get("CRAWLMILL_REQUIRE_ENGINES") != "1", "see logs/archive.log in the home of the cluster"
        pytest.skip("this Java makes no archive of classes")
    told = hadoop.shell("version", HADOOP_CLIENT_OPTS="-Xlog:class+load").stdout
    assert "org.apache.hadoop.util.VersionInfo source: shared objects file" in told
