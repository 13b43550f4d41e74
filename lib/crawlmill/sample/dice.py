"""Seeded random choices that are the same on every Python.

Only the sequence of `random()` is guaranteed not to change; `choice`, `randrange` and `shuffle` may change between
versions. So every choice here is one `random()` and a multiplication.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Dice"]

T = TypeVar("T")


class Dice:
    """A generator of choices, seeded by the parts of a name (numbers and strings)."""

    __slots__ = ("random",)

    def __init__(self, *name: int | str) -> None:
        self.random = random.Random("/".join(map(str, name))).random  # noqa: S311  (nothing secret is made here)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1, with equal probability."""
        return int(self.random() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True in `probability` of the calls."""
        return self.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, with equal probability."""
        return options[int(self.random() * len(options))]

    def pick_early(self, options: Sequence[T]) -> T:
        """One of the options, the early ones more often, like words in a language."""
        drawn = self.random()
        return options[int(drawn * drawn * len(options))]

    def token(self) -> str:
        """Twelve hexadecimal digits, which no compressor can predict."""
        return f"{int(self.random() * 281474976710656):012x}"  # 16 ** 12
