"""Brings whole files of an input list into a local folder, and accounts for each of them with a row of the ledger.

A file is written beside its place as `NAME.part`, which a later run goes on with, and renamed when it has the size that
its storage states. Before it goes on, the last bytes of what is there are compared with those of the source: an object
that has changed is begun anew. A file that is there with the right size is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from threading import Event
from typing import Final, TypeVar
from urllib.parse import unquote, urlsplit

from crawlmill.errors import FormatError, Problem, SourceError, UsageError
from crawlmill.inputs.ledger import LedgerRow
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.storage import Storage
from crawlmill.storage.locations import local_path, redact, scheme_of

__all__ = ["Download", "download", "place_of", "plan_downloads"]

_PIECE: Final = 1 << 20
_OVERLAP: Final = 1 << 12

Place = TypeVar("Place", bound=PurePath)


@dataclass(frozen=True, slots=True)
class Download:
    """One file to bring: the input, and where it goes."""

    item: Input
    target: Path


class _StoppedError(Exception):
    """The run is being stopped."""


def place_of(item: Input) -> PurePosixPath:
    """Where a file goes below the folder: its line if that is relative, else the path of its location.

    Raises:
        UsageError: A range, a folder, or a line that leads out of the folder.
    """
    if item.length is not None:
        raise UsageError("a range cannot be downloaded, only a whole file", actual=redact(item.given))
    relative = not item.given.startswith("/") and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", item.given)
    if relative:
        path = item.given
    elif scheme_of(item.location) == "file":
        path = str(local_path(item.location)).lstrip("/")
    else:
        path = unquote(urlsplit(item.location).path).lstrip("/")
    place = PurePosixPath(path)
    if not path or path.endswith("/") or place.is_absolute() or ".." in place.parts or "\0" in path or "\\" in path:
        raise UsageError("a line that names no file below the folder", actual=redact(item.given))
    return place


def _part_of(target: Place) -> Place:
    """Where a file lies while it is on its way."""
    return target.with_name(f"{target.name}.part")


def plan_downloads(items: Iterable[Input], folder: Path) -> list[Download]:
    """What is to be brought where.

    Raises:
        UsageError: A line cannot be, or two of them would be one file.
    """
    plan: dict[PurePosixPath, Download] = {}
    for item in items:
        place = place_of(item)
        if place in plan:
            raise UsageError(f"two lines would be the file {place}")
        plan[place] = Download(item, folder / place)
    for place in plan:
        if _part_of(place) in plan:
            raise UsageError(f"two lines would be the file {_part_of(place)}: one while it is on its way")
        if above := next((each for each in place.parents if each in plan), None):
            raise UsageError(f"one line would be the file {above}, another one a folder of that name")
    return list(plan.values())


def download(
    plan: list[Download],
    storage: Storage,
    *,
    connections: int,
    check: bool,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Iterator[LedgerRow]:
    """Bring the files, so many at a time; the row of each, as it ends.

    Args:
        plan: What `plan_downloads` gives.
        storage: Reads the locations.
        connections: Files at a time.
        check: Read every member and record of each file that is there then.
        on_bytes: Told how many bytes came, from any thread.
    """
    stop = Event()
    waiting = iter(plan)
    with ThreadPoolExecutor(connections, thread_name_prefix="download") as pool:
        running: set[Future[LedgerRow]] = set()
        try:
            while True:
                while len(running) < 2 * connections and (each := next(waiting, None)) is not None:
                    running.add(pool.submit(_bring, each, storage, check, on_bytes, stop))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            stop.set()


def _bring(each: Download, storage: Storage, check: bool, on_bytes: Callable[[int], None], stop: Event) -> LedgerRow:
    row = LedgerRow.of(each.item)
    try:
        size = storage.size_of(each.item.location)
        if not (each.target.is_file() and each.target.stat().st_size == size):
            _fetch(each, storage, size, on_bytes, stop)
        row.bytes = size
        if check:
            reading = Reading(Input(str(each.target), str(each.target)), storage, streamed=True)
            for record in reading:
                reading.prove(record)
            row.format, row.records, row.lost, row.problems = (
                reading.row.format, reading.row.records, reading.row.lost, reading.row.problems,
            )  # fmt: skip
    except (FormatError, SourceError) as error:
        row.lose(Problem.of(error.located(source=each.item.location)))
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", source=str(each.target)) from error
    except _StoppedError:
        row.lose(Problem("unavailable", None, None, None, "the download was stopped"))
    row.verified = check
    return row


def _fetch(each: Download, storage: Storage, size: int, on_bytes: Callable[[int], None], stop: Event) -> None:
    target = each.target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(target)
    start = _usable(part, storage, each.item.location, size)
    with part.open("r+b" if start else "wb") as file, storage.open_stream(each.item.location, start) as stream:
        file.seek(start)
        file.truncate()
        while piece := stream.read(_PIECE):
            if stop.is_set():
                raise _StoppedError
            file.write(piece)
            on_bytes(len(piece))
        got = file.tell()
    if got != size:
        raise SourceError("the file has another size than was stated", reason="changed", expected=size, actual=got)
    part.replace(target)


def _usable(part: Path, storage: Storage, location: str, size: int) -> int:
    """How many bytes of an earlier try are the beginning of the file; 0 if none."""
    if not part.is_file():
        return 0
    have = part.stat().st_size
    if not 0 < have <= size:
        return 0
    start = max(have - _OVERLAP, 0)
    with part.open("rb") as file:
        file.seek(start)
        tail = file.read()
    return start if tail == storage.read_range(location, start, len(tail)) else 0
