"""The WARC records of a page, in Common Crawl's form: request, response and metadata, after the file's warcinfo.

Field names and their order are those of CC-MAIN-2024-22. Digests are correct; the payload digest covers the body as
stored.

Spec: WARC 1.0 (ISO 28500), `https://iipc.github.io/warc-specifications/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from crawlmill.sample.org_json import dumps
from crawlmill.sample.pages import Page
from crawlmill.sample.records import Fields, Record, digest, record_id

__all__ = [
    "CRAWL",
    "PageRecords",
    "derived_info",
    "describe_time",
    "page_records",
    "request_fields",
    "response_id",
    "warcinfo",
]

CRAWL = "CC-SAMPLE-2026-01"


@dataclass(frozen=True, slots=True)
class PageRecords:
    """The three records of a page, and the length of the response's HTTP header in bytes, blank line included."""

    request: Record
    response: Record
    metadata: Record
    response_head: int


def warcinfo(seed: int, filename: str, start: int) -> Record:
    """The first record of a WARC file; `start` is in seconds since 1970."""
    block = (
        f"isPartOf: {CRAWL}\r\n"
        "publisher: Crawlmill\r\n"
        "description: A synthetic crawl with known answers\r\n"
        "operator: crawlmill sample\r\n"
        "hostname: sample.example\r\n"
        "software: Crawlmill\r\n"
        "robots: ignored, no page was fetched\r\n"
        "format: WARC File Format 1.1\r\n"
        "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
    ).encode()
    return Record(
        (
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", describe_time(start)),
            ("WARC-Record-ID", record_id(seed, filename)),
            ("Content-Length", str(len(block))),
            ("Content-Type", "application/warc-fields"),
            ("WARC-Filename", filename),
            ("WARC-Block-Digest", digest(block)),
        ),
        block,
    )


def derived_info(seed: int, filename: str, extracted: int, block: bytes) -> Record:
    """The first record of a file made from a WARC file, with fields in the extractor's order."""
    return Record(
        (
            ("WARC-Type", "warcinfo"),
            ("WARC-Date", describe_time(extracted)),
            ("WARC-Filename", filename),
            ("WARC-Record-ID", record_id(seed, filename)),
            ("Content-Type", "application/warc-fields"),
            ("Content-Length", str(len(block))),
            ("WARC-Block-Digest", digest(block)),
        ),
        block,
    )


def response_id(page: Page) -> str:
    """The ID of the response record of a page."""
    return record_id(page.seed, page.number, "response")


def request_fields(page: Page) -> Fields:
    """The header fields that the crawler sends."""
    return (
        ("User-Agent", "CCBot/2.0 (https://commoncrawl.org/faq/)"),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        ("Accept-Language", "en-US,en;q=0.5"),
        ("Accept-Encoding", "br,gzip"),
        ("Host", page.address.host),
        ("Connection", "Keep-Alive"),
    )


def page_records(page: Page, warcinfo_id: str) -> PageRecords:
    """The records of a page, for the file with this warcinfo."""
    request_id = record_id(page.seed, page.number, "request")
    request = _http_head(f"GET {page.address.target} HTTP/1.1", request_fields(page))
    head = _http_head(f"HTTP/1.1 {page.status}", page.fields)
    fetched: Fields = (("WARC-IP-Address", page.address.ip), ("WARC-Target-URI", page.address.url))
    identified = (("WARC-Identified-Payload-Type", page.payload_type),) if page.payload_type else ()
    metadata = _metadata(page)
    return PageRecords(
        _record(page, "request", request, fetched, b"", warcinfo_id, request_id),
        _record(
            page,
            "response",
            head + page.body,
            (("WARC-Concurrent-To", request_id), *fetched),
            page.body,
            warcinfo_id,
            response_id(page),
            identified,
        ),
        _record(
            page,
            "metadata",
            metadata,
            (("WARC-Concurrent-To", response_id(page)), ("WARC-Target-URI", page.address.url)),
            metadata,
            warcinfo_id,
            record_id(page.seed, page.number, "metadata"),
        ),
        len(head),
    )


def _record(
    page: Page,
    kind: str,
    block: bytes,
    about: Fields,
    payload: bytes,
    warcinfo_id: str,
    own_id: str,
    more: Fields = (),
) -> Record:
    content_type = "application/warc-fields" if kind == "metadata" else f"application/http; msgtype={kind}"
    return Record(
        (
            ("WARC-Type", kind),
            ("WARC-Date", describe_time(page.date)),
            ("WARC-Record-ID", own_id),
            ("Content-Length", str(len(block))),
            ("Content-Type", content_type),
            ("WARC-Warcinfo-ID", warcinfo_id),
            *about,
            ("WARC-Payload-Digest", digest(payload)),
            ("WARC-Block-Digest", digest(block)),
            *more,
        ),
        block,
    )


def _http_head(line: str, fields: Fields) -> bytes:
    return "".join((line, "\r\n", *(f"{name}: {value}\r\n" for name, value in fields), "\r\n")).encode()


def _metadata(page: Page) -> bytes:
    lines = [f"fetchTimeMs: {page.fetch_ms}"]
    if page.document is not None:
        languages = page.document.languages
        share = round(0.98 / len(languages), 2)
        detected = {
            "reliable": True,
            "text-bytes": len(page.document.text().encode()),
            "languages": [
                {
                    "code": language.code,
                    "code-iso-639-3": language.iso,
                    "text-covered": share,
                    "score": 700.0 + place,
                    "name": language.name,
                }
                for place, language in enumerate(languages)
            ],
        }
        lines += [f"charset-detected: {page.document.charset}", f"languages-cld2: {dumps(detected)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def describe_time(seconds: int) -> str:
    """A time in WARC's format, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
