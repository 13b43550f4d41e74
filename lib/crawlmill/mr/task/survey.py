"""A survey of all inputs before they are processed: an extra first step whose findings all later tasks can read.

A job with `surveys` gets one more step before its own:

    map       calls `survey` for each input; nothing is recorded in the ledger
    reduce    one task, `conclude`: its pairs are the findings, which must be small
    …         the job's own steps; the first one reads the same task list again, and accounts for its inputs

So a job can divide its work by the contents of its inputs, whatever their sizes and order, without help from the
engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crawlmill.storage import Storage

__all__ = ["MAX_FINDINGS", "REDUCERS", "SURVEY", "read_findings", "reads_task_list"]

REDUCERS: Final = "mapreduce.job.reduces"
"""The property that says how many reducers there are. Without any, what is not counted up would be the result."""

SURVEY: Final = "CRAWLMILL_SURVEY"
"""The environment variable that tells tasks of later steps where the findings are."""

MAX_FINDINGS: Final = 256 << 20
"""Bytes of findings that a task takes."""


def reads_task_list(step: int, *, surveys: bool) -> bool:
    """Whether the map tasks of a step read lines of the task list, not the output of the previous step."""
    return step == 0 or (surveys and step == 1)


def read_findings(protocol: Any, storage: Storage, environment: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    """The pairs that the survey's reducer yielded. Raises: SourceError; KeyError if there was no survey."""
    data = storage.read_all(environment[SURVEY], limit=MAX_FINDINGS)
    return (protocol.read(line) for line in data.split(b"\n") if line)
