"""Fetches the ranges of inputs, in order, with one request for neighbours in a file.

A gap is fetched too if that is cheaper than another request: up to 4 KiB, or up to a fifth of the wanted bytes for all
gaps of a request together. So at most a fifth more is fetched, except for very small records.

Over a network, the next requests are sent while earlier ranges are processed: two at a time, if the limits of the host
allow it, and none of more than 4 MiB.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from queue import SimpleQueue
from typing import BinaryIO, Final, TypeVar

from crawlmill.codecs.source import read_up_to
from crawlmill.errors import SourceError
from crawlmill.inputs.lists import Input
from crawlmill.storage import is_remote
from crawlmill.storage.interface import Opener, Stream
from crawlmill.storage.workers import Workers

__all__ = ["Fetched", "batches", "fetch_ranges", "requests_of"]

MAX_HELD: Final = 16 << 20
"""Bytes of a range that are held in memory; a larger one is kept in a temporary file."""

_SMALL_GAP: Final = 4 << 10
_WORTH: Final = 5
_MAX_REQUEST: Final = 256 << 20
_PIECE: Final = 1 << 18
_AT_A_TIME: Final = 2
_MAX_AHEAD: Final = 4 << 20
_REMOTE: Final = ("http://", "https://", "s3://")

T = TypeVar("T")
Fetched = bytes | BinaryIO | SourceError
"""The bytes of a range, a file that holds them from its beginning, or why they cannot be read."""


def batches(ranges: Iterable[tuple[T, Input, Fetched]], size: int) -> Iterator[list[tuple[T, Input, Fetched]]]:
    """Gather ranges, in order, up to about `size` bytes; one that is not in memory is the last of its batch."""
    batch: list[tuple[T, Input, Fetched]] = []
    held = 0
    for each in ranges:
        batch.append(each)
        fetched = each[2]
        held += len(fetched) if isinstance(fetched, bytes) else size
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def requests_of(inputs: Sequence[tuple[T, Input]]) -> Iterator[list[tuple[T, Input]]]:
    """The inputs of each request: neighbours in ascending order, in the same file."""
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
    """Yield the bytes of each input, in order; fewer than it should have if its file ends before.

    The caller must close files that it gets.
    """
    groups = list(requests_of(inputs))
    if len(groups) == 1 or not all(group[0][1].location.startswith(_REMOTE) for group in groups):
        for group in groups:
            yield from _fetch_group(group, storage)
        return
    workers = Workers(_AT_A_TIME)
    with closing(workers), closing(_taken_ahead(groups, storage, workers)) as found:
        yield from found


def _taken_ahead(
    groups: Sequence[list[tuple[T, Input]]], storage: Opener, workers: Workers
) -> Generator[tuple[T, Input, Fetched]]:
    begun: deque[SimpleQueue[tuple[T, Input, Fetched] | None]] = deque()

    def work() -> Iterator[Callable[[], bool]]:
        for group in groups:
            begun.append(SimpleQueue())
            yield partial(_pump, group, storage, begun[-1])

    with closing(workers.in_order(work())) as results:
        for group, take in zip(groups, results, strict=True):
            coming = begun.popleft()
            while (found := coming.get()) is not None:
                yield found
            if not take():
                yield from _fetch_group(group, storage)


def _pump(group: list[tuple[T, Input]], storage: Opener, into: SimpleQueue[tuple[T, Input, Fetched] | None]) -> bool:
    """Put the results of a request into a queue, and then None; returns False without doing so if it is too large."""
    try:
        first, last = group[0][1], group[-1][1]
        if (last.offset or 0) + (last.length or 0) - (first.offset or 0) > _MAX_AHEAD:
            return False
        for found in _fetch_group(group, storage):
            into.put(found)
        return True
    finally:
        into.put(None)


def _fetch_group(group: list[tuple[T, Input]], storage: Opener) -> Iterator[tuple[T, Input, Fetched]]:
    """The bytes of the inputs of one request."""
    left = group
    while left:
        done = 0
        for fetched in _fetch(left, storage):
            done += 1
            yield fetched
        rest = left[done:]
        # The rest of a broken request is requested once more, unless nothing was received at all.
        if rest and done == 1 and isinstance(fetched[2], SourceError):
            yield from ((known, item, _again(fetched[2])) for known, item in rest)
            rest = []
        left = rest


def _fetch(group: list[tuple[T, Input]], storage: Opener) -> Iterator[tuple[T, Input, Fetched]]:
    """The bytes of a request's inputs, up to the first error."""
    first, last = group[0][1], group[-1][1]
    start = first.offset or 0
    known, item = group[0]
    try:
        with storage.open_stream(first.location, start, (last.offset or 0) + (last.length or 0) - start) as stream:
            # Elsewhere seeking would be a request; a pipe, which has no size, only goes forward.
            seeks = not is_remote(first.location) and stream.size is not None
            at = start
            for known, item in group:
                offset, length = item.offset or 0, item.length or 0
                if at < offset and seeks:
                    stream.seek(offset - start)
                elif at < offset:
                    _skip(stream, offset - at)
                data = _read(stream, length)
                at = offset + length
                yield known, item, data
    except SourceError as error:
        yield known, item, error


def _skip(stream: Stream, length: int) -> None:
    while length and (piece := stream.read(min(length, _PIECE))):
        length -= len(piece)


def _read(stream: Stream, length: int) -> bytes | BinaryIO:
    if length > MAX_HELD:
        return _read_to_file(stream, length)
    return read_up_to(stream, length)


def _read_to_file(stream: Stream, length: int) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
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
    """The same error for another range of the file."""
    return SourceError(
        error.what,
        reason=error.reason or "unavailable",
        source=error.source,
        expected=error.expected,
        actual=error.actual,
    )
