"""URL lines, with which ARC records begin: recognised, parsed, and found behind stray bytes.

A line is split from the right, since URLs may contain spaces; see `arc` for the versions and what is in them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crawlmill.errors import FormatError

__all__ = [
    "CONTROL",
    "KNOWN_SCHEME",
    "MAX_LINE",
    "UrlLine",
    "begin_of",
    "fields_of",
    "good_line",
    "is_arc_start",
    "no_record",
    "parse_url_line",
]

MAX_LINE: Final = 1 << 16
"""Bytes in which a URL line must end."""

# A URL may contain anything but a line feed, so lines are parsed from the right, with patterns that contain no URL.
_DATED = re.compile(rb" (?=(\S+) (\d{12,17}) (?:\S|\Z))")
_V2_FIELDS = re.compile(rb"(\S+) (\d{12,17}) (\S+) \S+ \S+ \S+ \d+ \S+ (\d{1,18})")
_ODD_FIELDS = re.compile(rb"([0-9a-fA-F.:]+) (\S+) (\S*) (\d{1,18})")
_SCHEME = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*:")
KNOWN_SCHEME = re.compile(
    rb"(?:https?|ftps?|gopher|news|mailto|whois|rtsp|mms|dns|filedesc|warcinfo|metadata):", re.IGNORECASE
)
_IP = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]*")
CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_NOT_IN_URL = re.compile(rb"[\x00-\x20\x7f<>\"]")
_NOT_IN_ODD_URL = re.compile(rb"[\x00-\x1f\x7f<>\"]")
_BEFORE_URL_IN_URL: Final = (b"=", b"/", b"?", b"&", b":", b";", b",", b"(", b"@", b"#", b"!")


class UrlLine(NamedTuple):
    """The fields of a URL line: `date` as written, `declared` is the length that it states, in bytes."""

    url: str
    ip: str
    date: str
    mime: str
    declared: int


def parse_url_line(line: bytes) -> UrlLine:
    """Parse a URL line, given without its line feed. The date may be invalid, since the file is known to be an ARC.

    Raises:
        FormatError: `bad-header`.
    """
    fields = fields_of(line) or _odd_fields(line)
    if fields is None:
        raise no_record(line)
    url, ip, date, mime = (_text(field) for field in fields[:4])
    return UrlLine(url, ip, date, mime, int(fields[4]))


def no_record(data: bytes) -> FormatError:
    """The error for bytes that begin no record."""
    return FormatError(
        "no ARC record",
        reason="bad-header",
        expected="URL IP-address date content-type length",
        actual=repr(data[:60])[2:-1],
    )


def fields_of(line: bytes) -> tuple[bytes, ...] | None:
    """URL, IP address, date, content type and length of a line of version 2 or 1."""
    line = line.removesuffix(b"\r")
    url, *fields = line.rsplit(b" ", 9)
    if url[:1].strip() and (match := _V2_FIELDS.fullmatch(b" ".join(fields))):
        return (url, *match.groups())
    before, _, length = line.rpartition(b" ")
    if not (length.isdigit() and len(length) < 19 and before[:1].strip()):
        return None
    dated = list(_DATED.finditer(before, 1))
    if not dated:
        return None
    last = dated[-1]  # the others belong to the URL
    return before[: last.start()], last[1], last[2], before[last.end(2) + 1 :], length


def _odd_fields(line: bytes) -> tuple[bytes, ...] | None:
    """The same fields of a line without a valid date."""
    url, *fields = line.removesuffix(b"\r").rsplit(b" ", 4)
    match = _ODD_FIELDS.fullmatch(b" ".join(fields)) if _SCHEME.match(url) else None
    return (url, *match.groups()) if match else None


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def is_arc_start(data: bytes, at: int = 0) -> bool:
    """Whether a URL line begins at byte `at`; for an incomplete line, whether it begins with `filedesc://`.

    If the URL would contain stray bytes before a good URL line, the line begins after them, not at `at`.
    """
    end = data.find(b"\n", at, at + MAX_LINE)
    if end < 0:
        return data.startswith(b"filedesc://", at)
    fields = fields_of(data[at:end])
    return fields is not None and begin_of(fields) == 0


def begin_of(fields: tuple[bytes, ...]) -> int:
    """Where the URL line begins within a line with these fields: after leading bytes that are not part of a URL.

    Leading bytes are not part of the URL if a good line follows them and they are binary, or text of a page. A URL
    within a URL is different: it follows a character such as "=" or "/".
    """
    url = fields[0]
    good = good_line(fields)
    if not good or not (CONTROL.search(url) or KNOWN_SCHEME.match(url) is None):
        return 0
    before = url[:good]
    return 0 if before[-1:] in _BEFORE_URL_IN_URL and not _NOT_IN_ODD_URL.search(before) and _is_text(before) else good


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def good_line(fields: tuple[bytes, ...]) -> int | None:
    """Where within a line with these fields a line begins that has a known scheme, an address, a date and a type."""
    url, ip, date, mime, _ = fields
    if not (_IP.fullmatch(ip) and len(date) >= 14 and mime.strip()):
        return None
    for odd in (_NOT_IN_URL, _NOT_IN_ODD_URL):  # URLs of July 2012 may contain blanks
        begin = max((found.end() for found in odd.finditer(url)), default=0)
        if scheme := KNOWN_SCHEME.search(url, begin):
            return scheme.start()
    return None
