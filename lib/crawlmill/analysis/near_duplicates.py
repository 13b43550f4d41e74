"""Finds all pairs of hashes that differ in few bits, without comparing all with all: the parts of a MapReduce job.

    step 1  map     each record yields (hash, URL); those without a hash, or with hash 0, are left out
            reduce  the URLs of a hash are a `group`; its `pairs` are results or, if it is too large, the group itself
            is a result and continues with its first URL (`by_first`); it goes to each of the `blocks` of the hash
    step 2  reduce  the `pairs_in` a block are results
    step 3  reduce  the smallest distance of each pair of URLs: a URL that was fetched twice may be near another twice

Blocks: for pairs at most d bits apart the 64 bits are cut into d + 2 chunks. d different bits leave at least two chunks
equal, so each choice of two chunks, with their bits, is a block, and two near hashes meet in at least one. They may
meet in several: the pair is reported only in the first.

    d                         0    1    2    3    4    5    6    7
    blocks of a hash          1    3    6   10   15   21   28   36
    bits of a block, about   64   43   32   26   21   18   16   14

The bits determine how many hashes meet by chance: n evenly spread hashes put n / 2^bits into a block. Common Crawl's
own job used three of six chunks: 20 blocks of 31 to 33 bits for d = 3. Half as many blocks are half as much to shuffle,
and hashes within a block are not all compared with each other either.

Records with the same hash are a group from the first step on, so that a page stored a million times is compared once.
Results do not depend on the order of values.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, product
from typing import IO, Final, NamedTuple

__all__ = ["MAX_DISTANCE", "Block", "Group", "Pair", "blocks", "group", "pairs_in"]

MAX_DISTANCE: Final = 7
"""The largest distance that blocks are made for; beyond it nearly everything is near, and everything meets."""

_ALL_BITS: Final = (1 << 64) - 1

# (number of the choice of chunks, the bits of both): a key of the shuffle.
Block = tuple[int, int]

# ((URL, URL), distance in bits); the first URL is the smaller.
Pair = tuple[tuple[str, str], int]


class Group(NamedTuple):
    """The records with the same hash (64 bits, signed or not), as their distinct URLs in order.

    It is a value in the shuffle, a JSON array, so `Group(*value)` parses it.
    """

    hash: int
    urls: Sequence[str]

    def pairs(self) -> Iterator[Pair]:
        """Yield each pair of URLs in the group, at distance 0."""
        return ((pair, 0) for pair in combinations(self.urls, 2))

    def by_first(self) -> Group:
        """The group with its first URL only, which represents it."""
        return Group(self.hash, self.urls[:1])


def group(number: int, urls: Iterable[str]) -> Group:
    """The group of a hash, from the URLs of its records. Holds the distinct URLs in memory."""
    return Group(number, sorted(set(urls)))


def blocks(number: int, max_distance: int) -> Iterator[Block]:
    """Yield the blocks that a hash belongs to.

    Raises:
        ValueError: The distance is not in 0 to `MAX_DISTANCE`.

    """
    number &= _ALL_BITS
    return ((index, choice.bits_of(number)) for index, choice in enumerate(_choices(max_distance)))


def pairs_in(
    block_index: int,
    groups: Iterable[Group],
    max_distance: int,
    *,
    max_held: int = 200_000,
    spool: Callable[[], IO[bytes]] = tempfile.TemporaryFile,
) -> Iterator[Pair]:
    """Yield the near pairs between the groups of a block, unless they have met in an earlier block.

    `block_index` is the first part of the block; `groups` have different hashes. Groups are held until they have
    `max_held` URLs; further ones go to a file opened by `spool`, and are compared among themselves afterwards.
    """
    arriving: Iterable[Group] | None = groups
    while arriving is not None:
        held = _HeldGroups(block_index, max_distance)
        waiting: IO[bytes] | None = None
        for one in arriving:
            for other, distance in held.near(one.hash):
                for a, b in product(one.urls, other.urls):
                    if a != b:
                        yield ((a, b) if a < b else (b, a)), distance
            if held.url_count < max_held:
                held.add(one)
            else:
                waiting = waiting or spool()
                waiting.write(json.dumps(one).encode() + b"\n")
        arriving = None if waiting is None else _read_again(waiting)


def _read_again(file: IO[bytes]) -> Iterator[Group]:
    with file:
        file.seek(0)
        for line in file:
            yield Group(*json.loads(line))


class _Choice(NamedTuple):
    """Two chunks: their masks, how far the bits of each are shifted in a block, and masks of the bits outside them.

    `earlier` are the chunks before the second, without the first: two hashes that differ in each of them have met in no
    earlier block. `pieces` are the bits that the block leaves open, in one more part than bits may differ.
    """

    first: int
    second: int
    first_shift: int
    second_shift: int
    earlier: tuple[int, ...]
    pieces: tuple[int, ...]

    def bits_of(self, number: int) -> int:
        """The bits of a hash that identify its block."""
        return (number & self.first) >> self.first_shift | (number & self.second) >> self.second_shift


@cache
def _choices(max_distance: int) -> list[_Choice]:
    """All choices of two chunks, in order. Chunks count from the low end and are as equal in size as possible."""
    if not 0 <= max_distance <= MAX_DISTANCE:
        raise ValueError(f"distance: expected 0 to {MAX_DISTANCE} bits, got {max_distance}")
    bits = [1 << bit for bit in range(64)]
    chunks = _cut(bits, max_distance + 2)
    sizes = [chunk.bit_count() for chunk in chunks]
    return [
        _Choice(
            first=chunks[a],
            second=chunks[b],
            first_shift=sum(sizes[:a]),
            second_shift=sum(sizes[:b]) - sizes[a],
            earlier=(*chunks[:a], *chunks[a + 1 : b]),
            pieces=_cut([bit for bit in bits if not bit & (chunks[a] | chunks[b])], max_distance + 1),
        )
        for a, b in combinations(range(len(chunks)), 2)
    ]


def _cut(bits: Sequence[int], count: int) -> tuple[int, ...]:
    """Divide these bits into `count` masks."""
    edges = [len(bits) * edge // count for edge in range(count + 1)]
    return tuple(sum(bits[start:end]) for start, end in pairwise(edges))


class _HeldGroups:
    """The groups of one block, found by near hashes: at least one of the block's pieces must be equal."""

    __slots__ = ("_choice", "_max_distance", "_tables", "url_count")

    def __init__(self, block_index: int, max_distance: int) -> None:
        self._choice, self._max_distance = _choices(max_distance)[block_index], max_distance
        self._tables: list[dict[int, list[Group]]] = [{} for _ in self._choice.pieces]
        self.url_count = 0

    def add(self, one: Group) -> None:
        """Add a group."""
        self.url_count += len(one.urls)
        for piece, table in zip(self._choice.pieces, self._tables, strict=True):
            table.setdefault(one.hash & piece, []).append(one)

    def near(self, number: int) -> Iterator[tuple[Group, int]]:
        """Yield the groups near a hash, with their distances, that did not meet it in an earlier block."""
        _, _, _, _, earlier, pieces = self._choice
        for place, (piece, table) in enumerate(zip(pieces, self._tables, strict=True)):
            for other in table.get(number & piece, ()):
                differing = (number ^ other.hash) & _ALL_BITS
                distance = differing.bit_count()
                if (
                    distance <= self._max_distance
                    and all(differing & chunk for chunk in earlier)
                    and all(differing & before for before in pieces[:place])
                ):
                    yield other, distance
