"""The crawls that Common Crawl has published, and the path lists of their files.

Crawls come from `collinfo.json` of the index server: an array, newest first, of objects with `id`, `name`, `from`,
`to`. It is kept for a day in the user's cache folder. Where the server cannot be reached, a list that is part of this
package stands in; it ends with spring 2023.

Lists lie at `crawl-data/<CRAWL>/<KIND>.paths.gz` below the base URL, one key per line. The crawls of 2008 to 2012 have
none: their keys come from listing the bucket, which needs credentials of AWS. CC-NEWS has a list of WARC files a month.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs.list_lines import read_entries
from crawlmill.inputs.lists import COMMON_CRAWL
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute, redact

__all__ = [
    "INDEX_URL",
    "KINDS",
    "LEGACY_KINDS",
    "Catalogue",
    "Crawl",
    "load_catalogue",
    "of_segment",
    "per_segment",
    "read_paths",
    "sample",
    "sibling",
]

INDEX_URL: Final = "https://index.commoncrawl.org/"
KINDS: Final = ("segment", "warc", "wat", "wet", "robotstxt", "non200responses", "cc-index", "cc-index-table")
LEGACY_KINDS: Final = ("arc", "text", "metadata")

_BUCKET: Final = "s3://commoncrawl/"
_DAY_S: Final = 86_400
_MOST: Final = 64 << 20
_MOST_RETRIES: Final = 1  # there is a stand-in
_LEGACY: Final = {
    "CC-MAIN-2008-2009": "crawl-001/",
    "CC-MAIN-2009-2010": "crawl-002/",
    "CC-MAIN-2012": "parse-output/",
}
_NEWS = re.compile(r"CC-NEWS[-/](\d{4})[-/](\d{2})")
_SEGMENT = re.compile(r"/segments?/([^/]+)/")
_NAMES = {
    "arc": re.compile(r".*\.arc\.gz"),
    "text": re.compile(r"textData-\d+"),
    "metadata": re.compile(r"metadata-\d+"),
}
_SIBLINGS = {"warc": ".warc.gz", "wat": ".warc.wat.gz", "wet": ".warc.wet.gz"}


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl: its id, what it is called, and its first and last day as the catalogue gives them, or ""."""

    id: str
    name: str
    first: str = ""
    last: str = ""


@dataclass(frozen=True)
class Catalogue:
    """The crawls, newest first, and where they come from; `stale` if newer ones may exist."""

    crawls: tuple[Crawl, ...]
    source: str
    stale: bool = False

    def select(self, name: str) -> list[Crawl]:
        """The crawls that a name stands for: an id, `latest`, `latest:3`, a year, or `all`; newest first.

        Raises:
            UsageError: There is none.
        """
        latest = re.fullmatch(r"latest(?::(\d+))?", name)
        if latest:
            return list(self.crawls[: int(latest[1] or 1)])
        if name == "all":
            return list(self.crawls)
        if re.fullmatch(r"\d{4}", name):
            found = [crawl for crawl in self.crawls if name in crawl.id.split("-")]
        else:
            found = [crawl for crawl in self.crawls if crawl.id.lower() == name.lower()]
            newer = self.stale and re.fullmatch(r"CC-MAIN-\d{4}-\d{2}", name) and name > self.crawls[0].id
            if not found and (newer or _NEWS.fullmatch(name)):
                return [Crawl(name, name)]
        if not found:
            near = difflib.get_close_matches(name, [crawl.id for crawl in self.crawls], n=3, cutoff=0.5)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise UsageError(f"no crawl {name} in {self.source}: `crawlmill crawls` lists them{hint}")
        return found


def load_catalogue(storage: Storage, index_url: str | None = None, *, now: float | None = None) -> Catalogue:
    """The catalogue of the index server, from the cache, or the one of this package.

    Args:
        storage: Reads it.
        index_url: The folder in which `collinfo.json` lies; None: Common Crawl's, with cache and stand-in.
        now: Seconds since 1970, for the age of the cache.

    Raises:
        SourceError: `index_url` was given and cannot be read.
        FormatError: `bad-json`.
    """
    if index_url is not None:
        location = absolute("collinfo.json", absolute(index_url, os.getcwd()))  # noqa: PTH109
        return Catalogue(_parse(storage.read_all(location, limit=_MOST), redact(location)), redact(location))
    location = f"{INDEX_URL}collinfo.json"
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crawlmill" / "collinfo.json"
    now = time.time() if now is None else now
    if cached.exists() and now - cached.stat().st_mtime < _DAY_S:
        return Catalogue(_parse(cached.read_bytes(), str(cached)), location)
    hasty = replace(storage.options, retries=min(storage.options.retries, _MOST_RETRIES))
    try:
        with Storage(hasty) as server:
            data = server.read_all(location, limit=_MOST)
    except SourceError:
        if cached.exists():
            return Catalogue(_parse(cached.read_bytes(), str(cached)), f"{cached} (not of today)", stale=True)
        text = resources.files("crawlmill.inputs").joinpath("crawls.tsv").read_text("utf-8")
        rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
        return Catalogue(tuple(Crawl(*row) for row in rows), "the bundled list of spring 2023", stale=True)
    crawls = _parse(data, location)
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with storage.write(str(cached)) as file:
            file.write(data)
    except (OSError, SourceError):
        pass  # a cache that cannot be written is no cache; the answer is the same
    return Catalogue(crawls, location)


