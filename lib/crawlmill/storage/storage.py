"""`Storage`: reads and writes bytes at locations of every kind."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self, TypeVar
from urllib.parse import urlsplit

from crawlmill.errors import FormatError, MissingDependency, SourceError, UsageError
from crawlmill.storage.interface import Backend, CopyingBackend, LimitingBackend, StorageOptions, Stream
from crawlmill.storage.limits import Limiter, name_of
from crawlmill.storage.local import LocalBackend
from crawlmill.storage.locations import SCHEMES, current, redact, scheme_of
from crawlmill.storage.mirrors import Mirrors
from crawlmill.storage.retry import RetryPolicy

if TYPE_CHECKING:
    from crawlmill.storage.http.asking import Reply
    from crawlmill.storage.http.client import HttpClient

__all__ = ["Storage"]

Result = TypeVar("Result")

_BEGINNINGS: Final = 4


class Storage:
    """Reads and writes locations of every kind. Can be shared by threads, but not passed to another process.

    A backend is created, and its packages imported, when its first location is opened. `sleep`, `clock` (seconds, never
    falling) and `random` (a number in [0, 1)) are replaced in tests.
    """

    def __init__(
        self,
        options: StorageOptions | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = random.random,
    ) -> None:
        self.options = options or StorageOptions()
        self._policy = RetryPolicy(self.options.retries, sleep, random)
        self._limiter = Limiter(
            self.options.max_requests_per_second,
            self.options.max_connections_per_host,
            folder=self.options.limits_folder,
            share=self.options.share,
            patience_s=2 * self.options.read_timeout_s,
            clock=clock,
            sleep=sleep,
            random=random,
        )
        self._mirrors = Mirrors(self.options.bases)
        self._clock = clock
        self._client: HttpClient | None = None
        self._backends: dict[str, Backend] = {"file": LocalBackend()}
        self._lock = threading.RLock()
        self._beginnings: dict[str, tuple[int, bytes]] = {}

    def open_stream(
        self, location: str, start: int = 0, length: int | None = None, *, kind: str | None = None
    ) -> Stream:
        """Open a stream over `length` bytes (or all) from byte `start`.

        `kind` names the kind of service (one of `limits.KINDS`) whose limits apply to a web server.

        Raises: SourceError, now or while reading.
        """
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"a span of {length} bytes from {start}")
        return self._mirrors.first(location, lambda place: self._open(place, start, length, kind))

    def found_at(self, location: str) -> str:
        """Where a location was opened: below another base if it is missing below the first; see `StorageOptions`."""
        return self._mirrors.place_of(location)

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object, at most `count`; cached for the last few objects.

        Many ranges of a file may need its beginning: a header, or a dictionary. Raises: SourceError.
        """
        with self._lock:
            asked, found = self._beginnings.pop(location, (0, b""))
        if asked < count:
            with self.open_stream(location, 0, count) as stream:
                asked, found = count, stream.read()
        with self._lock:
            self._beginnings[location] = asked, found
            if len(self._beginnings) > _BEGINNINGS:
                del self._beginnings[next(iter(self._beginnings))]
        return found[:count]

    def read_range(self, location: str, start: int, length: int) -> bytes:
        """Read exactly `length` bytes from byte `start`.

        Raises: FormatError (truncated): the object ends before; SourceError.
        """
        with self.open_stream(location, start, length) as stream:
            found = stream.read()
        if len(found) != length:
            raise FormatError(
                "a range runs past the end of its file",
                reason="truncated",
                source=redact(location),
                offset=start + len(found),
                expected=f"{length} bytes from {start}",
                actual=len(found),
            )
        return found

    def read_all(self, location: str, *, limit: int, kind: str | None = None) -> bytes:
        """Read the whole object, of at most `limit` bytes; `kind` as in `open_stream`.

        Raises: FormatError (too-large); SourceError.
        """
        pieces, left = [], limit
        with self.open_stream(location, kind=kind) as stream:
            while piece := stream.read(min(left + 1, 1 << 20)):
                left -= len(piece)
                pieces.append(piece)
                if left < 0:
                    raise FormatError(
                        "a file is too large", reason="too-large", source=redact(location), expected=f"<= {limit} bytes"
                    )
        return b"".join(pieces)

    def ask(
        self, location: str, accept: Callable[[Reply], Result], *, kind: str, source: str, retries: int | None = None
    ) -> Result:
        """Query a web service of this kind (one of `limits.KINDS`) and return the result of `accept`.

        If `accept` raises a `Failure`, the query is repeated, with the same policy as for other failures, but at most
        `retries` times, if given. `source` is the name of the service in errors.

        Raises: SourceError.
        """
        from crawlmill.storage.http.backend import HttpBackend  # noqa: PLC0415 - many runs do not need it

        with _unavailable(location):
            backend = self._backend(location)
            if not isinstance(backend, HttpBackend):
                raise SourceError("only web servers answer questions", reason="unavailable", source=redact(location))
            return backend.ask(kind, current(location), accept, source=source, retries=retries)

    def connections_to(self, location: str, kind: str) -> int | None:
        """The limit of connections to a web service of this kind, for all processes together; None: no limit."""
        host = urlsplit(current(location)).hostname or ""
        return self._limiter.limits_of(name_of(host, kind)).connections

    def size_of(self, location: str) -> int:
        """The size of the object in bytes. Raises: SourceError."""
        return self._mirrors.first(location, self._size_at)

    def exists(self, location: str) -> bool:
        """Whether a file or folder exists. Raises: SourceError if that cannot be determined."""
        return self._backend(location).exists(current(location))

    def list(self, location: str) -> Iterator[str]:
        """Names of the files at any depth below a folder, relative to it, sorted. Raises: SourceError."""
        return self._backend(location).list(current(location))

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """Open a file for writing; published whole when the block ends normally, else dropped. Raises: SourceError."""
        return self._backend(location).write(current(location))

    def make_folder(self, location: str) -> None:
        """Create a folder and its parents; does nothing on storage without folders. Raises: SourceError."""
        self._backend(location).make_folder(current(location))

    def renames(self, location: str) -> bool:
        """Whether a folder there can be published by `rename` (local, HDFS), or not (S3)."""
        return self._backend(location).renames

    def rename(self, source: str, target: str) -> None:
        """Rename a file or folder within its storage, atomically, to a free name. Raises: UsageError, SourceError."""
        if scheme_of(source) != scheme_of(target):
            raise UsageError("a rename cannot cross kinds of storage", source=redact(target))
        self._backend(source).rename(current(source), current(target))

    def copy(self, source: str, target: str) -> None:
        """Copy a file; from S3 to S3 the bytes are not transferred to this machine. Raises: SourceError."""
        backend = self._backend(target)
        if isinstance(backend, CopyingBackend) and backend is self._backend(source):
            backend.copy(current(source), current(target))
            return
        with self.open_stream(source) as stream, self.write(target) as file:
            shutil.copyfileobj(stream, file, 1 << 20)

    def remove(self, location: str) -> None:
        """Remove a file, or a folder with its contents; does nothing if it does not exist. Raises: SourceError."""
        self._backend(location).remove(current(location))

    def close(self) -> None:
        """Close idle connections; open streams stay open."""
        with self._lock:
            for backend in list(self._backends.values()):
                backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, location: str, start: int, length: int | None, kind: str | None) -> Stream:
        with _unavailable(location):
            backend = self._backend(location)
            if kind is not None and isinstance(backend, LimitingBackend):
                return backend.open_of_kind(kind, current(location), start, length)
            return backend.open(current(location), start, length)

    def _size_at(self, location: str) -> int:
        with _unavailable(location):
            return self._backend(location).size(current(location))

    def _backend(self, location: str) -> Backend:
        scheme = scheme_of(current(location))
        with self._lock:
            if scheme not in self._backends:
                self._backends[scheme] = self._make(scheme, location)
            return self._backends[scheme]

    def _make(self, scheme: str, location: str) -> Backend:
        """Create the backend of a scheme. Modules are imported only if a run needs them."""
        if scheme in ("http", "https"):
            from crawlmill.storage.http.backend import HttpBackend  # noqa: PLC0415

            return HttpBackend(self._http(), self._policy)
        if scheme == "s3":
            from crawlmill.storage.s3.backend import S3Backend  # noqa: PLC0415

            return S3Backend(self.options, self._policy, self._limiter, self._backend("https://"))
        if scheme == "hdfs":
            return self._make_hdfs()
        raise SourceError(
            f"{scheme}:// is not a kind of storage",
            reason="unavailable",
            source=redact(location),
            expected=", ".join(SCHEMES),
        )

    def _make_hdfs(self) -> Backend:
        """WebHDFS if it is configured, or if the cluster does not require Kerberos."""
        from crawlmill.storage.hdfs.conf import read_hadoop_conf, wants_kerberos  # noqa: PLC0415

        if not self.options.webhdfs and wants_kerberos(read_hadoop_conf()):
            from crawlmill.storage.hdfs.program import find_hadoop  # noqa: PLC0415
            from crawlmill.storage.hdfs.program_backend import HadoopFsBackend  # noqa: PLC0415

            return HadoopFsBackend(find_hadoop(), self.options.read_timeout_s, self._policy)
        from crawlmill.storage.hdfs.webhdfs import HdfsBackend  # noqa: PLC0415
        from crawlmill.storage.http.client import HttpClient  # noqa: PLC0415

        # The limits protect other people's servers: on its own cluster a job reads and writes as fast as it can.
        client = HttpClient(self.options.read_timeout_s, Limiter(clock=self._clock, sleep=self._policy.sleep))
        return HdfsBackend(self.options.webhdfs, client, self._policy)

    def _http(self) -> HttpClient:
        from crawlmill.storage.http.client import HttpClient  # noqa: PLC0415

        if self._client is None:
            self._client = HttpClient(self.options.read_timeout_s, self._limiter)
        return self._client


@contextmanager
def _unavailable(location: str) -> Iterator[None]:
    """Report the location as unavailable if its kind of storage cannot be set up (no cluster configured, a bad proxy).

    Other inputs of the run are not affected. Options were checked before; a missing package ends the run.
    """
    try:
        yield
    except MissingDependency:
        raise
    except UsageError as error:
        raise SourceError(
            error.what,
            reason="unavailable",
            source=error.source or redact(location),
            expected=error.expected,
            actual=error.actual,
        ) from error
