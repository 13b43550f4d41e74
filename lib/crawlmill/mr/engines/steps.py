"""What our runners have in common. Each derives from one of mrjob's runners, which lack it or do it differently."""

from __future__ import annotations

import os
import re
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
    """Turn errors of an mrjob runner's constructor, which are about files to ship, into ours. Raises: UsageError."""
    try:
        yield
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise UsageError(f"file to ship not found: {what}") from error
    except ValueError as error:
        raise UsageError(f"not the name of a file to ship: {error}") from error


def check_shipped(paths: Iterable[str], manager: Any) -> None:
    """Check before launch that these files to ship exist, and that no folder is among those to copy or unpack.

    `manager` knows the latter: the `_working_dir_mgr` of an mrjob runner. Raises: UsageError.
    """
    for path in paths:
        if not is_remote(path) and not os.path.exists(path):  # noqa: PTH110
            raise UsageError(f"file to ship not found: {path}")
    for kind in ("file", "archive"):
        for path in manager.name_to_path(kind).values():
            if os.path.isdir(path):  # noqa: PTH112
                raise UsageError(f"a folder cannot be shipped with --{kind}s: {path}; ship it with --dirs")


def check_step(alias: str, step: dict[str, Any], number: int) -> None:
    """Check that a step's tasks only call methods of the job. Raises: UsageError."""
    substeps = [step.get(kind) or {} for kind in ("mapper", "combiner", "reducer")]
    commands = any(each.get("type") == "command" or "pre_filter" in each for each in substeps)
    if step["type"] != "streaming" or step.get("input_manifest") or commands:
        raise UsageError(f"the {alias} runner only runs steps of Python methods; step {number + 1} is not one")


def run_key(label: str) -> str:
    """An unguessable name for a run, since the run's folder has this name."""
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', label)}.{os.urandom(6).hex()}"


def whole_number(properties: Mapping[str, Any], name: str) -> int | None:
    """A property of a job that must be a number of 1 or more; None if it is not set. Raises: UsageError."""
    given = properties.get(name)
    if given is None:
        return None
    if not str(given).isdecimal() or not int(given):
        raise UsageError(name, expected="a number of 1 or more", actual=repr(given))
    return int(given)


def task_variables(properties: Mapping[str, Any], key: str) -> dict[str, str]:
    """The environment that Hadoop streaming provides for every task of a job: its properties, and its id."""
    return {**{name.replace(".", "_"): str(value) for name, value in properties.items()}, "mapreduce_job_id": key}


def usable_cores() -> int:
    """The number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))  # type: ignore[attr-defined,unused-ignore]
    except AttributeError:  # macOS
        return os.cpu_count() or 1
