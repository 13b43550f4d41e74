"""What a line of an input list says about its capture, besides its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from crawlmill.formats.exchange import Detected
from crawlmill.inputs.list_lines import parse_cdx, parse_line
from crawlmill.inputs.lists import Input
from crawlmill.ledger.input_lines import is_cdxj, json_of
from crawlmill.storage.locations import redact
from crawlmill.urls.surt import urlkey

__all__ = ["Listed", "listed_of", "name_of"]

_OWN: Final = frozenset(
    (
        "url",
        "mime",
        "mime-detected",
        "status",
        "digest",
        "length",
        "offset",
        "filename",
        "charset",
        "languages",
        "truncated",
        "redirect",
        "urlkey",
        "timestamp",
        "original",
        "mimetype",
        "statuscode",
        "encoding",
    )
)
"""Fields that an index line has from its record, and names that the CDX API has for them."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a line says about its capture: None or empty for what it does not say.

    `detected` has values that only the metadata record next to the listed one has; `more` has fields that are not from
    records.
    """

    url: str | None = None
    key: str | None = None
    timestamp: str | None = None
    detected: Detected | None = None
    more: dict[str, str] = field(default_factory=dict)

    @property
    def names_page(self) -> bool:
        """Whether it says which page the capture is of."""
        return self.url is not None or self.key is not None

    @property
    def urlkey(self) -> str | None:
        """The urlkey of its page; computed from its URL if it has both, since indexes differ in how they make keys."""
        return self.key if self.url is None else urlkey(self.url)

    def is_of(self, uri: str | None) -> bool:
        """Whether a record with this target URI may be the listed one."""
        if uri == self.url or not self.names_page:
            return True
        return uri is not None and urlkey(uri) == self.urlkey


def listed_of(item: Input) -> Listed:
    """Parse the line of an input: a CDXJ or CDX line, or the JSON object of a CDX API; other lines are empty."""
    line, key, timestamp = item.given.strip(), None, None
    if not line.startswith("{"):
        if (cdx := parse_cdx(line)) is not None:
            return Listed(cdx.fields["url"], cdx.urlkey, cdx.timestamp)
        if not line.endswith("}") or not is_cdxj(line):
            return Listed()
        key, timestamp, line = line.split(" ", 2)
    said = json_of(line)
    texts = {name: value for name, value in said.items() if isinstance(value, str) and value not in ("", "-")}
    text = texts.get
    charset, languages = text("charset") or text("encoding"), text("languages")
    return Listed(
        text("url") or text("original"),
        key or text("urlkey"),
        timestamp or text("timestamp"),
        Detected(charset, tuple(languages.split(",")) if languages else ()) if charset or languages else None,
        {} if texts.keys() <= _OWN else {name: value for name, value in texts.items() if name not in _OWN},
    )


def name_of(item: Input) -> str:
    """The location of an input as in its line, which is independent of how it is resolved."""
    try:
        name, _, length = parse_line(item.given)
    except ValueError:
        length = None
    return redact(item.location if length is None else name)  # a CSV row does not name the location by itself
