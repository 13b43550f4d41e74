"""URL patterns: the index keys selected by a URL with or without wildcards.

    PATTERN                   match    keys
    http://example.com/a      exact    only that key
    http://example.com/a*     prefix   keys that begin with it
    example.com               host     of the host, at any port           (only with an option)
    *.example.com             domain   of the host and all hosts below it, at any port

Keys are ordered by their bytes, and `)` < `,` < `-` < digits < `:`; so the keys of a host are two ranges, those of a
domain three, with the keys of `example-shop.com` and `example2.com` in between. A pattern with a port selects that port
only. A prefix applies to keys: it begins with a whole host, and never extends into another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crawlmill import core
from crawlmill.errors import UsageError
from crawlmill.urls.matches import MATCHES
from crawlmill.urls.surt import urlkey_bytes

__all__ = ["MATCHES", "KeyRange", "Pattern", "keys_of_urls", "parse_pattern", "pattern_of_key", "url_of"]

_PORTED: Final = re.compile(rb"(\[[^\]]*\]|[^/?#:@\[]+):[0-9]{1,5}(?=[/?#]|\Z)")
_WILD_DOMAIN: Final = re.compile(rb"(?:https?://)?\*\.")
_NOT_PLAIN: Final = re.compile(r"[*\s]")
_SHOWN: Final = 80


class KeyRange(NamedTuple):
    """Lines `low <= line < high`, compared by their bytes; a line begins with its key and a blank."""

    low: bytes
    high: bytes


@dataclass(frozen=True, slots=True)
class Pattern:
    """The parsed form of a pattern.

    Args:
        text: The text as given.
        match: One of `MATCHES`.
        key: The key of the URL, of its beginning, or of its host.
        ranges: The index lines that may be selected: in order, without overlaps.
        port: Select only keys of hosts at this port; None: the ranges are exact.
        is_key: Whether the text is a key of an index, not a URL.
    """

    text: str
    match: str
    key: bytes
    ranges: tuple[KeyRange, ...]
    port: bytes | None = None
    is_key: bool = False

    def accepts(self, key: bytes) -> bool:
        """Whether a key within the ranges is selected."""
        if self.port is None:
            return True
        return key.partition(b")")[0].rpartition(b":")[2] == self.port


def parse_pattern(text: str, match: str | None = None, *, is_key: bool = False) -> Pattern:
    """Parse a pattern.

    Args:
        text: A URL, with wildcards unless `match` is given; if it has no scheme, `http://` is prepended.
        match: One of `MATCHES`.
        is_key: Whether the text is a urlkey, or a key of the index of 2012.

    Raises:
        UsageError: The text is not a URL, or not one for this match.
    """
    if match is not None and match not in MATCHES:
        raise UsageError("match", expected=", ".join(MATCHES), actual=match)
    if match in (None, "exact") and not is_key and (plain := _key_of_url(text)) is not None:
        match, key = "exact", plain
    else:
        match, given = _cut(text, match, strip=not is_key)
        key = given if is_key else _key_of(given, match)
    if not key or b"\n" in key or (match in ("host", "domain") and key.startswith((b")", b"/", b"*"))):
        raise UsageError(
            "this pattern names no URL", expected="a URL, or a host as *.example.com", actual=repr(text[:_SHOWN])
        )
    if match == "exact":
        return Pattern(text, match, key, (KeyRange(key + b" ", key + b"!"),), is_key=is_key)
    if match == "prefix":
        return Pattern(text, match, key, (KeyRange(key, _behind(key)),), is_key=is_key)
    return replace(_of_host(text, match, key), is_key=is_key)


def keys_of_urls(texts: Sequence[str]) -> list[bytes | None]:
    """The keys of patterns that are ordinary URLs and select only that key; None for other patterns."""
    if (native := core.native()) is not None:
        return native.exact_keys(list(texts))  # type: ignore[no-any-return]
    return [_key_of_url(text) for text in texts]


def pattern_of_key(text: str, key: bytes) -> Pattern:
    """The pattern for a text that selects a single key."""
    return Pattern(text, "exact", key, (KeyRange(key + b" ", key + b"!"),))


def url_of(pattern: Pattern) -> str:
    """A URL without wildcards that selects, with the pattern's match, the same keys; for queries to a service.

    It is the text as given, if that was a URL; for a key, a URL with that key.
    """
    for match in () if pattern.is_key else (None, pattern.match):
        try:
            same = parse_pattern(pattern.text, match)
        except UsageError:
            continue
        if same.match == pattern.match and same.key == pattern.key:
            return _with_scheme(_cut(pattern.text, match)[1]).decode("utf-8", "surrogateescape")
    return _url_of_key(pattern.key).decode("utf-8", "surrogateescape")


def _key_of_url(text: str) -> bytes | None:
    """The key of a plain URL, like nearly every line of a long list; None if something must be removed or prepended."""
    if not text.startswith(("http://", "https://")) or not text.isascii() or _NOT_PLAIN.search(text):
        return None
    key = urlkey_bytes(text.encode("ascii"))
    return None if key.startswith(b")") else key


def _cut(text: str, match: str | None, *, strip: bool = True) -> tuple[str, bytes]:
    """The match, as given or according to the wildcards, and the text without them."""
    given = (text.strip() if strip else text).encode("utf-8", "surrogateescape")
    if match in (None, "domain") and (wild := _WILD_DOMAIN.match(given)):
        rest = given[wild.end() :]
        return "domain", rest.removesuffix(b"*") if match is None else rest
    if match is None and given.endswith(b"*"):
        return "prefix", given[:-1]
    return match or "exact", given


def _url_of_key(key: bytes) -> bytes:
    host, bracket, path = key.partition(b")")
    if re.match(rb"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+\Z)", host):
        return key  # without a host, the scheme is kept
    name, colon, port = host.rpartition(b":")
    if not colon or b":" in name:
        name, port = host, b""
    labels = b"[%s]" % name if b":" in name else b".".join(reversed(name.split(b",")))
    return b"http://" + labels + (b":" + port if port else b"") + (path if bracket else b"/")


def _of_host(text: str, match: str, key: bytes) -> Pattern:
    host, bracket, _ = key.partition(b")")
    if not bracket and re.match(rb"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+\Z)", host):
        raise UsageError("this pattern has no host", expected="a URL with a host", actual=repr(text[:_SHOWN]))
    name, colon, port = host.rpartition(b":")
    if (colon and b":" in name) or host.startswith(b":"):  # IPv6: no hosts are below it
        return Pattern(text, match, host, (_one_host(host),))
    if not colon:
        ranges = [_one_host(host)]
        if match == "domain":
            ranges.append(KeyRange(host + b",", host + b"-"))
        ranges.append(KeyRange(host + b":", host + b";"))
        return Pattern(text, match, host, tuple(ranges))
    if match == "host":
        return Pattern(text, match, host, (_one_host(host),))
    return Pattern(text, match, host, (KeyRange(name + b",", name + b"-"), _one_host(host)), port)


def _one_host(host: bytes) -> KeyRange:
    return KeyRange(host + b")", host + b"*")


def _key_of(given: bytes, match: str) -> bytes:
    """The key of a URL or of its beginning; if that ends with `/` or `?`, so does the key."""
    given = _with_scheme(given)
    if not given:
        return b""
    key = urlkey_bytes(given)
    if match == "prefix":
        for end in (b"/", b"?"):
            if given.endswith(end) and not key.endswith(end):
                key += end
    return b"" if key.startswith(b")") or key == b"-" else key


def _with_scheme(given: bytes) -> bytes:
    """The URL, with `http://` prepended to a host with a port, which would be mistaken for a scheme.

    A word followed by a number, such as `status:200`, is a URI; `localhost:8080`, `host:8080/` and `example.com:80` are
    not.
    """
    found = _PORTED.match(given)
    if found is None or found[1].lower() in (b"http", b"https"):
        return given
    whole = found.end() == len(given)
    if whole and b"." not in found[1] and not found[1].startswith(b"[") and found[1].lower() != b"localhost":
        return given
    return b"http://" + given


def _behind(prefix: bytes) -> bytes:
    """The first text after all texts with this prefix."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else prefix + b"\xff" * 64
