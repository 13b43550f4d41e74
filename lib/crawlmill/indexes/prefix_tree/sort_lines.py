"""Items of a prefix tree as lines of a shuffle, whose bytes sort in the order of the tree: by key, then by value.

    key NUL values          hexadecimal numbers of fixed width; keys contain no NUL, so that a prefix sorts first

Engines end a line at LF or CR and a key at TAB: these are written as two bytes, as in `indexes.cluster.sharding`.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Final

from crawlmill.indexes.cluster.sharding import escape, unescape
from crawlmill.indexes.prefix_tree.items import SHORT, Item, Place

__all__ = ["item_of", "sort_line"]

_WIDTHS: Final = (0, 16, 32, 40, 56)  # where the numbers begin


def sort_line(item: Item, values: struct.Struct) -> bytes:
    """The line of an item, without its line end; the size is omitted for values without it."""
    place = item.place
    key = escape(item.key).replace(b"\n", b"\x08\x03")
    numbers = b"%016x%016x%08x%016x" % (place.segment, place.date_ms, place.partition, place.offset)
    return b"%s\0%s" % (key, numbers) if values is SHORT else b"%s\0%s%08x" % (key, numbers, place.length or 0)


def item_of(line: bytes) -> Item:
    """Parse a line written by `sort_line`."""
    key, _, digits = line.rpartition(b"\0")
    segment, date_ms, partition, offset = (int(digits[at:end], 16) for at, end in pairwise(_WIDTHS))
    length = int(digits[_WIDTHS[-1] :], 16) if len(digits) > _WIDTHS[-1] else None
    return Item(unescape(key.replace(b"\x08\x03", b"\n")), Place(segment, date_ms, partition, offset, length))
