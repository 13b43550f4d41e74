"""Counts of distinct things in the sorted lines of `page`: hosts and domains whole, all else to be summed.

What is held is of one URL, one host and one domain at a time; counters are let go of when they hold many keys. Lines
come out as pairs of JSON: `["host","e.org","CC-MAIN-2024-10"] TAB [3,2]`. Those of hosts and domains are results; of
other items they are vectors [pages, URLs, hosts, domains] that are still to be summed (`SUMMED`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from crawlmill.analysis.statistics.vectors import PLACES, trimmed

__all__ = ["SortedPages"]

_MAX_KEYS: Final = 200_000
_Key = TypeVar("_Key")
_BY_CAPTURE: Final = ("mimetype", "mimetype_detected", "charset", "languages")


class SortedPages:
    """Takes the sorted lines of one partition after another, and gives lines of pairs.

    Args:
        exact: Whether URLs are counted beyond their number: by their captures, and those that are new in a crawl.
    """

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self._sums: dict[bytes, list[int]] = {}
        self._out: list[bytes] = []
        self._domain = self._host = self._url = self._digest = b""
        self._kind = b""
        self._tld = b""
        self._of_url: dict[bytes, dict[bytes, int]] = {}  # by crawl, the facets of its captures
        self._of_host: dict[bytes, list[int]] = {}  # by crawl
        self._of_surt: dict[tuple[bytes, bytes], list[int]] = {}  # of a host, by crawl and SURT domain
        self._of_domain: dict[bytes, list[int]] = {}  # by crawl
        self._of_digest: dict[bytes, int] = {}  # by crawl

    def lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The pairs of all lines, many in each piece."""
        for chunk in chunks:
            for line in chunk.split(b"\n"):
                text = line.partition(b"\t")[2]
                kind = text[:1]
                if kind in (b"p", b"r"):
                    self._take(kind, text[1:])
                elif kind == b"d":
                    self._take_digest(text[1:])
                elif kind == b"c":
                    self._out.append(text[1:])
            if len(self._sums) > _MAX_KEYS:
                self._drain()
            yield from self._given()
        self._end_domain()
        self._end_digest()
        self._drain()
        yield from self._given()

    def _given(self) -> Iterator[bytes]:
        if self._out:
            lines, self._out = self._out, []
            yield b"\n".join([*lines, b""])

    def _drain(self) -> None:
        sums, self._sums = self._sums, {}
        for key, vector in sums.items():
            value = b"[%b]" % b",".join(b"%d" % number for number in vector) if len(vector) > 1 else b"%d" % vector[0]
            self._out.append(b"%b\t%b" % (key, value))

    def _add(self, key: bytes, *numbers: int) -> None:
        found = self._sums.get(key)
        if found is None:
            self._sums[key] = list(numbers)
        else:
            for place, number in enumerate(numbers):
                found[place] += number

    def _add_item(self, metric: str, item: bytes, crawl: bytes, *numbers: int) -> None:
        self._add(b'["%b","%b","%b"]' % (metric.encode(), item, crawl), *numbers)

    def _add_size(self, what: bytes, crawl: bytes, number: int = 1) -> None:
        self._add(b'["size","%b","%b"]' % (what, crawl), number)

    def _add_to_histogram(self, metric: bytes, place: str, crawl: bytes, number: int) -> None:
        self._add(b'["histogram","%b","%b","%b",%d]' % (metric, crawl, place.encode(), number), 1)

    def _take(self, kind: bytes, text: bytes) -> None:
        domain, host, url, crawl, facets = text.split(b"\0", 4)
        if domain != self._domain:
            self._end_domain()
        elif host != self._host:
            self._end_host()
        elif url != self._url or kind != self._kind:
            self._end_url()
        self._domain, self._host, self._url, self._kind = domain, host, url, kind
        captures = self._of_url.setdefault(crawl, {})
        captures[facets] = captures.get(facets, 0) + 1

    def _end_url(self) -> None:
        found, self._of_url = self._of_url, {}
        if self._kind == b"r":
            for crawl, captures in found.items():
                self._end_robots(crawl, captures)
            return
        for crawl, captures in found.items():
            self._end_page(crawl, captures)
        if self._exact and found:
            self._add(b'["new_items","url","%b"]' % min(found), 1)

    def _end_robots(self, crawl: bytes, captures: dict[bytes, int]) -> None:
        for status, number in captures.items():
            self._add(b'["robotstxt_status",%b,"%b"]' % (status, crawl), number, 1)
        self._add(b'["size_robotstxt","page","%b"]' % crawl, sum(captures.values()))
        self._add(b'["size_robotstxt","url","%b"]' % crawl, 1)

    def _end_page(self, crawl: bytes, captures: dict[bytes, int]) -> None:
        pages = sum(captures.values())
        counted: dict[tuple[str, bytes], int] = {}
        surts: dict[bytes, int] = {}
        scheme = b""
        for facets, number in captures.items():
            self._tld, scheme, surt, *by_capture = facets.split(b"\0")
            surts[surt] = surts.get(surt, 0) + number
            for metric, item in zip(_BY_CAPTURE, by_capture, strict=True):
                if item:
                    counted[metric, item] = counted.get((metric, item), 0) + number
            if languages := by_capture[3]:
                primary = "primary_language", languages.partition(b",")[0]
                counted[primary] = counted.get(primary, 0) + number
        self._add_item("scheme", scheme, crawl, pages, 1)
        for (metric, item), number in counted.items():
            self._add_item(metric, item, crawl, number, 1)
        self._add_size(b"url", crawl)
        if self._exact:
            self._add_to_histogram(b"url", "page", crawl, pages)
        _add_to(self._of_host, crawl, pages, 1)
        for surt, number in surts.items():
            _add_to(self._of_surt, (crawl, surt), number, 1)
        if not self._host:
            self._end_surts(0)  # there may be any number of them, and no hosts to be counted

    def _end_surts(self, hosts: int) -> None:
        for (crawl, surt), (pages, urls) in self._of_surt.items():
            self._add_item("surt_domain", surt, crawl, pages, urls, hosts)
        self._of_surt.clear()

    def _end_host(self) -> None:
        self._end_url()
        self._end_surts(1)
        found, self._of_host = self._of_host, {}
        if not self._host:
            return
        for crawl, vector in found.items():
            self._result("host", self._host, crawl, vector)
            _add_to(self._of_domain, crawl, *vector, 1)

    def _end_domain(self) -> None:
        self._end_host()
        found, self._of_domain = self._of_domain, {}
        for crawl, vector in found.items():
            self._result("domain", self._domain, crawl, vector)
            self._add_item("tld", self._tld, crawl, *vector, 1)
        self._host = self._url = b""

    def _result(self, metric: str, item: bytes, crawl: bytes, vector: list[int]) -> None:
        value = str(trimmed(vector)).replace(" ", "").encode()
        name = metric.encode()
        self._out.append(b'["%b","%b","%b"]\t%b' % (name, item, crawl, value))
        self._add_size(name, crawl)
        for place, number in zip(PLACES, vector, strict=False):
            self._add_to_histogram(name, place, crawl, number)

    def _take_digest(self, text: bytes) -> None:
        digest, crawl = text.split(b"\0")
        if digest != self._digest:
            self._end_digest()
            self._digest = digest
        self._of_digest[crawl] = self._of_digest.get(crawl, 0) + 1

    def _end_digest(self) -> None:
        found, self._of_digest = self._of_digest, {}
        for crawl, pages in found.items():
            self._add_size(b"digest", crawl)
            self._add_to_histogram(b"digest", "page", crawl, pages)
        if found:
            self._add(b'["new_items","digest","%b"]' % min(found), 1)


def _add_to(sums: dict[_Key, list[int]], key: _Key, *numbers: int) -> None:
    found = sums.get(key)
    if found is None:
        sums[key] = list(numbers)
    else:
        for place, number in enumerate(numbers):
            found[place] += number
