"""What the line of an input list says about a capture, besides its place."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from crawlmill.formats.exchange import Detected
from crawlmill.inputs.list_lines import parse_line
from crawlmill.inputs.lists import Input
from crawlmill.ledger.input_lines import is_cdxj
from crawlmill.storage.locations import redact
from crawlmill.urls.surt import urlkey

__all__ = ["Listed", "listed_of", "name_of"]

_OWN: Final = frozenset(
    ("url", "mime", "mime-detected", "status", "digest", "length", "offset", "filename", "charset", "languages",
     "truncated", "redirect", "urlkey", "timestamp", "original", "mimetype", "statuscode", "encoding")
)  # fmt: skip
"""Fields that an index line has from its record, and names that the CDX API has for them."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a line says of its capture: None, or nothing, where it does not.

    `detected` is what only the metadata record beside the listed one says; `more` are fields that no record says.
    """

    url: str | None = None
    key: str | None = None
    timestamp: str | None = None
    detected: Detected | None = None
    more: dict[str, str] = field(default_factory=dict)

    @property
    def names_page(self) -> bool:
        """Whether it says of which page the capture is."""
        return self.url is not None or self.key is not None

    @property
    def urlkey(self) -> str | None:
        """The urlkey of its page; of its URL, if it has both, since not all indexes make keys alike."""
        return self.key if self.url is None else urlkey(self.url)

    def is_of(self, uri: str | None) -> bool:
        """Whether a record of this target URI may be the listed one."""
        if not self.names_page or uri == self.url:
            return True
        return uri is not None and urlkey(uri) == self.urlkey


def listed_of(item: Input) -> Listed:
    """What the line of an input says: one of CDXJ, or the JSON object of a CDX API; others say nothing."""
    line, key, timestamp = item.given.strip(), None, None
    if not line.startswith("{"):
        if not line.endswith("}") or not is_cdxj(line):
            return Listed()
        key, timestamp, line = line.split(" ", 2)
    said = json.loads(line)

    def text(*names: str) -> str | None:
        for name in names:
            value = said.get(name)
            if isinstance(value, str) and value not in ("", "-"):
                return value
        return None

    charset, languages = text("charset", "encoding"), text("languages")
    return Listed(
        text("url", "original"),
        key or text("urlkey"),
        timestamp or text("timestamp"),
        Detected(charset, tuple(languages.split(",")) if languages else ()) if charset or languages else None,
        {name: value for name in said if name not in _OWN and (value := text(name)) is not None}
        if said.keys() - _OWN
        else {},
    )


def name_of(item: Input) -> str:
    """The location of an input as its line has it, which is the same wherever it resolves to."""
    try:
        name, _, length = parse_line(item.given)
    except ValueError:
        length = None
    return redact(item.location if length is None else name)  # a row of CSV does not say by itself where it is
