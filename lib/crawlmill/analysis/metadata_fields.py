"""Fields of a metadata record of 2012 by name: projections and conditions for options.

A name is a key, or the keys of nested objects joined by dots: `http_result`, `http_headers.server`,
`archiveInfo.arcFileOffset`. Keys that contain dots are found too. Arrays are not searched.

    >>> matches = where(["http_result=200", "tld=fr"])
    >>> matches("http://www.example.fr/", {"http_result": 200})
    True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.urls.hosts import host_of, top_level_domain
from crawlmill.urls.suffixes import registered_domain

__all__ = ["Predicate", "field_at", "project", "where"]

# Arguments: the URL (the record's key) and the record's fields.
Predicate = Callable[[str, Mapping[str, Any]], bool]

_ABSENT: Final = object()


def field_at(fields: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """The value under a name, or `default` if there is none."""
    if name in fields:
        return fields[name]
    end = name.find(".")
    while end >= 0:
        inner = fields.get(name[:end])
        if isinstance(inner, Mapping):
            value = field_at(inner, name[end + 1 :], _ABSENT)
            if value is not _ABSENT:
                return value
        end = name.find(".", end + 1)
    return default


def project(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The values under these names, with the names as given; absent ones are left out."""
    found = ((name, field_at(fields, name, _ABSENT)) for name in names)
    return {name: value for name, value in found if value is not _ABSENT}


def where(conditions: Iterable[str]) -> Predicate:
    """A function that tests whether a record meets all of the conditions, each `FIELD=VALUE`.

    Strings are compared as they are, other values as JSON (`200`, `true`); an absent value equals nothing. The fields
    `host`, `domain` (registered) and `tld` are those of the URL, in lower case.

    Raises:
        UsageError: A condition has no `=`, or no field before it.

    """
    tests = [_test(condition) for condition in conditions]
    return lambda url, fields: all(test(url, fields) for test in tests)


def _test(condition: str) -> Predicate:
    name, equals, wanted = condition.partition("=")
    if not equals or not name:
        raise UsageError("--where", expected="FIELD=VALUE", actual=repr(condition))
    of_host = _OF_HOST.get(name)
    if of_host is not None:
        lowered = wanted.lower()
        return lambda url, _: (host := host_of(url)) is not None and of_host(host) == lowered
    return lambda _, fields: _text(field_at(fields, name, _ABSENT)) == wanted


_OF_HOST: Final[dict[str, Callable[[str], str | None]]] = {
    "host": str,
    "domain": registered_domain,
    "tld": top_level_domain,
}


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return None if value is _ABSENT else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
