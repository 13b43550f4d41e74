"""A survey of all inputs before they are processed: an extra first step, whose findings every later task can read.

A job that `surveys` has one step more, before its own:

    map       reads each input and yields what `survey` makes of it; nothing is accounted for
    reduce    one task, `conclude`: its pairs are the findings, which stay small
    …         the job's own steps; the first one reads the same task list again, and accounts for its inputs

So a job can divide its work by what its inputs contain, whatever their sizes and order, without help from the engine.
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
    """Whether a step's map tasks read lines of the task list, not what the step before has written."""
    return step == 0 or (surveys and step == 1)


def read_findings(protocol: Any, storage: Storage, environment: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    """The pairs that the survey's reducer has yielded. Raises: SourceError, KeyError if there was no survey."""
    data = storage.read_all(environment[SURVEY], limit=MAX_FINDINGS)
    return (protocol.read(line) for line in data.split(b"\n") if line)
