"""`-r spark` with real Spark, 3.5 and 4: the same results, ledger and exit code as in this process.

Jobs of each shape are in test_matrix.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests import builders
from tests.engines.conftest import ended, wait_for
from tests.engines.jobs import counters, started, unlucky, warc
from tests.mr.helpers import PROJECT, Ended, rows, run
from tests.mr.task.test_files import SHARDS, URLS, published
from tests.sharing import alone

pytestmark = pytest.mark.spark

JOBS = PROJECT / "jobs"
TAGS = JOBS / "tag_count.py"
SCRIPTS = Path(__file__).parent / "scripts"
UNLUCKY = SCRIPTS / "unlucky.py"
TOOLS = PROJECT / "tools" / "spark"
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # lives for seconds

on_linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")


class Spark:
    """One line of versions of Spark."""

    def __init__(self, line: str) -> None:
        self.submit = PROJECT / ".cache" / "spark" / line / "bin" / "spark-submit"

    def started(self, script: Path, *args: object, **more: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """A job that runs on Spark; nothing is left of it after the block."""
        path = f"{self.submit.parent}:{more.get('PATH', os.environ['PATH'])}"
        command = [sys.executable, str(script), "-r", "spark", "--no-conf", *map(str, args)]
        return started(command, {"SPARK_SUBMIT_OPTS": QUICK_JVM, **more, "PATH": path})

    def run(self, script: Path, *args: object, **more: str) -> Ended:
        """Run a job on Spark."""
        with self.started(script, *args, **more) as process:
            return ended(process)


def _spark(line: str) -> Spark:
    required = os.environ.get("CRAWLMILL_REQUIRE_ENGINES") == "1"
    if shutil.which("java") is None and not required:
        pytest.skip("no java: Spark cannot be run")
    if line == "3.5" and sys.version_info >= (3, 14):
        pytest.skip("Spark 3.5 does not know this Python")
    spark = Spark(line)
    if required:
        with alone(PROJECT / ".cache" / "spark" / f"{line}.lock"):
            subprocess.run([sys.executable, TOOLS / "environments.py", line], check=True, stdout=subprocess.DEVNULL)
    elif not spark.submit.exists():
        pytest.skip(f"no Spark {line}: `make spark` installs it")
    return spark


@pytest.fixture(scope="session")
def spark() -> Spark:
    return _spark("4")


@pytest.fixture(scope="session")
def older_spark() -> Spark:
    return _spark("3.5")


def test_files_of_tasks_are_published_but_not_those_of_attempts_that_failed(spark, tmp_path):
    lst = tmp_path / "x.paths"
    for name, *uris in (("a", *URLS[:2]), ("b", *URLS[2:]), ("c", "http://raise/")):
        (tmp_path / name).write_bytes(warc(*uris))
    lst.write_text("a\nb\nc\n")
    there = spark.run(SHARDS, "--num-cores", "2", "--output-dir", tmp_path / "spark", lst)
    here = run(SHARDS, "-r", "local", "--output-dir", tmp_path / "out", lst)
    assert (there.code, here.code) == (0, 0), there.err + here.err
    assert published(tmp_path / "spark") == published(tmp_path / "out")


@pytest.mark.parametrize("version", ["older_spark", "spark"])
def test_run_gives_what_inline_gives_and_is_published_whole(version, tmp_path, request):
    """Good, cut, missing and repeated inputs, and two ranges of one file."""
    for name, data in {
        "good": warc("http://e.org/1", "http://e.org/2"),
        "ranged": warc("http://e.org/3", "http://e.org/4"),
        "cut": warc("http://e.org/5", "http://e.org/6", cut=9),
    }.items():
        (tmp_path / f"{name}.warc.gz").write_bytes(data)
    first = len(builders.gzip_member(builders.warcinfo()))
    length = len(builders.gzip_member(builders.response("http://e.org/3", b"<p><b>x</b>")))
    lst = tmp_path / "x.paths"
    ranges = [f"ranged.warc.gz\t{first}\t{length}", f"ranged.warc.gz\t0\t{first}"]
    lst.write_text("\n".join(["good.warc.gz", *ranges, "cut.warc.gz", "gone.warc.gz", "good.warc.gz"]))
    (tmp_path / "tmp").mkdir()
    options = ["--output-dir", tmp_path / "out", "--inputs-per-task", 1, lst]
    there = request.getfixturevalue(version).run(TAGS, *options, TMPDIR=str(tmp_path / "tmp"))
    here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "inline", lst)
    assert (there.code, here.code, there.out) == (2, 2, ""), there.err
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert sorted(line for part in parts for line in part.read_text().splitlines()) == here.out.splitlines()
    assert here.out.splitlines() == ['"b"\t4', '"p"\t4']
    assert [part.name for part in parts] == [f"part-{number:05}" for number in range(len(parts))]
    others = {"_SUCCESS", "_ledger.jsonl", "_run.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == others | {part.name for part in parts}
    assert (tmp_path / "out" / "_ledger.jsonl").read_bytes() == (tmp_path / "inline").read_bytes()
    assert json.loads((tmp_path / "out" / "_run.json").read_text())["runner"] == "spark"
    assert re.search(r"^5 inputs: 3 ok, 1 partial, 1 failed; ", there.err, re.MULTILINE)
    assert not list((tmp_path / "tmp").iterdir())
    assert "WARN" not in there.err


def test_largest_counts_of_two_reducers_come_in_order(spark, tmp_path):
    pages = {"a": 3, "b": 2, "i": 2, "u": 1, "em": 5}
    for name, count in pages.items():
        body = f"<{name}>".encode() * count
        (tmp_path / f"{name}.warc.gz").write_bytes(
            builders.pack([builders.warcinfo(), builders.response("http://e.org/", body)])
        )
    lst = tmp_path / "x.paths"
    lst.write_text("".join(f"{name}.warc.gz\n" for name in pages))
    result = spark.run(TAGS, "--top", 3, "--inputs-per-task", 3, "-D", "mapreduce.job.reduces=2", lst)
    assert (result.code, result.out) == (0, '"em"\t5\n"a"\t3\n"b"\t2\n'), result.err


def test_tasks_that_fail_and_die_are_tried_again_and_counted_once(spark, tmp_path):
    lst = unlucky(tmp_path, "http://raise/1", "http://kill/1", "http://fine/")
    result = spark.run(
        UNLUCKY,
        "--spark-master",
        "local[2,4]",
        "--verbose",
        "--ledger",
        tmp_path / "ledger",
        lst,
        CRAWLMILL_CORE="python",
    )
    assert result.code == 0, result.err
    assert result.pairs == {'"fine"': 1, '"kill"': 1, '"raise"': 1, '"records"': 3}
    assert [(row["outcome"], row["records"]) for row in rows(tmp_path / "ledger").values()] == [("ok", 2)] * 3
    assert counters(result) == {"tests: records": 3}
    assert len(re.findall("^task map-0000[0-2] failed: ", result.err, re.MULTILINE)) == 2
    assert re.search(
        r"task map-0000[0-2] failed: RuntimeError: bad luck, ä 'quoted' \(at offset \d+ of \S+\)\n", result.err
    )
    assert re.search(r"task map-0000[0-2] failed: .*[Pp]ython worker exited", result.err)


@pytest.mark.parametrize("version", ["older_spark", "spark"])
def test_task_that_always_fails_ends_the_run_with_its_error_in_one_line(version, tmp_path, request):
    lst = unlucky(tmp_path, "http://raise/99")
    result = request.getfixturevalue(version).run(UNLUCKY, "--task-retries", 1, "--output-dir", tmp_path / "out", lst)
    assert (result.code, result.out) == (1, "")
    last = result.err.rstrip("\n").rpartition("\n")[2]
    assert re.fullmatch(
        r"unlucky: task map-00000 failed 2 times, last error: RuntimeError: bad luck, ä 'quoted' \(at offset \d+ of \S+\)",
        last,
    )
    assert 'in do_raise\n    raise RuntimeError("bad luck' in result.err
    assert result.err.count("Traceback") == 1
    assert "pyspark" not in result.err
    assert not (tmp_path / "out").exists()
    assert [row["lost"] for row in rows(tmp_path / "out.failed.jsonl").values()] == [{"unaccounted": 1}]


def mentioning(text: str) -> list[int]:
    """Processes that have this text in their command or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@on_linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_run_leaves_no_process_and_its_ledger_so_far(spark, tmp_path, how):
    lst = unlucky(tmp_path, "http://fine/", "http://wait/9999")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    options = ["--num-cores", 1, "--cmdenv", f"MARKS={tmp_path}", "--output-dir", tmp_path / "out", lst]
    with spark.started(UNLUCKY, *options, TMPDIR=str(temporary)) as process:
        wait_for((tmp_path / "waiting").exists, process)
        wait_for(lambda: any('"task": {' in path.read_text() for path in temporary.glob("*/events.jsonl")), process)
        process.send_signal(how)
        result = ended(process)
    wait_for(lambda: not mentioning(str(temporary)))
    assert result.out == ""
    assert not (tmp_path / "out").exists()
    if how == signal.SIGINT:
        assert result.code == 130
        assert result.err.endswith(f"unlucky: stopped by SIGINT; the ledger so far: {tmp_path}/out.interrupted.jsonl\n")
        assert [row["outcome"] for row in rows(tmp_path / "out.interrupted.jsonl").values()] == ["ok"]
        assert not list(temporary.iterdir())


