"""What codecs read from: a binary stream that can seek, and a window of it held in memory."""

from __future__ import annotations

from typing import Final, Protocol

__all__ = ["ByteSource", "CannotGoBackError", "Replay", "Window", "read_up_to"]

_PIECE: Final = 1 << 20


class ByteSource(Protocol):
    """A stream of bytes. `read` may return fewer bytes than requested, and `b""` only at the end."""

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes."""
        ...

    def seek(self, offset: int, /) -> int:
        """Continue at an absolute offset within the source."""
        ...


def read_up_to(source: ByteSource, length: int) -> bytes:
    """The next `length` bytes of a source; fewer only at its end."""
    piece = source.read(length)
    if len(piece) == length or not piece:
        return piece
    pieces, left = [piece], length - len(piece)
    while left and (piece := source.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


class CannotGoBackError(Exception):
    """A source that only reads forward was asked to seek."""


class Replay:
    """A source whose first bytes were read already and are returned again, without a second request."""

    def __init__(self, source: ByteSource, data: bytes) -> None:
        self._source, self._data = source, data

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes."""
        if not self._data:
            return self._source.read(n)
        piece, self._data = self._data[:n], self._data[n:]
        return piece

    def seek(self, offset: int, /) -> int:
        """Continue at an absolute offset of the source."""
        self._data = b""
        return self._source.seek(offset)


class Window:
    """The part of a source that is in memory.

    `data` contains it, `at` is the current position in `data`, `start` the offset of `data[0]` in the source. Bytes
    before `at` may be dropped whenever more is read, unless `keep` protects them.
    """

    __slots__ = ("_chunk", "_kept", "_source", "at", "data", "ended", "start")

    def __init__(self, source: ByteSource, *, start: int = 0, chunk: int = 1 << 18) -> None:
        self._source, self._chunk = source, chunk
        self._kept: int | None = None
        self.data, self.at, self.start, self.ended = b"", 0, start, False

    @property
    def offset(self) -> int:
        """The current offset in the source."""
        return self.start + self.at

    @property
    def held(self) -> int:
        """The number of bytes in memory from `at` on."""
        return len(self.data) - self.at

    def more(self) -> bool:
        """Read one more chunk, and drop what was passed; False if the source has ended."""
        return self.hold(self.held + 1)

    def hold(self, count: int) -> bool:
        """Have at least `count` bytes in memory from `at` on; False if the source has fewer."""
        missing = self.at + count - len(self.data)
        if missing <= 0:
            return True
        pieces: list[bytes] = []  # joined once, since a large buffer comes in many pieces
        try:
            while missing > 0 and not self.ended:
                piece = self._source.read(self._chunk)
                pieces.append(piece)
                missing -= len(piece)
                self.ended = not piece
        finally:  # bytes read before an error are kept
            if pieces:
                cut = self.at if self._kept is None else max(self._kept - self.start, 0)
                self.data = b"".join((self.data[cut:], *pieces))
                self.start += cut
                self.at -= cut
        return missing <= 0

    def keep(self, offset: int | None) -> None:
        """Drop nothing from this offset on, until called with None."""
        self._kept = offset

    def go_to(self, offset: int) -> None:
        """Move to an offset of the source, before or after the window."""
        if self.start <= offset <= self.start + len(self.data):
            self.at = offset - self.start
            return
        self._source.seek(offset)
        self.data, self.at, self.start, self.ended, self._kept = b"", 0, offset, False, None