def _parse(data: bytes, source: str) -> tuple[Crawl, ...]:
    try:
        rows = json.loads(data)
        return tuple(Crawl(row["id"], row.get("name", ""), row.get("from", ""), row.get("to", "")) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError("no list of crawls", reason="bad-json", source=source, expected="objects with id and name",
                          actual=str(error)) from error  # fmt: skip


def read_paths(
    storage: Storage, crawl: Crawl, kind: str, *, base_url: str | None, segment: str | None
) -> Iterator[str]:
    """The keys of a crawl's files of one kind, in the order of its list.

    Raises:
        UsageError: The crawl has no such files; the message names the lists it has.
        SourceError: The list cannot be read.
    """
    if crawl.id in _LEGACY:
        if kind not in LEGACY_KINDS or (kind != "arc" and crawl.id != "CC-MAIN-2012"):
            has = "arc, text and metadata" if crawl.id == "CC-MAIN-2012" else "arc"
            raise UsageError(f"{crawl.id} has no {kind} files: it has {has}")
        yield from _list_legacy(storage, crawl, kind, base_url or _BUCKET, segment)
        return
    base = absolute(base_url or COMMON_CRAWL, os.getcwd())  # noqa: PTH109
    news = _NEWS.fullmatch(crawl.id)
    folder = f"crawl-data/CC-NEWS/{news[1]}/{news[2]}" if news else f"crawl-data/{crawl.id}"
    location = absolute(f"{folder}/{kind}.paths.gz", base)
    if kind not in KINDS:
        raise UsageError(f"no kind of list {kind}: expected {', '.join(KINDS)}; {', '.join(LEGACY_KINDS)} before 2013")
    try:
        with storage.open_stream(location) as stream:
            for entry in read_entries(iter(lambda: stream.read(1 << 20), b""), redact(location)):
                yield entry.given
    except SourceError as error:
        if error.reason != "not-found":
            raise
        lists = {other: absolute(f"{folder}/{other}.paths.gz", base) for other in KINDS if other != kind}
        others = [other for other, place in lists.items() if _has(storage, place)]
        has = f"it has {', '.join(others)}" if others else f"nor any other below {redact(base)}"
        raise UsageError(f"{crawl.id} has no list of {kind} files; {has}") from error


def _has(storage: Storage, location: str) -> bool:
    try:
        return storage.exists(location)
    except SourceError:
        return False


def _list_legacy(storage: Storage, crawl: Crawl, kind: str, base: str, segment: str | None) -> Iterator[str]:
    prefix = _LEGACY[crawl.id]
    folders = [prefix]
    if crawl.id == "CC-MAIN-2012":
        if segment is None:
            text = storage.read_all(absolute(f"{prefix}valid_segments.txt", base), limit=_MOST)
            segments = text.decode("utf-8", "replace").split()
        else:
            segments = [segment]
        folders = [f"{prefix}segment/{name}/" for name in segments]
    for folder in folders:
        for name in storage.list(absolute(folder, base)):
            if _NAMES[kind].fullmatch(name.rpartition("/")[2]):
                yield folder + name


def of_segment(keys: Iterable[str], segment: str) -> Iterator[str]:
    """The keys that lie in one segment."""
    return (key for key in keys if (match := _SEGMENT.search(key)) is not None and match[1] == segment)


def per_segment(keys: Iterable[str], n: int) -> Iterator[str]:
    """The first `n` keys of each segment."""
    seen: Counter[str] = Counter()
    for key in keys:
        match = _SEGMENT.search(key)
        name = match[1] if match else ""
        seen[name] += 1
        if seen[name] <= n:
            yield key


def sample(keys: Iterable[str], n: int, seed: int) -> list[str]:
    """`n` keys, each equally likely, in the order of the list; the same seed takes the same."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    kept: list[tuple[int, str]] = []
    for number, key in enumerate(keys):
        if number < n:
            kept.append((number, key))
        elif (place := dice.randrange(number + 1)) < n:
            kept[place] = (number, key)
    return [key for _, key in sorted(kept)]


def sibling(key: str, kind: str) -> str:
    """The key of the WARC, WAT or WET file that belongs to the same pages.

    Raises:
        UsageError: The key names none of them.
    """
    for own, suffix in sorted(_SIBLINGS.items(), key=lambda item: -len(item[1])):
        if f"/{own}/" in key and key.endswith(suffix):
            folder, _, name = key.rpartition(f"/{own}/")
            return f"{folder}/{kind}/{name.removesuffix(suffix)}{_SIBLINGS[kind]}"
    raise UsageError("no WARC, WAT or WET file", actual=key)
