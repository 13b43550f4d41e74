"""Storage that keeps recently read bytes of a file, so that a record can be copied without reading it again."""

from __future__ import annotations

from typing import Final

from crawlmill.storage import Storage
from crawlmill.storage.forwarding import ForwardingStream
from crawlmill.storage.interface import Stream

__all__ = ["Tee"]

_MAX_KEPT: Final = 64 << 20


class Tee:
    """Opens one file, and keeps its bytes until `forget` is called; opens everything else like `Storage`."""

    def __init__(self, storage: Storage, location: str) -> None:
        self._storage, self._location = storage, location
        self._kept, self._start = bytearray(), 0

    def open_stream(self, location: str, start: int = 0, length: int | None = None) -> Stream:
        """A stream over a span; see `Storage.open_stream`. Raises: SourceError."""
        stream = self._storage.open_stream(location, start, length)
        return stream if location != self._location else _TeeStream(stream, self, start)

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object; see `Storage.first_bytes`. Raises: SourceError."""
        return self._storage.first_bytes(location, count)

    def found_at(self, location: str) -> str:
        """Where a location was opened; see `Storage.found_at`."""
        return self._storage.found_at(location)

    def keep(self, offset: int, piece: bytes) -> None:
        """Keep bytes read at an offset of the file."""
        end = self._start + len(self._kept)
        if not self._start <= offset <= end or len(self._kept) > _MAX_KEPT:
            self._kept, self._start = bytearray(piece), offset  # the file was reopened elsewhere, or nobody forgets
        elif offset + len(piece) > end:
            self._kept += memoryview(piece)[end - offset :]

    def forget(self, offset: int) -> None:
        """Drop the bytes before this offset."""
        if 0 < offset - self._start <= len(self._kept):
            del self._kept[: offset - self._start]
            self._start = offset

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Bytes of the file; read again if they were not kept. Raises: SourceError, FormatError."""
        at = offset - self._start
        if at >= 0 and at + length <= len(self._kept):
            return bytes(memoryview(self._kept)[at : at + length])
        return self._storage.read_range(self._location, offset, length)


class _TeeStream(ForwardingStream[Stream]):
    """A stream whose bytes are kept."""

    def __init__(self, stream: Stream, tee: Tee, start: int) -> None:
        super().__init__(stream)
        self._tee, self._start, self._at = tee, start, 0

    def read(self, n: int = -1, /) -> bytes:
        """See `Stream.read`."""
        piece = self._stream.read(n)
        self._tee.keep(self._start + self._at, piece)
        self._at += len(piece)
        return piece

    def seek(self, offset: int, /) -> int:
        """See `Stream.seek`."""
        self._at = self._stream.seek(offset)
        return self._at
