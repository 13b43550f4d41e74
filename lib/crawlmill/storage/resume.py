"""A stream that resumes after a broken connection, if the object is still the same.

How a broken body is resumed depends on what identifies the object (`Identity`):

* a strong ETag: the rest is requested, and must come from an object with the same ETag;
* else Last-Modified and the total size: both must be equal;
* neither: the span is read again from its start, the part already read is skipped, and its checksum must be equal.
  (After seeking backwards in such an object there is nothing to compare, and the response is accepted as it is.)

If any of these differs, the object is `changed`: parts of two objects are never joined.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from crawlmill.errors import SourceError
from crawlmill.storage.retry import Attempts, Failure

__all__ = ["Body", "Identity", "NothingLeft", "Opener", "ResumingStream"]

_PIECE = 1 << 20
_MIN_ANSWER = 1 << 16


@dataclass(frozen=True)
class Identity:
    """What distinguishes the versions of an object; `total` is its size in bytes. None = unknown."""

    etag: str | None = None
    modified: str | None = None
    total: int | None = None

    @property
    def sure(self) -> bool:
        """Whether another response can be compared with this one."""
        return self.etag is not None or (self.modified is not None and self.total is not None)

    def same(self, other: Identity) -> bool | None:
        """Whether both are of one version; None if unknown. Servers may share an ETag, but not a clock."""
        if self.total is not None and other.total is not None and self.total != other.total:
            return False
        if self.etag is not None and other.etag is not None:
            return self.etag == other.etag
        if self.modified is None or other.modified is None or self.total is None or other.total is None:
            return None
        return self.modified == other.modified

    def completed(self, other: Identity) -> Identity:
        """Fill in missing values from the other identity."""
        return Identity(
            self.etag or other.etag, self.modified or other.modified, other.total if self.total is None else self.total
        )


class Body(Protocol):
    """The body of one response: bytes of the object from `start` to `stop` (exclusive; None: unknown)."""

    start: int
    stop: int | None
    identity: Identity

    def read(self, n: int, /) -> bytes:
        """Read at most `n` bytes; returns b"" only once the body is complete. Raises: Failure: it broke."""

    def close(self) -> None:
        """Keep the connection if the body was read to its end, else close it. Never raises."""


class NothingLeft:
    """The `Body` of a response which says that the object has no byte at or after `start`."""

    def __init__(self, start: int, total: int) -> None:
        self.start, self.identity = start, Identity(total=total)
        self.stop: int | None = start

    def read(self, n: int, /) -> bytes:  # noqa: ARG002
        """Return b""."""
        return b""

    def close(self) -> None:
        """Do nothing."""


Opener = Callable[[int, int | None, Identity | None], Body]
"""Asks once for the bytes from a start to a stop (or to the end) of the object known by an identity."""


class ResumingStream:
    """A `Stream` over the bodies from an opener. The first request is made at once, so that errors come early."""

    def __init__(self, opener: Opener, source: str, start: int, length: int | None, attempts: Attempts) -> None:
        self._open, self._source, self._attempts = opener, source, attempts
        self._start, self._stop = start, None if length is None else start + length
        self._at, self._gained = start, 0
        self._identity: Identity | None = None
        self._body: Body | None = None
        self._cancelled = False
        self._checked, self._checksum = start, 0  # checksum from _start to here, if there is no identity
        self._connect()

    @property
    def size(self) -> int | None:
        """See `Stream.size`."""
        return None if self._stop is None else max(self._stop - self._start, 0)

    @property
    def identity(self) -> Identity:
        """See `Stream.identity`."""
        return self._identity or Identity()

    def read(self, n: int = -1, /) -> bytes:
        """See `Stream.read`."""
        if n < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        while (wanted := n if self._stop is None else min(n, self._stop - self._at)) > 0:
            if self._body is None:
                self._connect()
                continue  # the response may have shown that nothing is left
            body = self._body
            try:
                piece = body.read(wanted)
                if not piece:
                    self._end_of(body)
                    continue
            except Failure as failure:
                self._lost(failure)
                continue
            self._advance(piece)
            return piece
        return b""

    def seek(self, offset: int, /) -> int:
        """See `Stream.seek`."""
        if self._start + offset != self._at:
            self._drop()
            self._at = self._start + offset
        return offset

    def tell(self) -> int:
        """See `Stream.tell`."""
        return self._at - self._start

    def pause(self) -> None:
        """See `Stream.pause`."""
        self._drop()

    def again(self, offset: int) -> ResumingStream:
        """Another stream over the same object, which makes its first request when it is first read."""
        other = copy.copy(self)
        other._body, other._at, other._cancelled = None, self._start + offset, False  # noqa: SLF001 (same class)
        other._checked, other._checksum = self._start, 0  # noqa: SLF001 (a thread may be changing these)
        return other

    def cancel(self) -> None:
        """Make the reading thread end at its next step without further requests; safe to call from any thread."""
        self._cancelled = True

    def close(self) -> None:
        """See `Stream.close`."""
        self._cancelled = True
        self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self) -> None:
        """Open a body whose next byte is the one at `_at`."""
        while self._body is None:
            if self._cancelled:
                raise SourceError("reading was given up", reason="unavailable", source=self._source)
            known = self._identity
            again = known is not None and not known.sure
            try:
                self._body = body = self._open(self._start if again else self._at, self._stop, known)
                if known is not None:
                    self._compare(known, body)
                self._skip(body, compare=again)
            except Failure as failure:
                self._lost(failure)
                continue
            self._identity = body.identity.completed(known or body.identity)
            if self._identity.total is not None:
                self._stop = self._identity.total if self._stop is None else min(self._stop, self._identity.total)

    def _compare(self, known: Identity, body: Body) -> None:
        """Raises: Failure (changed): The response is of another version, or cannot be shown to be of this one."""
        same = known.same(body.identity)
        # A response must state its ETag even to a conditional request: some servers ignore conditions.
        if same is False or (same is None and known.sure):
            sizes = (known.total, body.identity.total)
            more = f": {sizes[0]} bytes before, {sizes[1]} now" if None not in sizes and sizes[0] != sizes[1] else ""
            raise Failure(f"the object changed while it was read{more}", reason="changed")

    def _skip(self, body: Body, *, compare: bool) -> None:
        """Drop the bytes before the current position: a response may begin earlier than requested."""
        at, checksum = body.start, 0
        if at > self._at:
            raise Failure(f"the server sent bytes from {at}, asked for {self._at}")
        while at < self._at:
            border = next(place for place in (self._start, self._checked, self._at) if at < place)
            piece = body.read(min(border, self._at, at + _PIECE) - at)
            if not piece and self._identity is None:
                self._stop = self._start  # the span begins after the end of the object
                return
            if not piece:
                raise Failure(f"the object ends at {at}, it was read up to {self._at}", reason="changed")
            checksum = zlib.crc32(piece, checksum) if at >= self._start else 0
            at += len(piece)
            if compare and at == self._checked and checksum != self._checksum:
                raise Failure("the object changed while it was read", reason="changed")

    def _advance(self, piece: bytes) -> None:
        if self._identity is not None and not self._identity.sure and self._checked == self._at:
            self._checksum = zlib.crc32(piece, self._checksum)
            self._checked += len(piece)
        self._gained += len(piece)
        self._at += len(piece)
        if self._at == self._stop:
            self._drop()

    def _end_of(self, body: Body) -> None:
        """Handle the end of a body: at the object's end, or earlier if the server limits the length of ranges."""
        total = self._identity.total if self._identity else None
        if body.stop is None and total is None:
            self._stop = self._at
        elif body.stop is None or body.stop - body.start < _MIN_ANSWER:
            raise Failure(f"the answer ended at byte {self._at} of {total}", transient=True)
        self._drop()

    def _lost(self, failure: Failure) -> None:
        """Handle a failure by retrying, unless the policy forbids it. Raises: SourceError."""
        self._drop()
        if not self._cancelled:
            gained, self._gained = self._gained, 0
            self._attempts.failed(failure, gained)

    def _drop(self) -> None:
        if self._body is not None:
            body, self._body = self._body, None
            body.close()
