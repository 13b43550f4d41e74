"""Tags counted by a loop over warcio, from HTTP by requests, or from S3 by boto3 through a temporary file.

    python warcio_network_loop.py http|s3 LOCATION…        prints {"keys": …, "total": …}

An S3 location is bucket/key; the server and the keys come from the environment, as boto3 has them.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warcio.archiveiterator import ArchiveIterator

TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9-]*)")
HTML = ("text/html", "application/xhtml+xml")


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


def tags(open_stream: Any, locations: list[str]) -> dict[str, int]:
    counts: Counter[bytes] = Counter()
    for location in locations:
        with open_stream(location) as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    content_type = record.http_headers.get_header("Content-Type") or ""
                    if content_type.lower().startswith(HTML):
                        counts.update(TAG.findall(record.content_stream().read()))
    folded: Counter[bytes] = Counter()
    for name, count in counts.items():
        folded[name.lower()] += count
    return {"keys": len(folded), "total": folded.total()}


if __name__ == "__main__":
    print(json.dumps(tags({"http": by_requests, "s3": by_boto3}[sys.argv[1]], sys.argv[2:])))
