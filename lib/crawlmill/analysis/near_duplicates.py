"""All pairs of hashes that differ in few bits, found without comparing all with all: the parts of a MapReduce job.

    step 1  map     record -> (hash, URL)                                records without a hash, or with hash 0: none
            reduce  `group` the URLs of a hash; its `pairs` (or its own line); `blocks` of the hash -> the group
    step 2  reduce  `pairs_in` the block
    step 3  reduce  the least distance of each pair of URLs              a URL with two hashes may be near another twice

Blocks: for pairs at most d bits apart the 64 bits are cut into d + 2 chunks. d differing bits leave at least two chunks
alike, so each choice of two chunks, with their bits, is a block, and two near hashes meet in at least one. They may meet
in several: the pair is given only in the first.

    d                     0    1    2    3    4    5    6    7
    blocks of a hash      1    3    6   10   15   21   28   36
    bits of a block      64   42   32   25   21   18   16   14

The bits decide how many hashes meet by chance: n hashes spread evenly put n / 2^bits into a block. Common Crawl's own job
had three of six chunks, 20 blocks of 31 to 33 bits for d = 3; the coarser cut halves what goes through the shuffle.

Records with one hash are a group from the first step on, so that a page stored a million times is compared once. Nothing
here depends on the order in which values come.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import IO, Any, Final, NamedTuple

__all__ = ["MAX_DISTANCE", "Block", "Group", "Pair", "blocks", "group", "pairs_in"]

MAX_DISTANCE: Final = 7
"""The largest distance that blocks are made for; beyond it nearly everything is near, and everything meets."""

_ALL_BITS: Final = (1 << 64) - 1

# (number of the choice of chunks, the bits of both): a key of the shuffle.
Block = tuple[int, int]

# ((URL, URL), distance in bits); the first URL is the smaller.
Pair = tuple[tuple[str, str], int]


class Group(NamedTuple):
    """The records that have one hash (64 bits, signed or not), by their distinct URLs in order.

    A value of the shuffle: as JSON an array, so `Group(*value)` reads it again.
    """

    hash: int
    urls: Sequence[str]

    def pairs(self) -> Iterator[Pair]:
        """Each two URLs of the group, at distance 0."""
        return ((pair, 0) for pair in combinations(self.urls, 2))

    def by_first(self) -> Group:
        """The group as its first URL stands for it."""
        return Group(self.hash, self.urls[:1])


def group(number: int, urls: Iterable[str]) -> Group:
    """The group of a hash, given the URLs of its records. Holds the distinct URLs."""
    return Group(number, sorted(set(urls)))


def blocks(number: int, max_distance: int) -> Iterator[Block]:
    """The blocks that a hash is in.

    Raises:
        ValueError: The distance is not in 0 to `MAX_DISTANCE`.

    """
    number &= _ALL_BITS
    return ((index, _bits_in(number, choice)) for index, choice in enumerate(_choices(max_distance)))


def pairs_in(
    block_index: int,
    groups: Iterable[Group],
    max_distance: int,
    *,
    max_held: int = 100_000,
    spool: Callable[[], IO[bytes]] = tempfile.TemporaryFile,
) -> Iterator[Pair]:
    """The near pairs between the groups of a block, unless they have met in an earlier block.

    `block_index` is the first part of the block, `groups` have different hashes. At most `max_held` groups are held: the
    others wait in a file that `spool` opens, and are compared among themselves afterwards.
    """
    index = _Index(block_index, max_distance)
    waiting: IO[bytes] | None = None
    for one in groups:
        for other, distance in index.near(one.hash):
            for a, b in product(one.urls, other.urls):
                if a != b:
                    yield ((a, b) if a < b else (b, a)), distance
        if len(index) < max_held:
            index.add(one)
        else:
            waiting = waiting or spool()
            waiting.write(json.dumps(one).encode() + b"\n")
    if waiting is not None:
        with waiting:
            waiting.seek(0)
            del index
            later = (Group(*json.loads(line)) for line in waiting)
            yield from pairs_in(block_index, later, max_distance, max_held=max_held, spool=spool)


class _Choice(NamedTuple):
    """Two chunks: their masks, where the bits of each go in a block; the chunks that lie before them."""

    first: int
    second: int
    first_shift: int
    second_shift: int
    earlier: tuple[int, ...]


@cache
def _choices(max_distance: int) -> list[_Choice]:
    """All choices of two chunks, in order. Chunks count from the low end; they are as equal as can be."""
    if not 0 <= max_distance <= MAX_DISTANCE:
        raise ValueError(f"distance: expected 0 to {MAX_DISTANCE} bits, got {max_distance}")
    count = max_distance + 2
    edges = [64 * edge // count for edge in range(count + 1)]
    masks = [(1 << end) - (1 << start) for start, end in zip(edges, edges[1:], strict=False)]
    return [
        _Choice(
            masks[a],
            masks[b],
            edges[a],
            edges[b] - (edges[a + 1] - edges[a]),
            tuple(masks[c] for c in range(b) if c != a),
        )
        for a, b in combinations(range(count), 2)
    ]


def _bits_in(number: int, choice: _Choice) -> int:
    return (number & choice.first) >> choice.first_shift | (number & choice.second) >> choice.second_shift


class _Index:
    """The groups of one block that are held, found by hashes near to theirs.

    The block again, on a small scale: what the block leaves open is cut into d + 1 pieces, one of which must be alike.
    """

    def __init__(self, block_index: int, max_distance: int) -> None:
        self._choice = _choices(max_distance)[block_index]
        self._max_distance = max_distance
        shared = self._choice.first | self._choice.second
        free = [1 << bit for bit in range(64) if not shared >> bit & 1]
        count = max_distance + 1
        edges = [len(free) * edge // count for edge in range(count + 1)]
        self._pieces = [sum(free[start:end]) for start, end in zip(edges, edges[1:], strict=False)]
        self._tables: list[dict[int, list[Group]]] = [defaultdict(list) for _ in self._pieces]
        self._held = 0

    def __len__(self) -> int:
        return self._held

    def add(self, one: Group) -> None:
        """Hold a group."""
        self._held += 1
        for piece, table in zip(self._pieces, self._tables, strict=True):
            table[one.hash & piece].append(one)

    def near(self, number: int) -> Iterator[tuple[Group, int]]:
        """The groups near a hash, with their distances, that no earlier block has brought together with it."""
        for place, (piece, table) in enumerate(zip(self._pieces, self._tables, strict=True)):
            for other in table.get(number & piece, ()):
                differing = (number ^ other.hash) & _ALL_BITS
                distance = differing.bit_count()
                if (
                    distance <= self._max_distance
                    and all(differing & earlier for earlier in self._choice.earlier)
                    and all(differing & before for before in self._pieces[:place])
                ):
                    yield other, distance


def _unused() -> Any: ...
