"""Presto functions that DuckDB lacks, in Python; registered only if a statement calls them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from crawlmill.indexes.columnar.host_layout import surt_host_name
from crawlmill.urls.surt import urlkey

__all__ = ["FUNCTIONS", "register"]

_URI: Final = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_NO_URI: Final = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})")
_HOST: Final = re.compile(r"(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::([0-9]*))?")


@lru_cache(1000)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _like(text: str | None, pattern: str | None) -> bool | None:
    return None if text is None or pattern is None else _compiled(pattern).search(text) is not None


def _extract(text: str | None, pattern: str | None, group: int | None) -> str | None:
    if text is None or pattern is None or group is None:
        return None
    found = _compiled(pattern).search(text)
    return None if found is None else _group(found, group)


def _extract_all(text: str | None, pattern: str | None, group: int | None) -> list[str | None] | None:
    if text is None or pattern is None or group is None:
        return None
    return [_group(found, group) for found in _compiled(pattern).finditer(text)]


def _group(found: re.Match[str], number: int) -> str | None:
    if not 0 <= number <= found.re.groups:
        raise ValueError(f"Pattern has {found.re.groups} groups. Cannot access group {number}")  # DuckDB's words
    text: str | None = found[number]
    return text


def _uri(text: str | None) -> tuple[str | None, ...] | None:
    """Scheme, authority, path, query and fragment, as in java.net.URI; None if that does not accept the text."""
    if text is None or _NO_URI.search(text):
        return None
    found = _URI.fullmatch(text)
    return None if found is None else found.groups()


def _part(number: int) -> Callable[[str | None], str | None]:
    def part(text: str | None) -> str | None:
        parts = _uri(text)
        return None if parts is None else unquote(parts[number] or "")

    return part


def _host(text: str | None) -> str | None:
    parts = _uri(text)
    found = _HOST.fullmatch(parts[1]) if parts and parts[1] is not None else None
    return (found[1] or None) if found else None


def _port(text: str | None) -> int | None:
    parts = _uri(text)
    found = _HOST.fullmatch(parts[1]) if parts and parts[1] is not None else None
    return int(found[2]) if found and found[2] and len(found[2]) < 10 else None


def _parameter(text: str | None, name: str | None) -> str | None:
    parts = _uri(text)
    if parts is None or name is None or parts[3] is None:
        return None
    return next((value for key, value in parse_qsl(parts[3], keep_blank_values=True) if key == name), None)


def _urlkey(url: str | None) -> str | None:
    return urlkey(url) if url else None


def _surt_host_name(host: str | None) -> str | None:
    return surt_host_name(host) if host else None


FUNCTIONS: Final[dict[str, tuple[Callable[..., Any], tuple[str, ...], str]]] = {
    "crawlmill_regexp_like": (_like, ("VARCHAR", "VARCHAR"), "BOOLEAN"),
    "crawlmill_regexp_extract": (_extract, ("VARCHAR", "VARCHAR", "INTEGER"), "VARCHAR"),
    "crawlmill_regexp_extract_all": (_extract_all, ("VARCHAR", "VARCHAR", "INTEGER"), "VARCHAR[]"),
    "crawlmill_urlkey": (_urlkey, ("VARCHAR",), "VARCHAR"),
    "crawlmill_surt_host_name": (_surt_host_name, ("VARCHAR",), "VARCHAR"),
    "url_extract_protocol": (_part(0), ("VARCHAR",), "VARCHAR"),
    "url_extract_host": (_host, ("VARCHAR",), "VARCHAR"),
    "url_extract_port": (_port, ("VARCHAR",), "BIGINT"),
    "url_extract_path": (_part(2), ("VARCHAR",), "VARCHAR"),
    "url_extract_query": (_part(3), ("VARCHAR",), "VARCHAR"),
    "url_extract_fragment": (_part(4), ("VARCHAR",), "VARCHAR"),
    "url_extract_parameter": (_parameter, ("VARCHAR", "VARCHAR"), "VARCHAR"),
}
"""What Python does, with the types of arguments and result, by the names under which DuckDB knows it."""


def register(connection: Any, names: set[str]) -> None:
    """Register these functions with a connection."""
    for name in sorted(names):
        function, arguments, result = FUNCTIONS[name]
        connection.create_function(name, function, list(arguments), result, null_handling="special")
