"""The formats of structured data that a page may contain: a quick check of its bytes that avoids parsing most pages.

A page with a format is never missed; a page that is kept may still have none. Pages are in an ASCII-compatible
encoding. The check looks for attributes, wherever something looks like one:

    itemprop, itemtype           microdata: an item without both has no data
    property, typeof, vocab      RDFa
    rel, rev                     RDFa, if the value has a colon or one of three terms: ordinary links (`stylesheet`,
                                 `nofollow`) have no meaning without a vocabulary
    type                         JSON-LD
    class                        microformats, if one of its names begins an item

Values that may contain these by a character reference count too. The native core has a twin (`PageFilter`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from crawlmill import core

__all__ = ["FORMATS", "formats_in", "page_filter"]

FORMATS: Final = ("microdata", "rdfa", "json-ld", "microformats2")
"""The formats, in the order in which a page's triples come."""

_BLANKS: Final = b"\t\n\x0c\r "
_BEFORE: Final = frozenset(b"\t\n\x0c\r /\"'")
_NAMES: Final = {
    b"itemprop": "microdata",
    b"itemtype": "microdata",
    b"property": "rdfa",
    b"typeof": "rdfa",
    b"vocab": "rdfa",
    b"rel": "rdfa",
    b"rev": "rdfa",
    b"type": "json-ld",
    b"class": "microformats2",
}
_ENDS: Final = tuple(_NAMES)
_VALUE: Final = re.compile(rb"""[\t\n\f\r ]*(?:"([^"]*)|'([^']*)|([^\t\n\f\r >]*))""")
_SAYS: Final = {
    b"rel": re.compile(rb"[:&]|license|describedby|role"),
    b"rev": re.compile(rb"[:&]|license|describedby|role"),
    b"type": re.compile(rb"&|ld\+json"),
    b"class": re.compile(
        rb"(?:\A|[\t\n\f\r ])(?:h-[a-z0-9]|[^\t\n\f\r ]*&#|(?:adr|geo|vcard|hentry|hfeed|vevent|hproduct|hrecipe"
        rb"|hresume|hreview|hreview-aggregate)(?:[\t\n\f\r ]|\Z))"
    ),
}


def formats_in(page: bytes, wanted: frozenset[str]) -> tuple[str, ...]:
    """Those of the wanted formats that a page may contain, in the order of `FORMATS`."""
    native = core.native()
    if native is not None:
        bits = native.structured_formats(page)
        return tuple(name for number, name in enumerate(FORMATS) if bits >> number & 1 and name in wanted)
    found = _found(page.lower())
    return tuple(name for name in FORMATS if name in wanted and name in found)


def page_filter(wanted: Iterable[str]) -> Any | None:
    """A counter of the native core that consumes records without any of these formats; None in Python."""
    native = core.native()
    return None if native is None else native.PageFilter(sum(1 << FORMATS.index(name) for name in set(wanted)))


def _found(low: bytes) -> set[str]:
    found: set[str] = set()
    at = -1
    for piece in low.split(b"=")[:-1]:
        at += len(piece) + 1
        text = piece.rstrip(_BLANKS)
        if not text.endswith(_ENDS):
            continue
        for name, form in _NAMES.items():
            before = len(text) - len(name) - 1
            if form in found or not text.endswith(name) or before < 0 or text[before] not in _BEFORE:
                continue
            says = _SAYS.get(name)
            if says is None or ((value := _VALUE.match(low, at + 1)) and says.search(value[value.lastindex or 3])):
                found.add(form)
    return found
