"""Keeps the pairs with the largest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crawlmill.mr.task.pairs import encode_key
from crawlmill.mr.task.rows import Pair

__all__ = ["Largest", "leading_number"]


class Largest:
    """The `n` pairs with the largest values, in falling order; ties: `null` first, then by the bytes of the JSON key.

    With `ranked_in`, a function from key to string, the `n` largest for each string, ordered by the strings.
    """

    def __init__(self, n: int, ranked_in: Callable[[Any], str] = lambda _: "") -> None:
        self._n, self._ranked_in = n, ranked_in
        self._rankings: dict[str, list[Pair]] = {}

    def add(self, key: Any, value: Any) -> None:
        """Add a pair; the value is a number, or a list that begins with one."""
        ranking = self._rankings.setdefault(self._ranked_in(key), [])
        ranking.append((key, value))
        if len(ranking) > 2 * self._n + 1000:
            ranking[:] = self._first(ranking)

    def pairs(self) -> list[Pair]:
        """The pairs, in order."""
        return [pair for _, ranking in sorted(self._rankings.items()) for pair in self._first(ranking)]

    def _first(self, ranking: list[Pair]) -> list[Pair]:
        return sorted(ranking, key=_rank)[: self._n]


def _rank(pair: Pair) -> tuple[Any, bool, bytes]:
    key, value = pair
    return -leading_number(value), key is not None, encode_key(key)


def leading_number(value: Any) -> Any:
    """The number by which a value is ranked: the value itself, or the first item of a list."""
    return value[0] if isinstance(value, list) else value
