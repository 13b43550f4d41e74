"""The JSON of a WAT record, as far as selectors need it.

Spec: the WAT metadata published by Common Crawl: `Envelope.WARC-Header-Metadata` (for ARC files `ARC-Header-Metadata`)
is the header of the described record, `Envelope.Payload-Metadata.HTTP-Response-Metadata` its HTTP header, and
`Envelope.Payload-Metadata.WARC-Metadata-Metadata.Metadata-Records` the content of the crawler's metadata record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

import ujson

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.exchange import Detected, detected_of
from crawlmill.formats.record import Record

__all__ = ["Envelope"]

_NONE: Final[Mapping[str, Any]] = {}


class Envelope:
    """What a WAT record says about the described record; empty if it cannot be parsed."""

    __slots__ = ("_container", "_header", "_payload", "is_readable", "type")

    def __init__(self, envelope: Mapping[str, Any] | None, container: Mapping[str, Any] = _NONE) -> None:
        self._container = container
        self.is_readable = envelope is not None
        envelope = envelope or _NONE
        self._payload = _object(envelope, "Payload-Metadata")
        arc = _object(envelope, "ARC-Header-Metadata")
        self._header = _object(envelope, "WARC-Header-Metadata") or arc
        self.type: str | None = self.get("WARC-Type")
        if arc:
            self.type = "filedesc" if (self.get("Target-URI") or "").startswith("filedesc:") else "response"

    @classmethod
    def of(cls, record: Record) -> Self:
        """Parse a WAT record."""
        try:
            found = ujson.loads(record.block.tail(0, record.max_body))
        except (FormatError, SourceError, ValueError, RecursionError):
            return cls(None)  # the reader reports the error
        envelope = found.get("Envelope") if isinstance(found, dict) else None
        container = _object(found, "Container") if isinstance(found, dict) else _NONE
        return cls(envelope if isinstance(envelope, dict) else None, container)

    def get(self, name: str) -> str | None:
        """A field of the described record's header."""
        return _text(self._header.get(name))

    @property
    def _http(self) -> Mapping[str, Any]:
        return _object(self._payload, "HTTP-Response-Metadata")

    @property
    def status(self) -> int | None:
        """The HTTP status."""
        said = _object(self._http, "Response-Message").get("Status")
        text = str(said) if isinstance(said, str | int) else ""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

    @property
    def entity_digest(self) -> str | None:
        """The digest of the HTTP body."""
        return _text(self._http.get("Entity-Digest"))

    @property
    def stored_length(self) -> int | None:
        """Size of the gzip member that holds the described record, in bytes."""
        said = _object(self._container, "Gzip-Metadata").get("Deflate-Length")
        text = str(said) if isinstance(said, str | int) else ""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    def http_header(self, name: str) -> str | None:
        """The first value of an HTTP header field, whose name may be in any case."""
        for given, value in _object(self._http, "Headers").items():
            if given.lower() == name.lower():
                return _text(value[0] if isinstance(value, list) and value else value)
        return None

    @property
    def detected(self) -> Detected | None:
        """What a metadata record of the crawler says about its page."""
        records = _object(self._payload, "WARC-Metadata-Metadata").get("Metadata-Records")
        pairs = [each for each in records if isinstance(each, dict)] if isinstance(records, list) else []
        fields = {each.get("Name"): text for each in pairs if (text := _text(each.get("Value")))}
        return detected_of(fields.get("charset-detected"), fields.get("languages-cld2"))


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else _NONE


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
