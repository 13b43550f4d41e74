"""Does the work of the jobs with a straightforward loop over FastWARC 2, as its users write it, with ujson and `re`.

    python fastwarc_loop.py WORK FILE…      prints {"keys": …, "total": …}

The iterator returns only the wanted types of records, and parses HTTP only where needed. Bodies are used as stored,
because `auto_decode` of 2.0.1 ends the whole iteration at a chunk extension, and the input has some. So this loop does
less than the others: it does not inflate bodies that are stored compressed, and finds no tags in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType
from peer_work import (
    count_blocks,
    count_links,
    count_records,
    count_servers,
    count_tags,
    count_words,
    is_html,
    print_answer,
)


def records(paths: list[str], **options: Any) -> Iterator[Any]:
    for path in paths:
        yield from ArchiveIterator(path, **options)


def blocks(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths, parse_http=False):
        yield record.reader.read()


def pages(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths, record_types=WarcRecordType.response):
        if is_html(record.http_content_type):
            yield record.reader.read()


def pages_with_urls(paths: list[str]) -> Iterator[tuple[str, bytes]]:
    for record in records(paths, record_types=WarcRecordType.response):
        if is_html(record.http_content_type):
            yield record.headers["WARC-Target-URI"], record.reader.read()


def envelopes(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths, record_types=WarcRecordType.metadata, parse_http=False):
        if record.headers.get("Content-Type") == "application/json":
            yield record.reader.read()


def texts(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths, record_types=WarcRecordType.conversion, parse_http=False):
        yield record.reader.read()


if __name__ == "__main__":
    print_answer(
        {
            "pass-records": lambda paths: count_records(records(paths)),
            "take-blocks": lambda paths: count_blocks(blocks(paths)),
            "tags": lambda paths: count_tags(pages(paths)),
            "links": lambda paths: count_links(pages_with_urls(paths)),
            "servers": lambda paths: count_servers(envelopes(paths)),
            "words": lambda paths: count_words(texts(paths)),
        }
    )
