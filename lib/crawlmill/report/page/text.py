r"""Formats texts and numbers of the page, each in one place.

Data is text, never markup: `<`, `>`, `&` and quotes are escaped. Invisible characters that change what is seen
(controls, text direction, line ends, lone surrogates) are shown as `\u202e`.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any, Final

from crawlmill.units import size

__all__ = ["amount", "count", "duration", "item", "key", "percent", "plural", "short", "shown", "text"]

_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_MAX_KEY: Final = 200
_MAX_JSON: Final = 4 * _MAX_KEY


def shown(value: str) -> str:
    """Text with invisible characters made visible."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def text(value: object) -> str:
    """Text as HTML."""
    return html.escape(shown(str(value)))


def key(value: Any) -> str:
    """A key as HTML: a string as itself, others as JSON; cut at 200 characters."""
    return html.escape(_cut(_plain(value)))


def item(value: Any) -> str:
    """A table cell: a number as in `count`, "" for null, others as in `key`."""
    if value is None:
        return ""
    return count(value) if type(value) is int else key(value)


def count(number: int) -> str:
    """A number as HTML: with separators for readers, plain for programs."""
    minus = "−" if number < 0 else ""
    return f'<data value="{number}">{minus}{abs(number):,}</data>'


def amount(number: int) -> str:
    """A number of bytes as HTML."""
    return f'<data value="{number}">{size(number)}</data>'


def percent(part: int, whole: int) -> str:
    """A share: `12.3%`; "" if `whole` is 0."""
    return f"{100 * part / whole:.1f}%" if whole > 0 else ""


def plural(number: int, what: str) -> str:
    """`1 input`, `2 inputs`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def short(number: float) -> str:
    """A number as an axis label: `50`, `2k`, `10M`."""
    amount, unit = float(number), ""
    for unit in ("", "k", "M", "G", "T", "P"):
        if abs(amount) < 1000 or unit == "P":
            break
        amount /= 1000
    return f"{amount:.6g}{unit}"


def duration(seconds: float) -> str:
    """`0.8 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def _plain(value: Any) -> str:
    # Do not convert long texts to JSON beyond their first 200 characters.
    if isinstance(value, str):
        return value[: _MAX_KEY + 1]
    if isinstance(value, list):
        value = [each[:_MAX_KEY] if isinstance(each, str) else each for each in value]
    return json.dumps(value, ensure_ascii=False)[:_MAX_JSON]


def _cut(value: str) -> str:
    value = shown(value)
    return value if len(value) <= _MAX_KEY else f"{value[:_MAX_KEY]}…"
