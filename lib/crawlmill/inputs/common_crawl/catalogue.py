"""The crawls that Common Crawl has published.

They come from `collinfo.json` of the index server: an array, newest first, of objects with `id`, `name`, `from`, `to`.
It is cached for a day in the user's cache folder. If the server does not return such a list, the cached one is used,
however old, or else a list in this package, which ends in spring 2023. Months of CC-NEWS are in none of them, nor are
the crawls of the End of Term archive, EOT-2008 and so on.

A malformed entry is left out and reported in the catalogue's warnings; a list without a valid entry is not a list.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import reprlib
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs.cache import cache_folder
from crawlmill.storage import Storage
from crawlmill.storage.limits import CDX_API
from crawlmill.storage.locations import absolute, redact

__all__ = ["END_OF_TERM", "INDEX_URL", "NEWS", "Catalogue", "Crawl", "bundled_catalogue", "load_catalogue"]

INDEX_URL: Final = "https://index.commoncrawl.org/"
NEWS: Final = re.compile(r"CC-NEWS[-/]([0-9]{4})[-/](0[1-9]|1[0-2])")
"""The id of a month of CC-NEWS: its year and month."""
END_OF_TERM: Final = re.compile(r"EOT-[0-9]{4}")
"""The id of a crawl of the End of Term archive."""

_CACHED: Final = "collinfo.json"
_DAY_S: Final = 86_400
_MOST: Final = 64 << 20
_MAX_RETRIES: Final = 1  # the bundled list can be used instead
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # it is used in paths and URLs
_COUNT: Final = re.compile(r"0{0,9}[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl: its id and name; and its first and last day and its CDX API, each "" if the catalogue has none."""

    id: str
    name: str
    first: str = ""
    last: str = ""
    api: str = ""


@dataclass(frozen=True)
class Catalogue:
    """The crawls, newest first, their source, and warnings about it; `stale` if newer crawls may exist."""

    crawls: tuple[Crawl, ...]
    source: str
    stale: bool = False
    warnings: tuple[str, ...] = ()

    def select(self, name: str) -> list[Crawl]:
        """The crawls that a name selects: an id, `latest`, `latest:3`, a year, or `all`; newest first.

        Raises:
            UsageError: There is no such crawl.
        """
        word, colon, count = name.partition(":")
        if word == "latest":
            if colon and not _COUNT.fullmatch(count):
                raise UsageError("latest:N", expected="a number of crawls, 1 or more", actual=reprlib.repr(count))
            return list(self.crawls[: int(count or 1)])
        if name == "all":
            return list(self.crawls)
        if re.fullmatch(r"[0-9]{4}", name):
            found = [crawl for crawl in self.crawls if name in crawl.id.split("-")]
        else:
            found = [crawl for crawl in self.crawls if crawl.id.lower() == name.lower()]
            newer = self.stale and re.fullmatch(r"CC-MAIN-[0-9]{4}-[0-9]{2}", name) and name > self.crawls[0].id
            if not found and (newer or NEWS.fullmatch(name) or END_OF_TERM.fullmatch(name)):
                return [Crawl(name, name)]
        if not found:
            if name.upper().startswith("CC-SUPPLEMENTAL"):
                raise UsageError(f"{name} has no path lists: name its files (projects/cc/…/warc/CC-SUPPL-….warc.gz)")
            near = difflib.get_close_matches(name, [crawl.id for crawl in self.crawls], n=3, cutoff=0.5)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise UsageError(f"no crawl {name} in {self.source}: `crawlmill crawls` lists them{hint}")
        return found


