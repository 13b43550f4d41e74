"""Writes an output file: a WARC, an ARC, or one of each with the same number, and the CDXJ file next to it."""

from __future__ import annotations

import json
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from crawlmill.codecs.inflate import native_inflater
from crawlmill.extraction.headers import RunInfo, compressed, note
from crawlmill.extraction.listed import Listed, name_of
from crawlmill.extraction.members import Member, Proven
from crawlmill.extraction.ranges import Fetched
from crawlmill.inputs.lists import Input
from crawlmill.sorting import sort_lines
from crawlmill.urls.surt import urlkey

__all__ = ["KINDS", "OutputFile", "check_prefix", "file_stem"]

KINDS: Final = {"warc": ".warc.gz", "wat": ".warc.wat.gz", "wet": ".warc.wet.gz"}
"""What output files of records are called by, by the kind of records."""

_PIECE: Final = 1 << 20
_PREFIX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,99}")
_BATCH: Final = 1 << 18  # small enough for a processor's cache
_SORT_BYTES: Final = 64 << 20

Open = Callable[[str], AbstractContextManager[BinaryIO]]


def check_prefix(text: str) -> str:
    """Check a prefix for file names, and return it. Raises: ValueError."""
    if not _PREFIX.fullmatch(text):
        raise ValueError(text)
    return text


def file_stem(prefix: str, number: int) -> str:
    """The name of an output file, without its extension."""
    return f"{prefix}-{number:05}"


@dataclass(slots=True)
class _Archive:
    name: str
    file: BinaryIO
    size: int


class OutputFile:
    """One output file, in a `with` block: complete when that ends normally. Without records no file is written.

    Args:
        stem: Its name without an extension.
        open_file: Opens a file of the output by name.
        info: The information about the run for the file.
        kind: The kind of its records: one of `KINDS`.
        notes: Whether to write the provenance of each record.
        there: The existing bytes of its files, by name, to which opened files append.
    """

    def __init__(
        self,
        stem: str,
        open_file: Open,
        info: RunInfo,
        *,
        kind: str = "warc",
        notes: bool = False,
        there: dict[str, int] | None = None,
    ) -> None:
        self._stem, self._open, self._info, self._kind, self._notes = stem, open_file, info, kind, notes
        self._there = there or {}
        self._archives: dict[bool, _Archive] = {}
        self._stack = ExitStack()
        self._lines: BinaryIO | None = None

    @property
    def batch(self) -> int:
        """How many bytes of ranges to give to `add_usual` at a time."""
        return 0 if native_inflater() is None or self._notes else _BATCH

    @property
    def sizes(self) -> dict[str, int]:
        """The size in bytes of each of its files, by name."""
        return {**self._there, **{archive.name: archive.size for archive in self._archives.values()}}

    def add(self, item: Input, listed: Listed, proven: Proven) -> list[bytes]:
        """Write the records of an input; returns the index lines of its captures, for `index`."""
        lines: list[bytes] = []
        for member in proven.members:
            archive = self._archives.get(member.is_arc) or self._archive(is_arc=member.is_arc)
            offset = archive.size
            for piece in _pieces(proven, member):
                archive.file.write(piece)
                archive.size += len(piece)
            length = archive.size - offset
            for line in member.lines:
                said = listed if line.url == proven.url else Listed()  # applies to the first record only
                lines.append(f"{line.text(said, archive.name, offset, length)}\n".encode("ascii"))
        if self._notes and proven.members and proven.first is not None:
            archive = self._archive(is_arc=False)
            written = note(proven.first, name_of(item), item.offset or 0, item.length or 0)
            archive.file.write(written)
            archive.size += len(written)
        return lines

    def add_usual(self, ranges: Sequence[tuple[object, Input, Fetched]], start: int) -> int:
        """Write the ranges from `start` on that are each one whole member of a usual page, up to the first other one.

        Returns the number of that one. The result is that of `prove`, `add` and `index`. Nothing is written without the
        native core, with provenance, and before the first record of the file.
        """
        archive, native = self._archives.get(False), native_inflater()
        if native is None or archive is None or self._notes:
            return start
        filename = json.dumps(archive.name).encode("ascii")
        end, lines = native.copied_lines(ranges, start, filename, archive.size, urlkey)
        if end > start:
            data = b"".join([fetched for _, _, fetched in ranges[start:end] if isinstance(fetched, bytes)])
            archive.file.write(data)
            archive.size += len(data)
            self.index([lines])
        return int(end)

    def index(self, lines: Sequence[bytes]) -> None:
        """Add lines to the CDXJ file."""
        if self._lines is None and lines:
            self._lines = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        if self._lines is not None:
            self._lines.writelines(lines)

    def flush(self) -> None:
        """Flush what was written to the operating system."""
        for archive in self._archives.values():
            archive.file.flush()

    def _archive(self, *, is_arc: bool) -> _Archive:
        archive = self._archives.get(is_arc)
        if archive is None:
            name = self._stem + (".arc.gz" if is_arc else KINDS[self._kind])
            archive = _Archive(name, self._stack.enter_context(self._open(name)), self._there.get(name, 0))
            if not archive.size:
                header = self._info.filedesc(name) if is_arc else self._info.warcinfo(name)
                archive.file.write(header)
                archive.size = len(header)
            self._archives[is_arc] = archive
        return archive

    def _write_index(self) -> None:
        lines = self._lines
        if lines is None:
            return
        lines.seek(0)
        with (
            tempfile.TemporaryDirectory(prefix="crawlmill-") as folder,
            sort_lines(iter(lambda: lines.read(_PIECE), b""), Path(folder), _SORT_BYTES) as ordered,
        ):
            self._stack.enter_context(self._open(f"{self._stem}.cdxj")).writelines(ordered.chunks())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            self._write_index()


def _pieces(proven: Proven, member: Member) -> Iterator[bytes]:
    """The bytes of a member in the form to be written."""
    if member.closing is None:
        yield from _stored(proven, member)
    elif member.length <= _PIECE:
        yield compressed(b"".join((*_stored(proven, member), member.closing)))
    else:
        deflater = zlib.compressobj(6, zlib.DEFLATED, 31)
        for piece in chain(_stored(proven, member), (member.closing,)):
            yield deflater.compress(piece)
        yield deflater.flush()


def _stored(proven: Proven, member: Member) -> Iterator[bytes]:
    """The bytes of a member as stored in its range."""
    data, start, left = proven.data, member.start, member.length
    if isinstance(data, bytes):
        yield data if left == len(data) else data[start : start + left]
        return
    data.seek(start)
    while left and (piece := data.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece
