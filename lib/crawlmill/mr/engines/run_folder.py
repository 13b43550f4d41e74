"""Reads what tasks on a cluster write to the run's folder: parts of the output, files, rows, reports."""

from __future__ import annotations

import json
import posixpath
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.mr.task.files import LIST, ROWS, TaskFile, committed_name
from crawlmill.storage import Storage

__all__ = ["committed_files", "fetch_rows", "listed_files", "parts_in", "report_of", "rows_apart"]

_AT_ONCE: Final = 16
_MAX_REPORT_BYTES: Final = 1 << 20
_MAX_LIST_BYTES: Final = 16 << 20


def parts_in(storage: Storage, folder: str) -> list[str]:
    """The locations of the output parts in a folder, in order. Raises: SourceError."""
    return [posixpath.join(folder, name) for name in storage.list(folder) if not name.startswith(("_", "."))]


def committed_files(storage: Storage, folder: str) -> list[TaskFile]:
    """The files of tasks (`CommittedFiles`) that Hadoop committed to a step's output. Raises: SourceError."""
    found = ((committed_name(path), posixpath.join(folder, path)) for path in storage.list(folder))
    return [TaskFile(name, place) for name, place in found if name is not None]


def listed_files(storage: Storage, folder: str) -> list[TaskFile]:
    """The files of tasks (`AttemptFiles`) from the attempts that count. Raises: SourceError, FormatError."""
    try:
        tasks = [posixpath.dirname(path) for path in storage.list(folder) if posixpath.basename(path) == LIST]
    except SourceError as error:
        if error.reason != "not-found":
            raise
        return []

    def read(task: str) -> list[TaskFile]:
        place = posixpath.join(folder, task, LIST)
        try:
            files: dict[str, str] = json.loads(storage.read_all(place, limit=_MAX_LIST_BYTES))["files"]
        except (ValueError, LookupError, TypeError) as error:
            raise FormatError("not a list of a task's files", reason="bad-json", source=place) from error
        return [TaskFile(name, posixpath.join(folder, task, path)) for name, path in files.items()]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [file for files in pool.map(read, tasks) for file in files]


def rows_apart(storage: Storage, files: Iterable[TaskFile], scratch: Path) -> tuple[list[Path], list[TaskFile]]:
    """Split a run's files into those of rows, fetched to a local folder, and others. Raises: SourceError."""
    rows: list[TaskFile] = []
    others: list[TaskFile] = []
    for file in files:
        (rows if file.name == ROWS else others).append(file)
    return fetch_rows(storage, (str(file.place) for file in rows), scratch), others


def fetch_rows(storage: Storage, locations: Iterable[str], scratch: Path) -> list[Path]:
    """Copy files of rows to a local folder, many at once: a job without a reducer has one for each map task.

    Raises:
        SourceError: One of them cannot be read.
    """

    def fetch(number: int, location: str) -> Path:
        rows = scratch / f"{number}.rows"
        with storage.open_stream(location) as source, rows.open("wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        return rows

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(fetch, count(), locations))


def report_of(storage: Storage, location: str) -> tuple[str, str]:
    """A failed attempt's own report (`failure_report`): message and traceback.

    Both are empty if it could not report: it was killed, or there is no Python.
    """
    try:
        report = storage.read_all(location, limit=_MAX_REPORT_BYTES)
    except SourceError:
        return "", ""
    said, _, trace = report.decode("utf-8", "replace").partition("\n")
    return said, trace
