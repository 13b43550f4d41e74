"""Queries to a service: one GET whose whole answer is used, repeated until the answer is usable.

A file stays the same, so a broken download of it can be resumed. The answer to a query is made anew each time, so the
caller decides whether it is usable: a body that ends early, a status, or a page of HTML instead of data are reasons to
ask again, by the same policy as for files.
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
    """The answer to a question, its body unread."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.status = answer.status

    def pieces(self) -> Iterator[bytes]:
        """The body, in pieces, its content coding undone. Raises: Failure where it ends early."""
        coding = self._answer.headers.get("Content-Encoding", "identity").strip().lower()
        if coding in _CODINGS:
            return _inflated(self._raw())
        if coding not in ("", "identity"):
            raise Failure(f"the server answers in the content coding {coding[:20]}, which was not asked for")
        return self._raw()

    def head(self, n: int) -> bytes:
        """The first bytes of the body, at most `n`; the rest is not wanted, whatever is wrong with it."""
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
        """What the status means if it is no success."""
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
    """What `accept` makes of the answer, which raises a Failure for one that cannot be used.

    Raises:
        SourceError: There is no usable answer after all retries, or after so many.
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
    """The content of a gzip body, whose members are proven. Raises: Failure."""
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
