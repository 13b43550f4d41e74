"""Local files: plain paths and `file://` URIs.

A file is written under a temporary name next to its target and then renamed, so that no reader ever sees half of it,
whatever kills the writer. Pipes and devices are read forward and written in place: they cannot be renamed and have no
size.
"""

from __future__ import annotations

import errno
import os
import secrets
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
    """The access error that an operating system's error stands for."""
    reason = "not-found" if error.errno in _NOT_FOUND else "denied" if error.errno in _DENIED else "unavailable"
    return SourceError(error.strerror or type(error).__name__, reason=reason, source=location)


class LocalStream:
    """A span of a local file, unbuffered: whoever reads small pieces brings a buffer."""

    def __init__(self, location: str, start: int = 0, length: int | None = None) -> None:
        self._location, self._start, self._length = location, start, length
        self._position = 0
        self.identity = Identity()
        try:
            # O_NONBLOCK is not used: opening a pipe waits for its writer, as every tool does.
            self._file = local_path(location).open("rb", buffering=0)
        except OSError as error:
            raise _trouble(error, location) from error
        try:
            self.size = self._open_span()
        except OSError as error:
            self._file.close()
            raise _trouble(error, location) from error

    def _open_span(self) -> int | None:
        """Go to the start of the span; its size, or None for a pipe."""
        state = os.fstat(self._file.fileno())
        if not stat.S_ISREG(state.st_mode):
            left = self._start
            while left and (piece := self._file.read(min(left, _PIECE))):
                left -= len(piece)
            return None
        self.identity = Identity(None, str(state.st_mtime_ns), state.st_size)
        if self._start:
            self._file.seek(self._start)
        there = max(state.st_size - self._start, 0)
        return there if self._length is None else min(there, self._length)

    def read(self, n: int = -1, /) -> bytes:
        """As `Stream.read`."""
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
        """As `Stream.seek`. Raises: SourceError (unavailable) on a pipe."""
        try:
            self._file.seek(self._start + offset)
        except OSError as error:
            what = "a pipe cannot be read twice" if error.errno == errno.ESPIPE else str(error.strerror)
            raise SourceError(what, reason="unavailable", source=self._location) from error
        self._position = offset
        return offset

    def tell(self) -> int:
        """As `Stream.tell`."""
        return self._position

    def pause(self) -> None:
        """As `Stream.pause`: nothing."""

    def close(self) -> None:
        """As `Stream.close`."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LocalBackend:
    """The local file system."""

    renames = True

    def open(self, location: str, start: int, length: int | None) -> LocalStream:
        """As `Backend.open`."""
        return LocalStream(location, start, length)

    def size(self, location: str) -> int:
        """As `Backend.size`; a folder or pipe has none (not-found)."""
        try:
            state = local_path(location).stat()
        except OSError as error:
            raise _trouble(error, location) from error
        if not stat.S_ISREG(state.st_mode):
            raise SourceError("not a regular file", reason="not-found", source=location)
        return state.st_size

    def exists(self, location: str) -> bool:
        """As `Backend.exists`; a dangling link is there."""
        try:
            local_path(location).lstat()
        except OSError as error:
            if error.errno in _NOT_FOUND:
                return False
            raise _trouble(error, location) from error
        return True

    def list(self, location: str) -> Iterator[str]:
        """As `Backend.list`."""
        folder = local_path(location)

        def refuse(error: OSError) -> None:
            raise _trouble(error, location) from error

        found = []
        for where, _, names in os.walk(folder, onerror=refuse):
            found += [Path(where, name).relative_to(folder).as_posix() for name in names]
        yield from sorted(found)

    @contextmanager
    def write(self, location: str) -> Iterator[BinaryIO]:
        """As `Backend.write`; makes the folders above. Through a link, the file it names is replaced."""
        path = Path(os.path.realpath(local_path(location)))
        in_place = path.exists() and not path.is_file()
        beside = path if in_place else path.with_name(f".{path.name[:40]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
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
            if error.errno in _FULL:  # other errors may be of whatever the caller does in its block
                raise _trouble(error, location) from error
            raise
        finally:
            if not in_place:
                beside.unlink(missing_ok=True)

    def make_folder(self, location: str) -> None:
        """As `Backend.make_folder`."""
        try:
            local_path(location).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _trouble(error, location) from error

    def rename(self, source: str, target: str) -> None:
        """As `Backend.rename`."""
        if self.exists(target):
            raise UsageError("the target of a rename exists already", source=target)
        try:
            local_path(source).rename(local_path(target))
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise UsageError("the target of a rename exists already", source=target) from error
            raise _trouble(error, source) from error

    def remove(self, location: str) -> None:
        """As `Backend.remove`; of a link, the link."""
        path = local_path(location)
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise _trouble(error, location) from error

    def close(self) -> None:
        """Nothing is kept open."""
