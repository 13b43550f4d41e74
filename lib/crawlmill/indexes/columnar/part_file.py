"""A part of a table as a file of Python, for libraries that read Parquet: each read is a request for a range.

The end of a part is fetched by one request, with which the footer mostly comes along. What goes wrong is an OSError to
the library, which makes of it what it likes; the error itself is kept in `ReadProblems`.
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
    """The last error of reading that was met, until it is taken."""

    def __init__(self) -> None:
        self._problem: FormatError | SourceError | None = None

    def guard(self, read: Callable[[], T]) -> T:
        """What `read` returns. Raises: OSError: for any error of ours, which is kept."""
        try:
            return read()
        except (FormatError, SourceError) as error:
            self._problem = error
            raise OSError(str(error)) from error

    def take(self) -> FormatError | SourceError | None:
        """The error that is kept, once."""
        problem, self._problem = self._problem, None
        return problem


class PartBytes:
    """The bytes of a part. Its size and its end are fetched once, by whichever thread comes first.

    Args:
        source: The part.
        tail: So many bytes of its end come with its size.
    """

    def __init__(self, source: Source, *, tail: int = _TAIL) -> None:
        self.source = source
        self._lock, self._tail_bytes = threading.Lock(), tail
        self._tail: bytes | None = None
        self._size = 0

    def size(self) -> int:
        """Bytes of the part. Raises: SourceError, FormatError: as `read`."""
        with self._lock:
            if self._tail is None:
                size = self.source.size()
                if size is None:
                    raise SourceError("a file without a size", reason="unavailable", source=self.source.name)
                start = max(0, size - self._tail_bytes)
                self._tail, self._size = self._fetch(start, size - start), size
            return self._size

    def read(self, start: int, length: int) -> bytes:
        """Bytes from `start`, fewer only at the end of the part.

        Raises:
            SourceError: It cannot be read.
            FormatError: `truncated`: it ends before the size it had.
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
                "a part of the table ends early", reason="truncated", source=self.source.name,
                offset=start + len(data), expected=f"{length} bytes from {start}", actual=len(data),
            )  # fmt: skip
        return data


class PartFile(io.RawIOBase):
    """A part that is open, to read. Raises: OSError, for what is then in `problems`."""

    def __init__(self, part: PartBytes, problems: ReadProblems) -> None:
        super().__init__()
        self._part, self._problems, self._at = part, problems, 0
        self.size = problems.guard(part.size)

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where reading goes on."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go on elsewhere."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, fewer only at the end. Raises: OSError."""
        at, wanted = self._at, self.size - self._at if size is None or size < 0 else size
        data = self._problems.guard(lambda: self._part.read(at, wanted)) if wanted > 0 else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """As `read`, into a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