def load_catalogue(storage: Storage, index_url: str | None = None, *, now: float | None = None) -> Catalogue:
    """The catalogue of the index server, from the cache if it is fresh, else from the server, else the bundled one.

    Args:
        storage: Reads it.
        index_url: The folder of `collinfo.json`; None: Common Crawl's, with the cache and the bundled list as
        fallbacks.
        now: Seconds since 1970, for the age of the cache.

    Raises:
        SourceError: `index_url` was given and cannot be read.
        FormatError: `index_url` was given, and the file is not a list of crawls (`bad-json`), or is `too-large`.
    """
    if index_url is not None:
        location = absolute("collinfo.json", absolute(index_url, os.getcwd()))  # noqa: PTH109
        return _parse(storage.read_all(location, limit=_MOST, kind=CDX_API), redact(location))
    location = f"{INDEX_URL}collinfo.json"
    folder = cache_folder()
    cache = folder / _CACHED if folder else None
    kept, fresh = _kept(cache, time.time() if now is None else now) if cache else (None, False)
    if kept and fresh:
        return replace(kept, source=location)
    try:
        with Storage(storage.options.impatient(retries=min(storage.options.retries, _MAX_RETRIES))) as server:
            data = server.read_all(location, limit=_MOST, kind=CDX_API)
        current = _parse(data, location)
    except (FormatError, SourceError) as error:
        old = replace(kept, source=f"{cache} (not of today)") if kept else bundled_catalogue()
        warning = f"no list of crawls from the index server: {error}; crawls by {old.source}"
        return replace(old, stale=True, warnings=(warning, *old.warnings))
    # If the cache cannot be written, the answer is the same.
    with suppress(OSError, SourceError):
        if cache:
            with storage.write(str(cache)) as file:
                file.write(data)
    return current


def _kept(cache: Path, now: float) -> tuple[Catalogue | None, bool]:
    """The cached list, if it is valid, and whether it was fetched in the last 24 hours."""
    try:
        if not cache.is_file():
            return None, False
        return _parse(cache.read_bytes(), str(cache)), 0 <= now - cache.stat().st_mtime < _DAY_S
    except (OSError, FormatError):
        return None, False


def bundled_catalogue() -> Catalogue:
    """The crawls listed in this package; newer ones may exist."""
    text = resources.files("crawlmill.inputs.common_crawl").joinpath("crawls.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return Catalogue(tuple(Crawl(*row) for row in rows), "the bundled list of spring 2023")


def _parse(data: bytes, source: str) -> Catalogue:
    """Parse a `collinfo.json`. Raises: FormatError (bad-json) if it names no crawl."""
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise FormatError(
            "not a list of crawls",
            reason="bad-json",
            source=source,
            expected="a JSON array of objects with id and name",
            actual=repr(data[:40])[1:],
        )
    crawls = []
    wrong, first_wrong = 0, "an empty array"
    for number, row in enumerate(rows, 1):
        try:
            crawls.append(_crawl(row))
        except ValueError as error:
            wrong += 1
            first_wrong = f"entry {number}: {error}" if wrong == 1 else first_wrong
    if not crawls:
        raise FormatError(f"the list does not name a crawl: {first_wrong}", reason="bad-json", source=source)
    left_out = f"{wrong:,} of {len(rows):,} entries of {source} make no sense and are left out; {first_wrong}"
    return Catalogue(tuple(crawls), source, warnings=(left_out,) if wrong else ())


def _crawl(row: object) -> Crawl:
    """Parse one entry; texts that are absent or null are empty. Raises: ValueError."""
    if not isinstance(row, dict):
        raise ValueError(f"expected an object, got {reprlib.repr(row)}")  # noqa: TRY004 - about data, not a caller
    name = row.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise ValueError(f"expected an id such as CC-MAIN-2024-10, got {reprlib.repr(name)}")
    texts = []
    for field in ("name", "from", "to", "cdx-api"):
        text = row.get(field)
        text = " ".join(text.split()) if isinstance(text, str) else "" if text is None else None
        if text is None or not text.isprintable():
            raise ValueError(f"expected a text as {field}, got {reprlib.repr(row[field])}")
        texts.append(text)
    return Crawl(name, *texts)
