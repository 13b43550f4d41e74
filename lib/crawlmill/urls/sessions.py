"""Session ids in URLs, as servers of Java, PHP, ASP and ColdFusion wrote them: what a urlkey leaves out.

Of each kind the last one is taken out, also where it ends the name of another argument (`mysid=…` becomes `my`): so do
the rules that every index has been made by. Paths and queries are expected in lower case.
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
    """A path without `(S(…))/` or `(…)/` before a page of ASP.NET."""
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
    """A query without its session ids."""
    if b"id=" not in query and b"aspsessionid" not in query:
        return query
    for name, pattern in _QUERIES:
        if name in query:
            last = deque(pattern.finditer(query), maxlen=1)
            if last:
                query = query[: last[0].start()] + query[last[0].end() :]
    return _without_cold_fusion(query) if b"&cftoken=" in query else query


def _without_cold_fusion(query: bytes) -> bytes:
    """A query without the last `cfid=…&cftoken=…`, and the `&` after it."""
    at = len(query)
    while (at := query.rfind(b"&cftoken=", 0, at)) >= 0:
        begin = query.rfind(b"cfid=", query.rfind(b"&", 0, at) + 1, at - 1)
        value = at + len(b"&cftoken=")
        if begin >= 0 and query[value : value + 1] not in (b"", b"&"):
            end = query.find(b"&", value)
            return query[:begin] + (query[end + 1 :] if end >= 0 else b"")
    return query