@pytest.fixture
def standalone(older_spark) -> Iterator[str]:
    """The URL of a master with one worker."""
    process = subprocess.Popen(
        [sys.executable, TOOLS / "standalone.py", older_spark.submit],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("spark://"), url
        yield url
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(300)


@on_linux
def test_what_is_computed_again_on_a_standalone_cluster_is_counted_once(older_spark, standalone, tmp_path):
    lst = unlucky(tmp_path, "http://e.org/1", "http://f.org/", "http://e.org/2")
    (tmp_path / "uploaded").write_text("a note")
    options = ["--cmdenv", f"MARKS={tmp_path}", "--files", f"{tmp_path}/uploaded#note.txt"]
    options += ["--output-dir", tmp_path / "out", "--verbose"]
    local = ["--conf spark.driver.host=127.0.0.1", "--conf spark.ui.enabled=false", "--conf spark.executor.memory=512m"]
    result = older_spark.run(
        SCRIPTS / "lost_executor.py", "--spark-master", standalone, f"--spark-args={' '.join(local)}", *options, lst
    )
    assert result.code == 0, result.err
    found = sorted(line for part in (tmp_path / "out").glob("part-*") for line in part.read_text().splitlines())
    assert found == ['"a note"\t3', '"e.org"\t2', '"f.org"\t1']
    assert len((tmp_path / "mapped").read_text().splitlines()) > 3  # it was computed again
    assert counters(result)["tests: records"] == 3
    outcomes = [(row["outcome"], row["records"]) for row in rows(tmp_path / "out" / "_ledger.jsonl").values()]
    assert outcomes == [("ok", 2)] * 3
    assert re.search(r"^3 inputs: 3 ok; 6 records", result.err, re.MULTILINE)


def yarn(spark: Spark) -> list[str]:
    """Options for the Hadoop of the tests: one small executor, and no copy of all of Spark for it."""
    jars = next(spark.submit.parent.parent.glob("lib/python3*/site-packages/pyspark/jars"))
    settings = {
        "yarn.jars": f"local:{jars}/*",
        "executor.memory": "512m",
        "yarn.am.memory": "256m",
        "executor.instances": "1",
        "driver.host": "127.0.0.1",
        "ui.enabled": "false",
    }
    given = [part for name, value in settings.items() for part in ("-D", f"spark.{name}={value}")]
    return ["--spark-master", "yarn", "--task-python-bin", sys.executable, *given]


@pytest.mark.hadoop
def test_run_on_yarn_with_its_output_on_hdfs_gives_what_inline_gives(spark, hadoop, folder, tmp_path):
    good = hadoop.put(f"{folder}/good.warc.gz", warc("http://e.org/1", "http://e.org/2"))
    hadoop.put(f"{folder}/cut.warc.gz", warc("http://e.org/3", "http://e.org/4", cut=9))
    lst = hadoop.put(f"{folder}/x.paths", f"{good}\ncut.warc.gz\ngone.warc.gz\n".encode())
    there = spark.run(TAGS, *yarn(spark), "--output-dir", f"hdfs://{folder}/out", lst, **hadoop.environment)
    here = run(TAGS, "-r", "inline", "--ledger", tmp_path / "inline", lst, **hadoop.environment)
    assert (there.code, here.code, there.out) == (2, 2, ""), there.err
    names = [name for name in hadoop.storage.list(f"hdfs://{folder}/out") if name.startswith("part-")]
    parts = [hadoop.storage.read_all(f"hdfs://{folder}/out/{name}", limit=999) for name in names]
    assert sorted(b"".join(parts).decode().splitlines()) == here.out.splitlines()
    listing = hadoop.shell("fs", "-ls", f"{folder}/out/part-*").stdout.split("\n")
    assert {line.split()[2] for line in listing if line} == {"researcher"}  # not whoever runs the executors
    ledger = hadoop.storage.read_all(f"hdfs://{folder}/out/_ledger.jsonl", limit=9999)
    assert ledger == (tmp_path / "inline").read_bytes()
    assert hadoop.nothing_is_left()


@pytest.mark.hadoop
def test_interrupted_run_on_yarn_ends_its_application(spark, hadoop, folder, tmp_path):
    before = hadoop.applications()
    options = ["--cmdenv", f"MARKS={tmp_path}", "--output-dir", f"hdfs://{folder}/out"]
    with spark.started(
        UNLUCKY, *yarn(spark), *options, unlucky(tmp_path, "http://wait/9999"), **hadoop.environment
    ) as process:
        wait_for((tmp_path / "waiting").exists, process)
        process.send_signal(signal.SIGINT)
        result = ended(process)
    assert result.code == 130, result.err
    (application,) = hadoop.applications().keys() - before.keys()
    wait_for(lambda: hadoop.applications()[application] != "UNDEFINED")
    assert list(hadoop.storage.list(f"hdfs://{folder}")) == ["out.interrupted.jsonl"]
    assert hadoop.nothing_is_left()
