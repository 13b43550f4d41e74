"""The references of an HTML page: the URL attributes of its start tags, found by the tokenizer of the HTML standard.

No tree is built: attributes count wherever their tag is, as written, with character references decoded; of several
attributes with the same name, the first counts. Comments, scripts and attribute values contain no tags.

Spec: HTML Living Standard, sections 13.2.5 and 4.2.3 (`base`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from crawlmill.analysis.html_tokenizer import attributes_in, tag_reader
from crawlmill.analysis.links.character_references import unescape
from crawlmill.analysis.links.kinds import ATTRIBUTES

__all__ = ["base_in", "references_in"]

_MAY_HAVE_BASE: Final = re.compile(rb"<base[\t\n\f\r />]", re.IGNORECASE)
_tags = tag_reader(ATTRIBUTES)
_bases = tag_reader([b"base"])


def references_in(page: bytes, decode: Callable[[bytes], str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the value of each URL attribute of a page, in order: ("A@/href", "../x").

    Args:
        page: The page, in an ASCII-compatible encoding.
        decode: Decodes some of its bytes; called only for non-ASCII ones.
    """
    for name, attributes in _tags(page):
        wanted = ATTRIBUTES[name]
        left = dict(wanted) if len(wanted) > 1 else wanted
        for attribute, value in attributes_in(attributes):
            kind = left.get(attribute)
            if kind is not None:
                yield kind, _text(value, decode)
                if len(left) == 1:
                    break
                del left[attribute]


def base_in(page: bytes, decode: Callable[[bytes], str]) -> str | None:
    """The value of the first `<base href>`; None if there is none."""
    if _MAY_HAVE_BASE.search(page) is None:
        return None
    for _, attributes in _bases(page):
        for attribute, value in attributes_in(attributes):
            if attribute == b"href":
                return _text(value, decode)
    return None


def _text(value: bytes, decode: Callable[[bytes], str]) -> str:
    text = value.decode("ascii") if value.isascii() else decode(value)
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return unescape(text)
