"""Counts of distinct things in the sorted lines of `page`: complete for hosts and domains, partial for other items.

Only one URL, one host and one domain are held at a time; counters are emptied when they hold many keys. Output lines
are pairs of JSON: `["host","e.org","CC-MAIN-2024-10"] TAB [3,2]`. Those of hosts and domains are results; those of
other items are vectors [pages, URLs, hosts, domains] to be summed (`SUMMED`). The native core does the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from crawlmill import core
from crawlmill.analysis.statistics.vectors import PLACES, trimmed

__all__ = ["counted_pages"]

_MAX_KEYS: Final = 200_000
_Key = TypeVar("_Key")
_BY_CAPTURE: Final = ("mimetype", "mimetype_detected", "charset", "languages")


def counted_pages(chunks: Iterable[bytes], *, exact: bool) -> Iterator[bytes]:
    """Yield the pairs for sorted lines, many in each chunk.

    Args:
        chunks: Chunks of whole lines, one partition after another.
        exact: Whether to count more about URLs than their number: their captures, and those that are new in a crawl.

    Raises:
        ValueError: A line is not from `page`.
    """
    native = core.native()
    pages = (_SortedPages if native is None else native.SortedPages)(exact)
    for chunk in chunks:
        yield pages.add(chunk)
    yield pages.finish()


class _SortedPages:
    """The Python version of `SortedPages`."""

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._sums: dict[bytes, list[int]] = {}
        self._alike: dict[tuple[bytes, bytes], list[int]] = {}  # by crawl and facets, of URLs with one kind of them
        self._urls: dict[tuple[bytes, int], int] = {}  # by crawl and number of captures
        self._digests: dict[tuple[bytes, int], int] = {}  # by crawl and number of captures
        self._new: dict[tuple[str, bytes], int] = {}  # by what is new, and crawl
        self._out: list[bytes] = []
        self._domain = self._host = self._url = self._digest = b""
        self._kind = b""
        self._tld = b""
        self._of_url: dict[bytes, dict[bytes, int]] = {}  # by crawl, the facets of its captures
        self._of_host: dict[bytes, list[int]] = {}  # by crawl
        self._of_surt: dict[tuple[bytes, bytes], list[int]] = {}  # of a host, by crawl and SURT domain
        self._of_domain: dict[bytes, list[int]] = {}  # by crawl
        self._of_digest: dict[bytes, int] = {}  # by crawl

    def add(self, chunk: bytes) -> bytes:
        """Add whole lines; returns some pairs."""
        for line in chunk.split(b"\n"):
            text = line.partition(b"\t")[2]
            kind = text[:1]
            if kind in (b"p", b"r"):
                self._take(kind, text[1:])
            elif kind == b"d":
                self._take_digest(text[1:])
            elif kind == b"c":
                self._out.append(text[1:])
        if len(self._sums) + len(self._alike) + len(self._urls) + len(self._digests) > _MAX_KEYS:
            self._drain()
        return self._given()

    def finish(self) -> bytes:
        """Return the remaining pairs."""
        self._end_domain()
        self._end_digest()
        self._drain()
        return self._given()

    def _given(self) -> bytes:
        lines, self._out = self._out, []
        return b"\n".join([*lines, b""]) if lines else b""

    def _drain(self) -> None:
        for (crawl, said), (pages, urls) in self._alike.items():
            scheme, *by_capture = said.split(b"\0")
            self._add_item("scheme", scheme, crawl, pages, urls)
            for metric, item in zip(_BY_CAPTURE, by_capture, strict=True):
                if item:
                    self._add_item(metric, item, crawl, pages, urls)
            if languages := by_capture[3]:
                self._add_item("primary_language", languages.partition(b",")[0], crawl, pages, urls)
        for (crawl, captures), number in self._urls.items():
            self._add_size(b"url", crawl, number)
            if self._exact:
                self._add_to_histogram(b"url", "page", crawl, captures, number)
        for (crawl, captures), number in self._digests.items():
            self._add_size(b"digest", crawl, number)
            self._add_to_histogram(b"digest", "page", crawl, captures, number)
        for (what, crawl), number in self._new.items():
            self._add(b'["new_items","%b","%b"]' % (what.encode(), crawl), number)
        sums, self._sums, self._alike, self._urls, self._digests, self._new = self._sums, {}, {}, {}, {}, {}
        for key, vector in sums.items():
            value = b"[%b]" % b",".join(b"%d" % number for number in vector) if len(vector) > 1 else b"%d" % vector[0]
            self._out.append(b"%b\t%b" % (key, value))

    def _add(self, key: bytes, *numbers: int) -> None:
        _add_to(self._sums, key, *numbers)

    def _add_item(self, metric: str, item: bytes, crawl: bytes, *numbers: int) -> None:
        self._add(b'["%b","%b","%b"]' % (metric.encode(), item, crawl), *numbers)

    def _add_size(self, what: bytes, crawl: bytes, number: int = 1) -> None:
        self._add(b'["size","%b","%b"]' % (what, crawl), number)

    def _add_to_histogram(self, metric: bytes, place: str, crawl: bytes, number: int, times: int = 1) -> None:
        self._add(b'["histogram","%b","%b","%b",%d]' % (metric, crawl, place.encode(), number), times)

    def _take(self, kind: bytes, text: bytes) -> None:
        domain, host, url, crawl, facets = text.split(b"\0", 4)
        if domain != self._domain:
            self._end_domain()
            self._domain, self._host = domain, host
        elif host != self._host:
            self._end_host()
            self._host = host
        elif url != self._url or kind != self._kind:
            self._end_url()
        self._url, self._kind = url, kind
        captures = self._of_url.get(crawl)
        if captures is None:
            self._of_url[crawl] = {facets: 1}
        else:
            captures[facets] = captures.get(facets, 0) + 1

    def _end_url(self) -> None:
        found = self._of_url
        if not found:
            return
        self._of_url = {}
        if self._kind == b"r":
            for crawl, captures in found.items():
                self._end_robots(crawl, captures)
            return
        for crawl, captures in found.items():
            self._end_page(crawl, captures)
        if self._exact:
            new = "url", min(found)
            self._new[new] = self._new.get(new, 0) + 1

    def _end_robots(self, crawl: bytes, captures: dict[bytes, int]) -> None:
        for status, number in captures.items():
            self._add(b'["robotstxt_status",%b,"%b"]' % (status, crawl), number, 1)
        self._add(b'["size_robotstxt","page","%b"]' % crawl, sum(captures.values()))
        self._add(b'["size_robotstxt","url","%b"]' % crawl, 1)

    def _end_page(self, crawl: bytes, captures: dict[bytes, int]) -> None:
        if len(captures) == 1:
            [(facets, pages)] = captures.items()
            surt, self._tld, said = facets.split(b"\0", 2)
            _add_url(self._alike, (crawl, said), pages)
            _add_url(self._of_surt, (crawl, surt), pages)
        else:
            pages = self._end_mixed(crawl, captures)
        self._urls[crawl, pages] = self._urls.get((crawl, pages), 0) + 1
        _add_url(self._of_host, crawl, pages)
        if not self._host:
            self._end_surts(0)  # there may be many of them, and no hosts to count

    def _end_mixed(self, crawl: bytes, captures: dict[bytes, int]) -> int:
        """Count the captures of a URL with different facets; returns the number of its pages."""
        pages = sum(captures.values())
        counted: dict[tuple[str, bytes], int] = {}
        surts: dict[bytes, int] = {}
        scheme = b""
        for facets, number in captures.items():
            surt, self._tld, scheme, *by_capture = facets.split(b"\0")
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
        for surt, number in surts.items():
            _add_url(self._of_surt, (crawl, surt), number)
        return pages

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
        found = self._of_digest
        if not found:
            return
        self._of_digest = {}
        for item in found.items():
            self._digests[item] = self._digests.get(item, 0) + 1
        new = "digest", min(found)
        self._new[new] = self._new.get(new, 0) + 1


def _add_url(sums: dict[_Key, list[int]], key: _Key, pages: int) -> None:
    found = sums.get(key)
    if found is None:
        sums[key] = [pages, 1]
    else:
        found[0] += pages
        found[1] += 1


def _add_to(sums: dict[_Key, list[int]], key: _Key, *numbers: int) -> None:
    found = sums.get(key)
    if found is None:
        sums[key] = list(numbers)
    else:
        for place, number in enumerate(numbers):
            found[place] += number
