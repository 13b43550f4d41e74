"""Tasks of Spark without Spark, and what Spark says of those that fail."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest
from tests.mr.scripts.shards import Shards
from tests.mr.test_counting import HostCount, MapOnly

from crawlmill.inputs.lists import Input
from crawlmill.mr.engines.spark.log import SparkLog, what_failed
from crawlmill.mr.engines.spark.tasks import (
    FAILURE,
    Done,
    Shipped,
    Step,
    Task,
    _pieces,
    map_to_part,
    map_to_pieces,
    reduce_to_part,
)
from crawlmill.mr.task.rows import decode_row
from crawlmill.mr.task.shuffle import SortedRun
from crawlmill.mr.task.task_list import encode_task


@pytest.fixture
def make(tmp_path, monkeypatch):
    """What makes an attempt at a task of a job in `test_counting`; what it reports is in `done`."""

    def make(job, *arguments: str, unique: int = 7) -> Task:
        name = f"{tmp_path.name}-{job.__name__}.zip"
        script = Path(sys.modules[job.__module__].__file__)
        with zipfile.ZipFile(tmp_path / name, "w") as packed:
            packed.write(script, script.name)
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / name)])
        monkeypatch.setenv("SPARK_LOCAL_DIRS", f"/nonexistent,{tmp_path}")
        step = Step(0, ["mapper", "reducer"], None, {}, str(tmp_path / "out"))
        return Task(Shipped(name, script.name, job.__name__, list(arguments)), step, 1, unique, make.done.append)  # type: ignore[attr-defined]

    make.done = []
    return make


def source(number: int, *paths: Path) -> tuple[int, str, None]:
    inputs = [(number * 10 + place, Input(str(path), str(path))) for place, path in enumerate(paths)]
    return number, encode_task(inputs).decode(), None


def test_pieces_of_map_tasks_reduce_to_what_the_job_counts(make, crawl, tmp_path):
    sources = [
        source(0, crawl.warc("a", "http://e.org/1", "http://f.org/")),
        source(1, crawl.warc("b", "http://e.org/2")),
    ]
    pieces = [piece for each in sources for piece in map_to_pieces(make(HostCount), [each], 3)]
    counted = []
    for partition in range(3):
        own = [piece for piece in pieces if piece[0] == partition]
        ((number, name),) = reduce_to_part(make(HostCount, unique=partition), partition, own)
        assert (number, name) == (partition, f"part-{partition:05}-{partition}")
        counted += (tmp_path / "out" / name).read_text().splitlines()
    assert sorted(counted) == ['"e.org"\t4', '"f.org"\t2', '["scheme","http"]\t3']
    assert [(done.task, done.totals[:2]) for done in make.done[:2]] == [("map-00000", [1, 3]), ("map-00001", [1, 2])]
    assert [decode_row(done.rows.encode())[0] for done in make.done[:2]] == [0, 10]
    assert not list(tmp_path.glob("crawlmill-[!j]*")), "folders of attempts are left"


def test_map_task_without_a_reducer_delivers_its_part(make, crawl, tmp_path):
    task = make(MapOnly)
    (delivered,) = map_to_part(task, [source(4, crawl.warc("a", "http://e.org/1"))])
    assert delivered == (4, "part-00004-7")
    assert (tmp_path / "out" / "part-00004-7").read_text()
    assert make.done[0].rows


def test_named_files_are_delivered_under_names_that_no_other_attempt_has(make, crawl, tmp_path):
    (delivered,) = reduce_to_part(make(Shards), 2, [(2, b'0\t"http://e.org/22"\n')])
    assert delivered == (2, "part-00002-7")
    ((name, place),) = make.done[0].files
    assert (name, Path(place).read_text()) == ("cdx-00000", "http://e.org/22\n")
    assert Path(place).parent == tmp_path / "out"
    ((_, other),) = reduced_again(make)
    assert other != place


def reduced_again(make) -> list[tuple[str, str]]:
    list(reduce_to_part(make(Shards, unique=8), 2, [(2, b'0\t"http://e.org/22"\n')]))
    return make.done[1].files


def test_error_of_a_task_ends_with_a_line_for_the_launcher(make):
    with pytest.raises(Exception, match="task list") as raised:
        list(map_to_pieces(make(HostCount), [(3, '{"v": 7, "inputs": []}', None)], 1))
    (note,) = raised.value.__notes__
    said = json.loads(note.removeprefix(FAILURE))
    assert (said["task"], said["attempt"]) == ("map-00003", 0)
    assert "task list" in said["error"]
    assert make.done == []


@pytest.mark.parametrize("size", [4, 65_532, 65_536, 65_540, 200_000])
def test_pieces_are_of_whole_lines_and_end_with_their_run(tmp_path, size):
    run = b"k\t1\n" * (size // 4)
    (tmp_path / "runs").write_bytes(b"a\t1\n" + run + b"z\t1\n")
    pieces = list(_pieces(SortedRun(str(tmp_path / "runs"), 4, len(run))))
    assert b"".join(pieces) == run
    assert all(piece.endswith(b"\n") for piece in pieces)


def test_line_longer_than_a_piece_stays_whole(tmp_path):
    run = b"k\t" + b"1" * 100_000 + b"\n"
    (tmp_path / "runs").write_bytes(run * 2 + b"z\t1\n")
    assert list(_pieces(SortedRun(str(tmp_path / "runs"), 0, 2 * len(run)))) == [run, run]


TRACE = """\
Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1247, in main
    process()
  File "/tmp/x/crawlmill.zip/crawlmill/mr/engines/spark/tasks.py", line 100, in run
    result = run_attempt()
             ^^^^^^^^^^^^^
  File "/jobs/mine.py", line 7, in process
    raise RuntimeError("bad luck")
