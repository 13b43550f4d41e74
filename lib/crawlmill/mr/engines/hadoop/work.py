"""`-r hadoop`: a run on a YARN and HDFS cluster, with the same interface to the launcher as `MachineRunner`.

    RUN/run.json          what `ledger --collect` needs to finish the run if the launcher dies (`record.py`)
    RUN/tasks.jsonl       the task list; one line is one map task
    RUN/step-output/0000  the output of a step that is not the last one
    RUN/output            the output of the last step (next to the user's folder, if that is on HDFS)
    RUN/reports/attempt_… why an attempt failed, as reported by itself (`failure_report`)

RUN is a folder on HDFS that is removed at the end of the run. Tasks write their files, including ledger rows, next to
their output, so that Hadoop keeps or discards both together: failed, killed and speculative attempts leave nothing.
"""

from __future__ import annotations

import json
import logging
import os
import posixpath
import socket
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.mr.compat import quiet_mrjob
from crawlmill.mr.engines.client_process import ClientProcess
from crawlmill.mr.engines.hadoop.log import FailedAttempt, HadoopLog
from crawlmill.mr.engines.hadoop.record import HadoopRun
from crawlmill.mr.engines.hadoop.runner import HadoopRunner
from crawlmill.mr.engines.hadoop.yarn import resource_managers, tag_of
from crawlmill.mr.engines.record import marker_of, refuse_second_run
from crawlmill.mr.engines.run_folder import committed_files, parts_in, report_of, rows_apart
from crawlmill.mr.engines.run_setup import ClusterWork, RunSetup
from crawlmill.mr.engines.shipping import zip_package
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.run.progress import Progress
from crawlmill.mr.task.failure_report import PROPERTY
from crawlmill.mr.task.failures import TaskError, task_failed
from crawlmill.mr.task.files import COMMITTED, TaskFile
from crawlmill.mr.task.monitor import COUNTERS, Totals
from crawlmill.storage import Storage, absolute
from crawlmill.storage.hdfs.conf import default_filesystem, hdfs_user, namenode_urls, read_hadoop_conf, wants_kerberos

__all__ = ["HadoopWork"]

_LOGGER: Final = logging.getLogger("crawlmill.hadoop")
_COUNTERS_EVERY_S: Final = 2.0
_PATIENCE: Final = 5
_KILL_S: Final = 60.0
_SILENT_S: Final = 8.0  # after these the user is told what is being waited for; Hadoop's client needs about two


