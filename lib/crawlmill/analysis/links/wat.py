"""The references of a page, from the WAT record about it.

Common Crawl's WAT contains the page's URL attributes as written: links of the body and most others in
`HTML-Metadata.Links`, `LINK@/href` in `Head.Link`, `SCRIPT@/src` of the head in `Head.Scripts`, and the last base in
`Head.Base`. Entries in other forms, which other programs may write, are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crawlmill.analysis.links.kinds import KINDS
from crawlmill.analysis.wat_json import described, envelope_of, member, object_text

__all__ = ["WatPage", "wat_page"]


@dataclass(frozen=True, slots=True)
class WatPage:
    """A page that a WAT record describes: its URL (None if the record lacks it), and its HTML-Metadata."""

    url: str | None
    html: dict[str, Any]

    @property
    def base(self) -> str | None:
        """The value of its base element, as written."""
        base = member(self.html, "Head").get("Base")
        return base if isinstance(base, str) else None

    def references(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the value of each URL attribute."""
        head = member(self.html, "Head")
        for entries in (head.get("Link"), head.get("Scripts"), self.html.get("Links")):
            for entry in entries if isinstance(entries, list) else [entries]:
                if not isinstance(entry, dict):
                    continue
                kind, url = entry.get("path"), entry.get("url")
                if isinstance(kind, str) and kind in KINDS and isinstance(url, str):
                    yield kind, url


def wat_page(envelope: bytes) -> WatPage | None:
    """The HTML page that a WAT record describes; None for other WAT records.

    Args:
        envelope: The block of the record.

    Raises:
        FormatError: `bad-json`: the record is not a JSON object.
    """
    text = object_text(envelope)
    if b'"HTML-Metadata"' not in text and text.count(b"{") == text.count(b"}"):
        return None
    whole = envelope_of(text)
    response = member(member(whole, "Payload-Metadata"), "HTTP-Response-Metadata")
    header = described(whole)
    if header.get("WARC-Type", "response") != "response" or not isinstance(response.get("HTML-Metadata"), dict):
        return None
    url = header.get("WARC-Target-URI", header.get("Target-URI"))
    return WatPage(url if isinstance(url, str) else None, response["HTML-Metadata"])
