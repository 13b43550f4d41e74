"""Summarises results: their number, sum, largest, and distribution, in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from crawlmill.mr.task.largest import Largest

__all__ = ["MAX_POINTS", "Tally", "number_of"]

MAX_POINTS: Final = 1000
_MAX_NUMBERS: Final = 1_000_000


def number_of(value: Any) -> int | None:
    """The number that a value counts: itself, or the first item of a list; None if it is not a count."""
    if isinstance(value, list) and value:
        value = value[0]
    return value if type(value) is int else None


class Tally:
    """Adds up results. `top`: how many of the largest to keep; `ranks`: whether to keep the distribution."""

    def __init__(self, top: int, *, ranks: bool = False) -> None:
        self.lines = 0
        self.counts = True
        """Whether all values are counts so far."""
        self._sum = 0
        self._largest = Largest(top)
        self._numbers: Counter[int] | None = Counter() if ranks else None

    def add(self, key: Any, value: Any) -> None:
        """Add a result."""
        self.lines += 1
        number = number_of(value) if self.counts else None
        if number is None:
            self.counts = False
            return
        self._sum += number
        self._largest.add(key, number)
        if self._numbers is not None:
            self._numbers[number] += 1
            if len(self._numbers) > _MAX_NUMBERS:
                self._numbers = None

    @property
    def total(self) -> int | None:
        """The sum of all counts; None if results are not counts."""
        return self._sum if self.counts else None

    def top(self) -> list[list[Any]]:
        """The largest as [key, number], in the order of `--top`; empty if results are not counts."""
        return [list(pair) for pair in self._largest.pairs()] if self.counts else []

    def rank_frequency(self) -> list[list[int]]:
        """[rank, number] for at most 1,000 ranks, including the first and the last, denser for small ranks.

        Empty if results are not counts, or have more than a million different numbers.
        """
        if not self.counts or not self._numbers:
            return []
        wanted = iter(_ranks(self.lines))
        rank, points, reached = next(wanted), [], 0
        for number, times in sorted(self._numbers.items(), reverse=True):
            reached += times
            while rank is not None and rank <= reached:
                points.append([rank, number])
                rank = next(wanted, None)  # type: ignore[assignment]
        return points

    def singles(self) -> int | None:
        """The number of results with count 1; None if unknown."""
        return self._numbers[1] if self.counts and self._numbers is not None else None


def _ranks(last: int) -> list[int]:
    """At most `MAX_POINTS` ranks from 1 to `last`, about equally spaced on a logarithmic scale."""
    if last <= MAX_POINTS:
        return list(range(1, last + 1))
    steps = MAX_POINTS - 1
    return sorted({round(last ** (step / steps)) for step in range(steps)} | {last})
