"""A page of captures: whole lines of CDXJ, from a server or a folder; large pages are stored in a file."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final

from crawlmill.indexes.lines import Chunk

__all__ = ["Page"]

_HELD_BYTES: Final = 16 << 20


class Page:
    """The lines of a page, written once, then read once.

    `resume`: the key for requesting the next page. `missing`: a capture that the page should contain but does not.
    """

    def __init__(self, resume: str | None = None) -> None:
        self.resume = resume
        self.missing: str | None = None
        self._chunks: list[bytes] = []
        self._held = 0
        self._file: SpooledTemporaryFile[bytes] | None = None
        self._lengths: list[int] = []

    @property
    def is_empty(self) -> bool:
        """Whether it has no lines so far."""
        return not self._lengths

    def add(self, chunk: bytes) -> None:
        """Append whole lines."""
        if not chunk:
            return
        self._lengths.append(len(chunk))
        if self._file is None and self._held + len(chunk) <= _HELD_BYTES:
            self._chunks.append(chunk)
            self._held += len(chunk)
            return
        if self._file is None:
            self._file = SpooledTemporaryFile(max_size=1)  # noqa: SIM115 - closed by `close`
        self._file.write(chunk)

    def chunks(self) -> Iterator[Chunk]:
        """All lines, in chunks."""
        yield from self._chunks
        if self._file is not None:
            self._file.seek(0)
            for length in self._lengths[len(self._chunks) :]:
                yield self._file.read(length)

    def close(self) -> None:
        """Release the memory or the file."""
        self._chunks.clear()
        if self._file is not None:
            self._file.close()
