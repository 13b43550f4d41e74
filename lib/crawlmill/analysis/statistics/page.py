r"""What the statistics ask of a capture, and the lines that bring it through the shuffle.

The lines of one URL stand together, those of one host, and those of one domain; so whoever reads them in their order
can count distinct things without holding them:

    PARTITION TAB p DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL SURT-DOMAIN NUL TLD NUL FACETS     a page
    PARTITION TAB r DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL STATUS                             a robots.txt
    PARTITION TAB d DIGEST NUL CRAWL                                                                 a page's digest

All of a domain has one partition. Texts are as in JSON strings, so that they hold neither NUL nor TAB. FACETS are
scheme, media types as sent and as detected, charset and languages; an empty one is missing.
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

__all__ = ["PARTITIONS", "HostParts", "UrlPlace", "digest_line", "facets_of", "number_of", "page_line", "parts_of_host",
           "robots_line", "sha1_of", "text_of", "url_head", "url_place"]  # fmt: skip

PARTITIONS: Final = 997
"""Into so many the domains are dealt out; reducers share them."""

_NO_NUMBER: Final = -1


class HostParts(NamedTuple):
    """A host, the domain that it belongs to and its public suffix, as texts of JSON; empty without a host."""

    host: bytes
    domain: bytes
    tld: bytes


class UrlPlace(NamedTuple):
    """What lines have of the host and scheme of a URL; `partition` is None without a domain: the URL's hash decides."""

    partition: int | None
    domain_and_host: bytes
    tld: bytes
    scheme: bytes


def text_of(value: object) -> bytes:
    """The inside of the JSON string of a value; of numbers and objects, of their text."""
    text = value if isinstance(value, str) else str(value)
    return encode_basestring(text)[1:-1].encode("utf-8", "backslashreplace")


def sha1_of(text: str) -> bytes:
    """The SHA-1 of a text."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def url_head(url: str) -> str | None:
    """The beginning of a URL, up to its path, that says all that `url_place` does; None if only the whole URL does."""
    if not url.startswith(("http://", "https://")):
        return None
    end = url.find("/", 8)
    return url if end < 0 else url[:end]


def url_place(url: str) -> UrlPlace:
    """Where the lines of a URL stand."""
    try:
        host = urlsplit(url).hostname
    except ValueError:  # brackets that hold no address
        host = None
    parts = parts_of_host(host or "")
    partition = crc32(parts.domain) % PARTITIONS if parts.domain else None
    scheme = text_of(url.partition(":")[0].lower())
    return UrlPlace(partition, b"%b\0%b\0" % (parts.domain, parts.host), parts.tld, scheme)


def parts_of_host(host: str) -> HostParts:
    """The parts of a host as a URL has it: in lower case, and without dots around it."""
    return _parts_of(host.lower().strip("."))


@lru_cache(1 << 14)
def _parts_of(host: str) -> HostParts:
    if not host:
        return HostParts(b"", b"", b"")
    domain, suffix = domain_and_suffix(host)
    return HostParts(text_of(host), text_of(domain), text_of(suffix))


def number_of(status: object) -> int:
    """The number that a status is; -1 if it is none."""
    text = str(status)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else _NO_NUMBER


def facets_of(mime: Any, detected: Any, charset: Any, languages: Any) -> bytes:
    """What a line has of a page's media types, charset and languages; None where nothing is said."""
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
    """The line of a page's digest, which is a text of JSON."""
    return b"%d\td%b\0%b\n" % (crc32(digest) % PARTITIONS, digest, crawl)
