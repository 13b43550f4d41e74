"""A cache of the most recently used values, by number."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """The `most` most recently used values; at least one."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self._held: OrderedDict[int, T] = OrderedDict()

    def get(self, number: int) -> T | None:
        """The value for a number, if it is cached; else None."""
        value = self._held.get(number)
        if value is not None:
            self._held.move_to_end(number)
        return value

    def put(self, number: int, value: T) -> T:
        """Add a value, drop the least recently used one, and return the value."""
        self._held[number] = value
        if len(self._held) > self._most:
            self._held.popitem(last=False)
        return value
