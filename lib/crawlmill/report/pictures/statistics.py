"""Pictures of the statistics of crawls, as written by `crawl_statistics` and published by Common Crawl.

Lines are `[metric, item, crawl]`, and `["histogram", metric, crawl, "page", n]`: the number of things with n pages
each.
"""

from __future__ import annotations

from typing import Any, Final

from crawlmill.report.pictures.model import Bars, Picture, Plot, thinned
from crawlmill.report.tally import number_of

__all__ = ["Statistics", "item_of"]

_SIZES: Final = {
    "fetch": "captures",
    "page": "pages",
    "url": "different URLs",
    "digest": "different contents",
    "host": "hosts",
    "domain": "registered domains",
    "surt_domain": "domains by SURT",
    "tld": "public suffixes",
}
_OVER_TIME: Final = ("page", "url", "digest", "host", "domain")
_HISTOGRAMS: Final = {"url": "URLs", "host": "hosts", "domain": "domains", "tld": "suffixes"}
_MAX_CRAWLS: Final = 200


def item_of(key: list[Any], crawls: int) -> Any:
    """The subject of a key of statistics: its item, with the crawl if there are several."""
    if len(key) == 3 and isinstance(key[2], str):
        return key[1] if crawls < 2 else [key[1], key[2]]
    return key[1:]


class Statistics:
    """Finds sizes and histograms among results; if there are several crawls, the histograms of the newest are used."""

    def __init__(self) -> None:
        self._sizes: dict[str, dict[str, int]] = {}
        self._histograms: dict[str, dict[int, int]] = {name: {} for name in _HISTOGRAMS}
        self._newest = ""

    @property
    def found(self) -> bool:
        """Whether the results are statistics of crawls."""
        return any("page" in sizes for sizes in self._sizes.values())

    @property
    def crawls(self) -> int:
        """The number of crawls."""
        return len(self._sizes)

    def add(self, key: Any, value: Any) -> None:
        """Add a result, of any job."""
        if not isinstance(key, list) or len(key) < 3 or not isinstance(key[2], str) or not isinstance(key[1], str):
            return
        if key[0] == "size" and len(key) == 3 and (number := number_of(value)) is not None:
            if key[2] in self._sizes or len(self._sizes) < _MAX_CRAWLS:
                self._sizes.setdefault(key[2], {})[key[1]] = number
        elif key[0] == "histogram" and len(key) == 5 and key[3] == "page" and key[1] in _HISTOGRAMS:
            if key[2] > self._newest:
                self._newest = key[2]
                self._histograms = {name: {} for name in _HISTOGRAMS}
            if key[2] == self._newest and type(key[4]) is int and type(value) is int and min(key[4], value) > 0:
                self._histograms[key[1]][key[4]] = value

    def pictures(self) -> list[Picture]:
        """The pictures, if the results are statistics."""
        if not self.found:
            return []
        crawls = sorted(self._sizes)
        sizes = self._sizes[crawls[-1]]
        rows: list[list[Any]] = sorted(
            ([name, sizes[item]] for item, name in _SIZES.items() if item in sizes), key=lambda row: -row[1]
        )
        pictures: list[Picture] = [
            Bars(f"Size of {crawls[-1]}", "How many different things of each kind there are.", ["kind", "number"], rows)
        ]
        if len(crawls) > 1:
            over_time = [[crawl, *(self._sizes[crawl].get(item) for item in _OVER_TIME)] for crawl in crawls[::-1]]
            columns = ["crawl", *(_SIZES[item] for item in _OVER_TIME)]
            pictures.append(
                Bars(
                    "Crawl by crawl",
                    "The newest first; the bar is the number of pages.",
                    columns,
                    [row for row in over_time if row[1] is not None],
                )
            )
        series = {
            _HISTOGRAMS[name]: thinned([[n, times] for n, times in sorted(found.items())])
            for name, found in self._histograms.items()
            if found
        }
        if series:
            note = "How many URLs, hosts, domains and public suffixes have so many pages each."
            pictures.append(Plot("Pages of each URL, host and domain", note, "pages", "how many have so many", series))
        return pictures
