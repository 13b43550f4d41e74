"""The captures of pages that a WAT file describes, from its records about responses."""

from __future__ import annotations

from collections.abc import Iterator

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.formats.selectors.wat import Envelope
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.indexes.cdx.archive import Records
from crawlmill.indexes.cdx.lines import FORMATS
from crawlmill.urls.surt import urlkey

__all__ = ["described_lines"]

_RESPONSES = ("response", "revisit")


def described_lines(records: Records) -> Iterator[bytes]:
    """Yield the CDXJ lines of the pages, with line ends; with the place of the page's own record if the WAT has it."""
    for record in records:
        envelope = Envelope.of(record)
        if not records.is_whole(record):
            continue
        if not envelope.is_readable:
            if (record.content_type or "").lower().startswith("application/json"):
                records.lose(FormatError("not the JSON of a WAT record", reason="bad-json"), record)
            continue
        if envelope.type in _RESPONSES:
            yield from _line_of(records, record, envelope)


def _line_of(records: Records, record: Record, envelope: Envelope) -> Iterator[bytes]:
    url = envelope.get("WARC-Target-URI") or envelope.get("Target-URI") or record.uri
    timestamp = timestamp_of(envelope.get("WARC-Date") or envelope.get("Date"))
    if not url or timestamp is None:
        records.lose(FormatError("a page without a URL or a date", reason="bad-header"), record)
        return
    mime = (envelope.http_header("Content-Type") or "").partition(";")[0].strip() or "unk"
    status, digest = envelope.status, envelope.get("WARC-Payload-Digest") or envelope.entity_digest
    fields = {"url": url, "mime": mime}
    fields |= {} if status is None else {"status": str(status)}
    fields |= {"digest": digest.removeprefix("sha1:")} if digest else {}
    fields |= {"length": str(envelope.stored_length)} if envelope.stored_length is not None else {}
    yield f"{FORMATS['cdxj'](urlkey(url), timestamp, fields)}\n".encode("ascii")
