"""Fetches the ranges of inputs, in their order, neighbours of a file by one request.

A gap is fetched along with what is on its two sides if that costs less than a request of its own: up to 4 KiB, or a
fifth of what is wanted, all gaps of a request together. So at most a fifth more is fetched, but of very small records.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, TypeVar

from crawlmill.codecs.source import read_up_to
from crawlmill.errors import SourceError
from crawlmill.inputs.lists import Input
from crawlmill.storage.interface import Opener, Stream

__all__ = ["Fetched", "fetch_ranges", "requests_of"]

MAX_HELD: Final = 16 << 20
"""Bytes of a range that are held in memory; a larger one is kept in a temporary file."""

_SMALL_GAP: Final = 4 << 10
_WORTH: Final = 5
_MAX_REQUEST: Final = 256 << 20
_PIECE: Final = 1 << 18

T = TypeVar("T")
Fetched = bytes | BinaryIO | SourceError
"""The bytes of a range, a file that holds them from its beginning, or why they cannot be read."""


def requests_of(inputs: Sequence[tuple[T, Input]]) -> Iterator[list[tuple[T, Input]]]:
    """The inputs of each request: neighbours that rise, in the same file."""
    group: list[tuple[T, Input]] = []
    wanted = gaps = end = 0
    for known, item in inputs:
        offset, length = item.offset or 0, item.length or 0
        gap = offset - end
        near = group and item.location == group[-1][1].location and gap >= 0
        if not near or (gap > _SMALL_GAP and (gaps + gap) * _WORTH > wanted + length) or wanted > _MAX_REQUEST:
            if group:
                yield group
            group, wanted, gaps, gap = [], 0, 0, 0
        group.append((known, item))
        wanted, gaps, end = wanted + length, gaps + gap, offset + length
    if group:
        yield group


def fetch_ranges(inputs: Sequence[tuple[T, Input]], storage: Opener) -> Iterator[tuple[T, Input, Fetched]]:
    """The bytes of each input, in order; fewer than it has where its file ends before.

    A file that is returned is closed by whoever took it.
    """
    for group in requests_of(inputs):
        left = group
        while left:
            done = 0
            for fetched in _fetch(left, storage):
                done += 1
                yield fetched
            rest = left[done:]
            # What comes after a broken request is asked for once more, unless nothing came at all.
            if rest and done == 1 and isinstance(fetched[2], SourceError):
                yield from ((known, item, _again(fetched[2])) for known, item in rest)
                rest = []
            left = rest


def _fetch(group: list[tuple[T, Input]], storage: Opener) -> Iterator[tuple[T, Input, Fetched]]:
    """The bytes of a request's inputs; it ends after the first error."""
    first, last = group[0][1], group[-1][1]
    start = first.offset or 0
    known, item = group[0]
    try:
        with storage.open_stream(first.location, start, (last.offset or 0) + (last.length or 0) - start) as stream:
            at = start
            for known, item in group:
                at = _skip(stream, at, item.offset or 0)
                data = _read(stream, item.length or 0)
                at += item.length or 0
                yield known, item, data
    except SourceError as error:
        yield known, item, error


def _skip(stream: Stream, at: int, to: int) -> int:
    while at < to and (piece := stream.read(min(to - at, _PIECE))):
        at += len(piece)
    return to


def _read(stream: Stream, length: int) -> bytes | BinaryIO:
    if length > MAX_HELD:
        return _read_to_file(stream, length)
    return read_up_to(stream, length)


def _read_to_file(stream: Stream, length: int) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever takes it closes it
    try:
        while length and (piece := stream.read(min(length, _PIECE))):
            file.write(piece)
            length -= len(piece)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _again(error: SourceError) -> SourceError:
    """An error of the same file for another range of it."""
    return SourceError(error.what, reason=error.reason or "unavailable", source=error.source,
                       expected=error.expected, actual=error.actual)  # fmt: skip
