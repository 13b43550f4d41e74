"""`PageLines`: captures become lines for the shuffle (`page`), and what needs no shuffle is counted and sketched.

The native core has a twin for lines as nearly all are. What it is not sure of, it leaves to Python.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from crawlmill import core
from crawlmill.analysis.statistics.index_lines import MAX_HEAD, keep, lines_of, said
from crawlmill.analysis.statistics.page import (
    UrlPlace,
    digest_line,
    facets_of,
    number_of,
    page_line,
    parts_of_host,
    robots_line,
    sha1_of,
    text_of,
    url_head,
    url_place,
)
from crawlmill.analysis.statistics.sketch import Sketch
from crawlmill.errors import FormatError

__all__ = ["PageLines", "crawl_in"]

_CRAWL: Final = re.compile(r"CC-[A-Z]+-[0-9]{4}(?:-[0-9]{2,4})?(?![0-9])")
_UNKNOWN: Final = "unknown"
_ROBOTS: Final = "/robotstxt/"


def crawl_in(path: str) -> str | None:
    """The id of a crawl in a path: the last one."""
    found = _CRAWL.findall(path)
    return found[-1] if found else None


class PageLines:
    """Makes the lines of the captures of any number of indexes.

    Args:
        parse: Gives the key, the timestamp and the fields of a line. Raises: FormatError: It is no capture.
        exact: Whether digests have lines, too.
    """

    def __init__(self, parse: Callable[[bytes], tuple[bytes, bytes, dict[str, Any]]], *, exact: bool) -> None:
        self._parse, self._exact = parse, exact
        native = core.native()
        self._native = None if native is None else native.StatisticsLines(parts_of_host, exact)
        self._seen: Counter[tuple[str, int, bool]] = Counter()  # crawl, status, whether it is a robots.txt
        self._sketches: dict[tuple[str, str], Sketch] = {}
        self._places: dict[str, UrlPlace] = {}
        self._facets: dict[tuple[str | None, ...], bytes] = {}
        self._crawls: dict[str, bytes] = {}
        self._surt = (b"", b"")

    def __len__(self) -> int:
        """How many keys are counted, about."""
        return len(self._seen) + (0 if self._native is None else len(self._native))

    def add(self, data: bytes, crawl: str | None, lose: Callable[[int, FormatError], None]) -> bytes:
        """The lines of whole lines of an index.

        Args:
            data: The lines.
            crawl: The crawl of all captures; None: the one that is in the name of their file.
            lose: Called with the place, from 0, of each line that cannot be taken, and why.
        """
        native = None
        if self._native is not None:
            native = partial(self._native.add, crawl=None if crawl is None else text_of(crawl))
        return lines_of(data, native, partial(self._lines_of, crawl=crawl), lose)

    def _lines_of(self, line: bytes, crawl: str | None) -> bytes:
        """The lines of a capture. Raises: FormatError: This is none, or it has no URL."""
        urlkey, _, fields = self._parse(line)
        get = fields.get
        url = said(get("url"))
        if url is None:
            raise FormatError("a capture without a URL", reason="bad-header")
        name = get("filename") or ""
        if type(name) is not str:
            name = json.dumps(name)
        if crawl is None:
            crawl = crawl_in(name) or _UNKNOWN
        encoded = self._crawls.get(crawl) or self._crawl(crawl)
        status = number_of(said(get("status")))
        is_robots = _ROBOTS in name
        self._seen[crawl, status, is_robots] += 1
        if status != 200 and not is_robots:
            return b""
        head = url_head(url)
        place = self._places.get(head) if head else None
        if place is None:
            place = self._place(head, url)
        sha1 = sha1_of(url)
        if is_robots:
            return robots_line(place, sha1, encoded, status)
        self._sketch("url", crawl).add_hash(sha1)
        surt = urlkey.partition(b")")[0]
        if surt != self._surt[0]:
            self._surt = surt, text_of(surt.decode("utf-8", "replace"))
        mime, detected, charset, languages = get("mime"), get("mime-detected"), get("charset"), get("languages")
        facets = said(mime), said(detected), said(charset), said(languages)
        made = page_line(place, sha1, encoded, self._surt[1], self._facets.get(facets) or self._encoded(facets))
        digest = get("digest")
        if digest is not None and digest != "-" and digest != "":
            digest = str(digest).removeprefix("sha1:")
            self._sketch("digest", crawl).add(digest)
            if self._exact:
                made += digest_line(text_of(digest), encoded)
        return made

    def _place(self, head: str | None, url: str) -> UrlPlace:
        place = url_place(url)
        if head is not None and len(head) < MAX_HEAD:
            keep(self._places, head, place)
        return place

    def _encoded(self, facets: tuple[str | None, ...]) -> bytes:
        encoded = facets_of(*facets)
        keep(self._facets, facets, encoded)
        return encoded

    def _crawl(self, crawl: str) -> bytes:
        encoded = text_of(crawl)
        keep(self._crawls, crawl, encoded)
        return encoded

    def _sketch(self, item: str, crawl: str) -> Sketch:
        found = self._sketches.get((item, crawl))
        if found is None:
            found = self._sketches[item, crawl] = Sketch()
        return found

    def drain(self) -> tuple[dict[tuple[Any, ...], int], dict[tuple[str, str], Sketch]]:
        """What was counted, by key, and the sketches, by item and crawl; nothing is held then."""
        for crawl, seen, url, digest in [] if self._native is None else self._native.drain():
            name = json.loads(b'"%b"' % crawl)
            for status, is_robots, number in seen:
                self._seen[name, status, is_robots] += number
            for item, registers in (("url", url), ("digest", digest)):
                if registers is not None:
                    self._sketch(item, name).merge(Sketch(registers))
        counts: Counter[tuple[Any, ...]] = Counter()
        for (crawl, status, is_robots), number in self._seen.items():
            counts["size", "fetch", crawl] += number
            if not is_robots:
                counts["http_status", status, crawl] += number
                if status == 200:
                    counts["size", "page", crawl] += number
        sketches = self._sketches
        self._seen, self._sketches = Counter(), {}
        return counts, sketches
