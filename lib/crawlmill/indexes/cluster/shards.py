"""Writes the files of a ZipNum cluster: shards of gzip members, and the second level that leads into them.

    cdx-00000.gz …   sorted lines, in gzip members of a fixed number of lines; the last member of a shard may be shorter
    cluster.idx      a line per member: `<key> <timestamp> TAB shard TAB offset TAB length TAB number`, numbers from 1
    cluster.loc      a line per shard: `shard TAB path`, the path relative to the folder
    metadata.yaml    the size of a cluster, as Common Crawl writes it beside its own

A shard is written by one task. What only the whole cluster knows (names without a gap, numbers of members) is put in
when the shards come together: until then each has a *fragment* beside it, a line per member without shard and number.

Source: the clusters that Common Crawl publishes; pywb's documentation of ZipNum.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import count
from typing import BinaryIO, Final

__all__ = ["ShardWriter", "cluster_idx", "cluster_loc", "metadata_yaml", "shard_name"]

_LEVEL: Final = 6
_GZIP: Final = 31  # zlib's way of asking for a gzip header without a time and name


def shard_name(number: int) -> str:
    """The name of a shard: `cdx-00000.gz`."""
    return f"cdx-{number:05}.gz"


class ShardWriter:
    """Writes sorted lines as one shard, and its fragment of `cluster.idx`.

    Args:
        shard: Takes the gzip members.
        fragment: Takes a line per member: `<key> <timestamp> TAB offset TAB length`.
        lines: Lines of a member, 1 or more.
    """

    def __init__(self, shard: BinaryIO, fragment: BinaryIO, lines: int) -> None:
        self._shard, self._fragment, self._most = shard, fragment, lines
        self._lines: list[bytes] = []
        self._offset = 0

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Take lines, in order, each with its line end."""
        held, most = self._lines, self._most
        for line in lines:
            held.append(line)
            if len(held) == most:
                self._end_member()

    def close(self) -> None:
        """Write the last member. The files are left open."""
        if self._lines:
            self._end_member()

    def _end_member(self) -> None:
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        member = deflate.compress(b"".join(self._lines)) + deflate.flush()
        start = b" ".join(self._lines[0].split(b" ", 2)[:2])
        self._fragment.write(b"%s\t%d\t%d\n" % (start, self._offset, len(member)))
        self._shard.write(member)
        self._offset += len(member)
        self._lines.clear()


def cluster_idx(fragments: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """The lines of `cluster.idx`, from the fragments of the shards in their order."""
    numbers = count(1)
    for shard, fragment in enumerate(fragments):
        name = shard_name(shard).encode()
        for line in fragment:
            start, offset, length = line.rstrip(b"\n").rsplit(b"\t", 2)
            yield b"%s\t%s\t%s\t%s\t%d\n" % (start, name, offset, length, next(numbers))


def cluster_loc(shards: int) -> bytes:
    """The content of `cluster.loc` for so many shards beside it."""
    return b"".join(b"%s\t%s\n" % (shard_name(n).encode(), shard_name(n).encode()) for n in range(shards))


def metadata_yaml(*, lines: int, members: int, shards: int, lines_per_member: int) -> bytes:
    """The content of `metadata.yaml`: how large the cluster is."""
    return (
        f"cdxLinesTotal: {lines}\nshards: {shards}\nmembers: {members}\nlinesPerMember: {lines_per_member}\n"
    ).encode()
