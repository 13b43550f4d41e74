"""The work that the loops over other libraries do on the bytes they read, so that each loop contains only its library.

Tags and links are found with the usual one-line regexes, which also match inside scripts and comments.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urljoin

import ujson

__all__ = [
    "Answer",
    "count_blocks",
    "count_links",
    "count_records",
    "count_servers",
    "count_tags",
    "count_words",
    "is_html",
    "print_answer",
]

Answer = dict[str, int]

_TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9-]*)")
_LINK = re.compile(rb"""<[a-zA-Z][^>]*?\s(?:href|src|action)\s*=\s*["']?([^"'\s>]*)""", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_HTML = ("text/html", "application/xhtml+xml")


def is_html(content_type: str | None) -> bool:
    """Whether an HTTP content type is that of a page, with or without parameters."""
    return (content_type or "").lower().startswith(_HTML)


def count_records(records: Iterable[object]) -> Answer:
    """The number of records."""
    number = sum(1 for _ in records)
    return {"keys": number, "total": number}


def count_blocks(blocks: Iterable[bytes]) -> Answer:
    """The number of blocks, and their size in bytes."""
    number = size = 0
    for block in blocks:
        number += 1
        size += len(block)
    return {"keys": number, "total": size}


def count_tags(pages: Iterable[bytes]) -> Answer:
    """The number of different names of start tags, and of all start tags."""
    counts: Counter[bytes] = Counter()
    for page in pages:
        counts.update(_TAG.findall(page))
    folded: Counter[bytes] = Counter()
    for name, count in counts.items():
        folded[name.lower()] += count
    return {"keys": len(folded), "total": folded.total()}


def count_links(pages: Iterable[tuple[str, bytes]]) -> Answer:
    """The number of pages, and of the links in all of them, resolved."""
    number = links = 0
    for url, page in pages:
        number += 1
        for reference in _LINK.findall(page):
            try:
                urljoin(url, reference.decode("utf-8", "replace"))
            except ValueError:  # not a URL
                continue
            links += 1
    return {"keys": number, "total": links}


def count_servers(envelopes: Iterable[bytes]) -> Answer:
    """Different values of the header Server in the JSON of a WAT, and all of them; each once in a response."""
    counts: Counter[str | None] = Counter()
    for envelope in envelopes:
        payload = ujson.loads(envelope)["Envelope"]["Payload-Metadata"]
        if "HTTP-Response-Metadata" in payload:
            found = set()
            for name, value in payload["HTTP-Response-Metadata"].get("Headers", {}).items():
                if name.lower() == "server":
                    found.update(value if isinstance(value, list) else [value])
            counts.update({value.strip() for value in found} - {""} or {None})
    return {"keys": len(counts), "total": counts.total()}


def count_words(texts: Iterable[bytes]) -> Answer:
    """Different words, and all of them; as the job does, the texts that hold each word are counted, too."""
    frequency: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for text in texts:
        found = _WORD.findall(text.decode("utf-8", "replace").lower())
        frequency.update(found)
        documents.update(set(found))
    return {"keys": len(documents), "total": frequency.total()}


def print_answer(work: Mapping[str, Callable[[list[str]], Answer]]) -> None:
    """Do the work that the first argument names on the files that the others name."""
    print(json.dumps(work[sys.argv[1]](sys.argv[2:])))
