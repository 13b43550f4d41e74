"""Measures the counters alone, over pages and texts in memory: MB/s of CPU time on each core, best of several runs.

    python bench/alone.py tags FILE.warc.gz…
    python bench/alone.py words FILE.warc.wet.gz…

Goals for the native core: 900 MB/s of pages, 90 MB/s of texts whose words and documents are counted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from crawlmill import core
from crawlmill.analysis.tags import TagCounter
from crawlmill.analysis.words import WordCounter
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.storage import Storage

ROUNDS = {"python": 2, "native": 7}


def pages(paths: list[str]) -> list[bytes]:
    """The HTML pages of WARC files, decoded."""
    return [record.page() for path in paths for record in reading(path, "response") if record.http.is_html]


def texts(paths: list[str]) -> list[bytes]:
    """The texts of WET files."""
    return [record.body() for path in paths for record in reading(path, "conversion")]


def reading(path: str, kind: str) -> Reading:
    """The records of one type."""
    return Reading(Input(path, path), Storage(), selection=Selection(types=frozenset([kind])))


def tags(data: list[bytes]) -> Any:
    """Count tags."""
    counter = TagCounter()
    for page in data:
        counter.add(page)
    return counter


def words(data: list[bytes]) -> Any:
    """Count words, and the texts that contain them."""
    counter = WordCounter(document_frequency=True)
    for text in data:
        counter.add_utf8(text)
    return counter


WORK: dict[str, tuple[Callable[[list[str]], list[bytes]], Callable[[list[bytes]], Any]]] = {
    "tags": (pages, tags),
    "words": (texts, words),
}


def main() -> None:
    """Measure what the command line asks for."""
    name, *paths = sys.argv[1:]
    load, count = WORK[name]
    data = load(paths)
    size = sum(map(len, data))
    for core_name, rounds in ROUNDS.items():
        os.environ["CRAWLMILL_CORE"] = core_name
        core.native.cache_clear()
        best = min(seconds(count, data) for _ in range(rounds))
        print(f"{name}, {core_name}: {size / best / 1e6:.0f} MB/s, {len(data)} of them, {size / 1e6:.0f} MB")


def seconds(count: Callable[[list[bytes]], Any], data: list[bytes]) -> float:
    """CPU seconds needed for counting."""
    start = time.process_time()
    counter = count(data)
    taken = time.process_time() - start
    assert len(counter) or not data
    return taken


if __name__ == "__main__":
    main()
