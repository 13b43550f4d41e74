"""Does the work of the jobs with a straightforward loop over warcio, as users of the library write it.

python warcio_loop.py WORK FILE…        prints {"keys": …, "total": …}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from warcio.archiveiterator import ArchiveIterator


def records(paths: list[str], **options: Any) -> Iterator[Any]:
    for path in paths:
        with Path(path).open("rb") as stream:
            yield from ArchiveIterator(stream, **options)


def blocks(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths, no_record_parse=True):
        yield record.raw_stream.read()


def pages(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths):
        if record.rec_type == "response" and is_html(record.http_headers.get_header("Content-Type")):
            yield record.content_stream().read()


def pages_with_urls(paths: list[str]) -> Iterator[tuple[str, bytes]]:
    for record in records(paths):
        if record.rec_type == "response" and is_html(record.http_headers.get_header("Content-Type")):
            yield record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read()


def envelopes(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths):
        if record.rec_type == "metadata" and record.content_type == "application/json":
            yield record.content_stream().read()


def texts(paths: list[str]) -> Iterator[bytes]:
    for record in records(paths):
        if record.rec_type == "conversion":
            yield record.content_stream().read()


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
