"""The encoding of a page, its text, and its bytes in an encoding that keeps ASCII.

An encoding is found as browsers find it (HTML Standard section 13.2.3.2): byte order mark, `charset` of the
Content-Type, what an HTML page or XML document declares in itself. A label that is not known is as good as none. Pages
that say nothing are UTF-8 if they are valid as such, else windows-1252; a character that the crawler cut at the end is
no fault. Names of encodings are those of the WHATWG Encoding Standard.
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
    """The name of the encoding of a decoded body; its header and the bytes decide, in the order of this module."""
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
    """The text of a decoded body, without its byte order mark; U+FFFD for what is no character."""
    return _decoded(page, encoding_of(message, page))


def tokenizable(page: bytes, message: HttpMessage) -> bytes:
    """The bytes of an HTML page in an encoding in which ASCII bytes mean ASCII, as a tokenizer of tags needs them.

    UTF-16 and ISO-2022-JP become UTF-8; all other pages are given as they are.
    """
    encoding = _stated(message, page)
    # Every label of ISO-2022-JP and every UTF-16 declaration holds these bytes: most pages need not be searched.
    if encoding is None and (b"2022" in page[:PRESCAN_BYTES] or b"\0?\0" in page[:8]):
        encoding = html_declaration(page)
    if encoding is None or encoding not in _NOT_ASCII_COMPATIBLE:
        return page
    return _decoded(page, encoding).encode("utf-8")


def _stated(message: HttpMessage, page: bytes) -> str | None:
    """What the byte order mark or the Content-Type says."""
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
    return length == len(page) or not text.isascii()  # a cut character alone is no sign of UTF-8
