"""What our runners have in common, each built on one of mrjob's runner classes, which lack it or do it differently."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crawlmill.errors import UsageError
from crawlmill.mr.task.survey import REDUCERS
from crawlmill.storage import is_remote

__all__ = [
    "REDUCERS",
    "check_shipped",
    "check_step",
    "run_key",
    "shipping",
    "task_variables",
    "usable_cores",
    "whole_number",
]


@contextmanager
def shipping() -> Iterator[None]:
    """What a runner of mrjob's raises as it is made: a mistake in what is to ship. Raises: UsageError."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"file to ship not found: {error}") from error


def check_shipped(paths: Iterable[str]) -> None:
    """Find out that something is not there before anything is launched. Raises: UsageError."""
    for path in paths:
        if not is_remote(path) and not os.path.exists(path):  # noqa: PTH110
            raise UsageError(f"file to ship not found: {path}")


def check_step(alias: str, step: dict[str, Any], number: int) -> None:
    """Let only steps pass whose tasks call methods of the job. Raises: UsageError."""
    substeps = [step.get(kind) or {} for kind in ("mapper", "combiner", "reducer")]
    commands = any(each.get("type") == "command" or "pre_filter" in each for each in substeps)
    if step["type"] != "streaming" or step.get("input_manifest") or commands:
        raise UsageError(f"the {alias} runner only runs steps of Python methods; step {number + 1} is not one")


def run_key(label: str) -> str:
    """A name for a run that nobody can guess, since the run's folder is called so."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', label)}.{secrets.token_hex(6)}"


def whole_number(properties: Mapping[str, Any], name: str) -> int | None:
    """A property of a job that is a number of 1 or more; None if it is not set. Raises: UsageError."""
    given = properties.get(name)
    if given is None:
        return None
    if not str(given).isdecimal() or not int(given):
        raise UsageError(name, expected="a number of 1 or more", actual=repr(given))
    return int(given)


def task_variables(properties: Mapping[str, Any], key: str) -> dict[str, str]:
    """The environment that Hadoop's streaming gives every task of a job: its properties, and its id."""
    return {**{name.replace(".", "_"): str(value) for name, value in properties.items()}, "mapreduce_job_id": key}


def usable_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))  # type: ignore[attr-defined,unused-ignore]
    except AttributeError:  # macOS
        return os.cpu_count() or 1
