"""Chooses where one shard of a cluster ends and the next begins, from a sample of the lines of each input.

Inputs are sampled separately, by the tasks that read them, which do not know the sizes of the others. So each line of a
sample carries the number of lines that it represents, and the quantiles are weighted by it. Within an input, one line
is chosen at random from each block of lines, so neither sorting nor patterns matter; the choice is the same in every
run.

With 200 lines of a sample per shard, the size of a shard is accurate to 7 % (one standard deviation).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final

from crawlmill.indexes.cluster.sharding import Lines

__all__ = ["LINES_PER_SHARD", "MAX_SPLIT", "Sampler", "number_of_shards", "sample_size", "split_points"]

LINES_PER_SHARD: Final = 3_000_000
"""Lines of a shard where the user does not say how many shards there are to be."""

MAX_SPLIT: Final = 1_000
"""Bytes of a line that a split point has at most."""

_PER_SHARD: Final = 200
_MIN_SAMPLE: Final = 2_000
_MAX_SAMPLES: Final = 20_000_000
_DEFAULT_BLOCK: Final = 1 << 12  # if the number of shards is not set: 700 lines of the sample per shard of 3 million


def number_of_shards(lines: int, per_shard: int = LINES_PER_SHARD) -> int:
    """The number of shards if the user sets none: one per 3 million lines, at least one."""
    return max(1, -(-lines // per_shard))


def sample_size(shards: int | None, inputs: int) -> int | None:
    """The largest sample of an input, in lines; None: one line in 4,096, without a limit.

    It is as large as needed if one input holds nearly all lines, but smaller if there are very many inputs, so that all
    samples together stay below 20 million lines.
    """
    if shards is None:
        return None
    return max(500, min(max(_MIN_SAMPLE, _PER_SHARD * shards), _MAX_SAMPLES // max(inputs, 1)))


class Sampler:
    """Samples the lines of an input: at most `most` lines, or one in 4,096 if that is None.

    Each sampled line is one of a block of `weight` consecutive lines.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._random = random.Random(0)  # noqa: S311 - the same choice in every run
        self.weight = 1 if most is not None else _DEFAULT_BLOCK
        self.lines = 0
        self._taken: list[bytes] = []
        self._next = self._random.randrange(self.weight)

    def add(self, lines: Lines) -> None:
        """Add the next lines of the input; accesses some of them, in ascending order."""
        first, self.lines = self.lines, self.lines + len(lines)
        while self._next < self.lines:
            self._taken.append(lines[self._next - first][:MAX_SPLIT])
            block = self._next // self.weight + 1
            self._next = block * self.weight + self._random.randrange(self.weight)
            if self._most is not None and len(self._taken) > self._most:
                self._thin_out(block)

    def _thin_out(self, blocks: int) -> None:
        """Double the size of blocks: of each two neighbours, one sampled line is kept."""
        pairs = self._taken
        last = pairs.pop() if blocks % 2 else None
        self._taken = [pairs[at + self._random.getrandbits(1)] for at in range(0, len(pairs), 2)]
        self.weight *= 2
        place = blocks // 2 * self.weight  # where the next, or half read, block begins
        if last is not None and self._random.getrandbits(1):
            self._taken.append(last)  # the line of the half read block is already chosen
            place += self.weight
        elif last is not None:  # it will come from the half that is not read yet
            self._next = place + self.weight // 2 + self._random.randrange(self.weight // 2)
            return
        self._next = place + self._random.randrange(self.weight)

    def sample(self) -> Iterator[tuple[bytes, int]]:
        """The sampled lines, in order, each with the number of lines that it represents."""
        weight = self.weight
        return ((line, weight) for line in self._taken)


def split_points(sample: Iterable[tuple[bytes, int]], weight: int, shards: int) -> Iterator[bytes]:
    """The first line of each shard except the first, from samples that are merged and sorted by line.

    They are strictly ascending, so there are fewer if a line represents more than a shard. Every shard has a line.

    Args:
        sample: Lines and the numbers of lines that they represent, sorted.
        weight: The sum of these numbers.
        shards: The number of shards wanted, 1 or more.
    """
    before, number = 0, 1
    smallest = current = None
    current_weight = 0

    def boundaries() -> bool:
        """Whether a shard begins with the current line: the boundary is nearer to its beginning than to its end."""
        nonlocal number
        begins = False
        while number < shards and (before + current_weight / 2) * shards >= number * weight:
            begins, number = True, number + 1
        return begins

    for line, stands_for in sample:
        if line == current:
            current_weight += stands_for
            continue
        if current is not None:
            if boundaries() and current != smallest:
                yield current
            before += current_weight
        else:
            smallest = line
        current, current_weight = line, stands_for
    if current is not None and boundaries() and current != smallest:
        yield current
