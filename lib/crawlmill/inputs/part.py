"""A partial download: its bytes in `NAME.part`, and the object and version they belong to in `NAME.part.json`.

* The writer holds a lock on `NAME.part`, which ends with the process in any case. A lock is on a file, not on a name:
  another run may have renamed or removed the file meanwhile, so the name is checked again. File systems without locks
  (some on clusters) are written without.
* Bytes are resumed only if storage reports the same version as before. The version is removed before bytes of another
  one are written, and written before the first of them: a kill in between costs bytes, but never mixes versions.
* A `.part` that is a symbolic link is not followed: what is written becomes the file.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import BinaryIO, Final, TypeVar

from crawlmill.errors import SourceError
from crawlmill.storage.locations import redact
from crawlmill.storage.resume import Identity

__all__ = ["Part", "open_part", "part_of", "version_of"]

_NO_LOCKS: Final = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
_MAX_SAID_BYTES: Final = 1 << 16

Place = TypeVar("Place", bound=PurePath)


def part_of(target: Place) -> Place:
    """The path of a file's bytes while it is being downloaded."""
    return target.with_name(f"{target.name}.part")


def version_of(target: Place) -> Place:
    """The path of the object and version that the bytes of `part_of` belong to."""
    return target.with_name(f"{target.name}.part.json")


class Part:
    """The bytes of a partial download, locked for this writer."""

    def __init__(self, target: Path, file: BinaryIO) -> None:
        self._target, self._file = target, file

    def begin(self, location: str, now: Identity) -> int:
        """Keep the existing bytes if they are of this version of the object, else drop them; returns their length.

        Raises: OSError.
        """
        there = self._file.seek(0, os.SEEK_END)
        if there and self._is_of(location, now) and now.total is not None and there <= now.total:
            return there
        version_of(self._target).unlink(missing_ok=True)
        self._file.truncate(0)
        self._file.seek(0)
        if now.sure:
            said = {"location": redact(location), **asdict(now)}
            version_of(self._target).write_text(json.dumps(said) + "\n", encoding="ascii")
        return 0

    def write(self, piece: bytes) -> None:
        """Append bytes. Raises: OSError."""
        self._file.write(piece)

    def head(self, n: int) -> bytes:
        """The first bytes, at most `n`. Raises: OSError."""
        self._file.flush()
        return os.pread(self._file.fileno(), n, 0)

    def clear(self) -> None:
        """Drop all bytes. Raises: OSError."""
        self._file.seek(0)
        self._file.truncate(0)

    def publish(self) -> None:
        """Rename it to the file. Raises: OSError."""
        self._file.flush()
        version_of(self._target).unlink(missing_ok=True)
        part_of(self._target).replace(self._target)

    def drop_if_empty(self) -> None:
        """Remove the files if they hold no bytes."""
        handle = self._file.fileno()
        if _is_at(part_of(self._target), handle) and not (self._file.tell() or os.fstat(handle).st_size):
            version_of(self._target).unlink(missing_ok=True)
            part_of(self._target).unlink()

    def _is_of(self, location: str, now: Identity) -> bool:
        try:
            with version_of(self._target).open(encoding="ascii") as file:
                said = json.loads(file.read(_MAX_SAID_BYTES))
            where, then = said.pop("location"), Identity(**said)
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return False  # absent, cut short by a kill, or not written by us
        return where == redact(location) and then.same(now) is True


@contextmanager
def open_part(target: Path) -> Iterator[Part]:
    """Open the partial download of a file, locked against other writers.

    Raises:
        SourceError: `unavailable`: another download is writing it.
        OSError: It cannot be written.
    """
    path = part_of(target)
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        with open(handle, "r+b") as file:  # noqa: PTH123 (opened before)
            _lock(handle, path)
            if not _is_at(path, handle):
                continue
            part = Part(target, file)
            try:
                yield part
            finally:
                part.drop_if_empty()
            return


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SourceError("another download is at work on this file", reason="unavailable", source=str(path)) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _is_at(path: Path, handle: int) -> bool:
    """Whether an open file is (still) the one with this name."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False
