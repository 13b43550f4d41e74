"""What was used last, by number, so that it need not be made again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """The values that were used last: `most` of them, and at least one."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self._held: OrderedDict[int, T] = OrderedDict()

    def get(self, number: int) -> T | None:
        """The value of a number, if it is held."""
        value = self._held.get(number)
        if value is not None:
            self._held.move_to_end(number)
        return value

    def put(self, number: int, value: T) -> T:
        """Hold a value, and let go of the one that has not been used for the longest time. It is returned."""
        self._held[number] = value
        if len(self._held) > self._most:
            self._held.popitem(last=False)
        return value
