"""Removes session ids from URLs, as urlkeys do: those of Java, PHP, ASP and ColdFusion servers.

The last one of each kind is removed, even if it is the end of another argument's name (`mysid=…` becomes `my`), since
these are the rules that all indexes were made with. Paths and queries must be in lower case.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

__all__ = ["strip_path_session", "strip_query_sessions"]

_PATHS: Final = [
    re.compile(rb"/(?=(\((?:[a-z]\([0-9a-z]{24}\))+\)/))"),
    re.compile(rb"/(?=(\([0-9a-z]{24}\)/))"),
]
_QUERIES: Final = [
    (b"jsessionid=", re.compile(rb"jsessionid=[0-9a-z]{32}(?:&|\Z)")),
    (b"phpsessid=", re.compile(rb"phpsessid=[0-9a-z]{32}(?:&|\Z)")),
    (b"sid=", re.compile(rb"sid=[0-9a-z]{32}(?:&|\Z)")),
    (b"aspsessionid", re.compile(rb"aspsessionid[a-z]{8}=[a-z]{24}(?:&|\Z)")),
]


def strip_path_session(path: bytes) -> bytes:
    """Remove `(S(…))/` or `(…)/` before an ASP.NET page from a path."""
    if b".aspx" not in path or b"(" not in path:
        return path
    for pattern in _PATHS:
        page = question = 0
        span = None
        for found in pattern.finditer(path):
            after = found.end(1)
            if page <= after and (page := path.find(b".aspx", after + 1)) < 0:
                break
            if 0 <= question < after:
                question = path.find(b"?", after)
            if question < 0 or page < question:
                span = found.span(1)
        if span:
            path = path[: span[0]] + path[span[1] :]
    return path


def strip_query_sessions(query: bytes) -> bytes:
    """Remove session ids from a query."""
    if b"id=" not in query and b"aspsessionid" not in query:
        return query
    for name, pattern in _QUERIES:
        if name in query:
            last = deque(pattern.finditer(query), maxlen=1)
            if last:
                query = query[: last[0].start()] + query[last[0].end() :]
    return _without_cold_fusion(query) if b"&cftoken=" in query else query


def _without_cold_fusion(query: bytes) -> bytes:
    """Remove the last `cfid=…&cftoken=…`, with the `&` after it, from a query."""
    at = len(query)
    while (at := query.rfind(b"&cftoken=", 0, at)) >= 0:
        begin = query.rfind(b"cfid=", query.rfind(b"&", 0, at) + 1, at - 1)
        value = at + len(b"&cftoken=")
        if begin >= 0 and query[value : value + 1] not in (b"", b"&"):
            end = query.find(b"&", value)
            return query[:begin] + (query[end + 1 :] if end >= 0 else b"")
    return query
