"""Transfer codings that `http.client` does not decode: gzip or deflate within chunks.

A server may send them only on request (`TE`), which is never made; some send them anyway. `http.client` then returns,
instead of the object's bytes, the sequence of chunks with a compressed stream inside, as a body that ends with the
connection.

Spec: RFC 9112 sections 6.1 and 7.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable

from crawlmill.storage.retry import Failure

__all__ = ["transfer_decoder"]

_MAX_LINE = 4096
_MAX_TRAILER_LINES = 100
_PIECE = 1 << 16
_CHUNK_SIZE = re.compile(rb"\s*([0-9A-Fa-f]{1,15})\s*(;.*)?", re.DOTALL)

Read = Callable[[int], bytes]
"""Reads at most so many bytes; b"" at the end."""


def transfer_decoder(coding: str, read: Read) -> Read | None:
    """A function that reads the object's bytes, given one that reads the connection; None if `http.client` decodes it.

    Raises: Failure: immediately for an unknown coding, while reading for a truncated or damaged body.
    """
    names = [name for part in coding.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not names or coding.strip().lower() == "chunked":
        return None
    if names[-1] == "chunked":
        read = _Chunks(read).read
        names.pop()
    if not names:
        return read
    if names not in (["gzip"], ["x-gzip"], ["deflate"]):
        raise Failure(f"the server sends a transfer coding that is not supported: {coding[:60]!r}")
    return _Inflated(read).read


class _Chunks:
    """The content of a chunked body."""

    def __init__(self, read: Read) -> None:
        self._read, self._raw = read, bytearray()
        self._left = 0
        self._ended = False

    def read(self, n: int) -> bytes:
        if not self._left and not self._ended:
            size = _CHUNK_SIZE.fullmatch(self._line())
            if not size:
                raise Failure("a chunked body is damaged: no chunk size where one should be", transient=True)
            self._left = int(size[1], 16)
            if not self._left:
                self._trailer()
        if self._ended:
            return b""
        if not self._raw:
            self._fill()
        piece = bytes(self._raw[: min(n, self._left)])
        del self._raw[: len(piece)]
        self._left -= len(piece)
        if not self._left and self._line().strip():
            raise Failure("a chunked body is damaged: a chunk is longer than its size says", transient=True)
        return piece

    def _trailer(self) -> None:
        for _ in range(_MAX_TRAILER_LINES):
            if not self._line().strip():
                self._ended = True
                return
        raise Failure(f"a chunked body has a trailer of more than {_MAX_TRAILER_LINES} lines")

    def _line(self) -> bytes:
        while (end := self._raw.find(b"\n")) < 0:
            if len(self._raw) > _MAX_LINE:
                raise Failure(f"a chunked body has a line of more than {_MAX_LINE} bytes")
            self._fill()
        line = bytes(self._raw[:end])
        del self._raw[: end + 1]
        return line

    def _fill(self) -> None:
        piece = self._read(_PIECE)
        if not piece:
            raise Failure("the connection was closed within a chunked body", transient=True)
        self._raw += piece


class _Inflated:
    """The content of a gzip or zlib stream, inflated only as far as requested."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._inflate = zlib.decompressobj(wbits=47)  # 47: gzip or zlib, according to the header

    def read(self, n: int) -> bytes:
        try:
            while not self._inflate.eof:
                packed = self._inflate.unconsumed_tail or self._read(_PIECE)
                if not packed:
                    raise Failure("the connection was closed within a compressed body", transient=True)
                if piece := self._inflate.decompress(packed, n):
                    return piece
        except zlib.error as error:
            raise Failure(f"a compressed body is damaged: {error}", transient=True) from error
        if self._inflate.unused_data or self._read(1):
            raise Failure("a compressed body is followed by junk", transient=True)
        return b""
