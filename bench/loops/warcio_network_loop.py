"""Counts tags with a loop over warcio, from HTTP with requests, or from S3 with boto3 and a temporary file.

    python warcio_network_loop.py http|s3 LOCATION…        prints {"keys": …, "total": …}

An S3 location is bucket/key; boto3 takes the server and the keys from the environment.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from peer_work import count_tags, is_html, print_answer
from warcio.archiveiterator import ArchiveIterator


@contextmanager
def by_requests(location: str) -> Iterator[Any]:
    import requests

    with requests.get(location, stream=True, timeout=60) as response:
        response.raise_for_status()
        yield response.raw


@contextmanager
def by_boto3(location: str) -> Iterator[Any]:
    import boto3

    bucket, _, key = location.partition("/")
    with tempfile.TemporaryFile() as file:
        boto3.client("s3").download_fileobj(bucket, key, file)
        file.seek(0)
        yield file


def pages(open_stream: Callable[[str], AbstractContextManager[Any]], locations: list[str]) -> Iterator[bytes]:
    for location in locations:
        with open_stream(location) as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and is_html(record.http_headers.get_header("Content-Type")):
                    yield record.content_stream().read()


if __name__ == "__main__":
    print_answer(
        {
            "http": lambda locations: count_tags(pages(by_requests, locations)),
            "s3": lambda locations: count_tags(pages(by_boto3, locations)),
        }
    )
