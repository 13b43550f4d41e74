"""The prefix B-tree of 2012 as an index: searched by its index blocks, verified by its data blocks, read by ranges.

    header, index blocks, data blocks      see `index_blocks` and `items`

A pointer less than the number of index blocks is to an index block, any other to a data block. Prefixes may be shorter
than the keys they separate, and the published index has wrong pointers. So the end of a descent is only a guess: the
keys of data blocks decide, and if they contradict the guess, only the data blocks are searched.

Source: the files written by trivio/common_crawl_index (the writer of 2012).
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.held_blocks import HeldBlocks
from crawlmill.indexes.index import Found, Losses, OnProblem
from crawlmill.indexes.plan import Part, Plan
from crawlmill.indexes.prefix_tree.index_blocks import HEADER, parse_index_block
from crawlmill.indexes.prefix_tree.items import LONG, SHORT, DataBlock, Item, first_key, is_of_short_values
from crawlmill.indexes.prefix_tree.keys import Wanted, asked_ranges, wanted
from crawlmill.indexes.prefix_tree.lines import line_of
from crawlmill.indexes.prefix_tree.recent import Recent
from crawlmill.indexes.query import Query
from crawlmill.indexes.source import Source
from crawlmill.indexes.sweep import merged_ranges

__all__ = ["PrefixTree"]

_MAX_DEPTH: Final = 32
_HELD_BYTES: Final = 16 << 20
_PROBED: Final = 4
_CHUNK_LINES: Final = 512

_Parsed = tuple[list[bytes], list[int]]
"""The prefixes and the pointers of an index block; there is one pointer more."""


class PrefixTree:
    """A prefix tree as an `Index`. Its lines are CDXJ, ordered by the tree's keys, which differ from other indexes'.

    Args:
        source: The file.
        size: Its size in bytes.
        head: Its first bytes, including at least the header.
        on_problem: Called with what is lost.
        value_bytes: 32 or 28; None: detect it from the data blocks.
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
            store.put(0, head)  # identifies the index without a request next time
        self._held = HeldBlocks(source, size, self.block_bytes, origin=HEADER.size, store=store, stored_from=1)
        for number in range(min((len(head) - HEADER.size) // self.block_bytes, whole)):
            at = HEADER.size + number * self.block_bytes
            self._held.hold(number, head[at : at + self.block_bytes])
        self._parsed = Recent[_Parsed](_HELD_BYTES // self.block_bytes)
        self._data = Recent[DataBlock](_HELD_BYTES // self.block_bytes)
        self._near: tuple[int, bytes, bytes] | None = None  # the block found last, for which key, its last key
        self._damaged: set[int] = set()
        self._values = {28: SHORT, 32: LONG}.get(value_bytes or 0)

    @property
    def name(self) -> str:
        """See `Index.name`."""
        return self._source.name

    @property
    def values(self) -> struct.Struct:
        """The layout of values. Raises: SourceError, FormatError: No data block can be read."""
        if self._values is None:
            count = self.blocks - self.index_blocks
            probed = sorted({self.index_blocks + count * part // _PROBED for part in range(_PROBED)}) if count else []
            short = all(is_of_short_values(self._held.block(number)) for number in probed)
            self._values = SHORT if probed and short else LONG
        return self._values

    @property
    def has_lengths(self) -> bool:
        """Whether captures have the lengths of their records; True for an index that cannot be read at all."""
        try:
            return self.values is LONG
        except (FormatError, SourceError):
            return True

    def plan(self, queries: Sequence[Query]) -> Plan:
        """See `Index.plan`."""
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
        """See `Index.captures`; in the order of the tree's keys."""
        asked, partial = asked_ranges([query.pattern for query in queries])
        allowed = None if plan is None else _numbers(plan, self.block_bytes)
        place = 0
        while place < len(asked):
            low, high, number = asked[place]
            try:
                first = self._block_for(low)
            except (FormatError, SourceError) as error:
                self._losses.add(error, self._source.name)
                place += 1
                continue
            block = None if partial else self._block_holding(first, high, allowed)
            if block is None:
                items = self._items(first, low, high, allowed)
                yield from ((number, chunk) for chunk in _lines(items, partial.get(number)))
                place += 1
                continue
            end, found = block.lines(asked, place)
            for at, lines in found:
                low, high, number = asked[at]
                if lines is None:
                    lines = b"".join(map(line_of, block.within(low, high)))
                if lines:
                    yield number, lines
            place = end

    def _block_holding(self, number: int, high: bytes, allowed: set[int] | None) -> DataBlock | None:
        """The block just found for the beginning of a range, if it holds the whole range."""
        if self._near is None or self._near[0] != number or self._near[2] < high:
            return None
        return self._data.get(number) if allowed is None or number in allowed else None

    def _items(self, first: int, low: bytes, high: bytes, allowed: set[int] | None) -> Iterator[Item]:
        """The items with keys in a range, from a block on. A lost or damaged block is reported and passed over."""
        end = self.blocks if allowed is None else max(allowed, default=-1) + 1
        before = b""
        for each in range(first, end):
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
        """A data block; its damage is reported when first met. Raises: SourceError, FormatError."""
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
        """Report damage of a data block, once."""
        if number not in self._damaged:
            self._damaged.add(number)
            error = FormatError(f"a data block of the index of 2012 is damaged: {what}", reason="bad-header")
            self._losses.add(error.located(offset=self._offset(number)), self._source.name)

    # Locating keys

    def _block_for(self, key: bytes) -> int:
        """The number of the last data block whose first key is less than this one, or of the first data block.

        All items with the key, and with keys after it, are in that block or after it.
        """
        if self._near is not None and self._near[1] <= key <= self._near[2]:  # keys are mostly requested in order
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
        """Whether the first key of a data block is less than this one; True for an empty block."""
        return first_key(self._held.block(number, ahead=1)) < key

    def _descend(self, key: bytes) -> int:
        """The number of the data block that the index blocks lead to; may be invalid if they are damaged."""
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


def _lines(items: Iterator[Item], partial: Wanted | None) -> Iterator[bytes]:
    """The lines of items in chunks; only of those that are selected, if that is not all of them."""
    held: list[bytes] = []
    for item in items:
        if partial is None or partial.accepts(item.key):
            held.append(line_of(item))
            if len(held) >= _CHUNK_LINES:
                yield b"".join(held)
                held.clear()
    if held:
        yield b"".join(held)


def _numbers_of(head: bytes) -> tuple[int, int]:
    block_bytes, index_blocks = HEADER.unpack_from(head)
    return int(block_bytes), int(index_blocks)


def _numbers(plan: Plan, block_bytes: int) -> set[int]:
    return {
        (part.offset - HEADER.size) // block_bytes + number
        for part in plan.parts
        for number in range(len(part.lengths))
    }
