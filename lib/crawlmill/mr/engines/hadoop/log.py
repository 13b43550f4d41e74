"""Reads the log of Hadoop's client (`hadoop jar`) about the job that it submitted.

It logs to stderr. These messages are recognised, whatever precedes them on the line:

    Submitted application application_N_N          YARN has the job from now on
    Running job: job_N_N
    The url to track the job: URL
    map 33% reduce 0%
    Task Id : attempt_…, Status : FAILED           and the next line, which has the reason
    Job job_N_N failed with state … due to: …
    Counters: 54                                   and the indented lines after it
    Retrying connect to server: HOST:PORT

Spec: the sources of `org.apache.hadoop.mapreduce.Job` (3.4); there is no other documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crawlmill.mr.engines.client_log import ClientLog
from crawlmill.mr.task.failures import TaskError, task_failed

__all__ = ["FailedAttempt", "HadoopLog", "failure_of_task"]

_APPLICATION: Final = re.compile(r"Submitted application (application_\d+_\d+)")
_JOB: Final = re.compile(r"(?:Running job: |Submitting tokens for job: )(job_\d+_\d+)")
_TRACKING: Final = re.compile(r"The url to track the job: (\S+)")
_PHASE: Final = re.compile(r"map (\d+)% reduce (\d+)%")
_FAILED_TASK: Final = re.compile(r"Task Id : (attempt_\w+), Status : FAILED")
_ATTEMPT: Final = re.compile(r"attempt_(\d+_\d+_([mr])_(\d+))_\d+")
_CULPRIT: Final = re.compile(r"Task failed task_(\d+_\d+_[mr]_\d+)")
_ENDED: Final = re.compile(r"Job (job_\d+_\d+) failed with state (\w+) due to: ?(.*)")
_WAITING: Final = re.compile(r"Retrying connect to server: (?:[^/\s]*/)?([^\s;]+?)\.? ")
_GROUP: Final = re.compile(r"^\t([^\t=]+)$")
_COUNTER: Final = re.compile(r"^\t\t(.+)=(-?\d+)$")


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A failed attempt at a task; `said` is Hadoop's reason, which does not include Python errors."""

    attempt: str
    said: str = ""

    @property
    def task(self) -> str:
        """Hadoop's number of the task."""
        found = _ATTEMPT.fullmatch(self.attempt)
        return found[1] if found else self.attempt

    @property
    def name(self) -> str:
        """The task's name, as written by other runners."""
        found = _ATTEMPT.fullmatch(self.attempt)
        return f"{'map' if found[2] == 'm' else 'reduce'}-{int(found[3]):05}" if found else self.attempt


def failure_of_task(attempts: list[str], report: Callable[[str], tuple[str, str]], logs: str) -> TaskError | None:
    """The error for the task that failed most often in the last job, which is why the job failed; None if none failed.

    `report` returns an attempt's own report of its failure and its traceback; `logs` says where the logs are.
    """
    failures = [FailedAttempt(attempt) for attempt in attempts]
    if not failures:
        return None
    # attempt_CLUSTER_JOB_m_TASK_N
    last = max(failure.attempt.split("_")[1:3] for failure in failures)
    failures = [failure for failure in failures if failure.attempt.split("_")[1:3] == last]
    worst = max(failures, key=lambda failure: int(failure.attempt.rpartition("_")[2]))
    times = sum(failure.task == worst.task for failure in failures)
    return task_failed(worst.name, times, *report(worst.attempt), logs=logs)


class HadoopLog(ClientLog[FailedAttempt]):
    """What the lines have reported so far; pass them to `feed` one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.application: str | None = None
        self.job: str | None = None
        self.tracking_url: str | None = None
        self.phase = "submitting"
        self.ended: str | None = None
        self.counters: dict[str, int] = {}
        self.failures: list[FailedAttempt] = []
        self._group: str | None = None
        self._failed: str | None = None

    def _understand(self, line: str, record: re.Match[str] | None) -> FailedAttempt | None:
        message = record["message"] if record else line
        failure = self._why("" if record else line)
        if found := _PHASE.search(message):
            self.phase = f"map {found[1]} %, reduce {found[2]} %"
        elif found := _FAILED_TASK.search(message):
            self._failed = found[1]
        elif found := _APPLICATION.search(message):
            self.application, self.phase = found[1], "waiting for the cluster"
            self.job = self.job or found[1].replace("application", "job", 1)
        elif found := _JOB.search(message):
            self.job = found[1]
        elif found := _TRACKING.search(message):
            self.tracking_url = found[1]
        elif found := _ENDED.search(message):
            self.job = found[1]
            state = {"KILLED": "was killed"}.get(found[2], found[2].lower())
            self.ended = f"{state}: {found[3].strip()[:500]}" if found[3].strip() else state
        elif found := _WAITING.search(message):
            self.phase = f"waiting for {found[1]}"
        elif message == "Counters:" or re.match(r"Counters: \d+$", message):
            self._group = ""
        return failure

    def complaint(self) -> str:
        """The likely reason why the client gave up without reporting on the job."""
        telling = (line for line in self.complaints if "Streaming Command Failed" not in line)
        return self._complaint_or_last_line(next(telling, None)).removeprefix("Error Launching job : ")

    @property
    def culprit(self) -> str | None:
        """Hadoop's number of the task that made the job fail."""
        found = _CULPRIT.search(self.ended or "")
        return found[1] if found else None

    def _why(self, text: str) -> FailedAttempt | None:
        """The failed attempt of the previous line, if there was one, with the reason that Hadoop has now logged."""
        attempt, self._failed = self._failed, None
        if attempt is None:
            return None
        said = re.sub(r"^(Error: |\[[^\]]*\])+", "", text.strip())
        failure = FailedAttempt(attempt, said[:300] or "Hadoop does not say why")
        self.failures.append(failure)
        return failure

    def _is_data(self, line: str, record: re.Match[str] | None) -> bool:
        """Whether the line is empty, or one of the counters, which end at the next log record."""
        if self._group is None or record:
            self._group = None
            return not line
        if found := _COUNTER.match(line):
            self.counters[f"{self._group}: {found[1].strip()}"] = int(found[2])
        elif found := _GROUP.match(line):
            self._group = found[1].strip()
        return True
