"""The work of the jobs as a straightforward loop over warcio: what a user of the library writes, with ujson and `re`.

    python warcio_loop.py WORK FILE…        prints {"keys": …, "total": …}

Tags are counted by the usual one-line regex, which also counts what stands in scripts and comments.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ujson
from warcio.archiveiterator import ArchiveIterator

TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9-]*)")
WORD = re.compile(r"\w+")
HTML = ("text/html", "application/xhtml+xml")


def records(paths: list[str], **options: Any) -> Iterator[Any]:
    for path in paths:
        with Path(path).open("rb") as stream:
            yield from ArchiveIterator(stream, **options)


def pass_records(paths: list[str]) -> dict[str, int]:
    number = sum(1 for _ in records(paths))
    return {"keys": number, "total": number}


def take_blocks(paths: list[str]) -> dict[str, int]:
    number = size = 0
    for record in records(paths, no_record_parse=True):
        number += 1
        size += len(record.raw_stream.read())
    return {"keys": number, "total": size}


def tags(paths: list[str]) -> dict[str, int]:
    counts: Counter[bytes] = Counter()
    for record in records(paths):
        if record.rec_type == "response":
            content_type = record.http_headers.get_header("Content-Type") or ""
            if content_type.lower().startswith(HTML):
                counts.update(TAG.findall(record.content_stream().read()))
    folded: Counter[bytes] = Counter()
    for name, count in counts.items():
        folded[name.lower()] += count
    return {"keys": len(folded), "total": folded.total()}


def servers(paths: list[str]) -> dict[str, int]:
    counts: Counter[str | None] = Counter()
    for record in records(paths):
        if record.rec_type == "metadata" and record.content_type == "application/json":
            payload = ujson.loads(record.content_stream().read())["Envelope"]["Payload-Metadata"]
            if "HTTP-Response-Metadata" in payload:
                found = set()
                for name, value in payload["HTTP-Response-Metadata"].get("Headers", {}).items():
                    if name.lower() == "server":
                        found.update(value if isinstance(value, list) else [value])
                counts.update({value.strip() for value in found} - {""} or {None})
    return {"keys": len(counts), "total": counts.total()}


def words(paths: list[str]) -> dict[str, int]:
    frequency: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for record in records(paths):
        if record.rec_type == "conversion":
            found = WORD.findall(record.content_stream().read().decode("utf-8", "replace").lower())
            frequency.update(found)
            documents.update(set(found))
    return {"keys": len(documents), "total": frequency.total()}


WORK: dict[str, Callable[[list[str]], dict[str, int]]] = {
    "pass-records": pass_records, "take-blocks": take_blocks, "tags": tags, "servers": servers, "words": words,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](sys.argv[2:])))
