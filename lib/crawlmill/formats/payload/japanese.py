"""ISO-2022-JP and EUC-JP as browsers read them: WHATWG Encoding Standard, sections 12.1 and 12.2.

Python's codecs are not a substitute: they lack NEC's and IBM's characters (row 13 with its circled digits, rows 89-92),
which are frequent in Japanese pages, and after a truncated character ISO-2022-JP continues in the wrong state, so that
markup becomes text. Errors become U+FFFD.

Deviation: an escape sequence directly after another is not an error here; neither yields a character.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["decode_euc_jp", "decode_iso_2022_jp"]

_ESCAPE = re.compile(rb"\x1b(\([BIJ]|\$[@B])")
_USUAL_SEGMENT = re.compile(rb"\x1b\$[@B]((?:[!-~][!-~])*+)\x1b\(B")
_SHIFTS = re.compile(rb"[\x0e\x0f\x1b]")
_PAIRS_OR_BYTE = re.compile(rb"((?:[!-~][!-~])+)|[!-~]?[^!-~\x1b]|[!-~\x1b]")
_WHOLE = re.compile(rb"\x8f?[\xa1-\xfe][\xa1-\xfe]")
_NO_ASCII = re.compile("[\x0e\x0f\x1b\x80-\xff]")
_NO_KATAKANA = re.compile("[^!-_]")
_KATAKANA: Final = {code: code - 0x21 + 0xFF61 for code in range(0x21, 0x60)}
_ROMAN: Final = {0x5C: 0xA5, 0x7E: 0x203E}
_TO_EUC: Final = bytes(code | 0x80 for code in range(256))
# Where the standard, following Windows, maps JIS X 0208 to another character than Python's tables.
_WINDOWS: Final = (
    ("\u301c", "\uff5e"),
    ("\u2016", "\u2225"),
    ("\u2212", "\uff0d"),
    ("\xa2", "\uffe0"),
    ("\xa3", "\uffe1"),
    ("\xac", "\uffe2"),
)


def decode_euc_jp(data: bytes) -> str:
    """Decode EUC-JP bytes."""
    text = data.decode("euc_jp", _ERRORS)
    for character, windows in _WINDOWS:
        text = text.replace(character, windows)
    return text


def decode_iso_2022_jp(data: bytes) -> str:
    """Decode ISO-2022-JP bytes."""
    if data.isascii():
        # If there is only ASCII and JIS X 0208, which is nearly always the case, it is EUC-JP without bit 8.
        euc = _USUAL_SEGMENT.sub(_to_euc, data)
        if not _SHIFTS.search(euc):
            return decode_euc_jp(euc)
    parts = _ESCAPE.split(data)
    text = [_ascii(parts[0])]
    for escape, segment in zip(parts[1::2], parts[2::2], strict=True):
        if escape == b"(B":
            text.append(_ascii(segment))
        elif escape == b"(J":
            text.append(_ascii(segment).translate(_ROMAN))
        elif escape == b"(I":
            text.append(_NO_KATAKANA.sub("\ufffd", segment.decode("latin-1")).translate(_KATAKANA))
        else:
            text.append(_PAIRS_OR_BYTE.sub(_pairs, segment).decode("utf-8"))
    return "".join(text)


def _to_euc(match: re.Match[bytes]) -> bytes:
    return match[1].translate(_TO_EUC)


def _ascii(segment: bytes) -> str:
    return _NO_ASCII.sub("\ufffd", segment.decode("latin-1"))


def _pairs(match: re.Match[bytes]) -> bytes:
    pairs: bytes | None = match[1]
    return (decode_euc_jp(pairs.translate(_TO_EUC)) if pairs else "\ufffd").encode("utf-8")


def _beyond_the_standard(error: UnicodeError) -> tuple[str, int]:
    """An error handler: two bytes that are not in JIS X 0208 may be a character of code page 932."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    match = _WHOLE.match(error.object, error.start)
    if match is None:
        return "\ufffd", error.end
    character = "\ufffd"
    if len(match[0]) == 2:
        row, cell = match[0][0] - 0xA1, match[0][1] - 0xA1
        lead = (row >> 1) + (0x81 if row < 62 else 0xC1)
        trail = cell + 0x9F if row & 1 else cell + (0x40 if cell < 63 else 0x41)
        character = bytes((lead, trail)).decode("cp932", "replace")[:1]
    return character, match.end()


_ERRORS: Final = "crawlmill-japanese"
codecs.register_error(_ERRORS, _beyond_the_standard)
