"""The task list: how the inputs of a run are cut into map tasks, and the line that gives a task its inputs.

The launcher cuts the list, not the engine: Hadoop would lose lines of a compressed one. Each line is one map task, a
JSON object in ASCII:

    {"v": 1, "inputs": [[rank, given, location, offset, length], …]}

A unit of an input has four more numbers: its number, the number of units, and the offset and length of its bytes. If
the job cut the task itself, a `label` may follow the version, which only the job understands.

`rank` is the input's place in the ledger; the input's row brings it back through the engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.inputs.lists import Input, Unit
from crawlmill.storage.coalesce import COALESCE, group_ranges
from crawlmill.terminal.starting import Lasting

__all__ = [
    "MAX_TASKS_HERE",
    "MAX_TASKS_ON_ENGINES",
    "Task",
    "cut",
    "decode_lists",
    "decode_task",
    "encode_task",
    "input_of",
    "limited",
    "task_label",
]

MAX_TASKS_HERE: Final = 2_000
"""Tasks of whole files on one machine: enough to keep its cores busy; each costs some milliseconds."""

MAX_TASKS_ON_ENGINES: Final = 50_000
"""Tasks of whole files on an engine: a crawl's files one by one, but not what an application master cannot hold."""

_VERSION: Final = 1
_LABEL: Final = re.compile(rf'\A[^{{]*\{{"v":{_VERSION},"label":("(?:[^"\\]|\\.)*")')
_RUNNING_MAPS: Final = "mapreduce.job.running.map.limit"
_MIN_RANGE_TASKS: Final = 64
_MAX_RANGES: Final = 1000
_MAX_RANGE_BYTES: Final = 256 << 20
_WORTH_A_REQUEST: Final = 8 << 20
"""Bytes of ranges that one request could fetch, from which on two tasks share them: each fetches its own."""

Task = list[tuple[int, Input]]
"""The (rank, input) pairs of one map task."""


def cut(
    inputs: Iterable[tuple[int, Input]], per_task: int | None = None, *, most: int, gap: int = COALESCE
) -> Iterator[Task]:
    """Cut the inputs, given with their ranks, into tasks.

    A whole file is a task of its own (several share one only if there are more than `most`). Ranges are often small:
    those of a file are kept in order and grouped into batches of at most a thousand ranges and 256 MiB, with at least
    64 batches if there are as many ranges. Neighbours that one request can fetch, with gaps of at most `gap` bytes
    between them, stay together up to 8 MiB. If `per_task` is given, each task gets that many inputs.
    """
    files: Task = []
    ranges: dict[str, Task] = {}
    for rank, item in inputs:
        if item.length is None:
            files.append((rank, item))
        else:
            ranges.setdefault(item.location, []).append((rank, item))
    yield from _batches(files, per_task or -(-len(files) // most))
    by_file = [pair for group in ranges.values() for pair in sorted(group, key=lambda pair: pair[1].offset or 0)]
    least = -(-len(by_file) // _MIN_RANGE_TASKS)
    if per_task:
        yield from _batches(by_file, per_task)
    else:
        yield from _batches_of_neighbours(by_file, min(least, _MAX_RANGES), gap)


def encode_task(task: Task, label: str | None = None) -> bytes:
    """The line of a task, without its line end; `label` is for the job that cut it (see `task_label`)."""
    line = {"v": _VERSION, **({} if label is None else {"label": label}), "inputs": []}
    return b"".join((_json(line).removesuffix(b"]}"), _encode_inputs(task), b"]}"))


def task_label(line: str) -> str | None:
    """The label of a task's line, if the job has set one."""
    found = _LABEL.search(line)
    return None if found is None else str(json.loads(found[1]))


def decode_task(line: str) -> Task:
    """Parse the task of a line; Hadoop may have put the line's offset and a tab in front of it.

    Raises:
        FormatError: `bad-json`: not a task of this version.
    """
    with Lasting(freeze=False):
        _, inputs = decode_lists(line)
        try:
            return [(fields[0], input_of(fields)) for fields in inputs]
        except (LookupError, TypeError, ValueError) as error:
            raise FormatError(f"not a line of a task list: {error}", reason="bad-json") from error


def decode_lists(line: str, beside: str = "v") -> tuple[Any, list[tuple[Any, ...]]]:
    """The value that a job has stored under a name in a task's line, and the values that the line has for each input.

    `input_of` makes an input of these: a task that has very many may not need them all. Raises: as `decode_task`.
    """
    native = core.native()
    usual = None if native is None else native.decode_inputs(line)
    try:
        rest = line if usual is None else usual[1]
        task = json.loads(rest[rest.index("{") :])
        version, found = task["v"], task[beside]
        inputs = list(map(tuple, task["inputs"])) if usual is None else usual[0]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"not a line of a task list: {error}", reason="bad-json") from error
    if version != _VERSION:
        raise FormatError("task list of another version", reason="bad-json", expected=_VERSION, actual=version)
    return found, inputs


def input_of(fields: Sequence[Any]) -> Input:
    """The input for which a task's line has these values."""
    _, given, location, offset, length, *unit = fields
    return Input(given, location, offset, length, Unit(*unit) if unit else None)


def limited(properties: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A job's properties with a limit of simultaneous map tasks: this one, or the user's if that is lower."""
    given = str(properties.get(_RUNNING_MAPS, ""))
    # Hadoop reads 0 as no limit.
    return {**properties, _RUNNING_MAPS: min(most, int(given) if given.isdecimal() and int(given) else most)}


def _encode_inputs(task: Task) -> bytes:
    native = core.native()
    usual: bytes | None = None if native is None else native.encode_inputs(task)
    if usual is not None:
        return usual
    return _json([(rank, *item[:4], *(astuple(item.unit) if item.unit else ())) for rank, item in task])[1:-1]


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _batches(inputs: Task, most: int) -> Iterator[Task]:
    return (inputs[at : at + most] for at in range(0, len(inputs), most or 1))


def _batches_of_neighbours(ranges: Task, least: int, gap: int) -> Iterator[Task]:
    groups = group_ranges([(item.location, item.offset or 0, item.length or 0) for _, item in ranges], gap)
    batch: Task = []
    size = at = 0
    for group in groups:
        for place, (rank, item) in enumerate(ranges[at : at + len(group)]):
            length = item.length or 0
            enough = len(batch) >= least and (not place or size >= _WORTH_A_REQUEST)
            if batch and (enough or len(batch) >= _MAX_RANGES or size + length > _MAX_RANGE_BYTES):
                yield batch
                batch, size = [], 0
            batch.append((rank, item))
            size += length
        at += len(group)
    if batch:
        yield batch
