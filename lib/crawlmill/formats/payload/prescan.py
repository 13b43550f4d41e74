"""The encoding that a page declares itself: `<meta>` elements and the XML declaration.

HTML Standard section 13.2.3.2, "prescan a byte stream to determine its encoding" and "get an XML encoding"
(https://html.spec.whatwg.org/multipage/parsing.html). The standard does not fix the number of bytes and encourages
1024; browsers also reparse the page if they find a declaration later. Here, 8 KiB are scanned instead.
"""

from __future__ import annotations

import re
from typing import Final

from crawlmill.formats.payload.encodings import encoding_of_label

__all__ = ["PRESCAN_BYTES", "html_declaration", "xml_declaration"]

PRESCAN_BYTES: Final = 8 << 10
"""Bytes at the beginning of a page in which a declaration counts."""

_CONSTRUCT = re.compile(rb"<(?:(!--)|(meta[\t\n\f\r /])|(/?[a-z][^\t\n\f\r >]*)|[!/?])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*+                                  # what separates attributes
         ([^\t\n\f\r />][^\t\n\f\r />=]*+)[\t\n\f\r ]*+  # the name, which may begin with '='
         (?:=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|(["'])|([^\t\n\f\r >]*+)))?  # its value, or a quote never closed""",
    re.VERBOSE,
)
_SEPARATORS = re.compile(rb"[\t\n\f\r /]*+")
_CHARSET_IN_CONTENT = re.compile(
    rb"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|(["'])|([^\t\n\f\r ;]*))"""
)
_XML_ENCODING = re.compile(rb"""[\0- ]*=[\0- ]*(["'])([^\0- ]*?)\1""")


def html_declaration(page: bytes) -> str | None:
    """The name of the encoding declared at the beginning of an HTML page; None without a known one."""
    return _utf16_declaration(page) or _meta_declaration(page[:PRESCAN_BYTES]) or _xml_encoding(page)


def xml_declaration(page: bytes) -> str | None:
    """The name of the encoding in the XML declaration at the very beginning of a document; None if there is none."""
    return _utf16_declaration(page) or _xml_encoding(page)


def _utf16_declaration(page: bytes) -> str | None:
    if page.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    return "utf-16be" if page.startswith(b"\0<\0?\0x") else None


def _xml_encoding(page: bytes) -> str | None:
    declaration, closed, _ = page[:PRESCAN_BYTES].partition(b">")
    if not closed or not declaration.startswith(b"<?xml"):
        return None
    match = _XML_ENCODING.match(declaration.partition(b"encoding")[2])
    return _ascii_compatible(match[2]) if match else None


def _ascii_compatible(label: bytes) -> str | None:
    """The encoding for a label that was read as ASCII: UTF-16 then means UTF-8, x-user-defined windows-1252."""
    name = encoding_of_label(label)
    if name in {"utf-16le", "utf-16be"}:
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _meta_declaration(head: bytes) -> str | None:
    at = 0
    while construct := _CONSTRUCT.search(head, at):
        comment, meta, tag = construct.groups()
        if comment:
            at = head.find(b"-->", construct.start() + 2) + 3  # its two hyphens may be those of the opening
            if at < 3:
                return None
        elif meta or tag:
            found = _attributes(head, construct.end())
            if found is None:
                return None
            attributes, at = found
            name = _declared_by(attributes) if meta else None
            if name is not None:
                return name
        else:
            at = head.find(b">", construct.start()) + 1
            if not at:
                return None
    return None


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int] | None:
    """A tag's attributes in lower case (the first of each name), and the offset after the tag; None if truncated."""
    found: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(head, at):
        name, *values, unclosed, bare = match.groups()
        if unclosed:
            return None
        found.setdefault(name.lower(), (values[0] or values[1] or bare or b"").lower())
        at = match.end()
    blank = _SEPARATORS.match(head, at)
    at = blank.end() if blank else at
    return (found, at) if at < len(head) else None


def _declared_by(meta: dict[bytes, bytes]) -> str | None:
    """The encoding that the attributes of a `<meta>` element declare."""
    if b"charset" in meta:
        return _ascii_compatible(meta[b"charset"])
    if meta.get(b"http-equiv") != b"content-type":
        return None
    match = _CHARSET_IN_CONTENT.search(meta.get(b"content", b""))
    return _ascii_compatible(match[1] or match[2] or match[4] or b"") if match else None
