"""The path lists of a crawl, which are the keys of its files of one kind, and ways to select from them.

Lists are at `crawl-data/<CRAWL>/<KIND>.paths.gz` below the base URL, one key per line. The crawls of 2008 to 2012 have
none: their keys come from listing the bucket, which needs AWS credentials. CC-NEWS has a list of WARC files per month.
The crawls of the End of Term archive have lists in a bucket of their own (https://eotarchive.org/data/).
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs.common_crawl.catalogue import END_OF_TERM, NEWS, Crawl
from crawlmill.inputs.list_lines import read_entries
from crawlmill.inputs.lists import COMMON_CRAWL
from crawlmill.inputs.lists import END_OF_TERM as END_OF_TERM_URL
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute, redact

__all__ = ["KINDS", "LEGACY_KINDS", "of_segment", "per_segment", "read_paths", "sample", "sibling"]

KINDS: Final = ("segment", "warc", "wat", "wet", "robotstxt", "non200responses", "cc-index", "cc-index-table")
LEGACY_KINDS: Final = ("arc", "text", "metadata")

_BUCKET: Final = "s3://commoncrawl/"
_MAX_SEGMENTS: Final = 64 << 20
_LEGACY: Final = {
    "CC-MAIN-2008-2009": "crawl-001/",
    "CC-MAIN-2009-2010": "crawl-002/",
    "CC-MAIN-2012": "parse-output/",
}
_SEGMENT: Final = re.compile(r"/segments?/([^/]+)/")
_NAMES: Final = {
    "arc": re.compile(r".*\.arc\.gz"),
    "text": re.compile(r"textData-\d+"),
    "metadata": re.compile(r"metadata-\d+"),
}
_SIBLINGS: Final = {"warc": ".warc.gz", "wat": ".warc.wat.gz", "wet": ".warc.wet.gz"}


def read_paths(
    storage: Storage, crawl: Crawl, kind: str, *, base_url: str | None, segment: str | None
) -> Iterator[str]:
    """Yield the keys of a crawl's files of one kind, in the order of its list; at least one.

    Raises:
        UsageError: The crawl has no such files; the message names the lists it has.
        SourceError: The list cannot be read.
    """
    if crawl.id in _LEGACY:
        yield from _list_legacy(storage, crawl, kind, base_url or _BUCKET, segment)
        return
    usual = END_OF_TERM_URL if END_OF_TERM.fullmatch(crawl.id) else COMMON_CRAWL
    base = absolute(base_url or usual, os.getcwd())  # noqa: PTH109
    news = NEWS.fullmatch(crawl.id)
    folder = absolute(f"crawl-data/CC-NEWS/{news[1]}/{news[2]}" if news else f"crawl-data/{crawl.id}", base)
    if kind in KINDS:
        location = absolute(f"{kind}.paths.gz", folder)
        empty = UsageError(f"the list of {kind} files of {crawl.id} is empty", source=redact(location))
        try:
            yield from _at_least_one(_read_list(storage, location), empty)
        except SourceError as error:
            if error.reason != "not-found":
                raise
        else:
            return
    raise UsageError(f"{crawl.id} has no list of {kind} files; {_others(storage, kind, folder, redact(base))}")


def _read_list(storage: Storage, location: str) -> Iterator[str]:
    with storage.open_stream(location) as stream:
        for entry in read_entries(iter(lambda: stream.read(1 << 20), b""), redact(location)):
            yield entry.given


def _at_least_one(keys: Iterable[str], otherwise: UsageError) -> Iterator[str]:
    """The keys, of which there must be at least one. Raises: `otherwise`."""
    found = False
    for key in keys:
        found = True
        yield key
    if not found:
        raise otherwise


def _others(storage: Storage, kind: str, folder: str, base: str) -> str:
    """A phrase that says which lists the crawl has."""
    with Storage(storage.options.impatient(retries=min(storage.options.retries, 1))) as quick:
        try:
            found = [other for other in KINDS if other != kind and _has(quick, absolute(f"{other}.paths.gz", folder))]
        except SourceError as error:
            return f"it does not say which it has: {error}"
    return f"it has {', '.join(found)}" if found else f"nor any other below {base}"


def _has(storage: Storage, location: str) -> bool:
    try:
        return storage.exists(location)
    except SourceError as error:
        if error.reason == "unavailable":
            raise  # the next request would fail in the same way
        return False


def _list_legacy(storage: Storage, crawl: Crawl, kind: str, base: str, segment: str | None) -> Iterator[str]:
    if kind not in LEGACY_KINDS or (kind != "arc" and crawl.id != "CC-MAIN-2012"):
        has = "arc, text and metadata" if crawl.id == "CC-MAIN-2012" else "arc"
        raise UsageError(f"{crawl.id} has no {kind} files: it has {has}")
    prefix = _LEGACY[crawl.id]
    folders = [prefix]
    if crawl.id == "CC-MAIN-2012":
        if segment is None:
            text = storage.read_all(absolute(f"{prefix}valid_segments.txt", base), limit=_MAX_SEGMENTS)
            segments = text.decode("utf-8", "replace").split()
        else:
            segments = [segment]
        folders = [f"{prefix}segment/{name}/" for name in segments]
    where = f" in a segment {segment}" if segment else ""
    keys = (folder + name for folder in folders for name in storage.list(absolute(folder, base)))
    of_kind = (key for key in keys if _NAMES[kind].fullmatch(key.rpartition("/")[2]))
    yield from _at_least_one(of_kind, UsageError(f"{crawl.id} has no {kind} files{where}", source=redact(base)))


def of_segment(keys: Iterable[str], segment: str) -> Iterator[str]:
    """Yield the keys in one segment.

    Raises:
        UsageError: There are none.
    """
    found = (key for key in keys if (match := _SEGMENT.search(key)) is not None and match[1] == segment)
    yield from _at_least_one(found, UsageError(f"none of the files is in a segment {segment}"))


def per_segment(keys: Iterable[str], n: int) -> Iterator[str]:
    """Yield the first `n` keys of each segment."""
    seen: Counter[str] = Counter()
    for key in keys:
        match = _SEGMENT.search(key)
        name = match[1] if match else ""
        seen[name] += 1
        if seen[name] <= n:
            yield key


def sample(keys: Iterable[str], n: int, seed: int) -> list[str]:
    """Choose `n` keys at random, in the order of the list; the same seed (0 or more) chooses the same keys."""
    dice = random.Random(seed)  # noqa: S311 - not used for security
    kept: list[tuple[int, str]] = []
    for number, key in enumerate(keys):
        if number < n:
            kept.append((number, key))
        elif (place := dice.randrange(number + 1)) < n:
            kept[place] = (number, key)
    return [key for _, key in sorted(kept)]


def sibling(key: str, kind: str) -> str:
    """The key of the WARC, WAT or WET file with the same pages.

    Raises:
        UsageError: The key is not that of a WARC, WAT or WET file.
    """
    for own, suffix in sorted(_SIBLINGS.items(), key=lambda item: -len(item[1])):
        if f"/{own}/" in key and key.endswith(suffix):
            folder, _, name = key.rpartition(f"/{own}/")
            return f"{folder}/{kind}/{name.removesuffix(suffix)}{_SIBLINGS[kind]}"
    raise UsageError("not a WARC, WAT or WET file", actual=key)
