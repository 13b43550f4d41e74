"""`-r emr`: a run on Amazon EMR, with the same interface to the launcher as `MachineRunner`.

The launcher uploads files and the task list to S3, records what it is about to do (`record.py`), requests a cluster
with the job's steps, or adds them to a waiting one, and follows them (`watch.py`). Tasks upload ledger rows to S3
themselves, in one file per reducer (or map task), whatever the attempt; failing tasks upload errors. Results are copied
from the run's folder to OUTPUT within S3.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import SourceError, UsageError
from crawlmill.mr.engines.emr.aws import AwsError
from crawlmill.mr.engines.emr.cancel import cancel
from crawlmill.mr.engines.emr.encryption import hadoop_properties, with_report_options
from crawlmill.mr.engines.emr.native import NAME
from crawlmill.mr.engines.emr.record import EmrRun
from crawlmill.mr.engines.emr.runner import EmrRunner
from crawlmill.mr.engines.emr.steps import submitted
from crawlmill.mr.engines.emr.watch import EmrWatch
from crawlmill.mr.engines.hadoop.yarn import tag_of
from crawlmill.mr.engines.record import marker_of, refuse_second_run
from crawlmill.mr.engines.run_setup import ClusterWork, RunSetup
from crawlmill.mr.engines.shipping import zip_package
from crawlmill.mr.run.conf import endpoint_url
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.task.failure_report import PROPERTY
from crawlmill.mr.task.failures import Stopped, TaskError
from crawlmill.mr.task.files import TaskFile
from crawlmill.storage import Storage, absolute

__all__ = ["EmrWork"]

_ALIVE: Final = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING")


class _Stage(IntEnum):
    """The progress of a run, which determines what must be cleaned up at its end."""

    CHECKED = 0  # nothing is on S3 yet
    UPLOADING = 1  # files of the run are on S3
    ASKED = 2  # EMR has the steps, or may have them
    FAILED = 3  # a step failed, or the cluster ended
    COMPLETED = 4  # all steps are completed


class EmrWork(ClusterWork):
    """A run on EMR. At the end, `parts` are the output files, on S3, and `rows` local files of ledger rows.

    Raises:
        UsageError: A setting is missing, or AWS refuses the credentials, the bucket or the cluster's name.
    """

    def __init__(self, setup: RunSetup) -> None:
        job, info, scratch, storage = setup.job, setup.info, setup.scratch, setup.storage
        self._scratch, self._storage, self._watch, self._quiet = scratch, storage, setup.watch, info.quiet
        self._settings = setup.settings
        self._runner: EmrRunner = setup.make_runner(zip_package(scratch / "crawlmill.zip"))
        self._runner.surveys = job.surveys
        if os.environ.get(core.VARIABLE) != "python":
            self._runner.ship_native(scratch / f"{NAME}.zip")
        self._runner.lend_credentials()
        self._aws = self._runner.aws
        self._marker = marker_of(absolute(info.output_dir, str(Path.cwd()))) if info.output_dir else None
        self._record = EmrRun(
            info.recorded(),
            self._runner.key,
            self._runner.folder,
            "",
            str(self._aws.region),
            endpoint_url(self._runner.setting("emr_endpoint")),
            self._runner.setting("cloud_log_dir"),
            self._runner.own_cluster,
            cluster=self._runner.setting("cluster_id"),
        )
        self._check()
        self._following: EmrWatch | None = None
        self._stage = _Stage.CHECKED
        self._runner.tag_jobs(tag_of(self._runner.key))
        self._runner.add_properties(
            {
                "mapreduce.job.name": f"crawlmill {job.name()}",
                "mapreduce.output.fileoutputformat.compress": "false",
                # By default reducers, which have nothing to do yet, take room from map tasks when 5 % are done.
                "mapreduce.job.reduce.slowstart.completedmaps": "0.95",
                "mapreduce.reduce.speculative": "false",  # S3 has no renames to keep two attempts apart
                PROPERTY: with_report_options(self._record.at("reports"), storage.options),
                **hadoop_properties(storage.options),
            }
        )

    @property
    def parts(self) -> list[Path | str]:
        """The output files, on S3."""
        return self._following.parts if self._following else []

    @property
    def rows(self) -> list[Path]:
        """Local files of ledger rows."""
        return self._following.rows if self._following else []

    @property
    def files(self) -> list[TaskFile]:
        """Files written by tasks, on S3."""
        return self._following.files if self._following else []

    def counters(self) -> list[dict[str, int]]:
        """Empty: EMR's counters are in logs that come minutes later."""
        return []

    def write_to(self, output: OutputFolder | None) -> None:
        """Do nothing: output is always made in the run's own folder first."""

    def run(self) -> None:
        """Run the job, and fetch its rows.

        Raises:
            TaskError: The run failed on EMR.
            CrawlmillError: EMR or S3 can no longer be reached.
        """
        self._runner.give(replace(self._settings, files_folder=self._record.at("left")))
        self._runner.prepare()
        self._stage = _Stage.UPLOADING
        if self._runner.new_bucket and not self._quiet:
            self._watch.note(f"temporary files go to a new bucket, which stays: s3://{self._runner.new_bucket}/")
        try:
            self._runner.upload(self._storage)
        except AwsError as error:
            raise TaskError(str(error)) from error
        self._record = replace(self._record, tasks=self._runner.tasks, inputs=self._watch.inputs)
        self._record.save(self._storage, self._marker)
        self._submit()
        self._following = EmrWatch(
            self._aws,
            self._storage,
            self._record,
            self._scratch,
            self._watch,
            float(self._runner.setting("check_cluster_every")),
        )
        try:
            self._record.save(self._storage, self._marker)
            if not self._quiet:
                logs = f"{self._record.logs.rstrip('/')}/{self._record.cluster}"
                self._watch.note(f"cluster {self._record.cluster} in {self._record.region}; its logs come to {logs}")
                if self._marker is None:
                    self._watch.note(f"if this launcher dies or its credentials expire, {self._collect} ends the run")
            self._following.wait()
            self._stage = _Stage.COMPLETED
            self._following.fetch()
        except TaskError:
            self._stage = _Stage.FAILED
            raise

    @property
    def _collect(self) -> str:
        """The command that finishes the run if this launcher cannot."""
        return f"crawlmill ledger --collect {self._record.info.output_dir or self._record.folder.rstrip('/')}"

    def close(self) -> None:
        """Clean up; but leave a run that can still be finished what that needs."""
        error = sys.exc_info()[0]  # set when called from `closing` after an error
        stopped = error is not None and issubclass(error, Stopped)
        kept = self._stage is _Stage.COMPLETED or not stopped
        if self._stage >= _Stage.ASKED and error is not None and kept:
            self._watch.note(f"the run is kept: {self._collect} ends it")
        else:
            self._end()
        self._runner.cleanup()

    def _end(self) -> None:
        # On a named cluster, the steps after the failed one are still there.
        rest = self._stage is _Stage.FAILED and not self._runner.own_cluster
        left = None
        try:
            if self._stage is _Stage.ASKED or rest:
                left = cancel(self._aws, self._record)
        except AwsError as error:
            which = self._record.cluster or f"called {self._record.key}, if there is one,"
            self._watch.note(f"could not tell cluster {which} to end: {error}")
        if left is not None:
            self._watch.note(f"{left}; the run's files stay in {self._record.folder}")
        elif self._stage >= _Stage.UPLOADING:
            try:
                self._record.remove(self._storage, self._marker)
            except SourceError as error:
                self._watch.note(f"a temporary folder could not be removed: {error}")

    def _submit(self) -> None:
        """Submit the steps to a cluster. Raises: AwsError."""
        runner, own = self._runner, self._runner.own_cluster
        wanted = runner.cluster() if own else {"JobFlowId": self._record.cluster, "Steps": runner.steps()}
        self._stage, lost = _Stage.ASKED, None
        try:
            with ThreadPoolExecutor(1) as thread:  # a signal must not lose the response: leaving the block waits for it
                thread.submit(self._ask_for_steps, wanted).result()
        except AwsError as error:
            if not error.transient:
                self._stage = _Stage.UPLOADING
                raise
            lost = error
        self._record = submitted(self._aws, self._record)
        if lost is not None and not self._record.steps:
            what = "a cluster" if own else "steps"
            raise AwsError(f"{lost}; it may have the job all the same: look for {what} called {self._record.key}")

    def _ask_for_steps(self, wanted: dict[str, Any]) -> None:
        operation = "run_job_flow" if self._runner.own_cluster else "add_job_flow_steps"
        answer = self._aws.ask_once("emr", operation, **wanted)
        self._record = replace(self._record, cluster=answer.get("JobFlowId") or self._record.cluster)  # it costs now

    def _check(self) -> None:
        """Check before uploading that AWS accepts us. Raises: UsageError."""
        try:
            if self._runner.own_cluster:
                next(self._aws.pages("emr", "list_clusters", "Clusters", ClusterStates=["STARTING"]), None)
            else:
                self._check_cluster()
            with Storage(self._storage.options.impatient(retries=1)) as quick:
                if not self._runner.new_bucket:
                    quick.exists(self._record.folder)
                if self._marker is not None:
                    refuse_second_run("emr", quick, self._marker)
        except AwsError as error:
            raise UsageError(f"-r emr: {error}; `crawlmill doctor emr` says more") from error
        except SourceError as error:
            raise UsageError(f"-r emr: the temporary folder: {error}; `crawlmill doctor emr` says more") from error

    def _check_cluster(self) -> None:
        name = self._runner.setting("cluster_id")
        cluster: dict[str, Any] = self._aws.ask("emr", "describe_cluster", ClusterId=name)["Cluster"]
        state = cluster["Status"]["State"]
        if state not in _ALIVE:
            raise UsageError(f"-r emr: cluster {name} takes no steps: it is {state.lower()}")
        at_a_time = cluster.get("StepConcurrencyLevel", 1)
        if at_a_time > 1 and self._runner.jobs > 1:
            raise UsageError(
                f"-r emr: cluster {name} runs {at_a_time} steps at a time, but those of this job ({self._runner.jobs}) "
                "must follow each other: set the cluster's step concurrency to 1"
            )
        if at_a_time > 1 and (action := self._runner.action_on_failure) != "CONTINUE":
            raise UsageError(
                f"-r emr: cluster {name} runs {at_a_time} steps at a time, and then it refuses steps with "
                f"emr_action_on_failure: {action}; leave that setting out"
            )
        if logs := cluster.get("LogUri"):
            self._record = replace(self._record, logs=str(logs).replace("s3n://", "s3://"))
