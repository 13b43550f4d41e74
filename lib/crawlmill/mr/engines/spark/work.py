"""`-r spark`: a run on Spark, with the same interface to the launcher as `MachineRunner`.

    SCRATCH/tasks.jsonl      the task list, which the driver reads; one line is one map task
    SCRATCH/plan.json        what the driver should do (`driver.py`)
    SCRATCH/events.jsonl     what it reports
    RUN/step-output/0000     the output of a step that is not the last one
    RUN/output               the output of the last step (in or next to the user's folder, if tasks can reach that)

SCRATCH is the launcher's own folder, RUN one that all tasks can reach: below SCRATCH if they run on this machine.
Attempts write files with different names there, and the driver reports which ones count; the rest is removed with RUN.
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
from crawlmill.mr.engines.shipping import used_by_tasks, zip_package
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
    """A run on Spark. At the end, `parts` are the output files, and `rows` local files of ledger rows.

    Raises:
        UsageError: There is no spark-submit, no Java, or no folder that all tasks can reach.
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
        if self._runner.here:  # then tasks share the limits of hosts, as in the local runner
            self._settings = TaskSettings(storage.options)
        self._output, self._output_here = join(self._folder, "output"), False
        self._events = SparkEvents(scratch / "events.jsonl", self._runner.steps, watch)
        self._failures: list[FailedTask] = []

    def write_to(self, output: OutputFolder | None) -> None:
        """Have tasks write the output into this folder, if they can reach it; else it is fetched."""
        if output is not None and output.remote_work is not None:
            self._output = output.remote_work
        elif output is not None and output.work is not None and self._runner.here:
            self._output, self._output_here = str(output.work / "work"), True

    def limit_tasks(self, most: int, settings: TaskSettings) -> None:
        """Set the most tasks that may run at a time, and pass these settings to them, if they run on other machines."""
        super().limit_tasks(most, self._settings if self._runner.here else settings)

    def run(self) -> None:
        """Run the job.

        Raises:
            TaskError: The run failed on Spark.
        """
        scratch, disk = self._scratch, self._scratch / "disk"
        disk.mkdir()
        self._runner.give(self._settings)
        package = zip_package(scratch / "crawlmill.zip", compiled=used_by_tasks if self._runner.here else None)
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
            client.end(_GRACE_S)  # with the driver, executors and tasks on this machine
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
        """End and remove everything."""
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
        """The meaning of the driver's failure, in one line."""
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
