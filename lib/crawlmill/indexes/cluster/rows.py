"""The rows of `cluster.idx`: the first line of each member of a cluster, and its place.

    <urlkey> <timestamp> TAB <shard> TAB <offset> TAB <length> [TAB <number>]

Numbers are decimal; the number of the row, from 1, is missing in some clusters and not used here.
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
    """One member: `start` is its first key and timestamp; offset and length are in bytes of the shard."""

    start: bytes
    shard: str
    offset: int
    length: int


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
        len(fields) < 4
        or not fields[0]
        or not 0 < len(fields[1]) <= _MAX_NAME
        or not _NUMBER.fullmatch(fields[2])
        or not _NUMBER.fullmatch(fields[3])
        or int(fields[3]) == 0
    ):
        raise FormatError(
            "not a row of cluster.idx",
            reason="bad-header",
            expected="key, shard, offset and length, tab-separated",
            actual=repr(line[:80].decode("utf-8", "backslashreplace")),
        )
    return Row(fields[0], fields[1].decode("utf-8", "surrogateescape"), int(fields[2]), int(fields[3]))


def parse_rows(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text given in pieces, without blank lines."""
    rest = b""
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        yield from (line for line in lines if line and line != b"\r")
    if rest.rstrip(b"\r"):
        yield rest