RuntimeError: bad luck
"""
NOTE = FAILURE + '{"task": "map-00003", "attempt": 1, "error": "RuntimeError: bad luck"}\n'
JAVA = "\n\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:572)\n"
LOST = "Lost task 3.1 in stage 0.0 (TID 9) (10.0.0.1 executor 2): org.apache.spark.api.python.PythonException: "


def test_failure_that_ends_a_job_is_told_in_its_own_words_without_frames_of_spark():
    before = "org.apache.spark.SparkException: Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times, most recent failure: "
    failure = what_failed(f"{before}{LOST}{TRACE}{NOTE}{JAVA}\nDriver stacktrace:\n\tat x")
    assert (failure.task, failure.times, failure.said) == ("map-00003", 4, "RuntimeError: bad luck")
    assert failure.trace == (
        'Traceback (most recent call last):\n  File "/jobs/mine.py", line 7, in process\n'
        '    raise RuntimeError("bad luck")\nRuntimeError: bad luck\n'
    )


def test_failure_that_spark_4_gives_as_the_tasks_own_exception_is_told_alike():
    text = (
        f"org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] An exception was thrown:\n{TRACE}{NOTE}{JAVA}"
    )
    failure = what_failed(text)
    assert (failure.task, failure.times, failure.said) == ("map-00003", 2, "RuntimeError: bad luck")
    assert failure.trace.endswith("RuntimeError: bad luck\n")


def test_failure_without_a_line_of_ours_is_told_as_python_or_spark_has_it():
    failure = what_failed(f"{LOST}{TRACE}{JAVA}")
    assert (failure.task, failure.number, failure.stage, failure.said) == (None, 3, 0, "RuntimeError: bad luck")
    crashed = (
        "Lost task 0.0 in stage 5.0 (TID 1) (h executor driver): org.apache.spark.SparkException: Python worker died"
        + JAVA
    )
    assert what_failed(crashed).said == "Python worker died"
    assert what_failed("org.apache.spark.SparkException: Job 0 cancelled") is None


def test_log_tells_of_a_failed_attempt_once_its_trace_is_over():
    log = SparkLog()
    lines = [
        "26/11/21 16:25:34 ERROR Executor: Exception in task 3.0 in stage 0.0 (TID 3)",
        *(TRACE + NOTE).splitlines(),
        f"26/11/21 16:25:34 WARN TaskSetManager: {LOST}Traceback (most recent call last):",
        *(TRACE + NOTE).splitlines()[1:],
        "",
        "\tat org.apache.spark.X.y(Z.scala:1)",
        "\tat org.apache.spark.X.y(Z.scala:2)",
    ]
    found = [failure for line in lines if (failure := log.feed(line))]
    assert [(failure.task, failure.said) for failure in found] == [("map-00003", "RuntimeError: bad luck")]


def test_complaint_is_the_last_error_of_a_driver_that_says_nothing_else():
    log = SparkLog()
    for line in (
        "Exception in thread \"main\" org.apache.spark.SparkException: Could not parse Master URL: 'x'",
        "\tat org.apache.spark.SparkContext$.createTaskScheduler(SparkContext.scala:3002)",
        "26/11/21 16:25:34 INFO ShutdownHookManager: Shutdown hook called",
    ):
        log.feed(line)
    assert log.complaint() == "org.apache.spark.SparkException: Could not parse Master URL: 'x'"


def test_done_goes_through_json_unchanged():
    done = Done("map-00001", 0, [1, 2, 3, 0], {"g: n": 1}, "\0")
    assert Done(**json.loads(json.dumps({name: getattr(done, name) for name in Done.__slots__}))) == done
