"""Percent escapes: decoded until none are left, or encoded once, in linear time."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["escape", "escape_unprintable", "unescape"]

_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_UNPRINTABLE: Final = re.compile(rb"[^!-~]")
_UNSAFE: Final = re.compile(rb"[^!-\"$&-~]")
_BYTE: Final = {b"%02x" % value: bytes([value]) for value in range(256)}
_ESCAPED: Final = {bytes([value]): b"%%%02x" % value for value in range(256)}
_MAX_PASSES: Final = 3
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")


def escape(text: bytes) -> bytes:
    """Escape everything except printable ASCII, `%` and `#` too (with lower-case digits)."""
    return _UNSAFE.sub(lambda found: _ESCAPED[found[0]], text)


def escape_unprintable(text: bytes) -> bytes:
    """Escape blanks, control characters and non-ASCII bytes; existing escapes are kept."""
    return _UNPRINTABLE.sub(lambda found: _ESCAPED[found[0]], text)


def unescape(text: bytes) -> bytes:
    """Decode escapes repeatedly until none are left: `%2541` becomes `A`."""
    for _ in range(_MAX_PASSES):
        if b"%" not in text:
            return text
        undone = _ESCAPE.sub(lambda found: _BYTE[found[1].lower()], text)
        if undone == text:
            return text
        text = undone
    return _unescape_nested(text)


def _unescape_nested(text: bytes) -> bytes:
    """Do the same in a single pass, since each pass decodes one layer and a hostile text has as many as it is long."""
    done = bytearray()
    for byte in text:
        done.append(byte)
        while len(done) > 2 and done[-3] == 0x25 and done[-2] in _HEX and done[-1] in _HEX:
            value = int(done[-2:], 16)
            del done[-3:]
            done.append(value)
    return bytes(done)
