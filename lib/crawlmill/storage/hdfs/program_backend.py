"""Files on an HDFS with Kerberos, through the program `hadoop fs`, which can log in with a ticket or a task's token.

Each operation starts a Java VM, which takes a second or two.

* `-cat` does not support ranges (`-head` and `-tail` print a kilobyte): a span is read from the start of the file, and
  the bytes before it are dropped.
* Writes are spooled, put under a temporary name next to the target, and renamed. An existing file is removed just
  before, since `-mv` does not replace files.
* The program treats paths as patterns, so special characters in them are escaped.

Spec: FileSystem Shell of Hadoop 3.4. Tested without Kerberos only.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, Final, TypeVar, cast

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.hdfs.program import Child
from crawlmill.storage.interface import Stream
from crawlmill.storage.locations import redact
from crawlmill.storage.readahead import ReadAheadStream
from crawlmill.storage.resume import Body, Identity, NothingLeft, ResumingStream
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, retrying

__all__ = ["HadoopFsBackend"]

_START_S: Final = 60.0  # time for a Java VM to start, and for the client's own retries
_MIN_BYTES_PER_S: Final = 1 << 20
_LISTED: Final = re.compile(r"([d-])[-rwxstST+]{9,10} .*? \d{4}-\d\d-\d\d \d\d:\d\d (.*)")
_PATTERN: Final = re.compile(r"([\\*?\[\]{}^,])")

Result = TypeVar("Result")


class _Cat:
    """The bytes of a whole file; a `resume.Body`."""

    def __init__(self, command: list[str], identity: Identity, timeout_s: float) -> None:
        self.start, self.stop, self.identity = 0, identity.total, identity
        self._left, self._timeout_s = identity.total or 0, timeout_s
        self._child = Child(command)

    def read(self, n: int, /) -> bytes:
        """See `Body.read`."""
        piece = self._child.read(max(min(n, self._left), 1), self._timeout_s)[: self._left]
        self._left -= len(piece)
        if not piece and self._left:
            raise Failure(f"the file ended {self._left} bytes before its end", transient=True)
        return piece

    def close(self) -> None:
        """See `Body.close`."""
        self._child.close()


class HadoopFsBackend:
    """The backend for `hdfs://` locations."""

    renames = True

    def __init__(self, binary: str, read_timeout_s: float, policy: RetryPolicy) -> None:
        self._command = [binary, "fs"]
        self._timeout_s, self._policy = _START_S + read_timeout_s, policy

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """See `Backend.open`."""

        def ask(start: int, stop: int | None, _: Identity | None) -> Body:
            kind, identity = self._stat(location)
            if kind == "directory":
                raise Failure("a folder, not a file", reason="not-found")
            total = identity.total or 0
            if start >= (total if stop is None else min(stop, total)):
                return NothingLeft(start, total)
            return _Cat([*self._command, "-cat", _pattern(location)], identity, self._timeout_s)

        return ReadAheadStream(ResumingStream(ask, redact(location), start, length, self._attempts(location)))

    def size(self, location: str) -> int:
        """See `Backend.size`."""

        def ask() -> int:
            kind, identity = self._stat(location)
            if kind == "directory":
                raise Failure("a folder, not a file", reason="not-found")
            return identity.total or 0

        return self._retrying(location, ask)

    def exists(self, location: str) -> bool:
        """See `Backend.exists`."""
        return self._retrying(location, lambda: self._kind(location)) is not None

    def list(self, location: str) -> Iterator[str]:
        """See `Backend.list`."""
        folder = _path_of(location).rstrip("/")
        said = self._retrying(location, lambda: self._run("-ls", "-R", _pattern(location)))
        found = []
        for line in said.split("\n")[:-1]:
            listed = _LISTED.fullmatch(line)
            if listed is None:
                raise SourceError(f"hadoop fs lists {line[:200]!r}", reason="unavailable", source=redact(location))
            path = _path_of(listed[2]) if "://" in listed[2] else listed[2]
            if path == folder:
                raise SourceError("not a folder", reason="not-found", source=redact(location))
            if listed[1] != "d":
                found.append(path.removeprefix(f"{folder}/"))
        yield from sorted(found)

    @contextmanager
    def write(self, location: str) -> Iterator[BinaryIO]:
        """See `Backend.write`; spools to the local disk."""
        with tempfile.TemporaryFile() as spool:
            yield cast(BinaryIO, spool)
            spool.flush()
            folder, _, name = location.rpartition("/")
            beside = f"{folder}/.{name}.{secrets.token_hex(4)}.tmp"
            try:
                self._retrying(location, lambda: self._put(cast(IO[bytes], spool), folder, beside))
                self._retrying(location, lambda: self._replace(beside, location))
            except BaseException:
                self._give_up(beside)
                raise

    def make_folder(self, location: str) -> None:
        """See `Backend.make_folder`."""
        self._retrying(location, lambda: self._run("-mkdir", "-p", _pattern(location)))

    def rename(self, source: str, target: str) -> None:
        """See `Backend.rename`."""
        if self.exists(target):
            raise UsageError("the target of a rename exists already", source=redact(target))
        self._retrying(source, lambda: self._run("-mv", _pattern(source), _pattern(target)))

    def remove(self, location: str) -> None:
        """See `Backend.remove`. Raises: UsageError for the root."""
        if not _path_of(location).strip("/"):
            raise UsageError("a whole file system cannot be removed", source=redact(location))
        self._retrying(location, lambda: self._run("-rm", "-r", "-f", "-skipTrash", _pattern(location)))

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _put(self, spool: IO[bytes], folder: str, location: str) -> None:
        command = ("-put", "-f", "-", _pattern(location))
        try:
            self._run(*command, spool=spool)
        except Failure as failure:
            if failure.reason != "not-found":
                raise
            self._run("-mkdir", "-p", _pattern(folder))
            self._run(*command, spool=spool)

    def _replace(self, source: str, target: str) -> None:
        kind = self._kind(target)
        if kind == "directory":  # -mv would move the file into the directory
            raise Failure("the target is a folder", reason="denied")
        if kind is not None:
            self._run("-rm", "-f", "-skipTrash", _pattern(target))
        self._run("-mv", _pattern(source), _pattern(target))

    def _give_up(self, location: str) -> None:
        try:
            self._run("-rm", "-f", "-skipTrash", _pattern(location))
        except Failure:
            pass  # the error that led here is reported instead

    def _kind(self, location: str) -> str | None:
        try:
            return self._stat(location)[0]
        except Failure as failure:
            if failure.reason != "not-found":
                raise
            return None

    def _stat(self, location: str) -> tuple[str, Identity]:
        """The type (`directory`, `regular file` or the like), the size and the modification time."""
        said = self._run("-stat", "%b %Y %F", _pattern(location))
        size, modified, kind = [*said.strip().split(" ", 2), "", ""][:3]
        if not size.isdecimal():
            raise Failure(f"hadoop fs -stat says {said[:200]!r}")
        return kind, Identity(None, modified, int(size))

    def _run(self, *arguments: str, spool: IO[bytes] | None = None) -> str:
        """The output of a command that has ended without error. Raises: Failure."""
        timeout_s, stdin = self._timeout_s, cast("IO[bytes] | int", subprocess.DEVNULL)
        if spool is not None:
            os.lseek(spool.fileno(), 0, os.SEEK_SET)
            timeout_s, stdin = timeout_s + os.fstat(spool.fileno()).st_size / _MIN_BYTES_PER_S, spool
        child = Child([*self._command, *arguments], stdin)
        try:
            return b"".join(iter(lambda: child.read(1 << 20, timeout_s), b"")).decode("utf-8", "surrogateescape")
        finally:
            child.close()

    def _retrying(self, location: str, ask: Callable[[], Result]) -> Result:
        return retrying(self._attempts(location), ask)

    def _attempts(self, location: str) -> Attempts:
        return Attempts(self._policy, redact(location))


def _path_of(location: str) -> str:
    """The path of a location, unchanged."""
    return "/" + location.partition("://")[2].partition("/")[2]


def _pattern(location: str) -> str:
    """A pattern that matches only this location."""
    return _PATTERN.sub(r"\\\1", location)
