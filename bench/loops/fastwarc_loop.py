"""The work of the jobs as a straightforward loop over FastWARC 2: what a user of it writes, with ujson and `re`.

    python fastwarc_loop.py WORK FILE…      prints {"keys": …, "total": …}

The iterator is asked for the wanted types of records alone, and to parse HTTP only where that is needed. Bodies are
taken as they are stored: `auto_decode` of 2.0.1 ends the whole iteration at a chunk extension, which the input has. So
this loop does less than the others: it inflates no bodies that are stored compressed, and finds no tags in them.
Tags are counted by the usual one-line regex, which also counts what stands in scripts and comments.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import ujson
from fastwarc.warc import ArchiveIterator, WarcRecordType

TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9-]*)")
WORD = re.compile(r"\w+")
HTML = ("text/html", "application/xhtml+xml")


def records(paths: list[str], **options: Any) -> Iterator[Any]:
    for path in paths:
        yield from ArchiveIterator(path, **options)


def pass_records(paths: list[str]) -> dict[str, int]:
    number = sum(1 for _ in records(paths))
    return {"keys": number, "total": number}


def take_blocks(paths: list[str]) -> dict[str, int]:
    number = size = 0
    for record in records(paths, parse_http=False):
        number += 1
        size += len(record.reader.read())
    return {"keys": number, "total": size}


def tags(paths: list[str]) -> dict[str, int]:
    counts: Counter[bytes] = Counter()
    for record in records(paths, record_types=WarcRecordType.response):
        if (record.http_content_type or "").lower() in HTML:
            counts.update(TAG.findall(record.reader.read()))
    folded: Counter[bytes] = Counter()
    for name, count in counts.items():
        folded[name.lower()] += count
    return {"keys": len(folded), "total": folded.total()}


def servers(paths: list[str]) -> dict[str, int]:
    counts: Counter[str | None] = Counter()
    for record in records(paths, record_types=WarcRecordType.metadata, parse_http=False):
        if record.headers.get("Content-Type") == "application/json":
            payload = ujson.loads(record.reader.read())["Envelope"]["Payload-Metadata"]
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
    for record in records(paths, record_types=WarcRecordType.conversion, parse_http=False):
        found = WORD.findall(record.reader.read().decode("utf-8", "replace").lower())
        frequency.update(found)
        documents.update(set(found))
    return {"keys": len(documents), "total": frequency.total()}


WORK: dict[str, Callable[[list[str]], dict[str, int]]] = {
    "pass-records": pass_records, "take-blocks": take_blocks, "tags": tags, "servers": servers, "words": words,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](sys.argv[2:])))
