"""The items of a data block: keys, and the places of the ARC records of 2012 that they name.

    data block   (key NUL value)*, NUL to its end; an empty key ends it; it may be full to its last byte
    value        `<QQIQI`: id of the segment, date of the file in ms, partition, offset, compressed size; the older
                 `<QQIQ` lacks the size

Values contain NULs, so an item is skipped by its length. A file does not say which kind of values it has; read as the
wrong kind, keys would be unprintable or out of order.
"""

from __future__ import annotations

import re
import struct
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import le
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import FormatError

__all__ = [
    "LONG",
    "MAX_KEY",
    "PUBLISHED",
    "SHORT",
    "Asked",
    "DataBlock",
    "Item",
    "Place",
    "first_key",
    "is_of_short_values",
    "pack",
    "parse_place",
    "published_fields",
]

MAX_KEY: Final = 1 << 24
"""No key is longer: it fits into a block."""

LONG: Final = struct.Struct("<QQIQI")
"""Values of 32 bytes."""

PUBLISHED: Final = ("arcSourceSegmentId", "arcFileDate", "arcFilePartition", "arcFileOffset", "compressedSize")
"""What the index of 2012 was published with, in the order of its values."""

SHORT: Final = struct.Struct("<QQIQ")
"""Values of 28 bytes, without the compressed size."""

_PRINTABLE: Final = re.compile(rb"[^\x00-\x20\x7f]+")
_FILE: Final = re.compile(r"(?:.*/)?([0-9]{1,20})/([0-9]{1,20})_([0-9]{1,10})\.arc\.gz")
_LIMITS: Final = (1 << 64, 1 << 64, 1 << 32, 1 << 64, 1 << 32)
_ITEMS: Final = {
    values.size: (
        re.compile(rb"(?:[^\0]+\0.{%d})*" % values.size, re.DOTALL),
        re.compile(rb"[^\0]+\0.{%d}" % values.size, re.DOTALL),
    )
    for values in (SHORT, LONG)
}
"""For values of a size: all items of a block, and one."""

