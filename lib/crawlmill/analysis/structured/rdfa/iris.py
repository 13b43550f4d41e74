"""Resolves IRI references without changing their characters: RFC 3986 section 5.2, RFC 3987 section 6.5.

>>> resolve_iri("http://example.com/a/b?q", "../c")
'http://example.com/c'
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["resolve_iri"]

_PARTS: Final = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)


def resolve_iri(base: str, reference: str) -> str:
    """Resolve a reference against an absolute base. The result may contain characters that are not allowed in IRIs."""
    scheme, authority, path, query, fragment = _cut(reference)
    if scheme is not None:
        return reference
    base_scheme, base_authority, base_path, base_query, _ = _cut(base)
    if authority is None:
        authority = base_authority
        if not path:
            path, query = base_path, base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        elif base_authority is not None and not base_path:
            path = _without_dots("/" + path)
        else:
            path = _without_dots(base_path[: base_path.rfind("/") + 1] + path)
    else:
        path = _without_dots(path)
    start = f"{base_scheme}:" + ("" if authority is None else f"//{authority}")
    return f"{start}{path}{query or ''}{fragment or ''}"


def _cut(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(text)
    if found is None:  # cannot happen, since it matches every text
        raise ValueError(text)
    return found[1], found[2], found[3], found[4], found[5]


def _without_dots(path: str) -> str:
    """The path without the segments `.` and `..`."""
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
