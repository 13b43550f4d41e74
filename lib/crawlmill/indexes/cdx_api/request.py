"""The request parameters of a query to a CDX API.

The server may return more than is wanted, since all times and filters are applied again to its response, but never
less. So only parameters that mean the same to every server are sent: times cut to whole units, and filters on fields
whose names and values are the same everywhere. (`charset` is `encoding` at Common Crawl, a missing value may be `-` or
empty, and the URLs compared by a server may be escaped or not.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urlencode

from crawlmill.indexes.query import Filter, Query
from crawlmill.urls.patterns import url_of

__all__ = ["Parameters", "extended", "is_whole", "label_of", "locate", "parameters_of"]

Parameters = list[tuple[str, str]]

_SAME_FIELDS: Final = ("mime", "status", "digest", "mime-detected", "url")
_WAYBACK_FIELDS: Final = {"mime": "mimetype", "status": "statuscode", "digest": "digest"}
_LITERAL: Final = re.compile(r"[A-Za-z0-9/_]+")  # means the same in every kind of regular expression


def parameters_of(query: Query, *, wayback: bool) -> Parameters:
    """The parameters that all requests of a query share."""
    found = [("url", url_of(query.pattern)), ("matchType", query.pattern.match)]
    if not wayback:
        found.append(("allowFuzzy", "0"))
    for name, time in (("from", query.start), ("to", query.end)):
        if time and (cut := _whole_units(time)):
            found.append((name, cut))
    sent = _wayback_filter if wayback else _same_filter
    return found + [("filter", text) for each in query.filters if (text := sent(each))]


def is_whole(query: Query) -> bool:
    """Whether the server returns all captures of the pattern, since there are no times and filters."""
    return not (query.start or query.end or query.filters)


def label_of(query: Query) -> str:
    """The label of a query in a plan."""
    return f"{query.pattern.match} {query.pattern.text}"


def locate(url: str, parameters: Parameters) -> str:
    """The location of a request."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters, errors='surrogateescape')}"


def extended(location: str, parameters: Sequence[tuple[str, str]], *, resume: str | None = None) -> str:
    """A location with more parameters, whose values need no escapes.

    A resume key is sent as received from the server: it is escaped already.
    """
    location += "".join(f"&{name}={value}" for name, value in parameters)
    if resume is None:
        return location
    return f"{location}&resumeKey={quote(resume, safe='%+!*()-._~', errors='surrogateescape')}"


def _whole_units(time: str) -> str:
    """The longest prefix of a timestamp that is a whole year, month, day, hour, minute or second."""
    return time[: len(time) // 2 * 2] if len(time) >= 4 else ""


def _same_filter(each: Filter) -> str | None:
    """The filter in pywb's form, if it means the same to the server as here; else None."""
    if each.field not in _SAME_FIELDS or not _is_same_for_none(each):
        return None
    if each.field == "url" and (each.how == "~" or not each.value.isascii() or "%" in each.value):
        return None
    return f"{'!' if each.inverted else ''}{each.how}{each.field}:{each.value}"


def _wayback_filter(each: Filter) -> str | None:
    """The filter in Wayback's form: a regular expression that must match the whole value."""
    name = _WAYBACK_FIELDS.get(each.field or "")
    if name is None or each.how == "~" or not _LITERAL.fullmatch(each.value) or not _is_same_for_none(each):
        return None
    value = each.value if each.how == "=" else f".*{each.value}.*"
    return f"{'!' if each.inverted else ''}{name}:{value}"


def _is_same_for_none(each: Filter) -> bool:
    """Whether it does not matter how a server writes a missing value."""

    def hit(value: str) -> bool:
        if each.expression is not None:
            return each.expression.match(value) is not None
        return value == each.value if each.how == "=" else each.value in value

    return hit("") == hit("-")
