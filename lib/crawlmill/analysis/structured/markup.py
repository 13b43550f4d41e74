"""Which formats of structured data the bytes of a page may hold: a quick look that lets most pages go before any tree.

A page that holds a format is never let go; one that is kept may still hold none. Pages are in an encoding that keeps
ASCII. In RDFa, names that stand in `rel` mean something with a colon or as one of three terms, or where there is a
`vocab`, so that usual links (`stylesheet`, `nofollow`) do not count.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["FORMATS", "formats_in"]

FORMATS: Final = ("microdata", "rdfa", "json-ld", "microformats2")
"""The formats, in the order in which a page's triples come."""

_SPEAKING: Final = re.compile(rb"(?:property|typeof|vocab)[\t\n\f\r ]*=")
_LINKS: Final = re.compile(
    rb"""[\t\n\f\r "'/]re[lv][\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*(?::|&|license|describedby|role)"""
    rb"""|'[^']*(?::|&|license|describedby|role)|[^\t\n\f\r "'>]*(?::|&|license|describedby|role))"""
)
_ESCAPED_TYPE: Final = re.compile(rb"type[\t\n\f\r ]*=[\t\n\f\r ]*[\"']?[a-z/+]*&[#a-z]")
_ROOT_WORDS: Final = (
    b"h-", b"vcard", b"vevent", b"hentry", b"hfeed", b"hresume", b"hreview", b"hrecipe", b"hproduct", b"adr", b"geo",
    b"&#",
)  # fmt: skip
_ROOT: Final = (
    rb"(?:h-[a-z0-9]|vcard|vevent|hentry|hfeed|hresume|hreview|hrecipe|hproduct"
    rb"|(?:adr|geo)[\t\n\f\r \"'>]|[^\t\n\f\r ]*&#)"
)
_CLASS: Final = re.compile(
    rb"""class[\t\n\f\r ]*=[\t\n\f\r ]*(?:"(?:[^"]*[\t\n\f\r ])?%b|'(?:[^']*[\t\n\f\r ])?%b|%b)"""
    % (_ROOT, _ROOT, _ROOT)
)


def formats_in(page: bytes, wanted: frozenset[str]) -> tuple[str, ...]:
    """Those of the wanted formats that a page may hold, in the order of `FORMATS`."""
    low = page.lower()
    tests = {"microdata": _microdata, "rdfa": _rdfa, "json-ld": _json_ld, "microformats2": _microformats}
    return tuple(name for name in FORMATS if name in wanted and tests[name](low))


def _microdata(low: bytes) -> bool:
    return b"itemscope" in low


def _json_ld(low: bytes) -> bool:
    return b"ld+json" in low or (b"json" in low and _ESCAPED_TYPE.search(low) is not None)


def _rdfa(low: bytes) -> bool:
    if (b"property" in low or b"typeof" in low or b"vocab" in low) and _SPEAKING.search(low):
        return True
    return (b"rel" in low or b"rev" in low) and _LINKS.search(low) is not None


def _microformats(low: bytes) -> bool:
    return any(word in low for word in _ROOT_WORDS) and _CLASS.search(low) is not None
