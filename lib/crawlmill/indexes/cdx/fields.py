"""The fields of a record's capture, as in Common Crawl's index.

| field | value |
|---|---|
| `url` | the target URI as written |
| `mime` | the media type in the HTTP header as sent, `unk` if absent; `warc/revisit`; for other records their own |
| `mime-detected` | `WARC-Identified-Payload-Type`; revisits have none |
| `status` | the HTTP status |
| `digest` | `WARC-Payload-Digest` without `sha1:`; if absent, the SHA-1 of the payload as stored |
| `length`, `offset`, `filename` | the place of the record |
| `charset`, `languages` | what the crawler detected, see `formats.exchange` |
| `truncated` | why the crawler truncated the payload |
| `redirect` | the Location of a redirect, resolved |

Spec: https://commoncrawl.org/blog/august-2018-crawl-archive-now-available and the lines of the index itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import UTC
from typing import Final
from urllib.parse import urljoin, urlsplit

from crawlmill.errors import FormatError
from crawlmill.formats.payload.http import HttpMessage
from crawlmill.formats.record import Record
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.later import later

__all__ = ["EXTRA_FIELDS", "capture_fields", "extra_fields", "stored_length"]

EXTRA_FIELDS: Final = ("recordid", "last-modified")
"""Fields that a line has on request, after the usual ones."""

# Most records state their digest.
_sha1 = later("hashlib:sha1")
_start_of_payload: Callable[[WarcRecord], int] = later("crawlmill.formats.digests:payload_start")

_MEDIA_TYPE: Final = re.compile(r"[^;\s]*")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_MODIFIED: Final = 304
_ARC_TRUNCATED: Final = "x-commoncrawl-ContentTruncated"


def capture_fields(record: Record, filename: str) -> dict[str, str]:
    """The fields of a record's capture, except what the crawler detected, in the order of a line.

    `length` must be filled in later if the record is streamed.

    Raises:
        FormatError, SourceError: The block is damaged, truncated, or cannot be read.
    """
    message = _http(record)
    kind = record.type
    fields = {"url": record.uri or ""}
    if kind == "revisit":
        fields["mime"] = "warc/revisit"
    else:
        said = message.content_type if message is not None else None if record.holds_http else record.content_type
        fields["mime"] = _media_type(said)
    warc = record if isinstance(record, WarcRecord) else None
    if warc is not None and kind != "revisit" and (identified := warc.get("WARC-Identified-Payload-Type")):
        fields["mime-detected"] = identified
    if message is not None and message.status is not None:
        fields["status"] = f"{message.status:03d}"
    if digest := _digest(record):
        fields["digest"] = digest
    fields["length"] = stored_length(record)
    fields["offset"] = str(record.offset)
    fields["filename"] = filename
    cut = warc.get("WARC-Truncated") if warc is not None else message and message.get(_ARC_TRUNCATED)
    if cut:
        fields["truncated"] = cut
    if message is not None and (redirect := _redirect(fields["url"], message)):
        fields["redirect"] = redirect
    return fields


def extra_fields(record: Record, wanted: tuple[str, ...]) -> dict[str, str]:
    """The wanted ones of `EXTRA_FIELDS` that are present, in order."""
    fields = {}
    if "recordid" in wanted and isinstance(record, WarcRecord) and (name := record.get("WARC-Record-ID")):
        fields["recordid"] = name.strip("<>").removeprefix("urn:uuid:")
    message = _http(record) if "last-modified" in wanted else None
    if message is not None and (moment := _http_date(message.get("Last-Modified"))):
        fields["last-modified"] = moment
    return fields


def _http(record: Record) -> HttpMessage | None:
    if not record.holds_http:
        return None
    try:
        return record.http
    except FormatError as error:
        if error.reason == "bad-header":
            return None  # not an HTTP response, which is not damage
        raise


def _media_type(value: str | None) -> str:
    found = _MEDIA_TYPE.match((value or "").strip())
    return (found[0] if found else "") or "unk"


def stored_length(record: Record) -> str:
    """The size of the member in bytes; in a plain file that of the record with its closing line ends."""
    return "" if record.length is None else str(record.length + (len(record.closing) if record.is_plain else 0))


def _digest(record: Record) -> str | None:
    if isinstance(record, WarcRecord):
        said = record.get("WARC-Payload-Digest")
        if not said and not (record.content_type or "").lower().startswith("application/http"):
            said = record.get("WARC-Block-Digest")  # the block is the payload
        if said:
            name, _, value = said.partition(":")
            return value.strip() if name.strip().lower() in ("sha1", "sha-1") and value.strip() else said
        if record.type == "revisit":
            return None  # it would be that of the original, which is not here
    hasher = _sha1(usedforsecurity=False)
    skip = _payload_start(record)
    for piece in record.block.pieces():
        hasher.update(memoryview(piece)[min(skip, len(piece)) :])
        skip = max(skip - len(piece), 0)
    return base64.b32encode(hasher.digest()).decode("ascii")


def _payload_start(record: Record) -> int:
    """The offset of the payload: after the header of an HTTP message, request or response."""
    if isinstance(record, WarcRecord):
        return _start_of_payload(record)
    message = _http(record)
    return 0 if message is None else message.body_offset


def _redirect(url: str, message: HttpMessage) -> str | None:
    status = message.status
    if status is None or not 300 <= status < 400 or status == _NOT_MODIFIED:
        return None
    location = message.get("Location")
    if not location:
        return None
    try:
        if _ABSOLUTE.match(location):
            urlsplit(location)
            return location
        resolved = urljoin(url, location)
    except ValueError:  # brackets without an address
        return None
    return resolved if _ABSOLUTE.match(resolved) else None


def _http_date(value: str | None) -> str | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - slow to import, and rarely needed

    try:
        moment = parsedate_to_datetime(value) if value else None
        if moment is not None and moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return f"{moment:%Y%m%d%H%M%S}".zfill(14) if moment is not None else None
