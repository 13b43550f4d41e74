"""A table's files for DuckDB, wherever they are: a small filesystem of fsspec over our storage.

It knows the parts of the tables that it was given, reads them by ranges, and can do nothing else: no other file is
there, nothing is listed, nothing is written. A part is asked for when it is first read, not before. The end of a part
is fetched by one request, with which the footer mostly comes along.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from fsspec import AbstractFileSystem

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.source import OpenSource, Source

__all__ = ["PROTOCOL", "PartFilesystem"]

PROTOCOL: Final = "crawlmill"

_TAIL: Final = 16 << 10


class PartFilesystem(AbstractFileSystem):  # type: ignore[misc]
    """The parts of tables as files `crawlmill://NUMBER/…`."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self, open_source: Callable[[str], Source]) -> None:
        super().__init__(skip_instance_cache=True)
        self._open_source = open_source
        self._sources: dict[str, _Part] = {}
        self.problem: FormatError | SourceError | None = None
        """The last one met; what DuckDB makes of it is hard to read."""

    def add(self, location: str) -> str:
        """Make a location known; the name by which DuckDB finds it."""
        path = f"{len(self._sources)}/{location.partition('?')[0].rpartition('/')[2]}"
        self._sources[path] = _Part(self._open_source(location))
        return f"{PROTOCOL}://{path}"

    def _part(self, path: str) -> _Part:
        stripped = self._strip_protocol(path).lstrip("/")
        if stripped not in self._sources:
            raise FileNotFoundError(path)
        return self._sources[stripped]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix(f"{PROTOCOL}://")

    def glob(self, path: str, **_: Any) -> list[str]:
        """The path itself, if it is a part."""
        return [path] if self._strip_protocol(path).lstrip("/") in self._sources else []

    def exists(self, path: str, **_: Any) -> bool:
        """Whether it is a part; nobody is asked."""
        return bool(self.glob(path))

    def isfile(self, path: str) -> bool:
        """As `exists`."""
        return self.exists(path)

    def isdir(self, path: str) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name and size."""
        return {"name": path, "size": self._guarded(self._part(path).size), "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002
        """The same time always: what must not change while it is read is the version that the source knows."""
        return datetime(1970, 1, 1, tzinfo=UTC)

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """A part, to read."""
        if mode != "rb":
            raise PermissionError(f"tables are read only: {path}")
        part = self._part(path)
        return _File(part, self._guarded)

    def _guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (FormatError, SourceError) as error:
            self.problem = error
            raise OSError(str(error)) from error


class _Part:
    """One part: its size and its end are fetched once, by whichever thread comes first."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lock = threading.Lock()
        self._tail: bytes | None = None
        self._size = 0

    def size(self) -> int:
        with self._lock:
            if self._tail is None:
                size = self.source.size()
                if size is None:
                    raise SourceError("a file without a size", reason="unavailable", source=self.source.name)
                start = max(0, size - _TAIL)
                self._tail, self._size = self._fetch(start, size - start), size
            return self._size

    def read(self, start: int, length: int) -> bytes:
        size = self.size()
        end = min(start + length, size)
        behind = size - len(self._tail or b"")
        if start >= behind:
            return (self._tail or b"")[start - behind : end - behind]
        return self._fetch(start, end - start)

    def _fetch(self, start: int, length: int) -> bytes:
        with self.source.open(start, length) as stream:
            data = _read(stream, length)
        if len(data) < length:
            raise FormatError(
                "a part of the table ends early", reason="truncated", source=self.source.name,
                offset=start + len(data), expected=f"{length} bytes from {start}", actual=len(data),
            )  # fmt: skip
        return data


def _read(stream: OpenSource, length: int) -> bytes:
    pieces: list[bytes] = []
    left = length
    while left and (piece := stream.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


class _File(io.RawIOBase):
    """An open part."""

    def __init__(self, part: _Part, guarded: Callable[[Callable[[], Any]], Any]) -> None:
        super().__init__()
        self._part, self._guarded, self._at = part, guarded, 0
        self.size = guarded(part.size)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        wanted = self.size - self._at if size is None or size < 0 else size
        data: bytes = self._guarded(lambda: self._part.read(self._at, wanted)) if wanted > 0 else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
