"""`-r spark` where something is missing: one line before anything is launched. Needs no Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import builders
from tests.mr.helpers import PROJECT, run
from tests.storage.webhdfs import WebHdfs

from crawlmill.errors import UsageError
from crawlmill.mr.engines.spark import runner as spark_runner
from crawlmill.mr.engines.spark.runner import on_this_machine

TAGS = PROJECT / "jobs" / "tag_count.py"


@pytest.fixture
def lst(tmp_path: Path) -> Path:
    (tmp_path / "a.warc.gz").write_bytes(builders.pack(builders.pages(1)))
    (tmp_path / "x.paths").write_text("a.warc.gz\n")
    return tmp_path / "x.paths"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH with a spark-submit and a java that must not be started."""
    folder = tmp_path / "spark" / "bin"
    folder.mkdir(parents=True)
    for name in ("spark-submit", "java"):
        (folder / name).write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/started\n')
        (folder / name).chmod(0o755)
    return folder


def refused(tmp_path: Path, lst: Path, *options: object, **variables: str) -> str:
    """The one line with which the run ends."""
    result = run(TAGS, "-r", "spark", *options, lst, **variables)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1), result.err
    assert not (tmp_path / "started").exists()
    return result.err.removesuffix("\n").removeprefix("tag_count: ")


def test_no_spark_submit(tmp_path, lst):
    missing = ["--spark-submit-bin", tmp_path / "no-submit"]
    expected = f"-r spark: no {tmp_path}/no-submit was found: pip install pyspark, or set SPARK_HOME"
    assert refused(tmp_path, lst, *missing, PATH=str(tmp_path)) == expected


def test_no_java(tmp_path, lst, programs):
    (programs / "java").unlink()
    line = refused(tmp_path, lst, PATH=str(programs), JAVA_HOME="")
    assert line == "-r spark: no java on the PATH, and JAVA_HOME is not set: Spark needs Java 17"
    line = refused(tmp_path, lst, PATH=str(programs), JAVA_HOME=str(tmp_path))
    assert line == f"-r spark: no java below JAVA_HOME ({tmp_path}): Spark needs Java 17"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--spark-deploy-mode", "cluster"],
            "-r spark: only with --spark-deploy-mode client: the launcher follows its driver",
        ),
        (
            ["--spark-master", "yarn"],
            "-r spark: --spark-master yarn needs HADOOP_CONF_DIR: the configuration of the cluster",
        ),
        (
            ["--spark-master", "spark://elsewhere:7077"],
            (
                "-r spark: tasks of spark://elsewhere:7077 need a folder that all of them reach: --spark-tmp-dir with hdfs://…, "
                "s3://… or a shared path (default: on HDFS, if HADOOP_CONF_DIR is set)"
            ),
        ),
        (["--setup", "true"], "the spark runner runs no setup commands; found: true"),
        (["--num-cores", "0"], "-r spark: --num-cores: expected 1 or more, got 0"),
        (["-D", "mapreduce.job.reduces=x"], "mapreduce.job.reduces: expected a number of 1 or more, got 'x'"),
        (["-D", "spark.executor.cores=two"], "spark.executor.cores: expected a number of 1 or more, got 'two'"),
        (["-D", "spark.executor.instances=0"], "spark.executor.instances: expected a number of 1 or more, got '0'"),
    ],
)
def test_settings_that_cannot_work(tmp_path, lst, programs, options, line):
    assert refused(tmp_path, lst, *options, PATH=str(programs), JAVA_HOME="") == line


@pytest.mark.parametrize("option", ["--files", "--archives", "--dirs", "--py-files"])
def test_what_is_to_be_shipped_is_not_there(tmp_path, lst, programs, option):
    line = refused(tmp_path, lst, option, tmp_path / "gone.zip", PATH=str(programs), JAVA_HOME="")
    assert line.startswith(f"file to ship not found: {tmp_path}/gone.zip")


def test_folder_on_hdfs_that_is_not_reached(tmp_path, lst, programs):
    options = ["--spark-tmp-dir", "hdfs://127.0.0.1:1/x", "--webhdfs", "http://127.0.0.1:1", "--read-timeout", "1"]
    line = refused(tmp_path, lst, *options, PATH=str(programs), JAVA_HOME="")
    assert line.startswith("-r spark: the folder of the run, hdfs://127.0.0.1:1/x/tag_count.")


