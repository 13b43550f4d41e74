r"""The facts of a capture for the statistics, and the lines that carry them through the shuffle.

The lines of a URL are together, those of a host, and those of a domain; so reading them in order allows counting
distinct things without holding them:

    PARTITION TAB p DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL SURT-DOMAIN NUL TLD NUL FACETS     a page
    PARTITION TAB r DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL STATUS                             a robots.txt
    PARTITION TAB d DIGEST NUL CRAWL                                                                 a page's digest

All lines of a domain are in one partition. Texts are as in JSON strings, so that they contain neither NUL nor TAB.
FACETS are scheme, media types as sent and as detected, charset and languages; empty ones are missing.
"""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from crawlmill.urls.suffixes import domain_and_suffix

__all__ = [
    "PARTITIONS",
    "HostParts",
    "UrlPlace",
    "digest_line",
    "facets_of",
    "number_of",
    "page_line",
    "parts_of_host",
    "robots_line",
    "sha1_of",
    "text_of",
    "url_head",
    "url_place",
]

PARTITIONS: Final = 997
"""Into so many the domains are dealt out; reducers share them."""

_NO_NUMBER: Final = -1


class HostParts(NamedTuple):
    """A host, its domain and its public suffix, as JSON texts; empty without a host."""

    host: bytes
    domain: bytes
    tld: bytes


class UrlPlace(NamedTuple):
    """The host and scheme of a URL for lines; `partition` is None without a domain: then the URL's hash decides."""

    partition: int | None
    domain_and_host: bytes
    tld: bytes
    scheme: bytes


def text_of(value: object) -> bytes:
    """The inside of the JSON string for a value; numbers and objects are converted to text."""
    text = value if isinstance(value, str) else str(value)
    return encode_basestring(text)[1:-1].encode("utf-8", "backslashreplace")


def sha1_of(text: str) -> bytes:
    """The SHA-1 of a text."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def url_head(url: str) -> str | None:
    """The beginning of a URL, up to its path, if it is enough for `url_place`; None if the whole URL is needed."""
    if not url.startswith(("http://", "https://")):
        return None
    end = url.find("/", 8)
    return url if end < 0 else url[:end]


def url_place(url: str) -> UrlPlace:
    """The place of a URL's lines."""
    try:
        host = urlsplit(url).hostname
    except ValueError:  # brackets without an address
        host = None
    parts = parts_of_host(host or "")
    partition = crc32(parts.domain) % PARTITIONS if parts.domain else None
    scheme = text_of(url.partition(":")[0].lower())
    return UrlPlace(partition, b"%b\0%b\0" % (parts.domain, parts.host), parts.tld, scheme)


def parts_of_host(host: str) -> HostParts:
    """The parts of a host from a URL: in lower case, without dots at its ends."""
    return _parts_of(host.lower().strip("."))


@lru_cache(1 << 14)
def _parts_of(host: str) -> HostParts:
    if not host:
        return HostParts(b"", b"", b"")
    domain, suffix = domain_and_suffix(host)
    return HostParts(text_of(host), text_of(domain), text_of(suffix))


def number_of(status: object) -> int:
    """A status as a number; -1 if it is not one."""
    text = str(status)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else _NO_NUMBER


def facets_of(mime: Any, detected: Any, charset: Any, languages: Any) -> bytes:
    """A page's media types, charset and languages as in lines; None for missing values."""
    return b"\0".join(
        (text_of(mime or "unk"), text_of(detected or ""), text_of(charset or ""), text_of(languages or ""))
    )


def page_line(place: UrlPlace, sha1: bytes, crawl: bytes, surt: bytes, facets: bytes) -> bytes:
    """The line of a page."""
    partition, domain_and_host, tld, scheme = place
    number = crc32(sha1) % PARTITIONS if partition is None else partition
    name = b2a_base64(sha1, newline=False)
    return b"%d\tp%b%b\0%b\0%b\0%b\0%b\0%b\n" % (number, domain_and_host, name, crawl, surt, tld, scheme, facets)


def robots_line(place: UrlPlace, sha1: bytes, crawl: bytes, status: int) -> bytes:
    """The line of a robots.txt."""
    number = crc32(sha1) % PARTITIONS if place.partition is None else place.partition
    name = b2a_base64(sha1, newline=False)
    return b"%d\tr%b%b\0%b\0%d\n" % (number, place.domain_and_host, name, crawl, status)


def digest_line(digest: bytes, crawl: bytes) -> bytes:
    """The line of a page's digest, which is a JSON text."""
    return b"%d\td%b\0%b\n" % (crc32(digest) % PARTITIONS, digest, crawl)
