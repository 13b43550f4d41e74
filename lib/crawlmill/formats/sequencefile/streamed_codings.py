"""Removes the codings of a body that comes in pieces, in bounded memory, and digests every form on the way.

It serves to find which form of a body a digest covers; to get the body itself use `payload.codings`, which describes
how codings are recognised. Deviations from it, which do not matter for true digests:

* A coding is recognised by the first bytes of a body: `chunked` by a size line, `gzip` and `zstd` by their magic;
  `deflate` and `br` are assumed. A coding that is not recognised is skipped.
* The output for a truncated or damaged body ends somewhere before the damage.

Cost is bounded: each coding may yield 64 MiB, or 64 times the stored size; `too_large` says that one exceeded it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.formats.payload.codings import SIZE_LINE, has_zlib_header
from crawlmill.formats.payload.compressed import BrotliDecoder, Decoder, ZlibDecoder, ZstdDecoder

__all__ = ["MAX_RATIO", "FormDigests"]

_SHOWN: Final = 32  # bytes needed to recognise a coding
_SIZE: Final = re.compile(rb"[ \t]*[0-9A-Fa-f]{1,15}[ \t]*(?:;|\r?\n)")
_MAX_LINE: Final = 1 << 16
_WINDOW: Final = 64 << 20
_LEAST: Final = 64 << 20
MAX_RATIO: Final = 64

Step = Callable[[bytes], Iterator[bytes]]


class FormDigests:
    """Digests all forms of one body.

    Args:
        codings: The names of its codings, outermost first.
        digest: Creates a hasher.
    """

    def __init__(self, codings: list[str], digest: Callable[[], Any]) -> None:
        self._stages = [_Stage(coding) for coding in codings]
        self._hashers = [digest() for _ in codings]
        self._taken = 0
        self.too_large = False

    def update(self, piece: bytes | memoryview) -> None:
        """Add the next piece of the body as stored.

        Raises:
            MissingDependency: The body is coded with `br` or `zstd`, and the package that decodes it is not installed.
        """
        self._taken += len(piece)
        self._push(0, bytes(piece))

    def digests(self) -> set[bytes]:
        """The digests of all forms, once the body has ended."""
        for at, stage in enumerate(self._stages):
            try:
                for piece in stage.end():
                    self._hashers[at].update(piece)
                    self._push(at + 1, piece)
            except FormatError:
                self.too_large = True
        return {hasher.digest() for hasher in self._hashers}

    def _push(self, at: int, piece: bytes) -> None:
        if at == len(self._stages) or self.too_large:
            return
        stage = self._stages[at]
        try:
            for out in stage.feed(piece):
                if stage.given > max(_LEAST, self._taken * MAX_RATIO):
                    self.too_large = True
                    return
                self._hashers[at].update(out)
                self._push(at + 1, out)
        except FormatError:  # the window is too large
            self.too_large = True


class _Stage:
    """One coding, which is recognised by the first bytes or skipped."""

    def __init__(self, coding: str) -> None:
        self._coding, self._first = coding, b""
        self._step: Step | None = None
        self.given = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._step is None:
            self._first += data
            if len(self._first) < _SHOWN:
                return
            data, self._first = self._first, b""
            self._step = _step(self._coding, data)
        for piece in self._step(data):
            self.given += len(piece)
            yield piece

    def end(self) -> Iterator[bytes]:
        """Process a body of very few bytes."""
        if self._step is None and self._first:
            self._step = _step(self._coding, self._first)
            yield from self._step(self._first)


def _step(coding: str, first: bytes) -> Step:
    """The decoder of a coding, for a body that begins with these bytes."""
    if coding == "chunked" and _SIZE.match(first):
        return _Chunks().feed
    if coding in ("gzip", "x-gzip") and first.startswith(b"\x1f\x8b\x08"):
        return _Streams(partial(ZlibDecoder, 31), again=True).feed
    if coding == "zstd" and first.startswith(b"\x28\xb5\x2f\xfd"):
        return _Streams(partial(ZstdDecoder, _WINDOW), again=True).feed
    if coding == "deflate":
        return _Streams(partial(ZlibDecoder, 15 if has_zlib_header(first) else -15)).feed
    if coding == "br":
        return _Streams(BrotliDecoder).feed
    return lambda data: iter((data,))


class _Chunks:
    """The chunks of RFC 9112 section 7.1, up to the last one or to damage."""

    def __init__(self) -> None:
        self._left, self._line = 0, b""
        self._behind_chunk = self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(data) and not self._ended:
            if self._left:
                piece = data[at : at + self._left]
                at += len(piece)
                self._left -= len(piece)
                self._behind_chunk = not self._left
                yield piece
                continue
            end = data.find(b"\n", at) + 1 or len(data)
            self._line += data[at:end]
            at = end
            if self._line.endswith(b"\n"):
                self._take_line()
            elif len(self._line) > _MAX_LINE:
                self._ended = True

    def _take_line(self) -> None:
        line, self._line = self._line, b""
        if self._behind_chunk:
            self._behind_chunk = False
            self._ended = line not in (b"\r\n", b"\n")
            return
        size = SIZE_LINE.fullmatch(line)
        self._left = int(size[1], 16) if size else 0
        self._ended = not self._left


class _Streams:
    """One compressed stream; with `again`, more may follow. Other bytes after it are ignored."""

    def __init__(self, make: Callable[[], Decoder], *, again: bool = False) -> None:
        self._make, self._again = make, again
        self._stream: Decoder | None = make()

    def feed(self, data: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(data) and (stream := self._stream) is not None:
            step = data[at : at + stream.step]
            try:
                yield from stream.feed(step)
            except stream.error:
                self._stream = None
                return
            at += len(step)
            if stream.unused is not None:
                at -= stream.unused
                self._stream = self._make() if self._again else None
