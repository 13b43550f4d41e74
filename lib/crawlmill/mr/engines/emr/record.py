"""The record of a run on EMR (`engines/record.py`), on S3 beside the run's files.

Its folder:

    RUN/run.json          the record
    RUN/files/…           what tasks need; among it the task list
    RUN/left/TASK/…       files that tasks have written, rows of the ledger among them (`AttemptFiles`)
    RUN/reports/attempt_… why an attempt failed, in its own words (`task_report`)
    RUN/output/part-N     what the last step has written
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crawlmill.mr.engines.record import RunRecord

__all__ = ["EmrRun", "Step"]


@dataclass(frozen=True)
class Step:
    """A step that EMR has taken; `name` as people say it."""

    id: str
    name: str


@dataclass(frozen=True)
class EmrRun(RunRecord):
    """A run. `cluster` None: not submitted yet, as far as is known."""

    region: str
    endpoint: str | None
    logs: str
    own_cluster: bool
    cluster: str | None = None
    steps: tuple[Step, ...] = ()

    @classmethod
    def _fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "steps": tuple(Step(**step) for step in record["steps"])}
