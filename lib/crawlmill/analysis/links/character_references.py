"""Character references in the values of HTML attributes.

    >>> unescape("?a=1&amp;b=2&copy=3&copy;&#x41;&#65")
    '?a=1&b=2&copy=3\u00a9AA'

`html.unescape` of the standard library follows the rules for text, where `&copy=3` is one, and drops some characters.

Spec: HTML Living Standard, section 13.2.5.73 and after.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import Final

__all__ = ["unescape"]

_REFERENCE: Final = re.compile(r"&(?:#[xX]([0-9a-fA-F]++);?|#([0-9]++);?|([a-zA-Z][a-zA-Z0-9]*+)(;|(?!=)))")
_C1: Final = {
    byte: char for byte in range(0x80, 0xA0) if (char := bytes([byte]).decode("cp1252", "replace")) != "\ufffd"
}


def unescape(value: str) -> str:
    """Decode the character references in the value of an attribute, as written."""
    return _REFERENCE.sub(_meant, value) if "&" in value else value


def _meant(found: re.Match[str]) -> str:
    hexadecimal, decimal, name, end = found.groups()
    if name is not None:
        if end and (known := html5.get(name + end)):
            return known
        return html5[name] + end if name in html5 else found[0]
    digits = (hexadecimal or decimal).lstrip("0")
    number = int(digits or "0", 16 if hexadecimal else 10) if len(digits) < 9 else 0
    if number == 0 or number > 0x10FFFF or 0xD800 <= number < 0xE000:
        return "\ufffd"
    return _C1.get(number) or chr(number)
