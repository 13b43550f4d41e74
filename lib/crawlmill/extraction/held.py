"""Presents the fetched bytes of a range as storage: opening that range reads them."""

from __future__ import annotations

import io
from types import TracebackType
from typing import BinaryIO, Self

from crawlmill.inputs.lists import Input
from crawlmill.storage.interface import Opener, Stream
from crawlmill.storage.resume import Identity

__all__ = ["HeldRange"]


class HeldRange:
    """Opens a range from its fetched bytes, everything else from storage.

    Args:
        item: The range.
        fetched: Its bytes, possibly too few.
        storage: Opens everything else.
    """

    def __init__(self, item: Input, fetched: bytes | BinaryIO, storage: Opener) -> None:
        self._place = (item.location, *item.span)
        self._fetched, self._storage = fetched, storage

    def open_stream(self, location: str, start: int = 0, length: int | None = None) -> Stream:
        """A stream over a span; see `Storage.open_stream`. Raises: SourceError."""
        if (location, start, length) != self._place:
            return self._storage.open_stream(location, start, length)
        file = io.BytesIO(self._fetched) if isinstance(self._fetched, bytes) else self._fetched
        return _HeldStream(file, length)

    def first_bytes(self, location: str, count: int) -> bytes:
        """The first bytes of an object; see `Storage.first_bytes`. Raises: SourceError."""
        return self._storage.first_bytes(location, count)

    def found_at(self, location: str) -> str:
        """Where a location was opened; see `Storage.found_at`."""
        return self._storage.found_at(location)


class _HeldStream:
    """A file in memory or on disk as a stream; it stays open."""

    def __init__(self, file: BinaryIO, length: int | None) -> None:
        self._file, self.size = file, length
        self.identity = Identity()
        self.read, self.seek, self.tell = file.read, file.seek, file.tell
        file.seek(0)

    def pause(self) -> None:
        """Do nothing: there is no connection to release."""

    def close(self) -> None:
        """Do nothing: the caller that fetched the bytes releases them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass
