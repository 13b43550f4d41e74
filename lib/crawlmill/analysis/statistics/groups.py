r"""Captures grouped by host, domain, suffix or path: their lines for the shuffle, and what the sorted lines come to.

    PARTITION TAB KEY NUL c HASH-OF-URL NUL DAY NUL STATUS NUL MEDIA TYPE NUL BYTES     a capture
    PARTITION TAB KEY NUL d DIGEST                                                      its digest

Lines of one key stand together, and so do its URLs and digests: distinct ones are counted without holding them.
Texts are as in JSON strings.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit
from zlib import crc32

from crawlmill.analysis.statistics.page import sha1_of, text_of
from crawlmill.urls.hosts import host_kind, host_of
from crawlmill.urls.suffixes import public_suffix, registered_domain

__all__ = ["GROUPINGS", "capture_lines", "group_of", "grouped"]

GROUPINGS: Final = ("host", "domain", "tld")
"""What captures can be grouped by, besides a number of segments of their path."""

_PARTITIONS: Final = 997


def group_of(url: str, by: str | int) -> str | None:
    """The key of a URL: its host, domain or public suffix, or the host and so many segments; None without a host."""
    host = host_of(url)
    if host is None or by == "host":
        return host
    if isinstance(by, int):
        try:
            path = urlsplit(url).path
        except ValueError:
            path = ""
        return "/".join((host, "/".join([segment for segment in path.split("/") if segment][:by])))
    if host_kind(host) != "name":
        return host
    return (registered_domain(host) or host) if by == "domain" else (public_suffix(host) or host)


def capture_lines(key: str | None, timestamp: str, fields: Mapping[str, Any]) -> bytes:
    """The lines of a capture. Raises: KeyError: It has no URL."""
    name = b"null" if key is None else b'"%b"' % text_of(key)
    start = b"%d\t%b\0" % (crc32(name) % _PARTITIONS, name)
    url = base64.b85encode(sha1_of(str(fields["url"])))
    length = str(fields.get("length", fields.get("compressedSize", "")))
    size = length if length.isascii() and length.isdigit() and len(length) < 19 else "0"
    said = (timestamp[:8], fields.get("status") or "-", fields.get("mime") or "unk", size)
    line = b"%bc%b\0%b\n" % (start, url, b"\0".join(map(text_of, said)))
    digest = fields.get("digest")
    return line + b"%bd%b\n" % (start, text_of(str(digest).removeprefix("sha1:"))) if digest else line


def grouped(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Keys, as JSON, and what is to be known of each; from sorted lines."""
    key: bytes | None = None
    group = _Group()
    for chunk in chunks:
        for line in chunk.split(b"\n"):
            if not line:
                continue
            name, _, text = line.partition(b"\t")[2].partition(b"\0")
            if name != key:
                if key is not None:
                    yield key, group.row()
                key, group = name, _Group()
            group.take(text)
    if key is not None:
        yield key, group.row()


class _Group:
    """What is to be known of the captures of one key; they come in order."""

    def __init__(self) -> None:
        self._captures = self._urls = self._digests = self._bytes = 0
        self._last = b""
        self._first_day, self._last_day = b"99999999", b""
        self._status: dict[bytes, int] = {}
        self._mime: dict[bytes, int] = {}

    def take(self, text: bytes) -> None:
        """Count a capture or a digest."""
        if text[:1] == b"d":
            self._digests += text != self._last
            self._last = text
            return
        url, day, status, mime, size = text.split(b"\0")
        self._captures += 1
        self._urls += url != self._last
        self._last = url
        self._first_day, self._last_day = min(self._first_day, day), max(self._last_day, day)
        self._status[status] = self._status.get(status, 0) + 1
        self._mime[mime] = self._mime.get(mime, 0) + 1
        self._bytes += int(size)

    def row(self) -> dict[str, Any]:
        """All of it."""
        return {
            "captures": self._captures, "urls": self._urls, "digests": self._digests,
            "first": _shown(self._first_day), "last": _shown(self._last_day), "status": _named(self._status),
            "mime": _named(self._mime), "bytes": self._bytes,
        }  # fmt: skip


def _shown(day: bytes) -> str:
    text = day.decode("ascii")
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _named(counts: dict[bytes, int]) -> dict[str, int]:
    """Counts by name, in the order of the names' bytes."""
    return {json.loads(b'"%b"' % name): counts[name] for name in sorted(counts)}
