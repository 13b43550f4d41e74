"""Downloads whole files of an input list into a local folder, with a ledger row for each.

A file is called `NAME.part` (see `part.py`) until it has the size that its storage states; a later run can resume it.
A file that already has the right size is not fetched again. A file that a proxy has re-encoded is not kept: a `.gz`
that is not gzip, or gzip within gzip. A file that cannot be written fails on its own; only a full disk ends the run.

No line of a list can write outside the folder. Symbolic links inside the folder are the user's own and are followed,
but a link in place of the file itself is replaced.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import threading
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from queue import SimpleQueue
from typing import Final
from urllib.parse import unquote_to_bytes

from crawlmill.codecs.gzip_member import MAGIC
from crawlmill.errors import FormatError, Problem, SourceError, UsageError
from crawlmill.inputs.list_lines import parse_line
from crawlmill.inputs.lists import Input, is_absolute
from crawlmill.inputs.part import Part, open_part, part_of, version_of
from crawlmill.inputs.reading import Reading
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage, is_remote
from crawlmill.storage.interface import Stream
from crawlmill.storage.locations import local_path, redact, scheme_of

__all__ = ["Download", "download", "place_of", "plan_downloads"]

_PIECE: Final = 1 << 20
_SHOWN: Final = 1 << 20  # bytes needed to identify a file: as many as a reader searches if the first ones are damaged
_DENIED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Download:
    """One file to download: the input, and its path."""

    item: Input
    target: Path


class _StoppedError(Exception):
    """The run is stopping."""


def place_of(item: Input) -> PurePosixPath:
    """The path of a file below the folder: the line's location if it is relative, else the path in the location.

    Raises:
        UsageError: The line names a range or a folder, or a path outside the folder.
    """
    if item.length is not None:
        raise UsageError("a range cannot be downloaded, only a whole file", actual=item.shown)
    written, _, _ = parse_line(item.given)
    if is_absolute(written):
        written = _path_in(item.location)
    elif scheme_of(item.location) in ("http", "https"):
        written = written.partition("?")[0]
    path = written.lstrip("/")
    place = PurePosixPath(path)
    if path.rpartition("/")[2] in ("", ".") or ".." in place.parts or "\0" in path or "\\" in path:
        raise UsageError("a line that names no file below the folder", actual=item.shown)
    return place


def _path_in(location: str) -> str:
    scheme = scheme_of(location)
    if scheme == "file":
        try:
            return str(local_path(location))
        except SourceError as error:
            raise UsageError(str(error)) from error
    if scheme in ("http", "https"):
        return os.fsdecode(unquote_to_bytes(_key_in(re.split("[?#]", location, maxsplit=1)[0])))
    return _key_in(location)  # every character is part of the key


def _key_in(location: str) -> str:
    return location.partition("://")[2].partition("/")[2]


def plan_downloads(items: Iterable[Input], folder: Path, *, taken: Collection[PurePosixPath] = ()) -> list[Download]:
    """Which files to fetch, and where to put them; `taken` are names in the folder that are reserved.

    Raises:
        UsageError: A line cannot be downloaded, or two lines have the same path.
    """
    plan: dict[PurePosixPath, Download] = {}
    for item in items:
        place = place_of(item)
        if place in plan:
            raise UsageError(f"two lines would be the file {place}")
        plan[place] = Download(item, folder / place)
    for place, each in plan.items():
        if beside := next((name for name in (part_of(place), version_of(place)) if name in plan), None):
            raise UsageError(f"two lines would be the file {beside}: one while it is on its way")
        if above := next((name for name in place.parents if name in plan), None):
            raise UsageError(f"one line would be the file {above}, another one a folder of that name")
        if not {place, part_of(place), version_of(place), *place.parents}.isdisjoint(taken):
            raise UsageError("a line names the place of the ledger", actual=each.item.shown)
    return list(plan.values())


def download(
    plan: list[Download],
    storage: Storage,
    *,
    connections: int,
    check: bool,
    on_row: Callable[[LedgerRow], None],
    on_bytes: Callable[[int], None] = lambda _: None,
) -> None:
    """Download the files, several at a time; returns when all are there, or have failed.

    An exception in the caller's thread, such as that of a signal, ends this at once: it does not wait for the threads
    of files still on their way.

    Args:
        plan: The result of `plan_downloads`.
        storage: Reads the locations.
        connections: How many files to fetch at a time.
        check: Whether to read every member and record of each file afterwards.
        on_row: Called with the row of each file as it ends, by the thread that brought it and before that thread
            begins another: a run that is stopped knows of every file that is done.
        on_bytes: Called with the number of bytes received, from any thread.

    Raises:
        OSError: The disk is full.
    """
    stop, lock = threading.Event(), threading.Lock()
    waiting = iter(plan)
    ended: SimpleQueue[BaseException | None] = SimpleQueue()  # of each thread: what it failed with, if it did

    def work() -> None:
        try:
            while not stop.is_set():
                with lock:
                    each = next(waiting, None)
                if each is None:
                    break
                on_row(_bring(each, storage, check, on_bytes, stop))
        except BaseException as error:  # noqa: BLE001 (raised again in the caller's thread)
            ended.put(error)
        else:
            ended.put(None)

    threads = min(connections, len(plan))
    for number in range(threads):
        threading.Thread(target=work, name=f"download-{number}", daemon=True).start()
    try:
        for _ in range(threads):
            if (error := ended.get()) is not None:
                raise error
    finally:
        stop.set()


def _bring(
    each: Download, storage: Storage, check: bool, on_bytes: Callable[[int], None], stop: threading.Event
) -> LedgerRow:
    row = LedgerRow.of(each.item)
    try:
        row.bytes = _fetch(each, storage, on_bytes, stop)
        if check:
            reading = Reading(Input(str(each.target), str(each.target)), storage, streamed=True)
            for record in reading:
                reading.is_whole(record)
            row.format, row.records, row.lost, row.problems = (
                reading.row.format,
                reading.row.records,
                reading.row.lost,
                reading.row.problems,
            )
    except (FormatError, SourceError) as error:
        row.lose(Problem.of(error.located(source=redact(each.item.location))))
    except OSError as error:
        if error.errno in _FULL:
            raise OSError(error.errno, error.strerror, str(each.target)) from error
        reason = "denied" if error.errno in _DENIED else "unavailable"
        said = f"cannot be written: {error.strerror or error}"
        row.lose(Problem.of(SourceError(said, reason=reason, source=str(each.target))))
    except _StoppedError:
        row.lose(Problem("unavailable", None, None, None, "the download was stopped"))
    row.verified = check
    return row


def _fetch(each: Download, storage: Storage, on_bytes: Callable[[int], None], stop: threading.Event) -> int:
    """Make sure that the file is complete; returns its size in bytes."""
    target, location = each.target, each.item.location
    there = _size_of_file(target)
    # The size costs no extra request here, and files without one (pipes) are refused before they are opened.
    size = None if there is None and is_remote(location) else storage.size_of(location)
    if there is not None and there == size and _encoded(target, _head_of(target)) is None:
        return there
    target.parent.mkdir(parents=True, exist_ok=True)
    with storage.open_stream(location) as stream, open_part(target) as part:
        size = storage.size_of(location) if stream.size is None else stream.size
        if _size_of_file(target) != size or _encoded(target, _head_of(target)):  # else another run has downloaded it
            _copy(target, stream, part, location, size, on_bytes, stop)
    return size


def _size_of_file(target: Path) -> int | None:
    """The size of the file in bytes; None if it does not exist. Raises: OSError if it cannot exist."""
    try:
        state = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(state.st_mode):
        raise FileExistsError(errno.EEXIST, "something that is not a file is in its place", str(target))
    return state.st_size


def _copy(
    target: Path,
    stream: Stream,
    part: Part,
    location: str,
    size: int,
    on_bytes: Callable[[int], None],
    stop: threading.Event,
) -> None:
    got = stream.seek(part.begin(location, stream.identity))
    while piece := stream.read(_PIECE):
        if stop.is_set():
            raise _StoppedError
        part.write(piece)
        on_bytes(len(piece))
        got += len(piece)
    if got != size:
        raise SourceError("the file has another size than was stated", reason="changed", expected=size, actual=got)
    if encoded := _encoded(target, part.head(_SHOWN)):
        part.clear()
        raise FormatError(
            "what was downloaded is not the file: something on the way may have encoded it",
            reason="unknown-format",
            expected="gzip",
            actual=encoded,
        )
    part.publish()


def _head_of(target: Path) -> bytes:
    with target.open("rb") as file:
        return file.read(_SHOWN)


def _encoded(target: Path, head: bytes) -> str | None:
    """A phrase for a wrong encoding seen in a file's first bytes; None if they are plausible."""
    if not head.startswith(MAGIC):
        return repr(head[:24])[2:-1] if head and target.suffix == ".gz" and MAGIC not in head else None
    try:
        within = zlib.decompressobj(31).decompress(head, len(MAGIC))
    except zlib.error:
        return None  # damage, which is found when the file is read
    return "gzip within gzip" if within == MAGIC else None
