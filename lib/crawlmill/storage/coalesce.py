"""Reads neighbouring ranges of a file with a single request.

Two ranges are fetched together if the gap between them is at most a given number of bytes, and no larger than each of
the two ranges, so that at most half of the bytes are wasted. Ranges should be read in the announced order, by rising
offset. Seeking backwards, or asking for anything else, opens a stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from crawlmill.storage.forwarding import ForwardingStream
from crawlmill.storage.interface import Stream
from crawlmill.storage.storage import Storage

__all__ = ["COALESCE", "CoalescingStorage", "group_ranges"]

COALESCE: Final = 64 << 10
"""Bytes of a gap that is read rather than left out, unless told otherwise."""

_PIECE: Final = 1 << 18

Range = tuple[str, int, int]
"""Location, offset and length of a range."""


@dataclass(slots=True)
class _Shared:
    """One request: the span [start, end) of a file, and the position read so far."""

    start: int
    end: int
    stream: Stream | None = None
    at: int = 0


def group_ranges(ranges: Iterable[Range], gap: int) -> list[list[Range]]:
    """Group the ranges to fetch together: neighbours in the given order, in the same file, with rising offsets."""
    groups: list[list[Range]] = []
    wanted = 0
    for each in ranges:
        location, offset, length = each
        if groups:
            last = groups[-1][-1]
            hole = offset - (last[1] + last[2])
            if location == last[0] and offset >= last[1] and hole <= min(gap, wanted + length):
                groups[-1].append(each)
                wanted += length
                continue
        groups.append([each])
        wanted = length
    return groups


class CoalescingStorage:
    """Opens announced ranges, several with one request; everything else is opened as by `Storage`.

    Args:
        storage: Opens the files.
        ranges: The ranges that will be opened, in order.
        gap: The largest gap that is read rather than skipped, in bytes.
    """

    def __init__(self, storage: Storage, ranges: Iterable[Range], gap: int = COALESCE) -> None:
        self._storage, self._gap = storage, gap
        self._shared: dict[Range, _Shared] = {}
        for group in group_ranges(ranges, gap):
            if len(group) > 1:
                shared = _Shared(group[0][1], max(offset + length for _, offset, length in group))
                self._shared.update(dict.fromkeys(group, shared))

    def open_stream(self, location: str, start: int = 0, length: int | None = None) -> Stream:
        """Open a stream over a span; see `Storage.open_stream`.

        Raises:
            SourceError: Now or while reading.
        """
        shared = self._shared.get((location, start, length)) if length is not None else None
        if shared is None or length is None:
            return self._storage.open_stream(location, start, length)
        if shared.stream is not None and shared.at > start:
            shared.stream.pause()
            return self._storage.open_stream(location, start, length)
        if shared.stream is None:
            shared.stream = self._storage.open_stream(location, shared.start, shared.end - shared.start)
            shared.at = shared.start
        if start - shared.at > self._gap:  # an earlier range was not read to its end
            shared.at = shared.start + shared.stream.seek(start - shared.start)
        while shared.at < start:
            piece = shared.stream.read(min(start - shared.at, _PIECE))
            if not piece:
                break
            shared.at += len(piece)
        return _Part(shared, shared.stream, self._storage, location, start, length)

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object; see `Storage.first_bytes`. Raises: SourceError."""
        return self._storage.first_bytes(location, count)

    def found_at(self, location: str) -> str:
        """Where a location was opened; see `Storage.found_at`."""
        return self._storage.found_at(location)

    def read_range(self, location: str, start: int, length: int) -> bytes:
        """Read exactly these bytes; see `Storage.read_range`."""
        return self._storage.read_range(location, start, length)

    def close(self) -> None:
        """Close the open requests."""
        for shared in self._shared.values():
            if shared.stream is not None:
                shared.stream.close()
                shared.stream = None
        self._shared.clear()


class _Part(ForwardingStream[Stream]):
    """One of the ranges of a shared request, read through it; after seeking backwards, through its own request."""

    def __init__(
        self, shared: _Shared, stream: Stream, storage: Storage, location: str, start: int, length: int
    ) -> None:
        super().__init__(stream)
        self._shared, self._storage, self._location = shared, storage, location
        self._start, self._length, self._at = start, length, 0
        self._is_own = False

    @property
    def size(self) -> int | None:
        """The size of the span in bytes, as requested."""
        return self._stream.size if self._is_own else self._length

    def read(self, n: int = -1, /) -> bytes:
        """Read at most `n` bytes, or all that are left if `n` is negative; returns b"" only at the end."""
        if self._is_own:
            piece = self._stream.read(n)
        elif n < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        else:
            left = self._length - self._at
            piece = self._stream.read(min(n, left)) if self._shared.stream is not None and left else b""
            self._shared.at += len(piece)
        self._at += len(piece)
        return piece

    def seek(self, offset: int, /) -> int:
        """Move to an offset within the span."""
        if offset != self._at and not self._is_own:
            self._stream.pause()
            self._stream, self._is_own = self._storage.open_stream(self._location, self._start, self._length), True
        if self._is_own:
            self._stream.seek(offset)
        self._at = offset
        return offset

    def tell(self) -> int:
        """The offset of the next byte within the span."""
        return self._at

    def close(self) -> None:
        """Close a request of its own; a shared one stays open for the ranges after it."""
        if self._is_own:
            self._stream.close()
