"""The keys of the 2012 index: a URL with its host reversed, and the scheme and any explicit port at the end.

    http://www.example.com/foo             com.example.www/foo:http
    http://example.com:8080/p?q=1#top      com.example/p?q=1:8080:http

The fragment is dropped, and the `?` of an empty query; letters keep their case. Some keys of the published index lack
`:http` at the end. Keys are ordered by their bytes.

Source: `reversehost` of Common Crawl's index writer of 2012 (trivio/common_crawl_index), by the keys that it wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crawlmill import core
from crawlmill.indexes.prefix_tree.items import Asked
from crawlmill.urls.patterns import KeyRange, Pattern

__all__ = ["Wanted", "asked_ranges", "tree_key", "url_of", "wanted"]

_URL: Final = re.compile(rb"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_KEY: Final = re.compile(rb"([^/?:]*)(.*?)(?::([0-9]+))?(?::(https?|ftp))?", re.DOTALL)
_USUAL: Final = re.compile(rb"(https?)://([^/?#:]*)([^?#]*(?:\?[^#]+)?)")
"""A URL of which all is in its key, and that names no port."""

_SCHEMES: Final = frozenset({b"http", b"https", b"ftp"})
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD: Final = re.compile(rb"(?:https?://)?\*\.")


def tree_key(url: bytes) -> bytes:
    """The key of a URL. Every text has one; like the original writer, this splits the host at its first colon."""
    found = _URL.match(url)
    assert found is not None  # it matches every text
    scheme, authority, path, query = (part or b"" for part in found.groups())
    parts = authority.split(b":")
    key = _reversed(parts[0]) + path
    if query:
        key += b"?" + query
    if len(parts) == 2:
        key += b":" + parts[1]
    return key + b":" + scheme.lower()


def url_of(key: bytes) -> bytes:
    """A URL with this key; a key without a scheme is for `http`."""
    found = _KEY.fullmatch(key)
    assert found is not None  # it matches every text
    host, rest, port, scheme = found.groups()
    return (scheme or b"http") + b"://" + _reversed(host) + (b":" + port if port else b"") + rest


@dataclass(frozen=True, slots=True)
class Wanted:
    """The keys selected by a query.

    Args:
        ranges: Keys `low <= key < high`: in order, without overlaps.
        port: Select only keys with this port; None: the ranges are exact.
    """

    ranges: tuple[KeyRange, ...]
    port: bytes | None = None

    def accepts(self, key: bytes) -> bool:
        """Whether a key within the ranges is selected."""
        if self.port is None:
            return True
        found = _KEY.fullmatch(key)
        return found is not None and found[3] == self.port


def wanted(pattern: Pattern) -> Wanted:
    """The keys that a pattern selects.

    A URL or a key selects that key, and the same key without its scheme; a key without a scheme also selects those of
    `http` and `https`. The beginning of a URL selects the keys of its host that begin with it, with any scheme and
    port; a host or domain selects all of its keys, with any scheme and, unless it names one, any port.
    """
    if pattern.is_key:
        return _of_key(pattern.key, pattern.match)
    text = pattern.text.strip().encode("utf-8", "surrogateescape")
    if wild := _WILD.match(text):
        text = text[wild.end() :].removesuffix(b"*")
    elif pattern.match == "prefix":
        text = text.removesuffix(b"*")
    if not _SCHEME.match(text):
        text = b"http://" + text
    if pattern.match == "exact":
        if usual := _USUAL.fullmatch(text):  # as nearly every line of a long list is
            scheme, host, rest = usual.groups()
            bare = _reversed(host) + rest
            return Wanted((_one(bare), _one(b"%s:%s" % (bare, scheme))))
        return _of_key(tree_key(text), "exact")
    found = _URL.match(text)
    assert found is not None  # it matches every text
    _, authority, path, query = (part or b"" for part in found.groups())
    host, _, port = authority.rpartition(b"@")[2].partition(b":")
    name = _reversed(host.lower())
    if pattern.match == "prefix":
        asked = path + (b"?" + query if b"?" in text else b"")
        if asked:
            return Wanted((_beginning(name + asked),), port or None)
        return Wanted(_of_host(name), port or None)
    below = [_beginning(name + b".")] if pattern.match == "domain" else []
    return Wanted(tuple(sorted([*below, *_of_host(name)])), port or None)


def asked_ranges(patterns: Sequence[Pattern]) -> tuple[list[Asked], dict[int, Wanted]]:
    """The ranges of keys that patterns select, in order, and those patterns that select only some keys within theirs.

    Patterns are known by their numbers.
    """
    native = core.native()
    plain = [each.text if each.match == "exact" and not each.is_key else "" for each in patterns]
    asked, others = ([], range(len(plain))) if native is None else native.tree_ranges(plain)
    partial: dict[int, Wanted] = {}
    for number in others:
        selected = wanted(patterns[number])
        asked += [(low, high, number) for low, high in selected.ranges]
        if selected.port is not None:
            partial[number] = selected
    asked.sort()
    return asked, partial


def _of_key(key: bytes, match: str) -> Wanted:
    if match == "prefix":
        return Wanted((_beginning(key),))
    if match == "exact":
        bare, colon, scheme = key.rpartition(b":")
        if colon and scheme in _SCHEMES:
            return Wanted((_one(bare), _one(key)))
        return Wanted((_one(key), _one(key + b":http"), _one(key + b":https")))
    name = key.partition(b"/")[0].partition(b":")[0].rstrip(b".")
    below = [_beginning(name + b".")] if match == "domain" else []
    return Wanted(tuple(sorted([*below, *_of_host(name)])))


def _of_host(name: bytes) -> tuple[KeyRange, ...]:
    """The keys of one host, which is followed by nothing, a path, a port, a scheme, or a query without a path."""
    return (_one(name), *(_beginning(name + mark) for mark in (b"/", b":", b"?")))


def _one(key: bytes) -> KeyRange:
    return KeyRange(key, key + b"\0")  # no key contains a NUL


def _beginning(text: bytes) -> KeyRange:
    """The keys with this prefix."""
    stripped = text.rstrip(b"\xff")
    return KeyRange(text, stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else b"\xff" * (len(text) + 64))


def _reversed(host: bytes) -> bytes:
    return b".".join(reversed(host.split(b".")))
