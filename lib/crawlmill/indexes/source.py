"""What an index needs from storage: files read by ranges, always of the same version, and cached blocks."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from crawlmill.codecs.source import ByteSource

__all__ = ["BlockStore", "Files", "OpenSource", "Source"]


class OpenSource(ByteSource, Protocol):
    """An open stream over a part of a file; closed where its `with` ends."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class BlockStore(Protocol):
    """Keeps blocks of one version of one file from one run to the next. Nothing is raised."""

    def get(self, number: int) -> bytes | None:
        """The block of a number, if it is kept."""

    def put(self, number: int, block: bytes) -> None:
        """Keep a block."""


class Source(Protocol):
    """One file. Every method raises SourceError; `changed` where the file is not the one of the first answer."""

    @property
    def name(self) -> str:
        """The location, without secrets."""

    @property
    def remote(self) -> bool:
        """Whether a request costs more than some thousand bytes."""

    def size(self) -> int | None:
        """Bytes of the file; None for what has no size, such as a pipe."""

    def open(self, offset: int = 0, length: int | None = None) -> OpenSource:
        """A stream over `length` bytes (or all) from `offset`, ending with the file; it is asked for at once."""

    def store(self) -> BlockStore | None:
        """Where blocks of this version are kept; None if it cannot be told from others."""


class Files(Protocol):
    """The files around an index."""

    def source(self, name: str) -> Source:
        """The file of a name: relative to the folder of the index, or absolute. Nothing is opened yet.

        Raises:
            SourceError: `denied`: an index must not name this.
        """
