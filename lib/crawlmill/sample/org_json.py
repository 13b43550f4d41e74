r"""JSON as written by the `org.json` library, which Common Crawl's WAT extractor uses.

Compact, letters unescaped, except that `</` is written `<\/` and the C1 controls and U+2000 to U+20FF as `\uXXXX`. Keys
keep their order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

__all__ = ["dumps", "join_object"]

_ESCAPED = re.compile("[\u0080-\u009f\u2000-\u20ff]")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dumps(value: object) -> str:
    """The JSON text of a value."""
    text = _encode(value)
    if "</" in text:
        text = text.replace("</", "<\\/")
    return text if text.isascii() else _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def join_object(members: Iterable[tuple[str, str]]) -> str:
    """An object from (key, JSON text of its value); keys are plain ASCII names."""
    return "{" + ",".join(f'"{key}":{text}' for key, text in members) + "}"
