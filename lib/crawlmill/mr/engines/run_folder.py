"""What tasks of a cluster leave for the launcher in the run's folder: parts of the output, rows, reports."""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Final

from crawlmill.errors import SourceError
from crawlmill.storage import Storage

__all__ = ["fetch_rows", "parts_in", "report_of"]

_AT_ONCE: Final = 16
_MOST_REPORT_BYTES: Final = 1 << 20


def parts_in(storage: Storage, folder: str) -> list[str]:
    """The locations of the parts of the output in a folder, in their order. Raises: SourceError."""
    return [posixpath.join(folder, name) for name in storage.list(folder) if not name.startswith(("_", "."))]


def fetch_rows(storage: Storage, locations: Iterable[str], scratch: Path) -> list[Path]:
    """Copy files of rows into a local folder, many at once: a job without a reducer leaves one for each map task.

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
    """What a failed attempt has said of itself (`task_report`), and its traceback.

    Both are empty if it could not say anything: it was killed, or there is no Python.
    """
    try:
        report = storage.read_all(location, limit=_MOST_REPORT_BYTES)
    except SourceError:
        return "", ""
    said, _, trace = report.decode("utf-8", "replace").partition("\n")
    return said, trace
