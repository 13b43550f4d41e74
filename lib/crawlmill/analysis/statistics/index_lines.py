"""What all that makes lines of an index' lines shares: the native core first, and what it leaves to Python after it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from crawlmill.errors import FormatError

__all__ = ["MAX_HEAD", "NativeAdd", "keep", "lines_of", "said"]

MAX_HEAD: Final = 256
"""Beginnings of URLs that are longer are not kept."""

_MAX_KEPT: Final = 1 << 14

NativeAdd = Callable[[bytes], tuple[bytes, list[tuple[int, int, int]]]]
"""Gives the lines of whole lines of an index, and number, start and end of each line that it is not sure of."""


def said(value: Any) -> str | None:
    """A field's text; None if it says nothing."""
    if type(value) is str:
        return None if value in ("", "-") else value
    return None if value is None else json.dumps(value)


def lines_of(
    data: bytes, native: NativeAdd | None, make: Callable[[bytes], bytes], lose: Callable[[int, FormatError], object]
) -> bytes:
    """The lines of whole lines of an index.

    Args:
        data: The lines.
        native: Makes the lines of nearly all of them; None without the native core.
        make: Gives the lines of any other one. Raises: FormatError: It cannot be taken.
        lose: Called with the place, from 0, of each line that cannot be taken, and why.
    """
    if native is None:
        numbered, made = list(enumerate(data.split(b"\n")[:-1])), []
    else:
        lines, left = native(data)
        if not left:
            return bytes(lines)
        numbered, made = [(number, data[start:end]) for number, start, end in left], [lines]
    for number, line in numbered:
        try:
            made.append(make(line))
        except FormatError as error:
            lose(number, error)
    return b"".join(made)


def keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep what was computed, in bounded memory."""
    if len(kept) >= _MAX_KEPT:
        kept.clear()
    kept[key] = value
