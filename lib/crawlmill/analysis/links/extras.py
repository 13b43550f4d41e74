"""References of responses outside their HTML: redirects, headers that name resources, and sitemaps of robots.txt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from crawlmill.analysis.wat_json import described, envelope_of, member

__all__ = ["EXTRAS", "header_references", "wat_response"]

EXTRAS: Final = frozenset(("redirects", "headers", "sitemaps"))
"""The names of these kinds."""

_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_LINK: Final = re.compile(r"<([^>]*)>")


def header_references(
    status: int | None, fields: Iterable[tuple[str, str]], extras: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the header's name and the value for each reference in an HTTP header: ("location", "/x").

    `redirects` are the Location of redirecting responses; `headers` are Content-Location and the targets of Link (RFC
    8288).
    """
    for field, value in fields:
        name = field.strip().lower()
        if name == "location":
            if "redirects" in extras and status in _REDIRECTS:
                yield name, value.strip()
        elif "headers" in extras and name == "content-location":
            yield name, value.strip()
        elif "headers" in extras and name == "link":
            yield from ((name, target) for target in _LINK.findall(value))


def wat_response(envelope: bytes) -> tuple[str | None, int | None, list[tuple[str, str]]] | None:
    """URL, status and header of the HTTP response that a WAT record describes; None for other WAT records.

    Raises:
        FormatError: `bad-json`: the record is not JSON.
    """
    if b'"HTTP-Response-Metadata"' not in envelope:
        return None
    whole = envelope_of(envelope)
    response = member(member(whole, "Payload-Metadata"), "HTTP-Response-Metadata")
    header = described(whole)
    if header.get("WARC-Type", "response") != "response":
        return None
    url = header.get("WARC-Target-URI", header.get("Target-URI"))
    status = member(response, "Response-Message").get("Status")
    number = int(status) if isinstance(status, (str, int)) and re.fullmatch("[0-9]{3}", str(status)) else None
    return url if isinstance(url, str) else None, number, list(_fields(member(response, "Headers")))


def _fields(headers: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str):
                yield name, one
