"""Find the sitemaps that robots.txt files name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crawlmill.analysis.links.hosts import host_of_url
from crawlmill.analysis.links.robots import is_robots_txt, sitemaps_in
from crawlmill.mr import Columns, CrawlJob, FormatError, Reading, Record

__all__ = ["Sitemaps"]


class Sitemaps(CrawlJob):
    """Find the sitemaps that robots.txt files name.

    Reads WARC and ARC, such as the robotstxt files of a crawl: the responses with status 200 whose path is /robots.txt,
    up to --max-body. Lines are read as RFC 9309 says; relative URLs are resolved by the URL standard, and invalid
    URLs are left out.

    A result line is the URL of a sitemap and the hosts that name it, sorted: "http://a.com/map.xml"<TAB>["a.com"]
    """

    columns = Columns({"sitemap": "string"}, {"hosts": "json"})
    formats = ("warc", "arc")
    types = ("response",)

    def read(self, reading: Reading) -> Iterator[tuple[str, str]]:
        """Yield the sitemaps and hosts of one input as they are found: a file may name very many."""
        for record in self.watched(reading):
            try:
                found = self.sitemaps_of(record)
            except FormatError as error:
                reading.lose(error, record)
                continue
            yield from found

    def sitemaps_of(self, record: Record) -> Iterable[tuple[str, str]]:
        """The sitemaps that a response names, each with its host. Raises: FormatError."""
        url = record.uri
        if url is None or not record.holds_http or not is_robots_txt(url) or record.http.status != 200:
            return ()
        host = host_of_url(url) or ""
        return ((target, host) for target in sitemaps_in(record.body(), url))

    def reducer(self, sitemap: str, hosts: Iterable[Any]) -> Iterator[tuple[str, list[str]]]:
        """Yield a sitemap with its hosts, sorted, each once."""
        yield sitemap, sorted(set(hosts))


if __name__ == "__main__":
    Sitemaps.run()
