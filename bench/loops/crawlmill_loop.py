"""Does the work of the jobs with Crawlmill's functions, without a job, a runner or a second process.

    python crawlmill_loop.py WORK FILE…     prints {"keys": …, "total": …}

Exits with 1 if anything was lost: benchmarks need undamaged files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from crawlmill.analysis.servers import ServerCounter, servers_of_headers, wat_servers
from crawlmill.analysis.tags import TagCounter
from crawlmill.analysis.words import WordCounter
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage


def records(paths: list[str], *types: str, heads_only: bool = False, counter: Any | None = None) -> Iterator[Record]:
    storage, options = Storage(), ReadOptions(heads_only=heads_only)
    for path in paths:
        reading = Reading(Input(path, path), storage, options, Selection(types=frozenset(types) or None))
        reading.counter = counter
        yield from reading
        if reading.row.lost:
            sys.exit(f"{path}: {reading.row.problems[0].message}")


def pass_records(paths: list[str]) -> dict[str, int]:
    number = sum(1 for _ in records(paths))
    return {"keys": number, "total": number}


def take_blocks(paths: list[str]) -> dict[str, int]:
    number = size = 0
    for record in records(paths):
        number += 1
        size += len(record.block.head(record.content_length))
    return {"keys": number, "total": size}


def tags(paths: list[str]) -> dict[str, int]:
    counter = TagCounter()
    for record in records(paths, "response", counter=counter.native):
        if record.http.is_html:
            counter.add(record.page())
    counts = dict(counter.drain())
    return {"keys": len(counts), "total": sum(counts.values())}


def servers(paths: list[str], *, heads_only: bool = False) -> dict[str, int]:
    counter = ServerCounter()
    for record in records(paths, "response", "metadata", heads_only=heads_only, counter=counter.native):
        if record.type == "response":
            counter.add(servers_of_headers(record.http.get_all("Server")))
        elif record.content_type == "application/json":
            counter.add(wat_servers(record.body()) or ())
    counts = dict(counter.drain())
    return {"keys": len(counts), "total": sum(counts.values())}


def servers_of_heads(paths: list[str]) -> dict[str, int]:
    return servers(paths, heads_only=True)


def words(paths: list[str]) -> dict[str, int]:
    counter = WordCounter(document_frequency=True)
    for record in records(paths, "conversion", counter=counter.native):
        counter.add(record.text())
    frequencies = [counts[0] for _, counts in counter.drain() if isinstance(counts, list)]
    return {"keys": len(frequencies), "total": sum(frequencies)}


WORK: dict[str, Callable[[list[str]], dict[str, int]]] = {
    "pass-records": pass_records,
    "take-blocks": take_blocks,
    "tags": tags,
    "servers": servers,
    "servers-heads": servers_of_heads,
    "words": words,
}

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](sys.argv[2:])))
