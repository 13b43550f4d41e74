"""What an index needs from storage: files read by ranges, always of one version, and cached blocks."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from crawlmill.codecs.source import ByteSource

__all__ = ["BlockStore", "Files", "OpenSource", "Source"]


class OpenSource(ByteSource, Protocol):
    """An open stream over part of a file; closed at the end of its `with` block."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class BlockStore(Protocol):
    """Keeps blocks of one version of a file between runs. Raises nothing."""

    def get(self, number: int) -> bytes | None:
        """The block with a number, if it is stored; else None."""

    def put(self, number: int, block: bytes) -> None:
        """Store a block."""


class Source(Protocol):
    """One file. Every method raises SourceError; `changed` if the file is no longer that of the first response."""

    @property
    def name(self) -> str:
        """The location, without secrets."""

    @property
    def remote(self) -> bool:
        """Whether a request costs more than reading some thousand bytes."""

    def size(self) -> int | None:
        """The size of the file in bytes; None if it has none, such as a pipe."""

    def open(self, offset: int = 0, length: int | None = None) -> OpenSource:
        """Open `length` bytes (or all) from `offset`, up to the end of the file; sends the request at once."""

    def store(self) -> BlockStore | None:
        """The store for blocks of this version; None if the version cannot be identified."""


class Files(Protocol):
    """The files around an index."""

    def source(self, name: str) -> Source:
        """The file of a name: relative to the folder of the index, or absolute. Nothing is opened yet.

        Raises:
            SourceError: `denied`: an index must not name this.
        """
