r"""What the statistics ask of a capture, and the lines that bring it through the shuffle.

The lines of one URL stand together, those of one host, and those of one domain; so whoever reads them in their order
can count distinct things without holding them:

    PARTITION TAB p DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL TLD NUL FACETS     a page
    PARTITION TAB r DOMAIN NUL HOST NUL HASH-OF-URL NUL CRAWL NUL STATUS             a robots.txt
    PARTITION TAB d DIGEST NUL CRAWL                                                  the digest of a page

All of a domain has one partition. Texts are as in JSON strings, so that they hold neither NUL nor TAB. FACETS are
scheme, SURT domain, media types as sent and as detected, charset and languages; an empty one is missing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from crawlmill.urls.suffixes import domain_and_suffix

__all__ = ["PARTITIONS", "HostParts", "digest_line", "host_parts", "number_of", "page_line", "robots_line", "sha1_of",
           "text_of"]  # fmt: skip

PARTITIONS: Final = 997
"""Into so many the domains are dealt out; reducers share them."""

_NO_NUMBER: Final = -1


class HostParts(NamedTuple):
    """A host, the domain that it belongs to and its public suffix, as texts of JSON; empty without a host."""

    host: bytes
    domain: bytes
    tld: bytes


def text_of(value: object) -> bytes:
    """The inside of the JSON string of a value; of numbers and objects, of their text."""
    text = value if isinstance(value, str) else str(value)
    return encode_basestring(text)[1:-1].encode("utf-8", "backslashreplace")


def sha1_of(text: str) -> bytes:
    """The SHA-1 of a text."""
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def host_parts(url: str) -> HostParts:
    """The host of a URL, lower case and without dots around it, with its domain and suffix."""
    try:
        host = urlsplit(url).hostname
    except ValueError:  # brackets that hold no address
        host = None
    return _parts_of((host or "").lower().strip("."))


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


def page_line(urlkey: bytes, parts: HostParts, sha1: bytes, crawl: bytes, fields: Mapping[str, Any]) -> bytes:
    """The line of a page."""
    scheme = text_of(fields["url"].partition(":")[0].lower())
    surt = text_of(urlkey.partition(b")")[0].decode("utf-8", "replace"))
    rest = [text_of(fields.get(name) or "") for name in ("mime-detected", "charset", "languages")]
    facets = b"\0".join((scheme, surt, text_of(fields.get("mime") or "unk"), *rest))
    return _line(b"p", parts, sha1, crawl, b"%b\0%b" % (parts.tld, facets))


def robots_line(parts: HostParts, sha1: bytes, crawl: bytes, status: int) -> bytes:
    """The line of a robots.txt."""
    return _line(b"r", parts, sha1, crawl, b"%d" % status)


def digest_line(digest: bytes, crawl: bytes) -> bytes:
    """The line of a page's digest, which is a text of JSON."""
    return b"%d\td%b\0%b\n" % (crc32(digest) % PARTITIONS, digest, crawl)


def _line(kind: bytes, parts: HostParts, sha1: bytes, crawl: bytes, rest: bytes) -> bytes:
    host, domain, _ = parts
    number = crc32(domain or sha1) % PARTITIONS
    name = base64.b85encode(sha1)
    return b"%d\t%b%b\0%b\0%b\0%b\0%b\n" % (number, kind, domain, host, name, crawl, rest)
