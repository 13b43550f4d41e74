"""Public suffixes, under which anyone may register names, and the domains registered there.

    >>> registered_domain("www.example.co.uk"), public_suffix("www.example.co.uk")
    ('example.co.uk', 'co.uk')

By default the ICANN section of the Public Suffix List is used, as in Common Crawl's statistics: `a.blogspot.com`
belongs to `blogspot.com`. With the private section, `blogspot.com` is itself a suffix. A suffix that is not in the list
counts as one label, unless `unknown` is False. The list is that of the installed package `publicsuffixlist`: results
may change with its version.

Spec: https://publicsuffix.org/list/
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from crawlmill.errors import MissingDependency
from crawlmill.urls.hosts import host_kind

__all__ = ["domain_and_suffix", "list_version", "public_suffix", "registered_domain"]


_HEAD_BYTES: Final = 4 << 10
_MAX_NAME: Final = 1 << 10  # longest name accepted, in characters; IDNA takes quadratic time


@lru_cache(10_000)
def registered_domain(host: str, *, private: bool = False, unknown: bool = True) -> str | None:
    """The registered domain: a public suffix and one label; None for addresses, and for public suffixes themselves.

    Args:
        host: As returned by `hosts.host_of`.
        private: Also use the private section of the list.
        unknown: Whether the last label counts as the suffix if the list has none.

    Raises:
        MissingDependency: The package `publicsuffixlist` is not installed.

    """
    if host_kind(host) != "name":
        return None
    domain: str | None = _suffixes(private, unknown).privatesuffix(host)
    return domain


@lru_cache(10_000)
def public_suffix(host: str, *, private: bool = False, unknown: bool = True) -> str | None:
    """The public suffix of a host name; None for addresses. Arguments and errors as for `registered_domain`."""
    if host_kind(host) != "name":
        return None
    suffix: str | None = _suffixes(private, unknown).publicsuffix(host)
    return suffix


@cache
def list_version() -> str:
    """The VERSION of the installed list, such as `2026-10-23_07-32-48_UTC`; `unknown` if it has none.

    Raises:
        MissingDependency: The package `publicsuffixlist` is not installed.
    """
    _suffixes(False, False)
    listed = resources.files("publicsuffixlist").joinpath("public_suffix_list.dat")
    with listed.open("rb") as file:
        found = re.search(rb"^// VERSION: (\S+)", file.read(_HEAD_BYTES), re.MULTILINE)
    return found[1].decode("ascii", "replace") if found else "unknown"


@cache
def _suffixes(private: bool, unknown: bool) -> Any:
    try:
        from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingDependency("domains need the package publicsuffixlist: pip install publicsuffixlist") from error
    return PublicSuffixList(only_icann=not private, accept_unknown=unknown)


@lru_cache(10_000)
def domain_and_suffix(host: str) -> tuple[str, str]:
    """The domain and the suffix of any text in place of a host, named as in Common Crawl's statistics.

    Uses the ICANN section. An address is its own domain, with the suffix `(ip address)`. The domain of a host without a
    listed suffix is its last label, and its suffix is empty; the domain of a suffix is the suffix itself.

    Raises:
        MissingDependency: The package `publicsuffixlist` is not installed.
    """
    if host_kind(host) == "ipv4" or ":" in host:
        return host, "(ip address)"
    labels = host.split(".")
    try:
        name = host if host.isascii() or len(host) > _MAX_NAME else host.encode("idna").decode("ascii")
    except UnicodeError:
        name = host
    found: str | None = _suffixes(False, False).publicsuffix(name) if len(host) <= _MAX_NAME else None
    if not found:
        return labels[-1], ""
    size = found.count(".") + 1
    return ".".join(labels[-size - 1 :]), ".".join(labels[-size:])
