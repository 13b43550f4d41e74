"""Objects on web servers: read only, whole or by ranges.

* Bytes are returned as stored: a `Content-Encoding` is not removed, a transfer coding is.
* If a server ignores `Range`, its response is read from the start, and the bytes before the span are dropped.
* The size of an object is found by requesting a range of one byte, because servers of signed URLs refuse HEAD.

Spec: RFC 9110 sections 8.8 (validators), 13.1.5 (If-Range), 14 (ranges).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, TypeVar

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.http.asking import Reply, ask
from crawlmill.storage.http.client import Answer, HttpClient
from crawlmill.storage.interface import Stream
from crawlmill.storage.locations import redact
from crawlmill.storage.readahead import ReadAheadStream
from crawlmill.storage.resume import Body, Identity, NothingLeft, ResumingStream
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, retrying

__all__ = ["HttpBackend", "HttpBody", "body_of", "open_http_body", "range_header"]

_CONTENT_RANGE = re.compile(r"\s*bytes\s+(?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)\s*", re.IGNORECASE)

_WORTH_READING_BYTES = 1 << 10

Result = TypeVar("Result")


class HttpBody:
    """The body of a 200 or 206 response; a `resume.Body`."""

    def __init__(self, answer: Answer, start: int, stop: int | None, identity: Identity) -> None:
        self._answer, self.start, self.stop, self.identity = answer, start, stop, identity
        self._left = None if stop is None else stop - start

    def read(self, n: int, /) -> bytes:
        """See `Body.read`."""
        if self._left is not None:
            n = min(n, self._left)
            if n == 0:
                return b""
        piece = self._answer.read(n)
        if self._left is not None:
            if not piece:
                raise Failure(f"the body ended {self._left} bytes before its announced end", transient=True)
            self._left -= len(piece)
        return piece

    def close(self) -> None:
        """See `Body.close`. Reads the last byte of a response, since the connection can then be kept."""
        if self._left is not None and self._left <= _WORTH_READING_BYTES:
            self._answer.drain()
        else:
            self._answer.close()


def open_http_body(
    client: HttpClient, url: str, start: int, stop: int | None, known: Identity | None, kind: str | None = None
) -> Body:
    """Request the bytes from `start` to `stop` once, within the limits of `kind` if given. Raises: Failure."""
    headers = range_header(start, stop)
    if headers and known is not None and known.etag is not None:
        headers["If-Range"] = known.etag
    answer = client.request("GET", url, headers, kind=kind)
    return body_of(answer, start, stop, whole="Range" not in headers)


def range_header(start: int, stop: int | None) -> dict[str, str]:
    """The header that requests the bytes from `start` to `stop`; empty for the whole object."""
    if not start and stop is None:
        return {}
    # A request for an empty span must still find out whether the object exists.
    return {"Range": f"bytes={start}-{'' if stop is None else max(stop - 1, start)}"}


def body_of(answer: Answer, start: int, stop: int | None, *, whole: bool) -> Body:
    """The body of a response to a request for the bytes from `start` to `stop`, or for the `whole` object.

    Raises: Failure; the response is then closed.
    """
    try:
        return _body_of(answer, start, stop, whole=whole)
    except Failure:
        answer.close()
        raise


def _body_of(answer: Answer, start: int, stop: int | None, *, whole: bool) -> Body:
    etag = answer.headers.get("ETag")
    strong = etag if etag is not None and etag.startswith('"') else None
    modified = answer.headers.get("Last-Modified")
    if answer.status == 200:
        return HttpBody(answer, 0, answer.length, Identity(strong, modified, answer.length))
    said = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    total = int(said[3]) if said and said[3] != "*" else None
    if answer.status == 416 and not whole and (total is None or total <= start):
        answer.drain()
        # No byte is at `start`: the object ends there or before.
        return NothingLeft(start, start if total is None else total)
    if answer.status != 206:
        raise answer.failure()
    if not said or said[1] is None:
        raise Failure("the server answers HTTP 206 without saying which bytes it sends")
    first, end = int(said[1]), int(said[2]) + 1
    if not first <= start < end or (total is not None and end > total):
        raise Failure(f"the server sends bytes {first}-{end - 1}, asked for {start}-{'' if stop is None else stop - 1}")
    return HttpBody(answer, first, end, Identity(strong, modified, total))


class HttpBackend:
    """The backend for `http://` and `https://` locations."""

    renames = False

    def __init__(self, client: HttpClient, policy: RetryPolicy) -> None:
        self._client, self._policy = client, policy

    def open(self, location: str, start: int, length: int | None) -> Stream:
        """See `Backend.open`."""
        return self.open_of_kind(None, location, start, length)

    def open_of_kind(self, kind: str | None, location: str, start: int, length: int | None) -> Stream:
        """See `LimitingBackend.open_of_kind`."""
        return ReadAheadStream(
            ResumingStream(
                lambda first, stop, known: open_http_body(self._client, location, first, stop, known, kind),
                redact(location),
                start,
                length,
                Attempts(self._policy, redact(location), self._client.slow_down(location, kind)),
            )
        )

    def ask(
        self, kind: str, location: str, accept: Callable[[Reply], Result], *, source: str, retries: int | None = None
    ) -> Result:
        """See `Storage.ask`."""
        return ask(self._client, self._policy, location, kind, accept, source=source, retries=retries)

    def size(self, location: str) -> int:
        """See `Backend.size`."""

        def ask_size() -> int:
            body = open_http_body(self._client, location, 0, 1, None)
            body.close()
            if body.identity.total is None:
                raise Failure("the server does not say how large the object is")
            return body.identity.total

        return retrying(self._attempts(location), ask_size)

    def exists(self, location: str) -> bool:
        """See `Backend.exists`."""
        try:
            retrying(self._attempts(location), lambda: open_http_body(self._client, location, 0, 1, None).close())
        except SourceError as error:
            if error.reason == "not-found":
                return False
            raise
        return True

    def list(self, location: str) -> Iterator[str]:
        """Raises: UsageError: HTTP has no listings."""
        raise UsageError("folders cannot be listed over HTTP", source=redact(location))

    def write(self, location: str) -> AbstractContextManager[BinaryIO]:
        """Raises: UsageError: HTTP is read-only."""
        raise self._read_only(location)

    def make_folder(self, location: str) -> None:
        """Raises: UsageError."""
        raise self._read_only(location)

    def rename(self, source: str, target: str) -> None:  # noqa: ARG002
        """Raises: UsageError."""
        raise self._read_only(target)

    def remove(self, location: str) -> None:
        """Raises: UsageError."""
        raise self._read_only(location)

    def close(self) -> None:
        """See `Backend.close`."""
        self._client.close()

    def _attempts(self, location: str) -> Attempts:
        return Attempts(self._policy, redact(location), self._client.slow_down(location))

    @staticmethod
    def _read_only(location: str) -> UsageError:
        return UsageError("nothing can be written over HTTP", source=redact(location))