def test_spark_that_ends_without_results_is_a_failed_run(tmp_path, lst, programs):
    result = run(TAGS, "-r", "spark", lst, PATH=str(programs), JAVA_HOME="")
    assert (tmp_path / "started").exists()
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("tag_count: Spark did not start: it does not say why\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--num-cores", "3"], "--master local[3,3] "),
        (["--num-cores", "2", "--task-retries", "0"], "--master local[2,1] "),
        (["--num-cores", "8", "--max-running-tasks", "1"], "--master local[1,3] "),
        (["--spark-master", "local[7]"], "--master local[7] "),
        (["--spark-master", "spark://127.0.0.1:7077", "--max-running-tasks", "1"], "--conf spark.cores.max=1 "),
        (["--cmdenv", "A=b c"], "--conf spark.executorEnv.A=b c "),
        (["-D", "spark.executor.memory=2g", "-D", "mapreduce.job.reduces=2"], "--conf spark.executor.memory=2g --"),
        (["--spark-args=--queue q"], " --queue q "),
    ],
)
def test_options_reach_spark(tmp_path, lst, programs, options, expected):
    run(TAGS, "-r", "spark", *options, lst, PATH=str(programs), JAVA_HOME="")
    given = (tmp_path / "started").read_text()
    assert expected in given
    assert "mapreduce" not in given


def test_tasks_on_yarn_are_limited_by_executors(tmp_path, lst, programs):
    lst.write_text("".join(f"{number}.warc.gz\n" for number in range(9)))
    options = ["--spark-master", "yarn", "--spark-tmp-dir", tmp_path / "shared", "--max-running-tasks", "9"]
    cores = ["-D", "spark.executor.cores=4", "-D", "spark.executor.instances=50"]
    run(TAGS, "-r", "spark", *options, *cores, lst, PATH=str(programs), JAVA_HOME="", HADOOP_CONF_DIR=str(tmp_path))
    given = (tmp_path / "started").read_text()
    for setting in ("executor.cores=4", "executor.instances=2", "dynamicAllocation.maxExecutors=2"):
        assert f"--conf spark.{setting} " in given
    assert "mrjob.zip" in given


def test_executors_write_to_hdfs_as_the_user_of_the_launcher(tmp_path, lst, programs):
    with WebHdfs() as hdfs:
        options = ["--spark-master", "spark://elsewhere:7077", "--spark-tmp-dir", "hdfs://n/x", "--webhdfs", hdfs.url]
        run(TAGS, "-r", "spark", *options, lst, PATH=str(programs), JAVA_HOME="", HADOOP_USER_NAME="researcher")
    assert "--conf spark.executorEnv.HADOOP_USER_NAME=researcher " in (tmp_path / "started").read_text()


def test_output_folder_that_exists(tmp_path, lst, programs):
    line = refused(tmp_path, lst, "--output-dir", tmp_path, PATH=str(programs), JAVA_HOME="")
    assert line == f"the output folder exists: {tmp_path}"


def test_python_that_an_old_spark_does_not_know_is_refused(tmp_path, programs, monkeypatch):
    (programs.parent / "jars").mkdir()
    (programs.parent / "jars" / "spark-core_2.12-3.5.9.jar").touch()
    runner = spark_runner.SparkRunner.__new__(spark_runner.SparkRunner)
    runner._spark_submit_bin = [str(programs / "spark-submit")]
    runner._opts = dict.fromkeys(["spark_master", "num_cores", "python_bin", "task_python_bin"])
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(spark_runner.sys, "version_info", (3, 13, 0))
    runner.tries, runner.most_tasks = 1, None
    runner.find_programs()
    monkeypatch.setattr(spark_runner.sys, "version_info", (3, 14, 0))
    with pytest.raises(UsageError, match=r"Spark 3.5 supports Python up to 3.13, this is 3.14: use Spark 4"):
        runner.find_programs()


@pytest.mark.parametrize(
    ("master", "here"),
    [
        (None, True),
        ("local[*]", True),
        ("local[2,4]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://10.0.0.1:7077", False),
        ("yarn", False),
        ("k8s://https://a", False),
    ],
)
def test_masters_of_this_machine(master, here):
    assert on_this_machine(master) is here
