"""Hosts of URLs as they occur in crawls of all years.

    >>> host_of("http://user@WWW.Example.CO.UK:8080/x")
    'www.example.co.uk'

URLs in crawls may be nonsense (`http://www.example.net]www...`), so nothing here raises: an invalid host is None. A
host is lower-case ASCII: percent escapes are decoded, international names are in punycode (IDNA 2003, as in older
browsers), one dot at the end is dropped. It is one of

* a name: labels of 1 to 63 letters, digits, `-` and `_` in any order; the last label is not a number;
* an IPv4 address in four decimal numbers (other spellings, such as `http://3232235777/`, are not accepted);
* an IPv6 address in brackets.

For the domain that a name belongs to, see `suffixes`.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final, Literal
from urllib.parse import unquote_to_bytes

__all__ = ["HostKind", "host_kind", "host_of", "top_level_domain"]

HostKind = Literal["name", "ipv4", "ipv6"]

_AUTHORITY: Final = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2}([^/?#\\]*)")
_NAME: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*(?![0-9]+\Z)[a-z0-9_-]{1,63}")

_LONGEST: Final = 1 << 10  # longest name passed to IDNA, in characters, since it takes quadratic time


def host_of(url: str) -> str | None:
    """The host of an absolute URL, or None if it has no valid one."""
    found = _AUTHORITY.match(url)
    if found is None:
        return None
    host = re.sub(r":[0-9]*\Z", "", found[1].rpartition("@")[2])
    if not host.startswith("["):
        try:
            host = unquote_to_bytes(host).decode() if "%" in host else host
            if len(host) > _LONGEST:
                return None
            host = host.lower() if host.isascii() else host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return None
        host = host.removesuffix(".")
    return host.lower() if host_kind(host) else None


def host_kind(host: str) -> HostKind | None:
    """The kind of a host, or None if it is not valid."""
    if host.startswith("["):
        return "ipv6" if host.endswith("]") and _is_address(ipaddress.IPv6Address, host[1:-1]) else None
    if _is_address(ipaddress.IPv4Address, host):
        return "ipv4"
    return "name" if len(host) <= 253 and _NAME.fullmatch(host) else None


def top_level_domain(host: str) -> str | None:
    """The last label of a host's name; None for addresses."""
    return host.rpartition(".")[2] if host_kind(host) == "name" else None


def _is_address(kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
