"""The driver of `-r spark`, run by spark-submit: submits the tasks to Spark, and reports to the launcher in a file.

    tasks      each line of the task list is a partition of its own, and so a task (mrjob's harness makes two of all)
    shuffle    pieces go to the partition that the map task has chosen for them (a CRC of the key, as on one machine),
    so the result does not depend on any process' hashing
    steps      each is a Spark job; its output is the input of the next one
    rows       ledger rows and counters come through an accumulator, by task: Spark merges those of successful attempts;
               if Spark reran a task, its last report counts, as does its last output

Lines of the file are JSON objects: {"application"}, {"stage", "kind", "tasks", "done"}, {"task": a `Done`},
{"parts": [[number, name], …]} at the end of a step, {"failed": Spark's message}. Needs pyspark 3.5 or newer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import Accumulator, SparkConf, SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam

from crawlmill.mr.engines.spark.tasks import (
    Done,
    Shipped,
    Source,
    Step,
    Task,
    map_to_part,
    map_to_pieces,
    reduce_to_part,
)
from crawlmill.mr.task.survey import SURVEY
from crawlmill.storage.locations import join

__all__ = ["main"]

_LOOK_EVERY_S: Final = 0.5
_MAX_SAID: Final = 200_000


def main() -> None:
    """Run the plan named on the command line."""
    plan = json.loads(Path(sys.argv[1]).read_bytes())
    job, steps = Shipped(**plan["job"]), [Step(**step) for step in plan["steps"]]
    lines = Path(plan["tasks"]).read_text(encoding="ascii").splitlines()
    sources: list[Source] = [(number, line, None) for number, line in enumerate(lines)]
    context = SparkContext(conf=SparkConf())
    context.setLogLevel("WARN")
    reports = context.accumulator([], _Gathering())
    news = _News(Path(plan["events"]), context, reports, plan["launcher"])
    news.say(application=context.applicationId)
    news.start()
    try:
        found: dict[str, str] = {}
        for planned in steps:
            step = replace(
                planned, environment={**planned.environment, **found, "mapreduce_job_maps": str(len(sources))}
            )
            news.begin(step)
            parts = sorted(_run(context, _Maker(job, step, reports), sources))
            news.look()
            news.say(parts=parts)
            if step.surveys:
                found = {SURVEY: join(step.output, parts[0][1])}
            else:
                sources = [(number, None, join(step.output, name)) for number, name in parts]
    except Py4JJavaError as error:
        news.look()
        news.say(failed=str(error.java_exception)[:_MAX_SAID])
        sys.exit(1)
    finally:
        news.end()
        context.stop()


def _run(context: SparkContext, make: _Maker, sources: list[Source]) -> list[tuple[int, str]]:
    tasks = context.parallelize(sources, max(len(sources), 1))
    if not make.step.reduces:
        return tasks.mapPartitions(partial(_map_to_part, make)).collect()  # type: ignore[no-any-return]
    partitions = make.step.reducers or max(min(context.defaultParallelism, len(sources)), 1)
    pieces = tasks.mapPartitions(partial(_map_to_pieces, make, partitions))
    shuffled = pieces.partitionBy(partitions, _chosen)
    return shuffled.mapPartitionsWithIndex(partial(_reduce, make)).collect()  # type: ignore[no-any-return]


class _Maker:
    """Creates a `Task` where it runs."""

    def __init__(self, job: Shipped, step: Step, reports: Accumulator[list[dict[str, Any]]]) -> None:
        self.job, self.step, self.reports = job, step, reports

    def task(self) -> Task:
        context = TaskContext.get()
        return Task(self.job, self.step, context.attemptNumber() + 1, context.taskAttemptId(), self._report)

    def _report(self, done: Done) -> None:
        self.reports.add([asdict(done)])


# Functions of this module, not closures: Spark sends only their names, and the code comes with the package.


def _map_to_pieces(make: _Maker, partitions: int, sources: Iterable[Source]) -> Iterator[tuple[int, bytes]]:
    return map_to_pieces(make.task(), sources, partitions)


def _map_to_part(make: _Maker, sources: Iterable[Source]) -> Iterator[tuple[int, str]]:
    return map_to_part(make.task(), sources)


def _reduce(make: _Maker, number: int, pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    return reduce_to_part(make.task(), number, pieces)


def _chosen(partition: int) -> int:
    return partition


class _Gathering(AccumulatorParam):  # type: ignore[misc]
    """An accumulator that appends lists."""

    def zero(self, value: list[Any]) -> list[Any]:  # noqa: ARG002 - pyspark's interface
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:  # noqa: N802
        value1.extend(value2)
        return value1


class _News:
    """Reports news to the launcher twice a second; ends everything if the launcher is gone."""

    def __init__(self, path: Path, context: SparkContext, reports: Accumulator[list[Any]], launcher: int) -> None:
        self._file = path.open("a", encoding="ascii")
        self._tracker, self._reports, self._launcher = context.statusTracker(), reports, launcher
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._last_events: dict[int, dict[str, Any]] = {}
        self._step: Step | None = None
        self._map_stage: int | None = None

    def begin(self, step: Step) -> None:
        """Attribute what is seen from now on to this step."""
        with self._lock:
            self._step, self._map_stage = step, None

    def say(self, **event: Any) -> None:
        """Write an event as a line."""
        with self._lock:
            self._file.write(json.dumps(event) + "\n")
            self._file.flush()

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def look(self) -> None:
        """Report what is new."""
        with self._lock:
            reports = self._reports.value
            new = reports[:]
            del reports[: len(new)]  # another thread may have appended more
            for done in new:
                self.say(task=done)
            for number in sorted(self._tracker.getActiveStageIds()):
                self._look_at(number)

    def _look_at(self, number: int) -> None:
        stage = self._tracker.getStageInfo(number)
        if stage is None or self._step is None:
            return
        if self._map_stage is None:
            self._map_stage = number  # the stage of a job that begins first
        kind = "map" if number == self._map_stage else "reduce"
        event = {
            "stage": number,
            "step": self._step.number,
            "kind": kind,
            "tasks": stage.numTasks,
            "done": stage.numCompletedTasks,
        }
        if self._last_events.get(number) != event:
            self._last_events[number] = event
            self.say(**event)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            try:
                os.kill(self._launcher, 0)
                self.look()
            except ProcessLookupError:
                os._exit(1)  # spark-submit ends with its driver, and the whole application with it
            except Py4JError:
                return  # Spark is shutting down
