"""Queries to a web service: a GET whose whole response is used, repeated until the response is usable.

A file does not change, so a broken download can be resumed. The response to a query is generated each time, so the
caller decides whether it is usable: a truncated body, a status, or an HTML page instead of data are reasons to ask
again, with the same retry policy as for files.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from crawlmill.storage.http.client import Answer, HttpClient
from crawlmill.storage.retry import Attempts, Failure, RetryPolicy, retrying

__all__ = ["Reply", "ask"]

_PIECE: Final = 1 << 18
_CODINGS: Final = ("gzip", "x-gzip")

Result = TypeVar("Result")


class Reply:
    """The response to a query; its body has not been read."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status = answer.status

    def pieces(self) -> Iterator[bytes]:
        """Yield the body in pieces, with its content coding removed. Raises: Failure: the body is truncated."""
        coding = self._answer.headers.get("Content-Encoding", "identity").strip().lower()
        if coding in _CODINGS:
            return _inflated(self._raw())
        if coding not in ("", "identity"):
            raise Failure(f"the server answers in the content coding {coding[:20]}, which was not asked for")
        return self._raw()

    def head(self, n: int) -> bytes:
        """The first bytes of the body, at most `n`; the rest is dropped, and its errors ignored."""
        found = b""
        try:
            for piece in self.pieces():
                found += piece
                if len(found) >= n:
                    break
        except Failure:
            pass
        return found[:n]

    def failure(self) -> Failure:
        """The failure that the status means, if it is not a success."""
        return self._answer.failure()

    def _raw(self) -> Iterator[bytes]:
        left = self._answer.length
        while left is None or left > 0:
            piece = self._answer.read(_PIECE)
            if not piece:
                break
            left = None if left is None else left - len(piece)
            yield piece
        if left:
            raise Failure(f"the body ended {left} bytes before its announced end", transient=True)


def ask(
    client: HttpClient,
    policy: RetryPolicy,
    location: str,
    kind: str | None,
    accept: Callable[[Reply], Result],
    *,
    source: str,
    retries: int | None = None,
) -> Result:
    """Send a query and return the result of `accept`, which raises a Failure for an unusable response.

    Raises:
        SourceError: There was no usable response after all retries (`retries`, if given).
    """
    if retries is not None:
        policy = RetryPolicy(min(retries, policy.retries), policy.sleep, policy.random)

    def once() -> Result:
        answer = client.request("GET", location, {"Accept-Encoding": "gzip"}, kind=kind)
        try:
            return accept(Reply(answer))
        finally:
            answer.close()

    return retrying(Attempts(policy, source, client.slow_down(location, kind)), once)


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a gzip body, verified member by member. Raises: Failure."""
    inflater, begun = zlib.decompressobj(31), False
    try:
        for piece in pieces:
            data = piece
            while data:
                if inflater.eof:
                    inflater, begun = zlib.decompressobj(31), False
                begun = True
                yield inflater.decompress(data)
                data = inflater.unused_data
    except zlib.error as error:
        raise Failure(f"the body is damaged: {error}", transient=True) from error
    if begun and not inflater.eof:
        raise Failure("the body ended before the end of its gzip member", transient=True)
