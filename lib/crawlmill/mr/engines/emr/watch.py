"""Follows the steps of a run on EMR: their progress, why one failed, and their output.

States of a step: PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, INTERRUPTED; of a cluster: STARTING, BOOTSTRAPPING,
RUNNING, WAITING, TERMINATING, TERMINATED, TERMINATED_WITH_ERRORS.

A failing task reports the reason itself, on S3 (`failure_report`). Without a report, EMR's own logs may help
(`logs.py`).

Spec: Amazon EMR API, DescribeStep and DescribeCluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from crawlmill.errors import CrawlmillError, SourceError
from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.logs import ClusterLogs, error_details, failure_details
from crawlmill.mr.engines.emr.record import EmrRun, Step
from crawlmill.mr.engines.emr.workers import Workers
from crawlmill.mr.engines.following import Following
from crawlmill.mr.engines.hadoop.log import FailedAttempt, failure_of_task
from crawlmill.mr.engines.run_folder import listed_files, parts_in, report_of, rows_apart
from crawlmill.mr.run.progress import Progress
from crawlmill.mr.task.failures import TaskError
from crawlmill.mr.task.files import TaskFile
from crawlmill.storage import Storage

__all__ = ["EmrWatch"]

_LOGS_WITHIN_S: Final = 400.0  # EMR copies logs every five minutes


class EmrWatch(Following):
    """Follows a submitted run. At the end, `parts` are locations, and `rows` local files.

    `every_s`: the polling interval in seconds; EMR throttles frequent polling. `logs_within_s`: how long to wait for
    the log of a failed step.
    """

    lost = (AwsError, SourceError)
    away = "AWS cannot be reached"

    def __init__(
        self,
        aws: Aws,
        storage: Storage,
        run: EmrRun,
        scratch: Path,
        watch: Progress,
        every_s: float,
        *,
        logs_within_s: float = _LOGS_WITHIN_S,
    ) -> None:
        self._aws, self._storage, self._run, self._scratch = aws, storage, run, scratch
        self._watch, self._every_s = watch, every_s
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        self.files: list[TaskFile] = []
        self._told: set[str] = set()
        self._logs_within_s = logs_within_s
        self._workers: Workers | None = None

    def counters(self) -> list[dict[str, int]]:
        """Empty: EMR's counters are in logs that come minutes later."""
        return []

    @property
    def where(self) -> str:
        """The cluster."""
        return f"cluster {self._run.cluster}"

    def look(self) -> str | None:
        """Poll once: None if all steps are completed, else a description of the progress.

        Raises:
            TaskError: A step has failed, or the cluster has ended.
            AwsError, SourceError: EMR or S3 does not respond.
        """
        cluster = self._cluster()
        for number, step in enumerate(self._run.steps, 1):
            found = self._step(step)
            state = found["Status"]["State"]
            if state == "COMPLETED":
                continue
            if state == "CANCELLED":  # often because the cluster ends, whose reason is known once it has ended
                cluster = self._cluster()
                if cluster["Status"]["State"] == "TERMINATING":
                    return "cluster is terminating"
            if state in ("FAILED", "CANCELLED", "INTERRUPTED") or _over(cluster):
                raise self._error(step, found, cluster)
            if state == "RUNNING":
                self._tell_failures()
                self._workers = self._workers or Workers(self._aws, self._run.cluster or "")
                return f"step {number} of {len(self._run.steps)} is running{self._workers.said(cluster)}"
            return f"cluster is {cluster['Status']['State'].lower()}"
        return None

    def _passes(self, error: CrawlmillError) -> bool:
        return error.transient if isinstance(error, AwsError) else super()._passes(error)

    def _wait_for_log(self) -> None:
        self._watch.phase = "a step has failed: waiting for its log, which EMR copies every five minutes"
        self._pause()

    def fetch(self) -> None:
        """Fetch the rows, and list the output. Raises: SourceError, FormatError."""
        found = listed_files(self._storage, self._run.at("left"))
        self.rows, self.files = rows_apart(self._storage, found, self._scratch)
        self.parts = [*parts_in(self._storage, self._run.at("output"))]

    def _cluster(self) -> dict[str, Any]:
        found: dict[str, Any] = self._aws.ask("emr", "describe_cluster", ClusterId=self._run.cluster)["Cluster"]
        return found

    def _step(self, step: Step) -> dict[str, Any]:
        found: dict[str, Any] = self._aws.ask("emr", "describe_step", ClusterId=self._run.cluster, StepId=step.id)[
            "Step"
        ]
        return found

    def _tell_failures(self) -> None:
        """Report why each failed attempt failed."""
        for attempt in self._attempts():
            if attempt not in self._told:
                self._told.add(attempt)
                said, _ = self._report(attempt)
                self._watch.note(f"task {FailedAttempt(attempt).name} failed: {said}")

    def _error(self, step: Step, found: dict[str, Any], cluster: dict[str, Any]) -> TaskError:
        """Why a step was not completed, in one line."""
        state = found["Status"]["State"].lower()
        log = ClusterLogs(self._storage, self._run, self._wait_for_log, self._logs_within_s)
        logs = f"logs, some minutes after the end: {log.folder}"
        if found["Status"]["State"] == "FAILED":
            if error := failure_of_task(self._attempts(), self._report, logs):
                return error
            if said := log.of_step(step) or failure_details(found):
                return TaskError(f"{step.name} {state}: {said}; {logs}")
        reason = cluster["Status"].get("StateChangeReason") or {}
        said = str(reason.get("Message") or reason.get("Code") or "EMR does not say why").strip()
        what = f"{step.name} failed" if state == "failed" else f"{step.name} was {state}"
        if _over(cluster):
            what += f": cluster {self._run.cluster} {_ended(cluster)}: {said}{log.of_bootstrap(cluster)}"
            what += error_details(cluster)
        return TaskError(f"{what}; {logs}")

    def _attempts(self) -> list[str]:
        return [name for name in self._names("reports") if name.startswith("attempt_")]

    def _names(self, folder: str) -> list[str]:
        try:
            return list(self._storage.list(self._run.at(folder)))
        except SourceError as error:
            if error.reason != "not-found":
                raise
            return []

    def _report(self, attempt: str) -> tuple[str, str]:
        """An attempt's own report of its failure: message and traceback."""
        said, trace = report_of(self._storage, self._run.at(f"reports/{attempt}"))
        return said or "it does not say why", trace


def _over(cluster: dict[str, Any]) -> bool:
    return str(cluster["Status"]["State"]).startswith("TERMINATED")


def _ended(cluster: dict[str, Any]) -> str:
    return "ended with errors" if cluster["Status"]["State"] == "TERMINATED_WITH_ERRORS" else "was terminated"
