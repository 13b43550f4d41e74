"""A part of a table as a Python file, for libraries that read Parquet: each read is a request for a range.

The end of a part is fetched with one request, which usually includes the footer. The library gets errors as OSError and
may replace them; the original error is kept in `ReadProblems`.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from crawlmill.codecs.source import read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.source import Source

__all__ = ["PartBytes", "PartFile", "ReadProblems"]

_TAIL: Final = 16 << 10

T = TypeVar("T")


class ReadProblems:
    """Keeps the last error of reading until it is taken."""

    def __init__(self) -> None:
        self._problem: FormatError | SourceError | None = None

    def guard(self, read: Callable[[], T]) -> T:
        """Return the result of `read`. Raises: OSError: in place of our own errors, which are kept."""
        try:
            return read()
        except (FormatError, SourceError) as error:
            self._problem = error
            raise OSError(str(error)) from error

    def take(self) -> FormatError | SourceError | None:
        """Return the kept error, and drop it."""
        problem, self._problem = self._problem, None
        return problem


class PartBytes:
    """The bytes of a part. Its size and its end are fetched once, by whichever thread needs them first.

    Args:
        source: The part.
        tail: The number of bytes at its end that are fetched with its size.
    """

    def __init__(self, source: Source, *, tail: int = _TAIL) -> None:
        self.source = source
        self._lock, self._tail_bytes = threading.Lock(), tail
        self._tail: bytes | None = None
        self._size = 0

    def size(self) -> int:
        """The size of the part in bytes. Raises: SourceError, FormatError: as for `read`."""
        with self._lock:
            if self._tail is None:
                size = self.source.size()
                if size is None:
                    raise SourceError("a file without a size", reason="unavailable", source=self.source.name)
                start = max(0, size - self._tail_bytes)
                self._tail, self._size = self._fetch(start, size - start), size
            return self._size

    def read(self, start: int, length: int) -> bytes:
        """Read bytes from `start`; fewer only at the end of the part.

        Raises:
            SourceError: It cannot be read.
            FormatError: `truncated`: it ends before its former size.
        """
        size = self.size()
        end = min(start + length, size)
        if start >= end:
            return b""
        tail = self._tail or b""
        tail_start = size - len(tail)
        if start >= tail_start:
            return tail[start - tail_start : end - tail_start]
        if end > tail_start:
            return self._fetch(start, tail_start - start) + tail[: end - tail_start]
        return self._fetch(start, end - start)

    def _fetch(self, start: int, length: int) -> bytes:
        if not length:
            return b""
        with self.source.open(start, length) as stream:
            data = read_up_to(stream, length)
        if len(data) < length:
            raise FormatError(
                "a part of the table ends early",
                reason="truncated",
                source=self.source.name,
                offset=start + len(data),
                expected=f"{length} bytes from {start}",
                actual=len(data),
            )
        return data


class PartFile(io.RawIOBase):
    """An open part, for reading. Raises: OSError; the original error is then in `problems`."""

    def __init__(self, part: PartBytes, problems: ReadProblems) -> None:
        super().__init__()
        self._part, self._problems, self._at = part, problems, 0
        self.size = problems.guard(part.size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """The current offset."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes; fewer only at the end. Raises: OSError."""
        at, wanted = self._at, self.size - self._at if size is None or size < 0 else size
        data = self._problems.guard(lambda: self._part.read(at, wanted)) if wanted > 0 else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """Like `read`, into a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
