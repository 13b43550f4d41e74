r"""Extracts objects from a WAT record's JSON without parsing all of it.

In valid JSON a `"` inside a string is written `\"`, so a `"` that is not preceded by a backslash begins or ends a
string. Take the bytes `"Headers":{` after a `{` or `,`. The first `"` begins or ends a string; it cannot end one, since
then a letter would follow the string. So it begins one, the next `"` ends it, and the `:` makes it a key whose value is
an object. No text inside a value, however nasty, can look like that. Names that come from a page (headers, attributes
of meta tags) can, but their values are strings and lists of strings, never objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ujson

from crawlmill.errors import FormatError

__all__ = ["described", "envelope_of", "is_key_of_object", "member", "object_of", "object_text"]

# An object that contains no object. `|)*+`: without the empty alternative `re` before 3.11.5 stops too early.
_OBJECT = re.compile(rb'\{(?:"[^"\\]*+(?:\\[\s\S][^"\\]*+|)*+"[^"{}]*+|)*+\}')


def object_text(block: bytes) -> bytes:
    """The JSON object in the block of a WAT record, without surrounding blanks.

    Raises:
        FormatError: `bad-json`: it is not an object, as far as its first and last byte show.
    """
    text = block.strip()
    if not (text.startswith(b"{") and text.endswith(b"}")):
        raise FormatError(
            "WAT record is not a JSON object",
            reason="bad-json",
            expected="{...}",
            actual=f"{text[:1]!r}...{text[-1:]!r}",
        )
    return text


def envelope_of(text: bytes) -> dict[str, Any]:
    """The Envelope of a WAT record.

    Raises:
        FormatError: `bad-json`: the record is not JSON.
    """
    try:
        return member(ujson.loads(text), "Envelope")
    except ValueError as error:
        raise FormatError(f"WAT record: {error}", reason="bad-json") from error


def described(envelope: dict[str, Any]) -> dict[str, Any]:
    """The header of the described record; for an ARC record it has other names (`Target-URI`), and no type."""
    return member(envelope, "WARC-Header-Metadata") or member(envelope, "ARC-Header-Metadata")


def is_key_of_object(text: bytes, at: int, key: bytes) -> bool:
    """Whether this key of an object, with its quotes, colon and `{`, is here."""
    return at > 0 and text[at - 1] in b"{," and text.startswith(key, at)


def object_of(text: bytes, find: Callable[[bytes, int], int], key: bytes, start: int) -> dict[str, Any] | None:
    """The object under a key, parsed alone; None if it is not found this way, or contains another object.

    Args:
        text: The record.
        find: `text.find` or `text.rfind`.
        key: The key with its quotes, colon and `{`.
        start: Where to begin the search.

    Raises:
        ValueError: The object is not JSON.
    """
    at = find(key, start)
    if not is_key_of_object(text, at, key):
        return None
    opening = at + len(key) - 1
    parsed: dict[str, Any]
    try:
        # An object ends at the first "}" with which it is complete; mostly that is the first "}" at all.
        parsed = ujson.loads(text[opening : text.find(b"}", opening) + 1])
    except ValueError:
        whole = _OBJECT.match(text, opening)
        if whole is None:
            return None
        parsed = ujson.loads(whole[0])
    return parsed


def member(parent: Any, name: str) -> dict[str, Any]:
    """The object that is a member of an object; {} if there is none."""
    value = parent.get(name) if isinstance(parent, dict) else None
    return value if isinstance(value, dict) else {}
