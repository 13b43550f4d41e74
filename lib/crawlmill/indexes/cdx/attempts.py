"""The captures in the metadata of the 2012 crawl: fetch attempts whose bodies were stored in ARC files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012.metadata import MetadataRecord, parse_metadata
from crawlmill.indexes.cdx.archive import Records
from crawlmill.indexes.cdx.lines import FORMATS
from crawlmill.urls.surt import urlkey

__all__ = ["attempt_lines"]


def attempt_lines(records: Records) -> Iterator[bytes]:
    """Yield the CDXJ lines of attempts with an ARC record, with line ends; their dates are those of the attempts."""
    line = FORMATS["cdxj"]
    for record in records:
        try:
            found = _fields(record.uri or "", parse_metadata(record.body()))
        except FormatError as error:
            records.lose(error, record)
            continue
        if found is not None:
            timestamp, fields = found
            yield f"{line(urlkey(fields['url']), timestamp, fields)}\n".encode()


def _fields(url: str, attempt: MetadataRecord) -> tuple[str, dict[str, str]] | None:
    place = attempt.archive
    if place is None:
        return None
    try:
        date = datetime.fromtimestamp((attempt.attempt_time_ms or place.file_date_ms) // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise FormatError("an attempt without a date that exists", reason="bad-header") from None
    fields = {"url": url, "mime": attempt.mime_type or "unk"}
    if attempt.http_status:
        fields["status"] = str(attempt.http_status)
    fields |= {
        "length": str(place.length_bytes),
        "offset": str(place.offset_bytes),
        "filename": f"common-crawl/{place.location}",
    }
    if attempt.charset:
        fields["charset"] = attempt.charset
    return date.strftime("%Y%m%d%H%M%S").zfill(14), fields
