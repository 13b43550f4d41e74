"""Dates of records as the 14 digits used in captures, and prefixes of them given by users."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

__all__ = ["is_timestamp_prefix", "timestamp_of"]

_DATE: Final = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d*)?)?)?)?)?\s*(Z|z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)
_DIGITS: Final = re.compile(r"\d{14}(?:\d{3})?", re.ASCII)
_PREFIX: Final = re.compile(r"\d{1,14}", re.ASCII)
_EARLIEST: Final = "00010101000000"


def timestamp_of(date: str | None) -> str | None:
    """Convert a date of a record to 14 digits; None if it is not valid.

    Accepts dates of WARC 1.1, which may be less precise than a second (missing parts are the earliest) or more precise,
    of ARC (14 digits), and variants of some writers: other time zones are converted to UTC.
    """
    if date is not None and len(date) == 20 and date[10] == "T" and date[19] == "Z":  # nearly always
        digits = date[:4] + date[5:7] + date[8:10] + date[11:13] + date[14:16] + date[17:19]
        if digits.isascii() and digits.isdigit():
            return digits
    date = (date or "").strip()
    if _DIGITS.fullmatch(date):
        return date[:14]
    found = _DATE.fullmatch(date)
    if found is None:
        return None
    year, month, day, hour, minute, second, zone = found.groups()
    digits = f"{year}{month or '01'}{day or '01'}{hour or '00'}{minute or '00'}{second or '00'}"
    if zone in (None, "Z", "z"):
        return digits
    try:
        moment = datetime.strptime(digits + zone, "%Y%m%d%H%M%S%z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return f"{moment:%Y%m%d%H%M%S}".zfill(14)


def is_timestamp_prefix(text: str) -> bool:
    """Whether 1 to 14 digits begin a valid timestamp: `2024`, `202402`, `20240229`, but not `20240230`."""
    if not _PREFIX.fullmatch(text):
        return False
    if len(text) < 4:
        return True
    # If only the first digit of a part is given, some day, hour or minute must begin with it.
    choices = ("", *"0123456789") if len(text) % 2 else ("",)
    return any(_exists(text + digit) for digit in choices if (len(text) + len(digit)) % 2 == 0)


def _exists(text: str) -> bool:
    try:
        datetime.strptime(text + _EARLIEST[len(text) :], "%Y%m%d%H%M%S")
    except ValueError:
        return False
    return True
