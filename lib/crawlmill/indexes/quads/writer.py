"""Writes a part of a cluster of quads, and the captures that point into it.

    part-00000.nq.gz     quads, in gzip members of whole pages
    pages-00000.gz       a shard of captures, one per page, as in any cluster; their field `quads` has the place:
                         `"quads": "part-00000.nq.gz 1000 2345 0 789"`: file, offset and length of the member, then
                         offset and length of the page's quads in the inflated member, all in bytes
    cluster.idx …        as in any cluster: see `indexes.cluster.shards`

Captures of one urlkey are ordered by their lines, and so are the quads of their pages.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final

from crawlmill.indexes.cluster.rows import CAPTURES_OF_QUADS
from crawlmill.indexes.cluster.shards import Member, ShardWriter
from crawlmill.indexes.quads.pages import Page

__all__ = ["CAPTURES_PER_MEMBER", "QUADS", "QuadWriter", "captures_name", "part_name"]

QUADS: Final = "quads"
"""The field of a capture that says where the quads of its page are."""

CAPTURES_PER_MEMBER: Final = 1000

_MEMBER_BYTES: Final = 512 << 10
_HELD_BYTES: Final = 64 << 20
_LEVEL: Final = 6
_GZIP: Final = 31


def part_name(number: int) -> str:
    """The name of a file of quads."""
    return f"part-{number:05}.nq.gz"


def captures_name(number: int) -> str:
    """The name of the shard of captures that belongs to it."""
    return f"{CAPTURES_OF_QUADS}{number:05}.gz"


class QuadWriter:
    """Writes pages, in the order of their urlkeys.

    Args:
        number: The number of the part.
        quads: The file for the members of the part.
        captures: The file for the members of the shard of captures.
    """

    def __init__(self, number: int, quads: BinaryIO, captures: BinaryIO) -> None:
        self._name, self._quads = part_name(number), quads
        self._shard = ShardWriter(captures, CAPTURES_PER_MEMBER)
        self._held: list[bytes] = []
        self._size = self._offset = 0
        self._waiting: list[tuple[Page, int, int]] = []

    def write(self, pages: Iterable[Page]) -> Iterator[Member]:
        """Write the pages of a urlkey; yields the members of the shard of captures that they complete."""
        with SpooledTemporaryFile(max_size=_HELD_BYTES) as spool:
            order: list[tuple[str, Page, int, int]] = []
            at = 0
            for page in pages:
                data = ("\n".join(page.lines()) + "\n").encode()
                spool.write(data)
                page.quads = {}  # now they are in the file
                order.append((f"{page.timestamp} {_shown(page, '')}", page, at, len(data)))
                at += len(data)
            order.sort(key=lambda each: each[0])
            for _, page, start, length in order:
                spool.seek(start)
                self._held.append(spool.read(length))
                self._waiting.append((page, self._size, length))
                self._size += length
                if self._size >= _MEMBER_BYTES:
                    yield from self._member()

    def close(self) -> Iterator[Member]:
        """Write the remaining pages; yields the last members. The files stay open."""
        if self._held:
            yield from self._member()
        yield from self._shard.close()

    def _member(self) -> Iterator[Member]:
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        data = b"".join([*map(deflate.compress, self._held), deflate.flush()])
        self._quads.write(data)
        lines = []
        for page, start, length in self._waiting:
            place = f"{self._name} {self._offset} {len(data)} {start} {length}"
            lines.append(f"{page.key} {page.timestamp} {_shown(page, place)}".encode("ascii"))
        self._offset += len(data)
        self._held, self._waiting, self._size = [], [], 0
        yield from self._shard.write(lines)


def _shown(page: Page, place: str) -> str:
    return json.dumps({**page.capture, QUADS: place})
