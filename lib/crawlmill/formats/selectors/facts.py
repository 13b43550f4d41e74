"""The properties of a page that selectors use, from a record or a capture: URL, date, status, media types and so on.

| of | URL, date | status, media type | detected type | languages, charset | truncated |
|---|---|---|---|---|---|
| WARC | header | HTTP header; `resource`: Content-Type | `WARC-Identified-Payload-Type` | the crawler's metadata record | `WARC-Truncated` |
| WAT | the same of the record that it describes | | | | |
| WET | header | - | - | `WARC-Identified-Content-Language`, - | `WARC-Truncated` |
| ARC | URL line | HTTP header | - | - | `x-commoncrawl-ContentTruncated` |
| metadata of 2012 | key, `attempt_time` | `http_result`, `mime_type` | - | -, `charset_detected` | `download_truncated` |
| textData of 2012 | key, - | - | - | - | - |

Absent properties are None. Properties are read on demand, from headers only.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from crawlmill.errors import FormatError
from crawlmill.formats.exchange import Detected, detected
from crawlmill.formats.payload.http import HttpMessage
from crawlmill.formats.record import Record
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.later import later

if TYPE_CHECKING:  # it imports ujson, which only WAT files need
    from crawlmill.formats.selectors.wat import Envelope

__all__ = ["CaptureFacts", "Facts", "facts_of", "truncated_of"]

_envelope_of: Callable[[Record], Envelope] = later("crawlmill.formats.selectors.wat:Envelope.of")

_ARC_TRUNCATED: Final = "x-commoncrawl-ContentTruncated"
_HTTP_HEAD: Final = 4 << 10
_MEDIA_TYPE: Final = re.compile(r"[^;\s]*")


class Facts:
    """What is known about a page; everything may be missing."""

    url: str | None = None
    timestamp: str | None = None
    """14 digits."""
    status: int | None = None
    mime: str | None = None
    """The media type as sent, without parameters."""
    detected_mime: str | None = None
    languages: tuple[str, ...] = ()
    """ISO 639-3, the main one first."""
    charset: str | None = None
    truncated: str | None = None
    """Why the crawler cut the payload, in its own word; None: it did not."""

    is_readable: bool = True
    """Whether the record can be read as far as selectors must; one that cannot is for its job to report."""

    awaits_metadata: bool = False
    """Whether languages and charset stand in a metadata record behind this one."""

    describes: bool = False
    """Whether this is such a metadata record."""

    found: Detected | None = None
    """What this record says of the languages and charset of another one."""

    ids: tuple[str, ...] = ()
    """The ids by which metadata may name the record."""

    references: frozenset[str] = frozenset()
    """The ids of records that it is about."""


def facts_of(record: Record) -> Facts:
    """The properties that a record states about its page."""
    if isinstance(record, WarcRecord):
        if record.type == "metadata" and (record.content_type or "").lower().startswith("application/json"):
            return _WatFacts(record)
        return _WarcFacts(record)
    return _ArcFacts(record) if record.format == "arc" else _KeyValueFacts(record)


def truncated_of(record: Record) -> str | None:
    """Why the crawler truncated the payload of a record of a WARC, WET or ARC file, or of 2012; None if it is whole."""
    if isinstance(record, WarcRecord):
        # Asked of every record, and nearly always absent. No other letter becomes one of these in lower case.
        return record.get("WARC-Truncated") or None if b"warc-truncated" in record.head.lower() else None
    if record.format == "arc":
        head = record.block.peek(_HTTP_HEAD)
        message = _http(record) if _ARC_TRUNCATED.lower().encode() in head.lower() else None
        return (message.get(_ARC_TRUNCATED) or None) if message is not None else None
    return facts_of(record).truncated if b'"download_truncated"' in record.block.peek(_HTTP_HEAD) else None


def _http(record: Record) -> HttpMessage | None:
    try:
        return record.http if record.holds_http else None
    except FormatError:
        return None  # not an HTTP response; damage is reported where it is read


def _media_type(value: str | None) -> str | None:
    found = _MEDIA_TYPE.match((value or "").strip())
    return found[0].lower() or None if found else None


class _RecordFacts(Facts):
    def __init__(self, record: Record) -> None:
        self._record = record

    @cached_property
    def url(self) -> str | None:  # type: ignore[override]
        return self._record.uri

    @cached_property
    def timestamp(self) -> str | None:  # type: ignore[override]
        return timestamp_of(self._record.date)

    @cached_property
    def status(self) -> int | None:  # type: ignore[override]
        message = _http(self._record)
        return None if message is None else message.status

    @cached_property
    def mime(self) -> str | None:  # type: ignore[override]
        message = _http(self._record)
        return None if message is None else _media_type(message.content_type)

    @cached_property
    def truncated(self) -> str | None:  # type: ignore[override]
        return truncated_of(self._record)


class _ArcFacts(_RecordFacts):
    pass


class _WarcFacts(_RecordFacts):
    _record: WarcRecord

    @cached_property
    def mime(self) -> str | None:  # type: ignore[override]
        if self._record.type == "resource":
            return _media_type(self._record.content_type)
        return super().mime

    @cached_property
    def detected_mime(self) -> str | None:  # type: ignore[override]
        return _media_type(self._record.get("WARC-Identified-Payload-Type"))

    @cached_property
    def languages(self) -> tuple[str, ...]:  # type: ignore[override]
        if self._record.type == "conversion":
            said = self._record.get("WARC-Identified-Content-Language") or ""
            return tuple(code.strip() for code in said.split(",") if code.strip())
        return self.found.languages if self.found is not None else ()

    @cached_property
    def charset(self) -> str | None:  # type: ignore[override]
        return self.found.charset if self.found is not None else None

    @cached_property
    def found(self) -> Detected | None:  # type: ignore[override]
        return detected(self._record) if self._record.type == "metadata" else None

    @property
    def describes(self) -> bool:  # type: ignore[override]
        kind = (self._record.content_type or "").lower()
        return self._record.type == "metadata" and kind.startswith("application/warc-fields")

    @property
    def awaits_metadata(self) -> bool:  # type: ignore[override]
        return self._record.type in ("response", "revisit", "resource")

    @property
    def ids(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self._record.get_all("WARC-Record-ID"), *self._record.get_all("WARC-Concurrent-To"))

    @property
    def references(self) -> frozenset[str]:  # type: ignore[override]
        return frozenset((*self._record.get_all("WARC-Refers-To"), *self._record.get_all("WARC-Concurrent-To")))


class _WatFacts(Facts):
    """The page that a WAT record describes: the record's own date is that of the extraction."""

    def __init__(self, record: Record) -> None:
        self._record = record

    @cached_property
    def _envelope(self) -> Envelope:
        return _envelope_of(self._record)

    @property
    def is_readable(self) -> bool:  # type: ignore[override]
        return self._envelope.is_readable

    @cached_property
    def url(self) -> str | None:  # type: ignore[override]
        return self._envelope.get("WARC-Target-URI") or self._envelope.get("Target-URI") or self._record.uri

    @cached_property
    def timestamp(self) -> str | None:  # type: ignore[override]
        return timestamp_of(self._envelope.get("WARC-Date") or self._envelope.get("Date"))

    @cached_property
    def status(self) -> int | None:  # type: ignore[override]
        return self._envelope.status

    @cached_property
    def mime(self) -> str | None:  # type: ignore[override]
        if self._envelope.type == "resource":
            return _media_type(self._envelope.get("Content-Type"))
        return _media_type(self._envelope.http_header("Content-Type"))

    @cached_property
    def detected_mime(self) -> str | None:  # type: ignore[override]
        return _media_type(self._envelope.get("WARC-Identified-Payload-Type"))

    @cached_property
    def truncated(self) -> str | None:  # type: ignore[override]
        return self._envelope.get("WARC-Truncated") or self._envelope.http_header(_ARC_TRUNCATED)

    @cached_property
    def found(self) -> Detected | None:  # type: ignore[override]
        return self._envelope.detected if self._envelope.type == "metadata" else None

    @cached_property
    def languages(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.found.languages if self.found is not None else ()

    @cached_property
    def charset(self) -> str | None:  # type: ignore[override]
        return self.found.charset if self.found is not None else None

    @property
    def describes(self) -> bool:  # type: ignore[override]
        return self._envelope.type == "metadata"

    @property
    def awaits_metadata(self) -> bool:  # type: ignore[override]
        return self._envelope.type in ("response", "revisit", "resource")

    @property
    def ids(self) -> tuple[str, ...]:  # type: ignore[override]
        names = ("WARC-Record-ID", "WARC-Concurrent-To")
        return tuple(value for name in names if (value := self._envelope.get(name)))

    @property
    def references(self) -> frozenset[str]:  # type: ignore[override]
        names = ("WARC-Refers-To", "WARC-Concurrent-To")
        return frozenset(value for name in names if (value := self._envelope.get(name)))


class _KeyValueFacts(Facts):
    """A page of the files of 2012: the key is the URL."""

    def __init__(self, record: Record) -> None:
        self._record = record

    @cached_property
    def url(self) -> str | None:  # type: ignore[override]
        try:
            return self._record.uri
        except FormatError:
            return None

    @cached_property
    def _fields(self) -> dict[str, Any] | None:
        from crawlmill.formats.crawl2012.metadata import parse_metadata  # noqa: PLC0415 - only for files of 2012

        if self._record.type != "metadata":
            return {}
        try:
            return parse_metadata(self._record.body()).fields
        except FormatError:
            return None

    @property
    def is_readable(self) -> bool:  # type: ignore[override]
        return self._fields is not None

    def _get(self, name: str, kind: type[Any]) -> Any:
        value = (self._fields or {}).get(name)
        return value if type(value) is kind else None

    @cached_property
    def timestamp(self) -> str | None:  # type: ignore[override]
        said = self._get("attempt_time", int)
        try:
            return None if said is None else f"{datetime.fromtimestamp(said // 1000, UTC):%Y%m%d%H%M%S}".zfill(14)
        except (ValueError, OverflowError, OSError):
            return None

    @cached_property
    def status(self) -> int | None:  # type: ignore[override]
        found: int | None = self._get("http_result", int)
        return found

    @cached_property
    def mime(self) -> str | None:  # type: ignore[override]
        return _media_type(self._get("mime_type", str))

    @cached_property
    def charset(self) -> str | None:  # type: ignore[override]
        return self._get("charset_detected", str) or None

    @cached_property
    def truncated(self) -> str | None:  # type: ignore[override]
        return "download_truncated" if self._get("download_truncated", bool) else None


class CaptureFacts(Facts):
    """A capture: the fields of an index line, by their names on disk."""

    def __init__(self, timestamp: str | None, fields: Mapping[str, Any]) -> None:
        self.timestamp = timestamp
        self.url = _text(fields, "url")
        status = _text(fields, "status")
        self.status = int(status) if status and status.isascii() and status.isdigit() and len(status) < 10 else None
        self.mime = _media_type(_text(fields, "mime"))
        self.detected_mime = _media_type(_text(fields, "mime-detected"))
        self.languages = tuple((_text(fields, "languages") or "").split(","))
        self.charset = _text(fields, "charset")
        self.truncated = _text(fields, "truncated")


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value not in ("", "-") else None
