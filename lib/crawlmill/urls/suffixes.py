"""Public suffixes, the names under which anyone may register one, and the domains that are registered there.

    >>> registered_domain("www.example.co.uk"), public_suffix("www.example.co.uk")
    ('example.co.uk', 'co.uk')

By the Public Suffix List's ICANN section, as in Common Crawl's statistics, `a.blogspot.com` belongs to `blogspot.com`;
with its private section, `blogspot.com` is a suffix itself. A suffix that the list does not have counts as one label,
unless asked otherwise. The list is that of the installed package `publicsuffixlist`: results may change with its
version.

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
_MAX_NAME: Final = 1 << 10  # characters; IDNA takes quadratic time


@lru_cache(10_000)
def registered_domain(host: str, *, private: bool = False, unknown: bool = True) -> str | None:
    """The domain that was registered: a public suffix and one label; None for addresses, and for mere suffixes.

    Args:
        host: As `hosts.host_of` gives it.
        private: Also go by the private section of the list.
        unknown: Whether a suffix that is not in the list counts as one of one label.

    Raises:
        MissingDependency: The package `publicsuffixlist` is not installed.

    """
    if host_kind(host) != "name":
        return None
    domain: str | None = _suffixes(private, unknown).privatesuffix(host)
    return domain


@lru_cache(10_000)
def public_suffix(host: str, *, private: bool = False, unknown: bool = True) -> str | None:
    """The public suffix of a host's name; None for addresses. Arguments and errors are those of `registered_domain`."""
    if host_kind(host) != "name":
        return None
    suffix: str | None = _suffixes(private, unknown).publicsuffix(host)
    return suffix


@cache
def list_version() -> str:
    """The VERSION that the installed list names, such as `2026-10-23_07-32-48_UTC`; `unknown` if it names none.

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
    """The domain of any text that stands where a host does, and its suffix, as Common Crawl's statistics name them.

    By the ICANN section. An address is its own domain, and its suffix `(ip address)`. A host without a suffix of the
    list belongs to its last label, and its suffix is empty; a suffix itself belongs to itself.

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
