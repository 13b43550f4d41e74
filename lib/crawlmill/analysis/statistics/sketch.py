"""Sketches that estimate the number of distinct texts: HyperLogLog, as in Common Crawl's published statistics.

A text is counted by the first 8 bytes of the SHA-1 of its UTF-8, a number x: register x & 16383 keeps the largest
51 - bit_length(x >> 14). Sketches of parts merge into that of the whole, register by register.

    >>> sketch = Sketch()
    >>> sketch.add("http://example.com/")
    >>> round(sketch.card)
    1

Spec: the published lines `size_estimate`; P. Flajolet and others: HyperLogLog (2007), with the corrections of
S. Heule and others: HyperLogLog in Practice (2013).
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final, Self

from crawlmill.analysis.statistics.bias import POINTS

__all__ = ["Sketch"]

_P: Final = 14
_M: Final = 1 << _P
_ALPHA: Final = 0.7213 / (1 + 1.079 / _M)
_MAX_LINEAR: Final = 11_500
_NEAREST: Final = 6
_MAX_REGISTER: Final = 64 - _P + 1


class Sketch:
    """A HyperLogLog sketch with 16384 registers."""

    __slots__ = ("registers",)

    def __init__(self, registers: bytes | bytearray = bytes(_M)) -> None:
        self.registers = bytearray(registers)

    def __bool__(self) -> bool:
        """Whether anything was counted."""
        return any(self.registers)

    def add(self, text: str) -> None:
        """Count a text."""
        self.add_hash(hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest())

    def add_hash(self, digest: bytes) -> None:
        """Count a text by its SHA-1."""
        x = int.from_bytes(digest[:8], "big")
        value, place = _MAX_REGISTER - (x >> _P).bit_length(), x & (_M - 1)
        if value > self.registers[place]:
            self.registers[place] = value

    def merge(self, other: Sketch) -> None:
        """Add everything that another sketch has counted."""
        self.registers = bytearray(map(max, self.registers, other.registers))

    def union(self, other: Sketch) -> Self:
        """A sketch of everything that either has counted."""
        both = type(self)(self.registers)
        both.merge(other)
        return both

    @property
    def card(self) -> float:
        """An estimate of the number of distinct texts counted."""
        zeros = self.registers.count(0)
        if zeros:
            linear = _M * math.log(_M / zeros)
            if linear <= _MAX_LINEAR:
                return linear
        estimate = _ALPHA * _M * _M / sum(2.0**-value for value in self.registers)
        if estimate > 5 * _M:
            return estimate
        nearest = sorted(POINTS, key=lambda point: (estimate - point[0]) ** 2)[:_NEAREST]
        return estimate - sum(bias for _, bias in nearest) / _NEAREST

    def to_json(self) -> dict[str, Any]:
        """The object in the published form."""
        return {
            "__type__": "HyperLogLog",
            "card": self.card,
            "p": _P,
            "M": list(self.registers),
            "m": _M,
            "alpha": _ALPHA,
        }

    @classmethod
    def from_json(cls, given: Any) -> Self:
        """Parse an object in the published form.

        Raises:
            ValueError: It is not valid, or does not have 16384 registers.
        """
        registers = given.get("M") if isinstance(given, dict) else None
        if not isinstance(registers, list) or len(registers) != _M:
            raise ValueError("not a sketch of 16384 registers")
        if not all(type(value) is int and 0 <= value <= _MAX_REGISTER for value in registers):
            raise ValueError("a register of a sketch is not a number from 0 to 51")
        return cls(bytes(registers))
