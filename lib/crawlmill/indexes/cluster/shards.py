"""Writes the files of a ZipNum cluster: shards of gzip members, and the second level that points into them.

    cdx-00000.gz …   sorted lines, in gzip members of a fixed number of lines; the last member of a shard may be shorter
    cluster.idx      a line per member: `<key> <timestamp> TAB shard TAB offset TAB length TAB number`, numbers from 1
    cluster.loc      a line per shard: `shard TAB path`, the path relative to the folder
    metadata.yaml    the size of the cluster, as in Common Crawl's own clusters

Each shard is written by one task; the second level is made from what all tasks report about their members.

Source: the clusters that Common Crawl publishes; pywb's documentation of ZipNum.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import BinaryIO, Final

__all__ = ["Member", "ShardWriter", "cluster_idx", "cluster_loc", "metadata_yaml", "shard_name"]

_LEVEL: Final = 6
_GZIP: Final = 31  # zlib's code for a gzip header without time and name


def shard_name(number: int) -> str:
    """The name of a shard: `cdx-00000.gz`."""
    return f"cdx-{number:05}.gz"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a shard: key and timestamp of its first line, its place in bytes, and its number of lines."""

    start: bytes
    offset: int
    length: int
    lines: int


class ShardWriter:
    """Writes sorted lines as one shard.

    Args:
        file: The file for the gzip members.
        lines: Lines per member, 1 or more.
        distinct: Whether to write equal lines only once.
    """

    def __init__(self, file: BinaryIO, lines: int, *, distinct: bool = False) -> None:
        self._file, self._most, self._distinct = file, lines, distinct
        self._lines: list[bytes] = []
        self._last: bytes | None = None
        self._offset = 0

    def write(self, lines: list[bytes]) -> Iterator[Member]:
        """Write lines, in order and without line ends; yields the members that they complete."""
        if self._distinct:
            before = self._last
            self._last = lines[-1] if lines else before
            lines = [line for line, last in zip(lines, [before, *lines], strict=False) if line != last]
        held, most = self._lines, self._most
        held += lines
        if len(held) >= most:
            full = len(held) // most * most
            for at in range(0, full, most):
                yield self._member(held[at : at + most])
            del held[:full]

    def close(self) -> Iterator[Member]:
        """Write the remaining lines; yields the last member, if there is one. The file stays open."""
        if self._lines:
            yield self._member(self._lines)
            self._lines = []

    def _member(self, lines: list[bytes]) -> Member:
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        data = deflate.compress(b"\n".join(lines)) + deflate.compress(b"\n") + deflate.flush()
        self._file.write(data)
        member = Member(b" ".join(lines[0].split(b" ", 2)[:2]), self._offset, len(data), len(lines))
        self._offset += len(data)
        return member


def cluster_idx(members: Iterable[tuple[str, Member]]) -> Iterator[bytes]:
    """The lines of `cluster.idx`, from the members of all shards in order, with the names of their shards."""
    for number, (shard, member) in zip(count(1), members, strict=False):
        yield b"%s\t%s\t%d\t%d\t%d\n" % (member.start, shard.encode(), member.offset, member.length, number)


def cluster_loc(shards: Iterable[str]) -> bytes:
    """The content of `cluster.loc` for shards next to it."""
    return b"".join(b"%s\t%s\n" % (name.encode(), name.encode()) for name in shards)


def metadata_yaml(*, lines: int, members: int, shards: int, lines_per_member: int) -> bytes:
    """The content of `metadata.yaml`: the size of the cluster."""
    return (
        f"cdxLinesTotal: {lines}\nshards: {shards}\nmembers: {members}\nlinesPerMember: {lines_per_member}\n"
    ).encode()
