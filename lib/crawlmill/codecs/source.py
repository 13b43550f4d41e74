"""What a codec reads from: a binary stream that can go back, and a window of it held in memory."""

from __future__ import annotations

from typing import Final, Protocol

__all__ = ["ByteSource", "CannotGoBackError", "Replay", "Window", "read_up_to"]

_PIECE: Final = 1 << 20


class ByteSource(Protocol):
    """A stream of bytes. `read` may return fewer bytes than asked for, and `b""` only at the end."""

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes."""
        ...

    def seek(self, offset: int, /) -> int:
        """Continue at an absolute offset within the source."""
        ...


def read_up_to(source: ByteSource, length: int) -> bytes:
    """The next bytes of a source: `length`, fewer only where it ends."""
    piece = source.read(length)
    if len(piece) == length or not piece:
        return piece
    pieces, left = [piece], length - len(piece)
    while left and (piece := source.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


class CannotGoBackError(Exception):
    """A source was asked to continue at an offset, and only goes forward."""


class Replay:
    """A source of which some bytes were read already, which are given again; no second request is made for them."""

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
    """The part of a source that is held in memory.

    `data` holds it, `at` is the position in `data` that reading has reached, `start` the offset of `data[0]` in the
    source. What is before `at` may be let go whenever more is read, unless `keep` marks it.
    """

    __slots__ = ("_chunk", "_kept", "_source", "at", "data", "ended", "start")

    def __init__(self, source: ByteSource, *, start: int = 0, chunk: int = 1 << 18) -> None:
        self._source, self._chunk = source, chunk
        self._kept: int | None = None
        self.data, self.at, self.start, self.ended = b"", 0, start, False

    @property
    def offset(self) -> int:
        """The offset in the source that reading has reached."""
        return self.start + self.at

    @property
    def held(self) -> int:
        """Bytes held from `at` on."""
        return len(self.data) - self.at

    def more(self) -> bool:
        """Hold one chunk more, letting go of what was passed; False if the source has ended."""
        return self.hold(self.held + 1)

    def hold(self, count: int) -> bool:
        """Hold at least `count` bytes from `at` on; False if the source has fewer."""
        missing = self.at + count - len(self.data)
        if missing <= 0:
            return True
        pieces: list[bytes] = []  # joined once: a large buffer comes in many
        try:
            while missing > 0 and not self.ended:
                piece = self._source.read(self._chunk)
                pieces.append(piece)
                missing -= len(piece)
                self.ended = not piece
        finally:  # what came before an error counts
            if pieces:
                cut = self.at if self._kept is None else max(self._kept - self.start, 0)
                self.data = b"".join((self.data[cut:], *pieces))
                self.start += cut
                self.at -= cut
        return missing <= 0

    def keep(self, offset: int | None) -> None:
        """Let go of nothing from this offset on, until called with None."""
        self._kept = offset

    def go_to(self, offset: int) -> None:
        """Continue at an offset of the source, be it before or after what is held."""
        if self.start <= offset <= self.start + len(self.data):
            self.at = offset - self.start
            return
        self._source.seek(offset)
        self.data, self.at, self.start, self.ended, self._kept = b"", 0, offset, False, None
