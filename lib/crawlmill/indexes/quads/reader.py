"""Prints the quads of captures found in a cluster of quads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from crawlmill.codecs.inflate import inflate_whole
from crawlmill.codecs.source import read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cluster.members import MAX_MEMBER, member_lines
from crawlmill.indexes.index import OnProblem
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.quads.writer import QUADS
from crawlmill.indexes.source import Files

__all__ = ["QuadReader"]

_MEMBERS_AT_ONCE: Final = 64
# The last field of a line; a text cannot end like this, since its quotes are escaped.
_PLACE: Final = re.compile(
    rb'"%s": "([A-Za-z0-9._-]+) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})"\}\s*\Z' % QUADS.encode()
)


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a page's quads: see `writer`."""

    file: str
    offset: int
    length: int
    start: int
    size: int

    @property
    def member(self) -> tuple[str, int, int]:
        return self.file, self.offset, self.length


class QuadReader:
    """Yields the quads of captures; adjoining members are fetched with one request, and each is inflated once.

    Args:
        files: The files of the cluster.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._last: tuple[tuple[str, int, int], bytes] | None = None

    def quads(self, captures: Chunk, on_problem: OnProblem) -> Iterator[bytes]:
        """The quads for lines of captures, page by page, in order; losses are reported."""
        places = []
        for line in bytes(captures).split(b"\n")[:-1]:
            try:
                places.append(_place_of(line))
            except FormatError as error:
                on_problem(error)
        members = [(member, list(group)) for member, group in groupby(places, lambda place: place.member)]
        for run in _runs(members):
            yield from self._read(run, on_problem)

    def _read(self, run: list[tuple[tuple[str, int, int], list[_Place]]], on_problem: OnProblem) -> Iterator[bytes]:
        if self._last is not None and run[0][0] == self._last[0]:
            yield from _cut(self._last[1], run[0][1])
            run = run[1:]
        if not run:
            return
        (file, offset, _), last = run[0][0], run[-1][0]
        try:
            with self._files.source(file).open(offset, last[1] + last[2] - offset) as stream:
                for member, places in run:
                    packed = read_up_to(stream, member[2])
                    try:
                        data = _inflated(packed, member[2])
                    except FormatError as error:
                        on_problem(error.located(source=file, offset=member[1]))
                        continue
                    self._last = (member, data)
                    yield from _cut(data, places)
        except (SourceError, FormatError) as error:
            on_problem(error.located(source=file))


def _runs(
    members: list[tuple[tuple[str, int, int], list[_Place]]],
) -> Iterator[list[tuple[tuple[str, int, int], list[_Place]]]]:
    """Group members that adjoin."""
    run = members[:1]
    for (before, _), now in pairwise(members):
        adjoins = now[0][0] == before[0] and now[0][1] == before[1] + before[2]
        if adjoins and len(run) < _MEMBERS_AT_ONCE:
            run.append(now)
        else:
            yield run
            run = [now]
    if run:
        yield run


def _inflated(packed: bytes, length: int) -> bytes:
    if len(packed) < length:
        raise FormatError(
            "the file of quads ends early", reason="truncated", expected=f"{length} bytes", actual=len(packed)
        )
    whole = inflate_whole(packed)
    return bytes(whole) if whole is not None else b"".join(bytes(piece) for piece in member_lines(packed))


def _cut(data: bytes, places: list[_Place]) -> Iterator[bytes]:
    return (data[place.start : place.start + place.size] for place in places)


def _place_of(line: bytes) -> _Place:
    found = _PLACE.search(line)
    place = None if found is None else _Place(found[1].decode(), *map(int, found.groups()[1:]))
    if place is None or place.length > MAX_MEMBER:
        raise FormatError(
            "a capture that does not say where its quads are",
            reason="bad-header",
            expected='"quads": "file offset length start size"',
            actual=repr(line[:80].decode("utf-8", "replace")),
        )
    return place
