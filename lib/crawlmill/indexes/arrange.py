"""Arranges captures: the newest or distinct ones of each key, sorting, the limit, all in bounded memory.

Orders that need all captures before the first can be printed, such as the reverse, use temporary files for large
results.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import date
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.query import Query

__all__ = ["arrange", "distance_s", "merge"]

_HELD_BYTES: Final = 8 << 20
_MAX_HELD_LINES: Final = 1 << 14
_PIECE: Final = 1 << 20
_WIDTH: Final = 16  # digits of a distance, and of a line number


def arrange(chunks: Iterator[Chunk], query: Query) -> Iterator[Chunk]:
    """The selected captures as a query wants them: newest or distinct, ordered, limited."""
    if query.newest or query.distinct or query.sort != "key":
        return _arranged(lines_of(chunks), query)
    return chunks if query.limit is None else _first(chunks, query.limit)


def _arranged(lines: Iterator[bytes], query: Query) -> Iterator[Chunk]:
    if query.newest:
        lines = _newest(lines)
    if query.distinct:
        lines = _distinct(lines, query.distinct)
    if query.sort == "reverse":
        lines = _reversed(lines, query.limit)
    elif query.sort == "closest":
        lines = _closest(lines, query.closest or "", query.limit)
    joined = _joined(lines)
    return joined if query.limit is None else _first(joined, query.limit)


def lines_of(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """The lines of chunks, with line ends."""
    for chunk in chunks:
        for line in bytes(chunk).split(b"\n")[:-1]:
            yield line + b"\n"


def merge(streams: list[Iterator[Chunk]]) -> Iterator[Chunk]:
    """Merge the lines of several sorted streams."""
    if len(streams) == 1:
        return streams[0]
    return _joined(heapq.merge(*map(lines_of, streams)))


def distance_s(timestamp: bytes | str, other: str) -> int:
    """Seconds between two timestamps; missing digits mean the earliest time, and dates need not be valid."""
    return abs(_seconds(timestamp.decode("ascii") if isinstance(timestamp, bytes) else timestamp) - _seconds(other))


def _seconds(timestamp: str) -> int:
    digits = timestamp.ljust(14, "0")
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    month = min(max(month, 1), 12)
    days = date(max(year, 1), month, 1).toordinal() + max(day, 1)
    return ((days * 24 + int(digits[8:10])) * 60 + int(digits[10:12])) * 60 + int(digits[12:14])


def _first(chunks: Iterable[Chunk], limit: int) -> Iterator[Chunk]:
    left = limit
    if not left:
        return
    for chunk in chunks:
        count = chunk.count(b"\n")
        if count < left:
            left -= count
            yield chunk
            continue
        end = 0
        for _ in range(left):
            end = chunk.find(b"\n", end) + 1
        yield chunk[:end]
        return


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if len(held) >= 256:
            yield b"".join(held)
            held.clear()
    if held:
        yield b"".join(held)


def _newest(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The line with the highest timestamp of each key; the first one if several have the same."""
    best: tuple[bytes, bytes, bytes] | None = None
    for line in lines:
        key, time, _ = line.split(b" ", 2)
        if best is not None and best[0] != key:
            yield best[2]
            best = None
        if best is None or time > best[1]:
            best = (key, time, line)
    if best is not None:
        yield best[2]


def _distinct(lines: Iterable[bytes], field: str) -> Iterator[bytes]:
    """The first line for each value of a field, per key; an absent field counts as a value."""
    now, seen = b"", set[str]()
    for line in lines:
        key = line.split(b" ", 1)[0]
        if key != now:
            now, seen = key, set()
        value = parse_capture(line).get(field) or ""
        if value not in seen:
            seen.add(value)
            yield line


def _reversed(lines: Iterable[bytes], limit: int | None) -> Iterator[bytes]:
    if limit is not None and limit <= _MAX_HELD_LINES:
        yield from reversed(deque(lines, maxlen=limit))
        return
    with SpooledTemporaryFile(max_size=_HELD_BYTES) as file:
        for chunk in _joined(lines):
            file.write(chunk)
        at, rest = file.tell(), b""
        while at:
            start = max(at - _PIECE, 0)
            file.seek(start)
            found = (file.read(at - start) + rest).split(b"\n")
            rest = found[0] if start else b""
            for line in reversed(found[1 if start else 0 :]):
                if line:
                    yield line + b"\n"
            at = start


def _closest(lines: Iterable[bytes], closest: str, limit: int | None) -> Iterator[bytes]:
    if limit is not None and limit <= _MAX_HELD_LINES:
        yield from heapq.nsmallest(limit, lines, key=lambda line: distance_s(line.split(b" ", 2)[1], closest))
        return
    runs: list[IO[bytes]] = []
    held: list[bytes] = []
    size = 0
    try:
        for number, line in enumerate(lines):
            held.append(b"%0*d%0*d" % (_WIDTH, distance_s(line.split(b" ", 2)[1], closest), _WIDTH, number) + line)
            size += len(line)
            if size >= _HELD_BYTES:
                runs.append(_written(sorted(held)))
                held, size = [], 0
        held.sort()
        yield from (line[2 * _WIDTH :] for line in heapq.merge(*runs, held))
    finally:
        for run in runs:
            run.close()


def _written(lines: Iterable[bytes]) -> IO[bytes]:
    file: IO[bytes] = SpooledTemporaryFile(max_size=1 << 10)  # noqa: SIM115 - closed by the caller
    for chunk in _joined(lines):
        file.write(chunk)
    file.seek(0)
    return file
