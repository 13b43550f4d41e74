"""URL patterns: which keys of an index a URL with or without wildcards stands for.

    PATTERN                   match    keys
    http://example.com/a      exact    that one
    http://example.com/a*     prefix   those that begin so
    example.com               host     of the host, at any port           (as an option only)
    *.example.com             domain   of the host and of all below it, at any port

Keys are ordered by their bytes, and `)` < `,` < `-` < digits < `:`; so the keys of a host are two ranges, those of a
domain three, with those of `example-shop.com` and `example2.com` between them. A pattern with a port means that port
alone. A prefix is one of keys: it begins with a whole host, and never reaches into another one.
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
    """What a pattern means.

    Args:
        text: As it was given.
        match: One of `MATCHES`.
        key: The key of it: of the URL, its beginning, or its host.
        ranges: The lines of an index that may be meant, rising and apart from each other.
        port: Only keys of hosts at this port are meant; None: the ranges say all.
        is_key: The text is a key of an index, not a URL.
    """

    text: str
    match: str
    key: bytes
    ranges: tuple[KeyRange, ...]
    port: bytes | None = None
    is_key: bool = False

    def accepts(self, key: bytes) -> bool:
        """Whether a key within the ranges is meant."""
        if self.port is None:
            return True
        return key.partition(b")")[0].rpartition(b":")[2] == self.port


def parse_pattern(text: str, match: str | None = None, *, is_key: bool = False) -> Pattern:
    """The pattern that a text stands for.

    Args:
        text: A URL, with wildcards unless `match` is given; without a scheme, `http://` is put before it.
        match: One of `MATCHES`.
        is_key: The text is a urlkey, or a key of the index of 2012.

    Raises:
        UsageError: The text names no URL, or none of this match.
    """
    if match is not None and match not in MATCHES:
        raise UsageError("match", expected=", ".join(MATCHES), actual=match)
    if match in (None, "exact") and not is_key and (plain := _key_of_url(text)) is not None:
        match, key = "exact", plain
    else:
        match, given = _cut(text, match, strip=not is_key)
        key = given if is_key else _key_of(given, match)
    if not key or b"\n" in key or (match in ("host", "domain") and key.startswith((b")", b"/"))):
        raise UsageError(
            "this pattern names no URL", expected="a URL, or a host as *.example.com", actual=repr(text[:_SHOWN])
        )
    if match == "exact":
        return Pattern(text, match, key, (KeyRange(key + b" ", key + b"!"),), is_key=is_key)
    if match == "prefix":
        return Pattern(text, match, key, (KeyRange(key, _behind(key)),), is_key=is_key)
    return replace(_of_host(text, match, key), is_key=is_key)


def keys_of_urls(texts: Sequence[str]) -> list[bytes | None]:
    """The key of each pattern that is a URL as most are, and means that alone; None for any other pattern."""
    if (native := core.native()) is not None:
        return native.exact_keys(list(texts))  # type: ignore[no-any-return]
    return [_key_of_url(text) for text in texts]


def pattern_of_key(text: str, key: bytes) -> Pattern:
    """The pattern of a text that means a single key."""
    return Pattern(text, "exact", key, (KeyRange(key + b" ", key + b"!"),))


def url_of(pattern: Pattern) -> str:
    """A URL, without wildcards, that means with the pattern's match what the pattern means, for a service to be asked.

    It is the text as it was given, if that was a URL; of a key, a URL of that key.
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
    """The key of what nearly every line of a long list is: nothing of it has to be cut off or put before it."""
    if not text.startswith(("http://", "https://")) or not text.isascii() or _NOT_PLAIN.search(text):
        return None
    key = urlkey_bytes(text.encode("ascii"))
    return None if key.startswith(b")") else key


def _cut(text: str, match: str | None, *, strip: bool = True) -> tuple[str, bytes]:
    """The match of a text, given or said by its wildcards, and the text without these."""
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
        return key  # what has no host keeps its scheme
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
    if (colon and b":" in name) or host.startswith(b":"):  # IPv6: no host is below it, and its port cannot be told
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
    """The key of a URL, or of the beginning of one: what ends with `/` or `?` does so as a key."""
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
    """The URL with `http://` before a host with a port, which would pass for a scheme.

    A word and a number alone, as `status:200`, is a URI; `localhost:8080`, `host:8080/` and `example.com:80` are not.
    """
    found = _PORTED.match(given)
    if found is None or found[1].lower() in (b"http", b"https"):
        return given
    whole = found.end() == len(given)
    if whole and b"." not in found[1] and not found[1].startswith(b"[") and found[1].lower() != b"localhost":
        return given
    return b"http://" + given


def _behind(prefix: bytes) -> bytes:
    """The first text after all that begin with this one."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes([stripped[-1] + 1]) if stripped else prefix + b"\xff" * 64
