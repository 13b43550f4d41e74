"""Parses the values of selectors.

Each function takes text from the user and returns a value for `Criteria`. Errors are ValueErrors that say what was
expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from crawlmill.formats.timestamps import is_timestamp_prefix
from crawlmill.later import later
from crawlmill.urls.hosts import host_of

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "parse_charset",
    "parse_expression",
    "parse_host",
    "parse_language",
    "parse_mime",
    "parse_sample",
    "parse_statuses",
    "parse_time",
]

_fraction: Callable[[int | str], Fraction] = later("fractions:Fraction")

_STATUS: Final = re.compile(r"([1-9])(\d\d|[xX]{2})", re.ASCII)
_MIME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")
_PERCENT: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)%", re.ASCII)


def parse_host(text: str) -> str:
    """A host or domain name: in any case, IDN in either form, optionally with a dot at either end, or a port."""
    host = host_of(f"http://{text.strip().removeprefix('.')}/") if text.strip() else None
    if host is None or any(char in text for char in "/?#@\\"):
        raise ValueError("a host name such as example.com")
    return host


def parse_expression(text: str) -> re.Pattern[str]:
    """A regular expression."""
    try:
        if not text:
            raise ValueError("a regular expression")
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"a regular expression ({error})") from None


def parse_statuses(text: str) -> tuple[range, ...]:
    """HTTP statuses and classes of them, separated by commas: `200,3xx`."""
    found = []
    for each in text.split(","):
        status = _STATUS.fullmatch(each.strip())
        if status is None:
            raise ValueError("HTTP statuses such as 200,3xx")
        first, rest = status.groups()
        low = int(first) * 100 + (int(rest) if rest.isdigit() else 0)
        found.append(range(low, low + (1 if rest.isdigit() else 100)))
    return tuple(found)


def parse_mime(text: str) -> str:
    """A media type, or a whole group: `text/html`, `text/*`; in any case. Parameters are ignored."""
    mime = text.partition(";")[0].strip().lower()
    if mime != "unk" and not _MIME.fullmatch(mime):
        raise ValueError("a media type such as text/html or text/*")
    return mime


def parse_language(text: str) -> str:
    """A language code of ISO 639-3."""
    if not re.fullmatch("[A-Za-z]{3}", text.strip()):
        raise ValueError("a language of three letters (ISO 639-3) such as eng")
    return text.strip().lower()


def parse_charset(text: str) -> str:
    """A charset, in any case."""
    if not text.strip():
        raise ValueError("a charset such as UTF-8")
    return text.strip().lower()


def parse_time(text: str) -> str:
    """The first 1 to 14 digits of a valid timestamp."""
    if not is_timestamp_prefix(text):
        raise ValueError("1 to 14 digits of a time that exists, such as 202401")
    return text


def parse_sample(text: str) -> Fraction:
    """A share greater than zero: `10%` is 1/10."""
    found = _PERCENT.fullmatch(text.strip())
    share = _fraction(found[1]) / 100 if found and len(text) < 40 else _fraction(0)
    if not 0 < share <= 1:
        raise ValueError("a percentage above 0, at most 100%, such as 10%")
    return share
