"""Give the extracted texts of the 2012 crawl."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

try:
    from crawlmill.mr import CrawlJob
except ModuleNotFoundError:  # not installed: this is the project's own folder
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
    from crawlmill.mr import CrawlJob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlmill.formats.record import Record


class TextData(CrawlJob):
    """Give the texts that Common Crawl extracted from the pages of 2012.

    Reads textData files, of which a range is a split, so that large ones can be shared out. A URL that was fetched
    twice comes twice.

    A result line is a URL and its text: "http://example.com/"<TAB>"Example Domain ..."
    """

    formats = ("text_data",)
    types = ("text_data",)

    def process(self, record: Record) -> Iterator[tuple[str | None, str]]:
        """URL and text."""
        yield record.uri, record.text()


if __name__ == "__main__":
    TextData.run()
