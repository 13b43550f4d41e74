"""The WET records of a WARC file: the text of its HTML pages, with the page's title as the first line."""

from __future__ import annotations

from email.utils import formatdate

from crawlmill.sample.archives.warc import CRAWL, derived_info, describe_time, response_id
from crawlmill.sample.pages import Page
from crawlmill.sample.records import Record, digest, record_id
from crawlmill.sample.text.documents import Document

__all__ = ["conversion", "wet_info"]


def wet_info(seed: int, filename: str, extracted: int) -> Record:
    """The first record of a WET file; `extracted` is in seconds since 1970."""
    block = (
        "Software-Info: Crawlmill\r\n"
        f"Extracted-Date: {formatdate(extracted, usegmt=True)}\r\n"
        "robots: ignored, no page was fetched\r\n"
        f"isPartOf: {CRAWL}\r\n"
        "operator: crawlmill sample\r\n"
        "description: A synthetic crawl with known answers\r\n"
        "publisher: Crawlmill\r\n\r\n"
    ).encode()
    return derived_info(seed, filename, extracted, block)


def conversion(page: Page, document: Document) -> Record:
    """The text of a page, in UTF-8."""
    block = document.text().encode()
    block_digest = digest(block)
    return Record(
        (
            ("WARC-Type", "conversion"),
            ("WARC-Target-URI", page.address.url),
            ("WARC-Date", describe_time(page.date)),
            ("WARC-Record-ID", record_id(page.seed, page.number, "wet")),
            ("WARC-Refers-To", response_id(page)),
            ("WARC-Block-Digest", block_digest),
            ("WARC-Identified-Content-Language", ",".join(dict.fromkeys(x.iso for x in document.languages))),
            ("Content-Type", "text/plain"),
            ("Content-Length", str(len(block))),
            ("WARC-Payload-Digest", block_digest),
        ),
        block,
    )