class HadoopWork(ClusterWork):
    """A run on a cluster. At the end, `parts` are the output files, on HDFS, and `rows` local files of ledger rows.

    Raises:
        UsageError: There is no `hadoop`, no streaming jar, or no NameNode responds.
    """

    def __init__(self, setup: RunSetup) -> None:
        job, storage = setup.job, setup.storage
        self._scratch, self._storage, self._watch, self._settings = setup.scratch, storage, setup.watch, setup.settings
        self._info = info = setup.info.recorded()
        self._marker = marker_of(absolute(info.output_dir, str(Path.cwd()))) if info.output_dir else None
        self._record: HadoopRun | None = None
        self._work: str | None = None
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        self.files: list[TaskFile] = []
        self._counters: list[dict[str, int]] = []
        with quiet_mrjob():
            self._runner: HadoopRunner = setup.make_runner(zip_package(setup.scratch / "crawlmill.zip"))
            self._runner.find_programs()
        self._runner.storage, self._runner.surveys = storage, job.surveys
        self._quick = storage.options.impatient(retries=0)
        self._namenodes = self._find_namenodes()
        self._check_namenode()
        if self._marker is not None:
            refuse_second_run("hadoop", storage, self._marker)
        self._runner.tag_jobs(tag_of(self._runner.key))
        self._runner.add_properties(
            {
                "mapreduce.job.name": f"crawlmill {job.name()}",
                "mapreduce.output.fileoutputformat.compress": "false",
                **({PROPERTY: self._report_folders()} if self._namenodes else {}),
            }
        )

    def write_to(self, output: OutputFolder | None) -> None:
        """Have tasks write the output into this folder, if it is on HDFS; else it is fetched."""
        if output is not None and output.remote_work is not None:
            self._work = output.remote_work
            self._runner.write_to(output.remote_work)

    def run(self) -> None:
        """Run the job and fetch its rows.

        Raises:
            TaskError: The run failed on Hadoop.
            SourceError: HDFS can no longer be reached.
        """
        self._runner.give(replace(self._settings, files_folder=COMMITTED))
        self._runner.prepare()
        outputs = [self._runner.output_of(step) for step in range(self._runner.steps)]
        self._record = HadoopRun(
            self._info,
            self._runner.key,
            self._runner.folder,
            self._runner.tasks,
            tuple(outputs),
            self._work,
            str(self._scratch),
            socket.gethostname(),
            resource_managers(read_hadoop_conf()),
            inputs=self._watch.inputs,
        )
        self._record.save(self._storage, self._marker)
        if self._marker is None:
            _LOGGER.info("if this launcher dies, crawlmill ledger --collect %s ends the run", self._runner.folder)
        for step in range(self._runner.steps):
            self._run_step(step)
        found = [file for output in outputs for file in committed_files(self._storage, output)]
        self.rows, self.files = rows_apart(self._storage, found, self._scratch)
        self.parts = [*parts_in(self._storage, outputs[-1])]

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`."""
        return self._counters

    def close(self) -> None:
        """End and remove everything."""
        try:
            with Storage(self._quick) as storage:
                if self._record is not None:
                    self._record.remove(storage, self._marker)
                else:
                    storage.remove(self._runner.folder)
        except SourceError as error:
            self._watch.note(f"a temporary folder could not be removed: {error}")
        self._runner.cleanup()

    def _run_step(self, step: int) -> None:
        log, gauge = HadoopLog(), None
        before = f"step {step + 1} of {self._runner.steps}, " if self._runner.steps > 1 else ""
        environment = {**os.environ, "HADOOP_USER_NAME": hdfs_user()}
        client = ClientProcess(self._runner.command(step), environment)

        def tick() -> None:
            self._watch.phase = before + log.phase
            if gauge is not None:
                gauge.look()
            self._watch.tick()

        code: int | None = None
        try:
            for line in client.lines(tick):
                if not line.startswith("\t"):  # counters are reported at the end, and Java traces are not helpful
                    _LOGGER.info("%s", line)
                if failure := log.feed(line):
                    self._note(failure, log)
                if step == 0 and gauge is None and log.tracking_url and log.job:
                    gauge = _Gauge(log.tracking_url, log.job, self._watch)
            code = client.wait()
        finally:
            client.end()
            if code != 0 and log.ended is None:
                self._kill(log)
        self._counters.append(log.counters)
        if code or log.ended:
            raise self._error(log)

    def _note(self, failure: FailedAttempt, log: HadoopLog) -> None:
        log.failures[-1] = failure = replace(failure, said=self._report_of(failure)[0] or failure.said)
        self._watch.note(f"task {failure.name} failed: {failure.said}")

    def _error(self, log: HadoopLog) -> TaskError:
        """The meaning of the client's failure, in one line."""
        if log.application is None:
            return TaskError(f"Hadoop did not take the job: {log.complaint()}")
        where = f"logs: yarn logs -applicationId {log.application}"
        # The client often ends before it hears of the last failures; their reports are there.
        known = {failure.attempt: failure for failure in (*self._reported(), *log.failures)}
        failures = [known[attempt] for attempt in sorted(known) if known[attempt].task == log.culprit]
        if not failures:
            return TaskError(f"the job {log.ended or 'ended: ' + log.complaint()}; {where}")
        said, trace = self._report_of(failures[-1])
        return task_failed(failures[-1].name, len(failures), said or failures[-1].said, trace, logs=where)

    def _reported(self) -> list[FailedAttempt]:
        if not self._namenodes:
            return []
        try:
            return [FailedAttempt(name) for name in self._storage.list(self._reports())]
        except SourceError:
            return []

    def _report_of(self, failure: FailedAttempt) -> tuple[str, str]:
        """The attempt's own report and its traceback; empty under Kerberos, where it cannot report."""
        return report_of(self._storage, self._reports(failure.attempt)) if self._namenodes else ("", "")

    def _kill(self, log: HadoopLog) -> None:
        """Have the cluster end the job, which continues without its client."""
        if log.job is None:
            return
        command = [*self._runner.binary, "job", "-kill", log.job]
        nowhere = subprocess.DEVNULL
        try:
            client = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)
        except OSError:
            killed = False
        else:
            killed = self._ends_well(client)
        if not killed and log.application:  # without one, the cluster has not accepted the job
            self._watch.note(f"could not tell the cluster to end the job: hadoop job -kill {log.job}")

    def _ends_well(self, client: subprocess.Popen[bytes]) -> bool:
        """Whether a client of the cluster ends within its time, and without an error; else it is killed."""
        with client:
            try:
                return client.wait(_SILENT_S) == 0
            except subprocess.TimeoutExpired:
                self._watch.note(f"the cluster does not answer; it has {_KILL_S:.0f} s to end the job")
            try:
                return client.wait(_KILL_S - _SILENT_S) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                client.kill()

    def _reports(self, name: str = "") -> str:
        return posixpath.join(self._runner.folder, "reports", name)

    def _report_folders(self) -> str:
        """Where attempts may report, for `failure_report`: a URL per NameNode."""
        path = self._reports().removeprefix("hdfs://").partition("/")[2].rstrip("/")
        return ",".join(f"{url}/webhdfs/v1/{path}?user.name={hdfs_user()}" for url in self._namenodes)

    def _find_namenodes(self) -> list[str]:
        """The addresses of the NameNodes that accept a plain user name; empty if Kerberos is required."""
        if given := self._storage.options.webhdfs:
            return [given.rstrip("/").removesuffix("/webhdfs/v1")]
        conf = read_hadoop_conf()
        if wants_kerberos(conf):
            return []
        authority = self._runner.folder.removeprefix("hdfs://").partition("/")[0]
        return namenode_urls(authority or default_filesystem(conf), conf)

    def _check_namenode(self) -> None:
        try:
            with Storage(self._quick) as storage:
                storage.exists(self._runner.folder)
        except SourceError as error:
            raise UsageError(
                f"-r hadoop: HDFS at {', '.join(self._namenodes) or self._runner.folder}: {error.what}"
            ) from error


class _Gauge:
    """Asks the application from time to time how much its tasks have read, for the progress line."""

    def __init__(self, tracking_url: str, job: str, watch: Progress) -> None:
        self._url = f"{tracking_url.rstrip('/')}/ws/v1/mapreduce/jobs/{job}/counters"
        self._watch = watch
        self._due, self._failures = time.monotonic(), 0

    def look(self) -> None:
        """Ask, if it is time. If nothing responds (clusters may forbid it), only the phases are shown."""
        if time.monotonic() < self._due or self._failures >= _PATIENCE:
            return
        try:
            request = urllib.request.Request(self._url, headers={"Accept": "application/json"})  # noqa: S310 - Hadoop's
            with urllib.request.urlopen(request, timeout=3) as answer:  # noqa: S310
                groups = json.load(answer)["jobCounters"]["counterGroup"]
        except (OSError, ValueError, LookupError, TypeError):
            self._failures += 1
        else:
            self._failures = 0
            found = {
                c["name"]: c["mapCounterValue"]
                for g in groups
                if g["counterGroupName"] == COUNTERS
                for c in g["counter"]
            }
            self._watch.progress("cluster", Totals(*(int(found.get(name, 0)) for name in Totals._fields)))
        self._due = time.monotonic() + _COUNTERS_EVERY_S
