"""Local files: plain paths and `file://` URIs.

A file is written under a temporary name next to its target and then renamed, so that no reader ever sees half of it,
whatever kills the writer. Pipes and devices are read forward only and written in place: they cannot be renamed and have
no size.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.locations import local_path
from crawlmill.storage.resume import Identity

__all__ = ["LocalBackend", "LocalStream"]

_NOT_FOUND = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_PIECE = 1 << 20


def _trouble(error: OSError, location: str) -> SourceError:
    """The access error that an error of the operating system means."""
    reason = "not-found" if error.errno in _NOT_FOUND else "denied" if error.errno in _DENIED else "unavailable"
    what = error.strerror or type(error).__name__
    hint = "; for stdin, give /dev/stdin" if location == "-" and reason == "not-found" else ""
    return SourceError(f"{what}{hint}", reason=reason, source=location)


class LocalStream:
    """A span of a local file, unbuffered: callers that read small pieces should add a buffer."""

    def __init__(self, location: str, start: int = 0, length: int | None = None) -> None:
        self._location, self._start, self._length = location, start, length
        self._position = 0
        self.identity = Identity()
        try:
            # Without O_NONBLOCK: opening a pipe waits for its writer, as in other tools.
            self._file = local_path(location).open("rb", buffering=0)
        except OSError as error:
            raise _trouble(error, location) from error
        try:
            self.size = self._open_span()
        except OSError as error:
            self._file.close()
            raise _trouble(error, location) from error

    def _open_span(self) -> int | None:
        """Move to the start of the span; returns its size, or None for a pipe."""
        state = os.fstat(self._file.fileno())
        if not stat.S_ISREG(state.st_mode):
            left = self._start
            while left and (piece := self._file.read(min(left, _PIECE))):
                left -= len(piece)
            return None
        self.identity = Identity(None, str(state.st_mtime_ns), state.st_size)
        if self._start:
            self._file.seek(min(self._start, state.st_size))  # an offset may be too large for the file system
        there = max(state.st_size - self._start, 0)
        return there if self._length is None else min(there, self._length)

    def read(self, n: int = -1, /) -> bytes:
        """See `Stream.read`."""
        if n < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        if self._length is not None:
            n = max(min(n, self._length - self._position), 0)
        try:
            piece = self._file.read(n) or b""
        except OSError as error:
            raise _trouble(error, self._location) from error
        self._position += len(piece)
        return piece

    def seek(self, offset: int, /) -> int:
        """See `Stream.seek`. Raises: SourceError (unavailable) for a pipe."""
        try:
            self._file.seek(self._start + offset)
        except OSError as error:
            what = "a pipe cannot be read twice" if error.errno == errno.ESPIPE else str(error.strerror)
            raise SourceError(what, reason="unavailable", source=self._location) from error
        self._position = offset
        return offset

    def tell(self) -> int:
        """See `Stream.tell`."""
        return self._position

    def pause(self) -> None:
        """See `Stream.pause`; there is nothing to release."""

    def close(self) -> None:
        """See `Stream.close`."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LocalBackend:
    """The backend for local files."""

    renames = True

    def open(self, location: str, start: int, length: int | None) -> LocalStream:
        """See `Backend.open`."""
        return LocalStream(location, start, length)

    def size(self, location: str) -> int:
        """See `Backend.size`; folders and pipes have none (not-found)."""
        try:
            state = local_path(location).stat()
        except OSError as error:
            raise _trouble(error, location) from error
        if not stat.S_ISREG(state.st_mode):
            raise SourceError("not a regular file", reason="not-found", source=location)
        return state.st_size

    def exists(self, location: str) -> bool:
        """See `Backend.exists`; a dangling link exists."""
        try:
            local_path(location).lstat()
        except OSError as error:
            if error.errno in _NOT_FOUND:
                return False
            raise _trouble(error, location) from error
        return True

    def list(self, location: str) -> Iterator[str]:
        """See `Backend.list`."""
        folder = local_path(location)

        def refuse(error: OSError) -> None:
            raise _trouble(error, location) from error

        found = []
        for where, _, names in os.walk(folder, onerror=refuse):
            found += [Path(where, name).relative_to(folder).as_posix() for name in names]
        yield from sorted(found)

    @contextmanager
    def write(self, location: str) -> Iterator[BinaryIO]:
        """See `Backend.write`; creates parent folders. The target of a symbolic link is replaced, not the link."""
        path = Path(os.path.realpath(local_path(location)))
        in_place = path.exists() and not path.is_file()
        beside = path if in_place else path.with_name(f".{path.name[:40]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = beside.open("wb" if in_place else "xb")
        except OSError as error:
            raise _trouble(error, location) from error
        try:
            with file:
                yield file
            if not in_place:
                beside.replace(path)
        except OSError as error:
            if error.errno in _FULL:  # other errors may come from the caller's own code in the block
                raise _trouble(error, location) from error
            raise
        finally:
            if not in_place:
                beside.unlink(missing_ok=True)

    def make_folder(self, location: str) -> None:
        """See `Backend.make_folder`."""
        try:
            local_path(location).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _trouble(error, location) from error

    def rename(self, source: str, target: str) -> None:
        """See `Backend.rename`."""
        if self.exists(target):
            raise UsageError("the target of a rename exists already", source=target)
        try:
            local_path(source).rename(local_path(target))
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise UsageError("the target of a rename exists already", source=target) from error
            raise _trouble(error, source) from error

    def remove(self, location: str) -> None:
        """See `Backend.remove`; removes a symbolic link, not its target."""
        path = local_path(location)
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise _trouble(error, location) from error

    def close(self) -> None:
        """Do nothing: no file is kept open."""
