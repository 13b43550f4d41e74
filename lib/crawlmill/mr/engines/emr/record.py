"""The record of a run on EMR (`engines/record.py`), on S3 next to the run's files.

Its folder:

    RUN/run.json          the record
    RUN/files/…           what tasks need, including the task list
    RUN/left/TASK/…       files written by tasks, including ledger rows (`AttemptFiles`)
    RUN/reports/attempt_… why an attempt failed, as reported by itself (`failure_report`)
    RUN/output/part-N     the output of the last step
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crawlmill.mr.engines.record import RunRecord

__all__ = ["EmrRun", "Step"]


@dataclass(frozen=True)
class Step:
    """A step that EMR has accepted; `name` is for messages."""

    id: str
    name: str


@dataclass(frozen=True)
class EmrRun(RunRecord):
    """A run. `cluster` is None if it is not known to be submitted yet."""

    region: str
    endpoint: str | None
    logs: str
    own_cluster: bool
    cluster: str | None = None
    steps: tuple[Step, ...] = ()

    @classmethod
    def _fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "steps": tuple(Step(**step) for step in record["steps"])}
