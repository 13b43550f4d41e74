"""Return the extracted texts of the 2012 crawl."""

from __future__ import annotations

from collections.abc import Iterator

from crawlmill.mr import Columns, CrawlJob, Record

__all__ = ["TextData"]


class TextData(CrawlJob):
    """Return the texts that Common Crawl extracted from the pages of 2012.

    Reads textData files; a range of one is a split, so several tasks can share a large file. A URL that was fetched
    twice appears twice.

    A result line is a URL and its text: "http://example.com/"<TAB>"Example Domain ..."
    """

    columns = Columns({"url": "string"}, {"text": "string"})
    formats = ("text_data",)
    types = ("text_data",)

    def process(self, record: Record) -> Iterator[tuple[str | None, str]]:
        """Yield the URL and the text of a record."""
        yield record.uri, record.text()


if __name__ == "__main__":
    TextData.run()
