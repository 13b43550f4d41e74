"""An input that is open: its first bytes, itself from its beginning, and the file around it."""

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
    """A stream over a part of a file, by the offsets of the file; `reached` says how many of its bytes were seen."""

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
        """Let go of the connection until the next read."""
        self._stream.pause()

    def seek(self, offset: int, /) -> int:
        """Continue at an offset of the file."""
        self._at = self._stream.seek(offset - self._start)
        return offset


class Opened:
    """What readers read from, an `OpenInput`.

    Args:
        item: The input.
        storage: Opens the file again where the range does not say enough.
        stream: The input's bytes, at their beginning.
        is_part: Whether only a part of the file was asked for; None: if the input has a length.
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
        """Bytes of the input that were seen so far; may be asked by another thread."""
        return self._span.reached

    @property
    def data(self) -> bytes:
        """The first 64 KiB, or all there are. Raises: SourceError."""
        self._window.hold(_FIRST_BYTES)
        return self._window.data

    def more(self) -> bytes:
        """The first MiB, or all there is. Raises: SourceError."""
        self._window.hold(_MORE_BYTES)
        return self._window.data

    def first_of_file(self, count: int) -> bytes:
        """The first bytes of the file that this is, or is a range of. Raises: SourceError."""
        if not count:
            return b""
        window = self._window
        if not window.start and (window.held >= count or window.ended):
            return window.data[:count]
        self._span.pause()
        return self._storage.first_bytes(self._location, count)

    def pause(self) -> None:
        """Let go of the connection until the next read."""
        self._span.pause()

    def from_start(self) -> ByteSource:
        """The input from its beginning, by the offsets of the file. Ask for it once."""
        return Replay(self._span, self._window.data)

    @contextmanager
    def whole_file(self) -> Iterator[tuple[ByteSource, int | None]]:
        """The file that a range lies in, from its beginning, and its size.

        While it is open, it is what counts as read: a range is covered as far as the file was read beyond its start,
        and wholly once the block ends well.
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
