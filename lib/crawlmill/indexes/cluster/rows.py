"""The rows of `cluster.idx`: the first line of each member of a cluster, and its place.

    <urlkey> <timestamp> TAB <shard> TAB <offset> TAB <length> [TAB <number>]

Numbers are decimal; the number of the row, from 1, is missing in some clusters. A row with more columns is two that a
damaged line end has joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from crawlmill.errors import FormatError

__all__ = ["CAPTURES_OF_QUADS", "Row", "leads_to_quads", "parse_row", "parse_rows", "row_key"]

CAPTURES_OF_QUADS: Final = "pages-"
"""What the names of shards begin with whose captures lead to quads."""

_NUMBER: Final = re.compile(rb"[0-9]{1,18}")
_MAX_NAME: Final = 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One member: `start` is its first key and timestamp; offset and length are in bytes of the shard.

    `number` is that of the row, None where the cluster has none. `after` is the start of the next member of the shard,
    if that one is left out.
    """

    start: bytes
    shard: str
    offset: int
    length: int
    number: int | None
    after: bytes = b""

    @property
    def end(self) -> int:
        """The offset after the member."""
        return self.offset + self.length

    def is_followed_by(self, row: Row) -> bool:
        """Whether no row is missing between this one and another: by their numbers, or by the places of their members.

        One of the two is enough: a damaged number loses nothing, and a damaged place is reported where it is read.
        """
        if self.number is not None and row.number == self.number + 1:
            return True
        if row.shard == self.shard:
            return row.offset == self.end
        return row.offset == 0 and row.number is None


def leads_to_quads(head: bytes) -> bool:
    """Whether the first row says that the cluster's captures point to quads."""
    return head.partition(b"\n")[0].partition(b"\t")[2].startswith(CAPTURES_OF_QUADS.encode())


def row_key(line: bytes) -> bytes:
    """The part of a row by which rows are sorted."""
    return line.partition(b"\t")[0]


def parse_row(line: bytes) -> Row:
    """Parse a row.

    Raises:
        FormatError: `bad-header`: it is not a row.
    """
    fields = line.rstrip(b"\r\n").split(b"\t")
    if (
        not 4 <= len(fields) <= 5
        or not fields[0]
        or not 0 < len(fields[1]) <= _MAX_NAME
        or not _NUMBER.fullmatch(fields[2])
        or not _NUMBER.fullmatch(fields[3])
        or int(fields[3]) == 0
        or not all(map(_NUMBER.fullmatch, fields[4:]))
    ):
        raise FormatError(
            "not a row of cluster.idx",
            reason="bad-header",
            expected="key, shard, offset, length and perhaps a number, tab-separated",
            actual=repr(line[:80].decode("utf-8", "backslashreplace")),
        )
    shard = fields[1].decode("utf-8", "surrogateescape")
    return Row(fields[0], shard, int(fields[2]), int(fields[3]), int(fields[4]) if len(fields) > 4 else None)


def parse_rows(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text given in pieces, without blank lines."""
    rest = b""
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        yield from (line for line in lines if line and line != b"\r")
    if rest.rstrip(b"\r"):
        yield rest
