"""The prefix B-tree of 2012 as an index: found by its index blocks, proven by its data blocks, read by ranges.

    header, index blocks, data blocks      see `index_blocks` and `items`

A pointer below the number of index blocks leads to an index block, any other to a data block. Prefixes may be shorter
than the keys they separate, and the published index has wrong pointers. So the end of a descent is only a guess: the
keys of data blocks decide, and if they contradict the guess, the data blocks alone are searched.

Source: trivio/common_crawl_index (the writer of 2012), by the files it has written.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring_ascii
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.held_blocks import HeldBlocks
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.prefix_tree.index_blocks import HEADER, parse_index_block
from crawlmill.indexes.prefix_tree.items import LONG, SHORT, DataBlock, Item, first_key, is_of_short_values
from crawlmill.indexes.prefix_tree.keys import Wanted, url_of, wanted
from crawlmill.indexes.prefix_tree.recent import Recent
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import merged_ranges
from crawlmill.urls.surt import urlkey_bytes

__all__ = ["PrefixTree", "without_keys"]

_MAX_DEPTH: Final = 32
_HELD_BYTES: Final = 16 << 20
_PROBED: Final = 4
_CHUNK_LINES: Final = 512
_KEY_FIELD: Final = re.compile(rb', "key": "(?:[^"\\]|\\.)*+"\}\n')

_Parsed = tuple[list[bytes], list[int]]
"""The prefixes and the pointers of an index block; there is one pointer more."""


class PrefixTree:
    """A prefix tree as an `Index`. Its lines are CDXJ, in the order of its keys, which are not those of other indexes.

    Args:
        source: The file.
        size: Its size in bytes.
        head: Its first bytes, at least the header.
        on_problem: Called with what is lost.
        value_bytes: 32 or 28; None: as the data blocks say.
    """

    format = "prefix-tree"
    in_line_order = False
    reads_through = False
    shares_blocks = True

    def __init__(
        self, source: Source, size: int, head: bytes, on_problem: OnProblem, value_bytes: int | None = None
    ) -> None:
        self._source, self._losses = source, Losses.of(on_problem)
        self.block_bytes, self.index_blocks = _numbers_of(head)
        whole, rest = divmod(size - HEADER.size, self.block_bytes)
        if rest or whole < self.index_blocks:
            self._losses.on_problem(
                FormatError(
                    "the index of 2012 ends within a block",
                    reason="truncated",
                    source=source.name,
                    offset=size - rest,
                    expected=f"blocks of {self.block_bytes} bytes, {self.index_blocks} of them index blocks",
                    actual=f"{whole} blocks and {rest} bytes",
                )
            )
        self.blocks = max(whole, self.index_blocks)
        """The number after that of the last whole block."""
        store = source.store() if source.remote else None
        if store is not None and store.get(0) is None:
            store.put(0, head)  # by which it is known again without a request
        self._held = HeldBlocks(source, size, self.block_bytes, origin=HEADER.size, store=store, stored_from=1)
        for number in range(min((len(head) - HEADER.size) // self.block_bytes, whole)):
            at = HEADER.size + number * self.block_bytes
            self._held.hold(number, head[at : at + self.block_bytes])
        self._parsed = Recent[_Parsed](_HELD_BYTES // self.block_bytes)
        self._data = Recent[DataBlock](_HELD_BYTES // self.block_bytes)
        self._near: tuple[int, bytes, bytes] | None = None  # the block found last, for which key, and its last key
        self._damaged: set[int] = set()
        self._values = {28: SHORT, 32: LONG}.get(value_bytes or 0)

    @property
    def name(self) -> str:
        """As `Index.name`."""
        return self._source.name

    @property
    def values(self) -> struct.Struct:
        """The layout of values. Raises: SourceError, FormatError: no data block can be read."""
        if self._values is None:
            count = self.blocks - self.index_blocks
            probed = sorted({self.index_blocks + count * part // _PROBED for part in range(_PROBED)}) if count else []
            short = all(is_of_short_values(self._held.block(number)) for number in probed)
            self._values = SHORT if probed and short else LONG
        return self._values

    @property
    def has_lengths(self) -> bool:
        """Whether captures say how long their records are; True for an index of which nothing can be read."""
        try:
            return self.values is LONG
        except (FormatError, SourceError):
            return True

    def plan(self, queries: Sequence[Query]) -> Plan:
        """As `Index.plan`."""
        parts: list[Part] = []
        for low, high in merged_ranges(each for query in queries for each in wanted(query.pattern).ranges):
            first, last = self._block_for(low), self._block_for(high)
            if parts and parts[-1].end > self._offset(first):
                first = (parts[-1].end - HEADER.size) // self.block_bytes
            last = min(last, self.blocks - 1)
            if first <= last:
                parts.append(Part(self._source.name, self._offset(first), (self.block_bytes,) * (last - first + 1)))
        return Plan(tuple(parts))

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """As `Index.captures`, in the order of the tree's keys."""
        meant = [wanted(query.pattern) for query in queries]
        asked = [(each, number) for number, some in enumerate(meant) for each in some.ranges]
        allowed = None if plan is None else _numbers(plan, self.block_bytes)
        for (low, high), number in sorted(asked):
            yield from ((number, chunk) for chunk in self._lines(low, high, meant[number], allowed))

    def _lines(self, low: bytes, high: bytes, meant: Wanted, allowed: set[int] | None) -> Iterator[bytes]:
        held: list[bytes] = []
        block = self._block_of(low, high) if allowed is None else None
        for item in self._items(low, high, allowed) if block is None else block.within(low, high):
            if meant.accepts(item.key):
                held.append(_line(item))
                if len(held) >= _CHUNK_LINES:
                    yield b"".join(held)
                    held.clear()
        if held:
            yield b"".join(held)

    def _block_of(self, low: bytes, high: bytes) -> DataBlock | None:
        """The block found last, if it holds all keys of a range: mostly keys are asked for in order."""
        if self._near is None or low < self._near[1] or self._near[2] < high:
            return None
        return self._data.get(self._near[0])

    def _items(self, low: bytes, high: bytes, allowed: set[int] | None) -> Iterator[Item]:
        """The items with keys in a range. A block that is lost or damaged is reported, and the next one is read."""
        try:
            number = self._block_for(low)
        except (FormatError, SourceError) as error:
            self._losses.add(error, self._source.name)
            return
        end = self.blocks if allowed is None else max(allowed, default=-1) + 1
        before = b""
        for each in range(number, end):
            if allowed is not None and each not in allowed:
                continue
            try:
                block = self._data_block(each)
            except FormatError as error:
                self._losses.add(error.located(offset=self._offset(each)), self._source.name)
                continue
            except SourceError as error:
                self._losses.add(error, self._source.name)
                return
            if block.first and block.first < before:
                self._tell_damage(each, "its first key is less than the last one before it")
            yield from block.within(low, high)
            before = block.last or before
            if block.last and block.is_sorted and before >= high:
                return

    def _data_block(self, number: int) -> DataBlock:
        """A data block, whose damage is reported where it is first met. Raises: SourceError, FormatError."""
        block = self._data.get(number)
        if block is not None:
            return block
        block = self._data.put(number, DataBlock(self._held.block(number), self.values))
        if block.damaged:
            self._tell_damage(number, "an item reaches out of it")
        elif not block.is_sorted:
            self._tell_damage(number, "its keys are not in order")
        return block

    def _tell_damage(self, number: int, what: str) -> None:
        """Report what is wrong with a data block, once."""
        if number not in self._damaged:
            self._damaged.add(number)
            error = FormatError(f"a data block of the index of 2012 is damaged: {what}", reason="bad-header")
            self._losses.add(error.located(offset=self._offset(number)), self._source.name)

    # Where keys are

    def _block_for(self, key: bytes) -> int:
        """The number of the last data block whose first key is less than this one, else of the first data block.

        All items of the key, and of all keys after it, are in that block or after it.
        """
        if self._near is not None and self._near[1] <= key <= self._near[2]:  # mostly keys are asked for in order
            return self._near[0]
        first, end = self.index_blocks, self.blocks
        if end <= first:
            return end
        guess = min(max(self._descend(key), first), end - 1)
        if guess == first or self._starts_before(guess, key):
            block = self._data_block(guess)
            if block.last and block.is_sorted and block.last >= key:
                self._near = guess, key, block.last
                return guess
            low, step = guess, 1
            while low + step < end and self._starts_before(low + step, key):
                low, step = low + step, step * 2
            high = min(low + step, end)
        else:
            high, step = guess, 1
            while high - step > first and not self._starts_before(high - step, key):
                high, step = high - step, step * 2
            low = max(high - step, first)
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts_before(middle, key):
                low = middle
            else:
                high = middle
        return low

    def _starts_before(self, number: int, key: bytes) -> bool:
        """Whether the first key of a data block is less than this one; an empty block counts as such."""
        return first_key(self._held.block(number, ahead=1)) < key

    def _descend(self, key: bytes) -> int:
        """The number of the data block to which the index blocks lead; one that is none where they are damaged."""
        number = 0
        for _ in range(_MAX_DEPTH):
            prefixes, pointers = self._index_block(number)
            number = pointers[bisect_left(prefixes, key)] if pointers else self.blocks
            if number >= self.index_blocks:
                return number
        return self.blocks

    def _index_block(self, number: int) -> _Parsed:
        parsed = self._parsed.get(number)
        return self._parsed.put(number, parse_index_block(self._held.block(number))) if parsed is None else parsed

    def _offset(self, number: int) -> int:
        return HEADER.size + number * self.block_bytes


def _line(item: Item) -> bytes:
    """The CDXJ line of an item, with the key that it has in the tree."""
    url, place = url_of(item.key), item.place
    length = "" if place.length is None else f'"length": "{place.length}", '
    fields = (
        f'{{"url": {_json_of(url)}, {length}"offset": "{place.offset}", "filename": "{place.filename}", '
        f'"key": {_json_of(item.key)}}}'
    )
    return b"%s %s %s\n" % (urlkey_bytes(url), place.timestamp.encode(), fields.encode())


def _json_of(text: bytes) -> str:
    return encode_basestring_ascii(text.decode("utf-8", "surrogateescape"))


def without_keys(lines: bytes) -> bytes:
    """The lines of a tree without the field `key`, which ends them: `url`, `length`, `offset`, `filename`."""
    return _KEY_FIELD.sub(b"}\n", lines)


def _numbers_of(head: bytes) -> tuple[int, int]:
    block_bytes, index_blocks = HEADER.unpack_from(head)
    return int(block_bytes), int(index_blocks)


def _numbers(plan: Plan, block_bytes: int) -> set[int]:
    return {
        (part.offset - HEADER.size) // block_bytes + number
        for part in plan.parts
        for number in range(len(part.lengths))
    }
