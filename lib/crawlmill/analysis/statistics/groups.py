r"""Captures grouped by host, domain, suffix or path: lines for the shuffle, and summaries of the sorted lines.

    PARTITION TAB KEY NUL c HASH-OF-URL NUL DAY NUL STATUS NUL MEDIA TYPE NUL BYTES     a capture
    PARTITION TAB KEY NUL d DIGEST                                                      its digest

Lines with the same key are together, and so are its URLs and digests: distinct ones are counted without holding them.
Texts are as in JSON strings.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit
from zlib import crc32

from crawlmill import core
from crawlmill.analysis.statistics.index_lines import MAX_HEAD, keep, lines_of, said
from crawlmill.analysis.statistics.page import PARTITIONS, sha1_of, text_of, url_head
from crawlmill.errors import FormatError
from crawlmill.urls.hosts import host_kind, host_of
from crawlmill.urls.suffixes import public_suffix, registered_domain

__all__ = ["GROUPINGS", "GroupLines", "group_of", "grouped"]

GROUPINGS: Final = ("host", "domain", "tld")
"""What captures can be grouped by, besides a number of segments of their path."""


def group_of(url: str, by: str | int) -> str | None:
    """The key of a URL: its host, domain or public suffix, or the host and `by` path segments; None without a host."""
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


class GroupLines:
    """Makes the lines for captures of any number of indexes; the native core does so for ordinary lines.

    Args:
        parse: Returns the key, the timestamp and the fields of a line. Raises: FormatError: It is not a capture.
        by: How to group captures: one of `GROUPINGS`, or a number of segments.
    """

    def __init__(self, parse: Callable[[bytes], tuple[bytes, bytes, dict[str, Any]]], by: str | int) -> None:
        self._parse, self._by = parse, by
        self._segments = by if isinstance(by, int) else None
        native = core.native()
        self._native = None if native is None else native.GroupLines(self._key_of_host, self._segments)
        self._starts: dict[str, bytes] = {}

    def _key_of_host(self, host: str) -> bytes:
        return _json(group_of(f"http://{host}/", "host" if self._segments else self._by))

    def add(self, data: bytes, lose: Callable[[int, object], None]) -> bytes:
        """The lines for whole lines of an index.

        Args:
            data: The lines.
            lose: Called with the index, from 0, of each line that cannot be used, and the error.
        """
        return lines_of(data, None if self._native is None else self._native.add, self._lines_of, lose)

    def _lines_of(self, line: bytes) -> bytes:
        _, timestamp, fields = self._parse(line)
        get = fields.get
        url = said(get("url"))
        if url is None:
            raise FormatError("no URL", reason="bad-header")
        head = None if self._segments else url_head(url)
        start = self._starts.get(head) if head else None
        if start is None:
            start = self._start(head, url)
        size = said(get("length"))
        if size is None:
            size = said(get("compressedSize")) or ""
        if not (size.isascii() and size.isdigit() and len(size) < 19):
            size = "0"
        status, mime = said(get("status")) or "-", said(get("mime")) or "unk"
        name = b2a_base64(sha1_of(url), newline=False)
        made = b"%bc%b\0%b\0%b\0%b\0%b\n" % (start, name, timestamp[:8], text_of(status), text_of(mime), size.encode())
        digest = said(get("digest"))
        return made + b"%bd%b\n" % (start, text_of(digest.removeprefix("sha1:"))) if digest else made

    def _start(self, head: str | None, url: str) -> bytes:
        key = _json(group_of(url, self._by))
        start = b"%d\t%b\0" % (crc32(key) % PARTITIONS, key)
        if head is not None and len(head) < MAX_HEAD:
            keep(self._starts, head, start)
        return start


def _json(key: str | None) -> bytes:
    return b"null" if key is None else b'"%b"' % text_of(key)


def grouped(chunks: Iterable[bytes], *, least: int, ranked: bool) -> Iterator[bytes]:
    """Yield a line for each key in sorted lines, many in each chunk: the key and its row, both as JSON.

    Args:
        chunks: Chunks of whole lines.
        least: Leave out groups with fewer captures.
        ranked: Whether to write `null TAB [captures,key,row]` instead of `key TAB row`.

    Raises:
        ValueError: A line is not that of a capture.
    """
    native = core.native()
    groups = (_SortedGroups if native is None else native.SortedGroups)(least, ranked)
    for chunk in chunks:
        yield groups.add(chunk)
    yield groups.finish()


class _SortedGroups:
    """The Python version of `SortedGroups`."""

    def __init__(self, least: int, ranked: bool) -> None:
        self._least, self._ranked = least, ranked
        self._key: bytes | None = None
        self._group = _Group()
        self._out: list[bytes] = []

    def add(self, chunk: bytes) -> bytes:
        """Add whole lines; returns the lines of completed keys."""
        for line in chunk.split(b"\n"):
            if not line:
                continue
            name, _, text = line.partition(b"\t")[2].partition(b"\0")
            if name != self._key:
                self._end_key()
                self._key = name
            self._group.take(text)
        lines, self._out = self._out, []
        return b"".join(lines)

    def finish(self) -> bytes:
        """Return the remaining lines."""
        self._end_key()
        return b"".join(self._out)

    def _end_key(self) -> None:
        group, self._group = self._group, _Group()
        if self._key is None or group.captures < self._least:
            return
        if self._ranked:
            self._out.append(b"null\t[%d,%b,%b]\n" % (group.captures, self._key, group.row()))
        else:
            self._out.append(b"%b\t%b\n" % (self._key, group.row()))


class _Group:
    """The summary of the captures with one key, which come in order."""

    def __init__(self) -> None:
        self.captures = self._urls = self._digests = self._bytes = 0
        self._last = b""
        self._first_day, self._last_day = b"99999999", b""
        self._status: dict[bytes, int] = {}
        self._mime: dict[bytes, int] = {}

    def take(self, text: bytes) -> None:
        """Add a capture or a digest."""
        if text[:1] == b"d":
            self._digests += text != self._last
            self._last = text
            return
        url, day, status, mime, size = text.split(b"\0")
        self.captures += 1
        self._urls += url != self._last
        self._last = url
        self._first_day, self._last_day = min(self._first_day, day), max(self._last_day, day)
        self._status[status] = self._status.get(status, 0) + 1
        self._mime[mime] = self._mime.get(mime, 0) + 1
        self._bytes += int(size)

    def row(self) -> bytes:
        """The summary, as JSON."""
        counted = b'{"captures":%d,"urls":%d,"digests":%d,' % (self.captures, self._urls, self._digests)
        days = b'"first":"%b","last":"%b",' % (_shown(self._first_day), _shown(self._last_day))
        named = b'"status":{%b},"mime":{%b},' % (_named(self._status), _named(self._mime))
        return b'%b%b%b"bytes":%d}' % (counted, days, named, self._bytes)


def _shown(day: bytes) -> bytes:
    return b"%b-%b-%b" % (day[:4], day[4:6], day[6:])


def _named(counts: dict[bytes, int]) -> bytes:
    """Counts by name, a JSON text, in the order of the names' bytes."""
    return b",".join(b'"%b":%d' % (name, counts[name]) for name in sorted(counts))
