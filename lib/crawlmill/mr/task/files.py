"""Named files that a task writes besides its pairs. They are published if the attempt counts.

A file is streamed to the place where its engine commits it with the attempt. If an attempt is cut short (kill -9, a
lost node, a speculative duplicate), its files do not count. The places are:

    inline, local    in the attempt's folder, which counts once renamed                           `FolderFiles`
    Spark            the same, then in the step's folder; Spark reports which tasks count
    Hadoop           beside the attempt's output, which the committer keeps or discards           `CommittedFiles`
    EMR              in a folder of the attempt, since S3 has no renames; the last attempt to        `AttemptFiles`
                     finish writes one object that lists its files

Ledger rows (`rows`) are such a file, with a reserved name.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from crawlmill.storage import Storage

__all__ = [
    "COMMITTED",
    "LIST",
    "ROWS",
    "AttemptFiles",
    "CommittedFiles",
    "FolderFiles",
    "TaskFile",
    "TaskFiles",
    "check_name",
    "committed_name",
    "files_in_folder",
    "files_of_streaming",
    "given_name",
    "stored_name",
]

ROWS: Final = "_rows"
"""The name of a task's rows, which no job can use."""

COMMITTED: Final = "committed"
"""In place of a folder for files: Hadoop's folder for the output of the attempt."""

LIST: Final = "_files"
"""The object that lists the files of a task, where storage has no renames."""

_BUFFER: Final = 1 << 18
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]*(/[A-Za-z0-9][A-Za-z0-9._=+-]*)*")
_MAX_NAME: Final = 200
_PREFIX: Final = "_of-"  # engines do not treat files with this prefix as output
_COMMITTED: Final = re.compile(rf"{_PREFIX}[mr]-\d+\.(.*)")


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A file written by a task: its name, and the local file or location that holds it now."""

    name: str
    place: Path | str


class TaskFiles(Protocol):
    """Writes the named files of one attempt."""

    def write(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file of this name, which may contain folders (`a=1/x.parquet`); complete once the block ends normally.

        Raises:
            ValueError: The attempt already has a file of that name.
        """

    def commit(self) -> None:
        """Called once the attempt has written everything."""


class FolderFiles:
    """Files in a local folder of the attempt's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str) -> AbstractContextManager[BinaryIO]:
        """See `TaskFiles`."""
        path = self._folder / stored_name(name)
        if path.exists():
            raise _twice(name)
        return path.open("wb", _BUFFER)

    def commit(self) -> None:
        """Do nothing: the launcher commits the folder."""


class CommittedFiles:
    """Files in the folder that Hadoop provides for an attempt's output."""

    def __init__(self, storage: Storage, folder: str, task: str) -> None:
        self._storage, self._before = storage, f"{folder}/{_PREFIX}{task}."
        self._names: set[str] = set()

    def write(self, name: str) -> AbstractContextManager[BinaryIO]:
        """See `TaskFiles`."""
        place = self._before + stored_name(_new(name, self._names))
        return self._storage.write(place)

    def commit(self) -> None:
        """Do nothing: Hadoop commits the folder."""


class AttemptFiles:
    """Files on storage without renames, below `FOLDER/TASK/ATTEMPT/`; `FOLDER/TASK/_files` lists those that count."""

    def __init__(self, storage: Storage, folder: str, task: str, attempt: str) -> None:
        self._storage, self._folder, self._attempt = storage, posixpath.join(folder, task), attempt
        self._names: set[str] = set()

    def write(self, name: str) -> AbstractContextManager[BinaryIO]:
        """See `TaskFiles`."""
        stored = stored_name(_new(name, self._names))
        return self._storage.write(posixpath.join(self._folder, self._attempt, stored))

    def commit(self) -> None:
        """List the files. An attempt without files writes a list only if an earlier attempt may have left one."""
        if self._names or not self._attempt.endswith("_0"):
            files = {name: posixpath.join(self._attempt, stored_name(name)) for name in sorted(self._names)}
            with self._storage.write(posixpath.join(self._folder, LIST)) as file:
                file.write(json.dumps({"files": files}).encode())


def files_of_streaming(storage: Storage, folder: str, environment: Mapping[str, str]) -> TaskFiles:
    """The files of an attempt under Hadoop streaming, from its environment and the given folder."""
    kind = "r" if environment.get("mapreduce_task_ismap") == "false" else "m"
    task = f"{kind}-{int(environment.get('mapreduce_task_partition', '0')):05}"
    if folder == COMMITTED:
        return CommittedFiles(storage, environment["mapreduce_task_output_dir"], task)
    attempt = environment.get("mapreduce_task_attempt_id", "attempt_0")
    # Each step is a Hadoop job of its own and numbers its tasks from 0.
    step = re.sub(r"_[mr]_\d+_\d+$", "", attempt)
    return AttemptFiles(storage, folder, f"{step}-{task}", attempt)


def files_in_folder(folder: Path) -> list[TaskFile]:
    """The files written by `FolderFiles`."""
    found = sorted(path for path in folder.iterdir() if path.name == ROWS or path.name.startswith(_PREFIX))
    return [TaskFile(given_name(path.name), path) for path in found]


def check_name(name: str) -> None:
    """Check that a name is valid on all kinds of storage. Raises: ValueError."""
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise ValueError(f"not a name for a file of the output: {name!r} (letters, digits and ._=+- in each part)")


def stored_name(name: str) -> str:
    """The name, without folders, under which an attempt keeps a file."""
    return name if name == ROWS else _PREFIX + name.replace("/", "~")


def given_name(stored: str) -> str:
    """The name of a file, from its `stored_name`."""
    return stored.removeprefix(_PREFIX).replace("~", "/")


def committed_name(path: str) -> str | None:
    """The name of a file written by `CommittedFiles`, from its path in the step's output; None for other files."""
    found = _COMMITTED.fullmatch(path)
    return given_name(found[1]) if found else None


def _new(name: str, names: set[str]) -> str:
    if name in names:
        raise _twice(name)
    names.add(name)
    return name


def _twice(name: str) -> ValueError:
    return ValueError(f"a task has written the file {name} twice")