_MAX_MS: Final = 253_402_300_799_999  # the last millisecond of the year 9999


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The place of a capture's record. `length` is the compressed size in bytes; None for values without it."""

    segment: int
    date_ms: int
    partition: int
    offset: int
    length: int | None = None

    @property
    def filename(self) -> str:
        """The key of the ARC file."""
        return f"common-crawl/parse-output/segment/{self.segment}/{self.date_ms}_{self.partition}.arc.gz"

    @property
    def timestamp(self) -> str:
        """The date of the file, as 14 digits; `00000000000000` if it is not valid."""
        if self.date_ms > _MAX_MS:
            return "0" * 14
        return time.strftime("%Y%m%d%H%M%S", time.gmtime(self.date_ms // 1000))


_NOWHERE: Final = Place(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a data block."""

    key: bytes
    place: Place


def published_fields(fields: Mapping[str, Any]) -> dict[str, int]:
    """The fields of a capture with their names in the index of 2012; empty if the capture is not from that crawl."""
    try:
        length = fields.get("length")
        place = parse_place(str(fields["filename"]), int(fields["offset"]), None if length is None else int(length))
    except (FormatError, KeyError, ValueError):
        return {}
    numbers = (place.segment, place.date_ms, place.partition, place.offset, place.length)
    return {name: number for name, number in zip(PUBLISHED, numbers, strict=True) if number is not None}


def pack(place: Place, values: struct.Struct) -> bytes:
    """The value for a place, whose length must be known if the values have it."""
    numbers = (place.segment, place.date_ms, place.partition, place.offset)
    return values.pack(*numbers) if values is SHORT else values.pack(*numbers, place.length)


def parse_place(filename: str, offset: int, length: int | None) -> Place:
    """The place of a record of the 2012 crawl.

    Args:
        filename: The ARC file: `…/SEGMENT/DATE_PARTITION.arc.gz`.
        offset: The offset of the record in bytes.
        length: Its compressed size, if known.

    Raises:
        FormatError: `bad-header`: the file is not from that crawl, or a number is too large for a value.
    """
    found = _FILE.fullmatch(filename)
    if found is None:
        raise FormatError(
            "the capture is not in a file of the 2012 crawl",
            reason="bad-header",
            expected="…/SEGMENT/DATE_PARTITION.arc.gz",
            actual=repr(filename[-80:]),
        )
    numbers = (*map(int, found.groups()), offset, length or 0)
    if not all(0 <= number < limit for number, limit in zip(numbers, _LIMITS, strict=True)):
        raise FormatError("a number is too large for the index of 2012", reason="bad-header", actual=str(numbers))
    return Place(numbers[0], numbers[1], numbers[2], offset, length)


Asked = tuple[bytes, bytes, int]
"""A range of keys `low <= key < high`, and the number of the query that asks for it."""


class DataBlock:
    """The items of a data block, as far as it is undamaged.

    Args:
        data: The block.
        values: The layout of values.

    Attributes:
        first: The first key; empty if there are no items.
        last: The last key; empty if there are none.
        damaged: Whether the block contains something after its items.
        is_sorted: Whether the keys are in order.
    """

    __slots__ = ("_items", "_values", "damaged", "first", "is_sorted", "last")

    def __init__(self, data: bytes, values: struct.Struct) -> None:
        self._values = values
        native = core.native()
        items = self._items = _Items(data, values.size) if native is None else native.TreeBlock(data, values.size)
        self.first, self.last, self.is_sorted = items.first, items.last, items.is_sorted
        self.damaged = items.end < len(data) and data[items.end] != 0

    @property
    def keys(self) -> list[bytes]:
        """The keys, in the order of the block."""
        return list(self._items.keys)

    def lines(self, asked: list[Asked], start: int) -> tuple[int, list[tuple[int, bytes | None]]]:
        """The CDXJ lines in ranges of keys, from one range on up to the first that ends behind the block.

        Args:
            asked: The ranges, which rise.
            start: The place of the first of them.

        Returns:
            The place of the first range that ends behind the block; and the places and lines of those before it that
            have any. Lines that are None are to be made of the range's items.
        """
        return self._items.lines(asked, start)

    def within(self, low: bytes, high: bytes) -> Iterator[Item]:
        """The items with keys from `low` up to, not including, `high`."""
        end, unpack = -1 - self._values.size, self._values.unpack_from
        for item in self._items.within(low, high):
            yield Item(item[:end], Place(*unpack(item, len(item) + end + 1)))


class _Items:
    """The items of a block, each a key, a NUL and a fixed-size value: the Python twin of the native `TreeBlock`.

    Attributes:
        first, last: As in `DataBlock`.
        is_sorted: As in `DataBlock`.
        end: The offset at which the items end.
    """

    __slots__ = ("_items", "_key_end", "end", "first", "is_sorted", "last")

    def __init__(self, data: bytes, value_bytes: int) -> None:
        whole, item = _ITEMS[value_bytes]
        found = whole.match(data)
        self._key_end, self.end = -1 - value_bytes, found.end() if found is not None else 0
        items = self._items = item.findall(data, 0, self.end)
        self.first = items[0][: self._key_end] if items else b""
        self.last = items[-1][: self._key_end] if items else b""
        # Items with equal keys may have their values in any order.
        self.is_sorted = _is_sorted(items) or _is_sorted(self.keys)

    @property
    def keys(self) -> list[bytes]:
        """See `DataBlock.keys`."""
        end = self._key_end
        return [each[:end] for each in self._items]

    def within(self, low: bytes, high: bytes) -> list[bytes]:
        """The items with keys from `low` up to, not including, `high`."""
        items, end = self._items, self._key_end
        if not self.is_sorted:
            return [item for item in items if low <= item[:end] < high]
        start = _place_of(items, low)
        return items[start : _place_of(items, high, start)]

    def lines(self, asked: list[Asked], start: int) -> tuple[int, list[tuple[int, bytes | None]]]:
        """As `DataBlock.lines`; all lines are None, and ranges without items are among them."""
        found: list[tuple[int, bytes | None]] = []
        for place in range(start, len(asked)):
            if asked[place][1] > self.last:
                return place, found
            found.append((place, None))
        return len(asked), found


def _is_sorted(texts: list[bytes]) -> bool:
    return all(map(le, texts, islice(texts, 1, None)))


def _place_of(items: list[bytes], key: bytes, start: int = 0) -> int:
    """The index of the first item whose key is not less than `key`, which may end with a NUL if it is a bound.

    Neither keys nor bounds contain another NUL, so an item is less than `key` exactly if its own key is.
    """
    return bisect_left(items, key[:-1] + b"\1" if key.endswith(b"\0") else key, start)


def first_key(data: bytes) -> bytes:
    """The first key of a data block; empty if there is none."""
    return data[: data.find(b"\0")]


def is_of_short_values(data: bytes) -> bool:
    """Whether a data block, read with values without sizes, has only printable keys in order."""
    block = DataBlock(data, SHORT)
    keys = block.keys
    end = sum(map(len, keys)) + len(keys) * (1 + SHORT.size)
    places = block.within(b"", b"\xff" * MAX_KEY) if block.is_sorted else iter(())
    return (
        block.is_sorted
        and not any(data[end:])
        and all(map(_PRINTABLE.fullmatch, keys))
        and all(item.place != _NOWHERE for item in places)
    )
