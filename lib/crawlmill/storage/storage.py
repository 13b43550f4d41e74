"""`Storage`: reads and writes bytes at any kind of location."""

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
    """Reads and writes locations of every kind; safe to share between threads, not to carry into another process.

    A backend is made, and its packages are imported, when its first location is opened. `sleep`, `clock` (seconds
    that only grow) and `random` (a number in [0, 1)) are given by tests.
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
        """A stream over `length` bytes (or all there are) from byte `start`.

        `kind` names the kind of service (one of `limits.KINDS`) by whose limits a web server is asked.

        Raises: SourceError, now or while reading.
        """
        if start < 0 or (length is not None and length < 0):
            raise ValueError(f"a span of {length} bytes from {start}")
        return self._mirrors.first(location, lambda place: self._open(place, start, length, kind))

    def found_at(self, location: str) -> str:
        """Where a location was opened: below another base than the first, if it is not there; see `StorageOptions`."""
        return self._mirrors.place_of(location)

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object, at most `count`; those of the last few objects are remembered.

        Many ranges of a file may need what it begins with: a header, or a dictionary. Raises: SourceError.
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
        """Exactly `length` bytes from byte `start`.

        Raises: FormatError (truncated) if the object ends before; SourceError.
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
        """The whole object, of at most `limit` bytes; `kind` as in `open_stream`.

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
        """What `accept` makes of the answer of a web service of this kind (one of `limits.KINDS`).

        An answer for which it raises a `Failure` is asked for again, by the same policy as all that fails; at most
        `retries` times, if that is less. `source` is what errors call the service.

        Raises: SourceError.
        """
        from crawlmill.storage.http.backend import HttpBackend  # noqa: PLC0415 - not of every run

        with _unavailable(location):
            backend = self._backend(location)
            if not isinstance(backend, HttpBackend):
                raise SourceError("only web servers answer questions", reason="unavailable", source=redact(location))
            return backend.ask(kind, current(location), accept, source=source, retries=retries)

    def connections_to(self, location: str, kind: str) -> int | None:
        """How many connections to a web service of this kind all processes may have together; None: any number."""
        host = urlsplit(current(location)).hostname or ""
        return self._limiter.limits_of(name_of(host, kind)).connections

    def size_of(self, location: str) -> int:
        """Bytes of the object. Raises: SourceError."""
        return self._mirrors.first(location, self._size_at)

    def exists(self, location: str) -> bool:
        """Whether a file or folder is there. Raises: SourceError where that cannot be found out."""
        return self._backend(location).exists(current(location))

    def list(self, location: str) -> Iterator[str]:
        """Names of the files at any depth below a folder, relative to it, sorted. Raises: SourceError."""
        return self._backend(location).list(current(location))

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """A binary file; published whole when the block ends well, not at all when it raises. Raises: SourceError."""
        return self._backend(location).write(current(location))

    def make_folder(self, location: str) -> None:
        """Make a folder and those above it; nothing on storage without folders. Raises: SourceError."""
        self._backend(location).make_folder(current(location))

    def renames(self, location: str) -> bool:
        """Whether a folder there can be published by `rename` (local, HDFS) or not (S3)."""
        return self._backend(location).renames

    def rename(self, source: str, target: str) -> None:
        """Give a file or folder a free name of the same storage, at once. Raises: UsageError, SourceError."""
        if scheme_of(source) != scheme_of(target):
            raise UsageError("a rename cannot cross kinds of storage", source=redact(target))
        self._backend(source).rename(current(source), current(target))

    def copy(self, source: str, target: str) -> None:
        """Copy a file; from S3 to S3 its bytes do not come here. Raises: SourceError."""
        backend = self._backend(target)
        if isinstance(backend, CopyingBackend) and backend is self._backend(source):
            backend.copy(current(source), current(target))
            return
        with self.open_stream(source) as stream, self.write(target) as file:
            shutil.copyfileobj(stream, file, 1 << 20)

    def remove(self, location: str) -> None:
        """Remove a file, or a folder with its contents; nothing if there is none. Raises: SourceError."""
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
        """The backend of a scheme. What a run does not read is not imported."""
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
        """WebHDFS if it is named, or if no ticket is wanted."""
        from crawlmill.storage.hdfs.conf import read_hadoop_conf, wants_kerberos  # noqa: PLC0415

        if not self.options.webhdfs and wants_kerberos(read_hadoop_conf()):
            from crawlmill.storage.hdfs.program import find_hadoop  # noqa: PLC0415
            from crawlmill.storage.hdfs.program_backend import HadoopFsBackend  # noqa: PLC0415

            return HadoopFsBackend(find_hadoop(), self.options.read_timeout_s, self._policy)
        from crawlmill.storage.hdfs.webhdfs import HdfsBackend  # noqa: PLC0415
        from crawlmill.storage.http.client import HttpClient  # noqa: PLC0415

        # The limits are for servers of others: on a cluster's own, a job reads and writes as fast as it can.
        client = HttpClient(self.options.read_timeout_s, Limiter(clock=self._clock, sleep=self._policy.sleep))
        return HdfsBackend(self.options.webhdfs, client, self._policy)

    def _http(self) -> HttpClient:
        from crawlmill.storage.http.client import HttpClient  # noqa: PLC0415

        if self._client is None:
            self._client = HttpClient(self.options.read_timeout_s, self._limiter)
        return self._client


@contextmanager
def _unavailable(location: str) -> Iterator[None]:
    """Where its kind of storage cannot be set up (no cluster is named, no such proxy), this location is unavailable.

    What else a run reads is none the worse for that. Options were judged before; a missing package concerns the run.
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
