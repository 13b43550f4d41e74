"""The parts of a URL as in Common Crawl's columnar index.

    >>> url_parts("https://User@WWW.Example.com.:8443/a?b#c")
    UrlParts(protocol='https', host='www.example.com', port=8443, path='/a', query='b')

* The scheme is in lower case. The user info before `@` and the fragment are left out.
* The host is percent-decoded, in punycode (IDNA 2003) and in lower case, without dots at its end. An IPv4 address has
  four decimal numbers: `16909060` and `1.131844` are 1.2.3.4, but what a C library would read as octal or hexadecimal
  (`010.0.0.1`, `0x7f.1`) is a name. An IPv6 address is in brackets. An invalid host is kept as written.
* The port is present if it is in the URL, even `:80`; path and query are kept as written. A path may be empty; a query
  is None only if there is no `?`.
* `http:/host` and `http:////host` have a host. A URL without one (`dns:example.com`) has the empty host.

Nothing here raises: crawls contain all kinds of nonsense.

Source: the behaviour of https://github.com/commoncrawl/cc-index-table (WarcUri, CommonURL) for difficult URLs.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

__all__ = ["UrlParts", "host_and_port", "url_parts"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PARTS: Final = re.compile(r"(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_SLASHES: Final = re.compile(r"/+")
_PORT: Final = re.compile(r"(.*):([0-9]*)", re.DOTALL)
_NUMBERS: Final = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,10}){0,3}")
_LIKE_C: Final = re.compile(r"(?:0[0-7]*|[1-9][0-9]*)(?:\.(?:0[0-7]*|[1-9][0-9]*))*")
_LEADING_ZERO: Final = re.compile(r"(?:\A|\.)0[0-9]")
_REPAIRED: Final = ("http", "https")

_MAX_LABEL: Final = 1 << 10  # longest label passed to IDNA, in characters, since it takes quadratic time
_MAX_PORT: Final = 0x7FFFFFFF


class UrlParts(NamedTuple):
    """The parts of a URL; `port` and `query` may be None."""

    protocol: str
    host: str
    port: int | None
    path: str
    query: str | None


def url_parts(url: str) -> UrlParts:
    """Split a URL into its parts; see the module docstring."""
    found = _SCHEME.match(url)
    protocol = found[1].lower() if found else ""
    rest = url[found.end() :] if found else url
    if protocol in _REPAIRED and (slashes := _SLASHES.match(rest)) is not None:
        rest = "//" + rest[slashes.end() :]
    authority, path, query = _PARTS.match(rest).groups()  # type: ignore[union-attr] # it matches anything
    host, port = host_and_port(authority or "")
    return UrlParts(protocol, host, port, path, query)


def host_and_port(authority: str) -> tuple[str, int | None]:
    """The host, and the port or None, from the text between `//` and the path."""
    host = authority.rpartition("@")[2]
    port = None
    if (found := _PORT.fullmatch(host)) is not None and (not host.startswith("[") or found[1].endswith("]")):
        host, digits = found.groups()
        port = int(digits) if digits and len(digits) <= 10 and int(digits) <= _MAX_PORT else None
    if host.startswith("["):
        return host.lower(), port
    if "%" in host:
        host = unquote_to_bytes(host).decode("utf-8", "replace")
    if not host.isascii():
        host = _punycode(host)
    host = host.lower().rstrip(".")
    return _address(host) or host, port


def _punycode(host: str) -> str:
    if max(map(len, host.split("."))) > _MAX_LABEL:
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _address(host: str) -> str | None:
    """The IPv4 address of a host of decimal numbers: the last number fills all remaining bytes."""
    if not host[-1:].isdigit() or not _NUMBERS.fullmatch(host):
        return None
    if _LEADING_ZERO.search(host) and _LIKE_C.fullmatch(host):
        return None  # octal to some, decimal to others
    *first, last = map(int, host.split("."))
    if any(number > 0xFF for number in first) or last >= 1 << 8 * (4 - len(first)):
        return None
    return ".".join(map(str, bytes(first) + last.to_bytes(4 - len(first), "big")))
