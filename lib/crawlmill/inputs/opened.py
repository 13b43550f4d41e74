"""An open input: its first bytes, a stream from its beginning, and the file around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from crawlmill.codecs.source import ByteSource, Replay, Window
from crawlmill.inputs.lists import Input
from crawlmill.storage.interface import Opener, Stream

__all__ = ["Opened", "Span"]

_FIRST_BYTES: Final = 1 << 16
_MORE_BYTES: Final = 1 << 20


class Span:
    """A stream over part of a file, with the file's offsets; `reached` is the number of its bytes read so far."""

    def __init__(self, stream: Stream, start: int) -> None:
        self._stream, self._start = stream, start
        self._read: Callable[[int], bytes] = stream.read
        self._at = self.reached = 0

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes."""
        piece = self._read(n)
        self._at += len(piece)
        if self._at > self.reached:
            self.reached = self._at
        return piece

    def pause(self) -> None:
        """Release the connection until the next read."""
        self._stream.pause()

    def seek(self, offset: int, /) -> int:
        """Continue at an offset of the file."""
        self._at = self._stream.seek(offset - self._start)
        return offset


class Opened:
    """An open input for readers; an `OpenInput`.

    Args:
        item: The input.
        storage: Opens the file again if a reader needs more than the range.
        stream: The input's bytes, positioned at the beginning.
        is_part: Whether only part of the file is wanted; None: yes, if the input has a length.
    """

    def __init__(self, item: Input, storage: Opener, stream: Stream, *, is_part: bool | None = None) -> None:
        (self.start, self.length), self.size = item.span, stream.size
        self.is_unit = item.unit is not None
        self.is_part = self.length is not None if is_part is None else is_part
        self._location, self._storage = item.location, storage
        self._span = Span(stream, self.start)
        self._window = Window(self._span, start=self.start, chunk=_FIRST_BYTES)

    @property
    def reached(self) -> int:
        """Bytes of the input read so far; safe to call from another thread."""
        return self._span.reached

    @property
    def data(self) -> bytes:
        """The first 64 KiB, or all bytes if there are fewer. Raises: SourceError."""
        self._window.hold(_FIRST_BYTES)
        return self._window.data

    def more(self) -> bytes:
        """The first MiB, or all bytes if there are fewer. Raises: SourceError."""
        self._window.hold(_MORE_BYTES)
        return self._window.data

    def first_of_file(self, count: int) -> bytes:
        """The first bytes of the file that contains the input. Raises: SourceError."""
        if not count:
            return b""
        window = self._window
        if not window.start and (window.held >= count or window.ended):
            return window.data[:count]
        self._span.pause()
        return self._storage.first_bytes(self._location, count)

    def pause(self) -> None:
        """Release the connection until the next read."""
        self._span.pause()

    def from_start(self) -> ByteSource:
        """The input from its beginning, with the file's offsets. Call it once only."""
        return Replay(self._span, self._window.data)

    @contextmanager
    def whole_file(self) -> Iterator[tuple[ByteSource, int | None]]:
        """The file that contains the range, from its beginning, and its size.

        While it is open, it counts as the input: the range is covered as far as the file was read beyond the range's
        start, and completely once the block ends normally.
        """
        self._span.pause()
        with self._storage.open_stream(self._location) as stream:
            whole, known = Span(stream, 0), None
            try:
                yield whole, stream.size
                known = stream.size
            finally:
                reached = whole.reached if known is None else known
                covered = reached - self.start
                self._span.reached = max(covered if self.length is None else min(covered, self.length), 0)
