"""`-r spark`: a run on Spark, with the same interface to the launcher as `MachineRunner`.

    SCRATCH/tasks.jsonl      the task list, which the driver reads; one line is one map task
    SCRATCH/plan.json        what the driver is to do (`spark_harness`)
    SCRATCH/events.jsonl     what it tells
    RUN/step-output/0000     what a step writes that is not the last one
    RUN/output               what the last step writes (in or beside the user's folder, if tasks can reach that)

SCRATCH is the launcher's own folder, RUN one that all tasks reach: below SCRATCH if they run on this machine. Attempts
write files of different names there, and the driver says which of them count; whatever else is there goes with RUN.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path
from typing import Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.mr.compat import quiet_mrjob
from crawlmill.mr.engines.client_process import ClientProcess
from crawlmill.mr.engines.run_setup import ClusterWork, RunSetup
from crawlmill.mr.engines.shipping import zip_package
from crawlmill.mr.engines.spark.events import SparkEvents
from crawlmill.mr.engines.spark.log import FailedTask, SparkLog, what_failed
from crawlmill.mr.engines.spark.runner import SparkRunner
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.task.failures import TaskError, task_failed
from crawlmill.mr.task.files import TaskFile
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import join

__all__ = ["SparkWork"]

_LOGGER: Final = logging.getLogger("crawlmill.spark")
_GRACE_S: Final = 20.0
_HARNESS: Final = "from crawlmill.mr.engines.spark.driver import main\n\nmain()\n"


class SparkWork(ClusterWork):
    """A run on Spark. In the end `parts` are the files of its output, and `rows` local ones of rows.

    Raises:
        UsageError: There is no spark-submit, no Java, no folder that all tasks reach.
    """

    def __init__(self, setup: RunSetup) -> None:
        scratch, storage, watch = setup.scratch, setup.storage, setup.watch
        self._scratch, self._storage, self._watch, self._settings = scratch, storage, watch, setup.settings
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        self.files: list[TaskFile] = []
        with quiet_mrjob():
            self._runner: SparkRunner = setup.make_runner()
            self._runner.find_programs()
        self._runner.tries = setup.options.task_retries + 1
        self._quick = storage.options.impatient(retries=0)
        self._folder = self._runner.folder(scratch)
        self._check_folder()
        if self._runner.here:  # then tasks keep to the limits of hosts as those of the local runner do
            self._settings = TaskSettings(storage.options)
        self._output, self._output_here = join(self._folder, "output"), False
        self._events = SparkEvents(scratch / "events.jsonl", self._runner.steps, watch)
        self._failures: list[FailedTask] = []

    def write_to(self, output: OutputFolder | None) -> None:
        """Have the output made within this folder, if tasks reach it; else it is fetched."""
        if output is not None and output.remote_work is not None:
            self._output = output.remote_work
        elif output is not None and output.work is not None and self._runner.here:
            self._output, self._output_here = str(output.work / "work"), True

    def limit_tasks(self, most: int, settings: TaskSettings) -> None:
        """Let no more tasks run at a time, and give them these settings, if they run on other machines."""
        super().limit_tasks(most, self._settings if self._runner.here else settings)

    def run(self) -> None:
        """Run the job.

        Raises:
            TaskError: Spark could not run it to its end.
        """
        scratch, disk = self._scratch, self._scratch / "disk"
        disk.mkdir()
        self._runner.give(self._settings)
        package = zip_package(scratch / "crawlmill.zip", compiled=self._runner.here)
        archive, shipped = self._runner.pack(scratch)
        steps = self._runner.plan(self._folder, self._output)
        plan = {
            "job": asdict(shipped),
            "steps": [asdict(step) for step in steps],
            "launcher": os.getpid(),
            "tasks": str(scratch / "tasks.jsonl"),
            "events": str(scratch / "events.jsonl"),
        }
        (scratch / "plan.json").write_text(json.dumps(plan), encoding="ascii")
        (scratch / "events.jsonl").touch()
        harness = scratch / "crawlmill_driver.py"
        harness.write_text(_HARNESS, encoding="ascii")
        command = self._runner.command(harness, scratch / "plan.json", [package, archive], self._folder)
        log, told, rows = SparkLog(), self._events, scratch / "spark.rows"
        self._watch.phase = "starting Spark"
        client = ClientProcess(command, self._runner.environment(disk, self._folder))
        try:
            for line in client.lines(told.hear):
                if log.is_news(line):
                    _LOGGER.info("%s", line)
                if failure := log.feed(line):
                    self._note(failure)
            code = client.wait()
        finally:
            client.end(_GRACE_S)  # with a driver, executors and tasks of this machine
            told.hear()
            named = told.write_rows(rows)
            self.rows = [rows]
        if code or told.failed is not None or len(told.parts) < len(steps):
            raise self._error(log)
        names = [name for _, name in told.parts[-1]]
        self.parts = [Path(self._output, name) if self._output_here else join(self._output, name) for name in names]
        self.files = [TaskFile(name, Path(place) if self._output_here else place) for name, place in named]

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`; each task counts once."""
        return self._events.counters()

    def close(self) -> None:
        """Leave nothing behind."""
        try:
            with Storage(self._quick) as storage:
                storage.remove(self._folder)
        except SourceError as error:
            self._watch.note(f"a temporary folder could not be removed: {error}")
        self._runner.cleanup()

    def _name(self, failure: FailedTask) -> str:
        if failure.task is not None or failure.stage is None:
            return failure.task or "of unknown name"
        return f"{self._events.kinds.get(failure.stage, failure.stage)}-{failure.number:05}"

    def _note(self, failure: FailedTask) -> None:
        self._failures.append(failure)
        self._watch.note(f"task {self._name(failure)} failed: {failure.said}")

    def _error(self, log: SparkLog) -> TaskError:
        """What the driver's failure means, in one line."""
        application, failed = self._events.application, self._events.failed
        yarn = self._runner.master.startswith("yarn")
        logs = f"logs: yarn logs -applicationId {application}" if yarn and application else ""
        failure = what_failed(failed) if failed else None
        if failure is None or (failure.task is None and failure.stage is None):
            failure = self._failures[-1] if failed and self._failures else failure
        if failure is None:
            said = " ".join((failed or log.complaint()).split("\n")[0].split())[:500]
            return TaskError(
                f"Spark {'ended the run' if application else 'did not start'}: {said}{logs and '; '}{logs}"
            )
        name = self._name(failure)
        times = max(failure.times, sum(self._name(each) == name for each in self._failures))
        return task_failed(name, times, failure.said, failure.trace, logs=logs)

    def _check_folder(self) -> None:
        if not is_remote(self._folder):
            return
        try:
            with Storage(self._quick) as storage:
                storage.exists(self._folder)
        except SourceError as error:
            raise UsageError(f"-r spark: the folder of the run, {redact(self._folder)}: {error}") from error
