r"""Makes text safe to show: data, names and servers must not control the user's terminal through messages.

Control characters (C0, DEL and C1 of ISO 6429: U+0000 to U+001F, U+007F to U+009F) are shown as escapes of Python and
C: `\x1b`, `\n`. JSON has escapes of its own.
"""

from __future__ import annotations

import re
import sys
from typing import Final

__all__ = ["json_visible", "tell", "visible", "visible_field", "visible_lines"]

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_NO_LINE_END: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_IN_FIELD: Final = re.compile("[\x00-\x1f\x7f-\x9f\\\\\ud800-\udc7f\udd00-\udfff]")
_IN_JSON: Final = re.compile("[\x7f-\x9f]")
_NAMED: Final = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


def visible(text: str) -> str:
    """The text on one line, with control characters escaped."""
    return _CONTROL.sub(_escape, text)


def visible_lines(text: str) -> str:
    """The text with all control characters escaped except line ends."""
    return _NO_LINE_END.sub(_escape, text)


def visible_field(text: str) -> str:
    """A field of tab-separated values; backslashes are escaped too, so that it can be parsed back.

    So are halves of surrogate pairs, which JSON may contain and UTF-8 may not, unless they stand for a byte.
    """
    return _IN_FIELD.sub(_escape, text)


def json_visible(text: str) -> str:
    """The JSON written by `json.dumps`, with the control characters that it leaves (DEL and C1) escaped."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def tell(*lines: str) -> None:
    """Print lines on stderr; each text becomes a single line."""
    sys.stderr.write("".join(f"{visible(line)}\n" for line in lines))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _NAMED.get(found[0]) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")
