"""The encoding of a page, its text, and its bytes in an ASCII-compatible encoding.

The encoding is determined as in browsers (HTML Standard section 13.2.3.2): byte order mark, `charset` of the
Content-Type, declaration in the HTML page or XML document. Unknown labels are ignored. Other pages are UTF-8 if they
are valid UTF-8 (a character truncated by the crawler at the end is allowed), else windows-1252. Encodings have the
names of the WHATWG Encoding Standard.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from crawlmill.formats.payload.encodings import decode_text, encoding_of_label
from crawlmill.formats.payload.http import HttpMessage
from crawlmill.formats.payload.prescan import PRESCAN_BYTES, html_declaration, xml_declaration

__all__ = ["encoding_of", "text_of", "tokenizable"]

_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_NOT_ASCII_COMPATIBLE: Final = frozenset(("utf-16be", "utf-16le", "iso-2022-jp"))
_PARAMETER = re.compile(r"""(?<![^;,\s])charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))""", re.IGNORECASE | re.ASCII)


def encoding_of(message: HttpMessage, page: bytes) -> str:
    """The name of the encoding of a decoded body, from its header and bytes as described in the module docstring."""
    stated = _stated(message, page)
    if stated is not None:
        return stated
    declared = None
    if message.is_html or not message.media_type:
        declared = html_declaration(page)
    elif "xml" in message.media_type:
        declared = xml_declaration(page)
    return declared or ("utf-8" if _is_utf8(page) else "windows-1252")


def text_of(message: HttpMessage, page: bytes) -> str:
    """The text of a decoded body, without byte order mark; U+FFFD for invalid bytes."""
    return _decoded(page, encoding_of(message, page))


def tokenizable(page: bytes, message: HttpMessage) -> bytes:
    """An HTML page in an encoding in which ASCII bytes mean ASCII, as needed by a tokenizer of tags.

    UTF-16 and ISO-2022-JP are converted to UTF-8; other pages are returned unchanged.
    """
    encoding = _stated(message, page)
    # Every label of ISO-2022-JP and every UTF-16 declaration contains these bytes, so most pages need no search.
    if encoding is None and (b"2022" in page[:PRESCAN_BYTES] or b"\0?\0" in page[:8]):
        encoding = html_declaration(page)
    if encoding is None or encoding not in _NOT_ASCII_COMPATIBLE:
        return page
    return _decoded(page, encoding).encode("utf-8")


def _stated(message: HttpMessage, page: bytes) -> str | None:
    """The encoding according to the byte order mark or the Content-Type."""
    for mark, name in _MARKS:
        if page.startswith(mark):
            return name
    match = _PARAMETER.search(message.content_type or "")
    return encoding_of_label(match[1] or match[2] or match[3] or "") if match else None


def _decoded(page: bytes, encoding: str) -> str:
    mark = next((mark for mark, name in _MARKS if name == encoding and page.startswith(mark)), b"")
    return decode_text(page[len(mark) :], encoding)


def _is_utf8(page: bytes) -> bool:
    try:
        text, length = codecs.utf_8_decode(page, "strict", False)
    except UnicodeDecodeError:
        return False
    return length == len(page) or not text.isascii()  # a truncated character alone is not a sign of UTF-8
