"""Converts lines of an index: the native core first, then Python for those that it leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from crawlmill.errors import FormatError

__all__ = ["MAX_HEAD", "USUAL_LINE", "NativeAdd", "keep", "lines_of", "said"]

MAX_HEAD: Final = 256
"""Beginnings of URLs that are longer are not kept."""

_TEXT: Final = r'"([ !#-\[\]-~]*)"'
USUAL_LINE: Final = re.compile(
    r"([!-~]+) [0-9]{14} "
    r'\{"url": "([!#-\[\]-~][ !#-\[\]-~]+)"'
    rf'(?:, "mime": {_TEXT})?(?:, "mime-detected": {_TEXT})?(?:, "status": {_TEXT})?(?:, "digest": {_TEXT})?'
    rf'(?:, "length": "[0-9]*")?(?:, "offset": "[0-9]*")?, "filename": {_TEXT}'
    rf'(?:, "charset": {_TEXT})?(?:, "languages": {_TEXT})?'
    r'(?:, "truncated": "[a-z]*")?(?:, "redirect": "[ !#-\[\]-~]*")?\}'
)
"""A line as Common Crawl writes nearly all of them: ASCII without escapes, its fields in this order.

Its groups: the urlkey, URL, media types as sent and as detected, status, digest, file name, charset, languages.
"""

_MAX_KEPT: Final = 1 << 14

NativeAdd = Callable[[bytes], tuple[bytes, list[tuple[int, int, int]]]]
"""Gives the lines of whole lines of an index, and number, start and end of each line that it is not sure of."""


def said(value: Any) -> str | None:
    """The text of a field; None if it is empty or `-`."""
    if type(value) is str:
        return None if value in ("", "-") else value
    return None if value is None else json.dumps(value)


def lines_of(
    data: bytes, native: NativeAdd | None, make: Callable[[bytes], bytes], lose: Callable[[int, FormatError], object]
) -> bytes:
    """Convert whole lines of an index.

    Args:
        data: The lines.
        native: Converts ordinary lines; None without the native core.
        make: Converts any other line. Raises: FormatError: It cannot be used.
        lose: Called with the index, from 0, of each line that cannot be used, and the error.
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
    """Cache a computed value, in bounded memory."""
    if len(kept) >= _MAX_KEPT:
        kept.clear()
    kept[key] = value
