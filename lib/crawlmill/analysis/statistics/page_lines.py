"""`PageLines`: converts captures to lines for the shuffle (`page`), and counts and sketches what needs no shuffle.

The native core has a twin for ordinary lines, and leaves the others to Python.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from crawlmill import core
from crawlmill.analysis.statistics.index_lines import MAX_HEAD, USUAL_LINE, keep, lines_of, said
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
    """The id of a crawl in a path: the last one if there are several."""
    found = _CRAWL.findall(path)
    return found[-1] if found else None


class _Crawl:
    """What was counted for a crawl without a shuffle."""

    __slots__ = ("digests", "name", "seen", "urls")

    def __init__(self, crawl: str) -> None:
        self.name = text_of(crawl)
        self.seen: dict[tuple[int, bool], int] = {}  # captures by status and by whether they are of robots.txt
        self.urls, self.digests = Sketch(), Sketch()


class PageLines:
    """Makes the lines for captures of any number of indexes.

    Args:
        parse: Returns the key, the timestamp and the fields of a line. Raises: FormatError: It is not a capture.
        exact: Whether to write lines for digests, too.
    """

    def __init__(self, parse: Callable[[bytes], tuple[bytes, bytes, dict[str, Any]]], *, exact: bool) -> None:
        self._parse, self._exact = parse, exact
        native = core.native()
        self._native = None if native is None else native.StatisticsLines(parts_of_host, exact)
        self._crawls: dict[str, _Crawl] = {}
        self._places: dict[str, UrlPlace] = {}
        self._facets: dict[tuple[str | None, ...], bytes] = {}
        self._surt = ("", b"")

    def __len__(self) -> int:
        """The approximate number of keys counted."""
        held = sum(len(each.seen) for each in self._crawls.values())
        return held + (0 if self._native is None else len(self._native))

    def add(self, data: bytes, crawl: str | None, lose: Callable[[int, FormatError], None]) -> bytes:
        """The lines for whole lines of an index.

        Args:
            data: The lines.
            crawl: The crawl of all captures; None: use the one in the name of their file.
            lose: Called with the index, from 0, of each line that cannot be used, and the error.
        """
        native = None
        if self._native is not None:
            native = partial(self._native.add, crawl=None if crawl is None else text_of(crawl))
        return lines_of(data, native, partial(self._lines_of, crawl=crawl), lose)

    def _lines_of(self, line: bytes, crawl: str | None) -> bytes:
        """The lines for a capture. Raises: FormatError: It is not a capture, or it has no URL."""
        if usual := USUAL_LINE.fullmatch(line.decode("latin-1")):
            return self._made(crawl, *usual.groups())
        urlkey, _, fields = self._parse(line)
        url, name = said(fields.get("url")), fields.get("filename") or ""
        if url is None:
            raise FormatError("a capture without a URL", reason="bad-header")
        digest = fields.get("digest")
        return self._made(
            crawl,
            urlkey.decode("utf-8", "replace"),
            url,
            said(fields.get("mime")),
            said(fields.get("mime-detected")),
            said(fields.get("status")),
            None if digest is None else str(digest),
            name if type(name) is str else json.dumps(name),
            said(fields.get("charset")),
            said(fields.get("languages")),
        )

    def _made(
        self,
        crawl: str | None,
        urlkey: str,
        url: str,
        mime: str | None,
        detected: str | None,
        status_text: str | None,
        digest: str | None,
        name: str,
        charset: str | None,
        languages: str | None,
    ) -> bytes:
        """The lines for the capture with these fields."""
        if crawl is None:
            crawl = crawl_in(name) or _UNKNOWN
        counted = self._crawls.get(crawl) or self._crawl(crawl)
        status = 200 if status_text == "200" else number_of(status_text)
        is_robots = _ROBOTS in name
        seen = status, is_robots
        counted.seen[seen] = counted.seen.get(seen, 0) + 1
        if status != 200 and not is_robots:
            return b""
        head = url_head(url)
        place = self._places.get(head) if head else None
        if place is None:
            place = self._place(head, url)
        sha1 = sha1_of(url)
        if is_robots:
            return robots_line(place, sha1, counted.name, status)
        counted.urls.add_hash(sha1)
        surt = urlkey.partition(")")[0]
        if surt != self._surt[0]:
            self._surt = surt, text_of(surt)
        facets = mime, detected, charset, languages
        made = page_line(place, sha1, counted.name, self._surt[1], self._facets.get(facets) or self._encoded(facets))
        if digest and digest != "-":
            digest = digest.removeprefix("sha1:")
            counted.digests.add(digest)
            if self._exact:
                made += digest_line(text_of(digest), counted.name)
        return made

    def _place(self, head: str | None, url: str) -> UrlPlace:
        place = url_place(url)
        if head is not None and len(head) < MAX_HEAD:
            keep(self._places, head, place)
        return place

    def _encoded(self, facets: tuple[str | None, ...]) -> bytes:
        encoded = facets_of(*map(said, facets))
        keep(self._facets, facets, encoded)
        return encoded

    def _crawl(self, crawl: str) -> _Crawl:
        found = self._crawls[crawl] = _Crawl(crawl)
        return found

    def drain(self) -> tuple[dict[tuple[Any, ...], int], dict[tuple[str, str], Sketch]]:
        """The counts by key, and the sketches by item and crawl; afterwards nothing is held."""
        for name, seen, url, digest in [] if self._native is None else self._native.drain():
            text = json.loads(b'"%b"' % name)
            crawl = self._crawls.get(text) or self._crawl(text)
            for status, is_robots, number in seen:
                crawl.seen[status, is_robots] = crawl.seen.get((status, is_robots), 0) + number
            for sketch, registers in ((crawl.urls, url), (crawl.digests, digest)):
                if registers is not None:
                    sketch.merge(Sketch(registers))
        counts: Counter[tuple[Any, ...]] = Counter()
        sketches: dict[tuple[str, str], Sketch] = {}
        for text, crawl in self._crawls.items():
            sketches |= {
                (item, text): sketch for item, sketch in (("url", crawl.urls), ("digest", crawl.digests)) if sketch
            }
            for (status, is_robots), number in crawl.seen.items():
                counts["size", "fetch", text] += number
                if not is_robots:
                    counts["http_status", status, text] += number
                    if status == 200:
                        counts["size", "page", text] += number
        self._crawls = {}
        return counts, sketches
