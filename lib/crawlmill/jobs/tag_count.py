"""Count HTML start tags."""

from __future__ import annotations

from crawlmill.analysis.tags import TagCounter
from crawlmill.mr import Columns, CountJob, Record, counted_natively

__all__ = ["TagCount"]


class TagCount(CountJob):
    """Count the HTML start tags of a crawl's pages.

    Reads WARC and ARC. Counts the start tags in the source of responses whose Content-Type is text/html or
    application/xhtml+xml, as the WHATWG tokenizer finds them; names are in lower case.

    A result line is a tag's name and its count: "div"<TAB>1234
    """

    columns = Columns({"tag": "string"}, {"count": "int64"})
    formats = ("warc", "arc")
    types = ("response",)

    def make_counter(self) -> TagCounter:
        """A counter of start tags."""
        return TagCounter()

    @counted_natively
    def count(self, record: Record, counter: TagCounter) -> None:
        """Count the tags of a page."""
        if record.holds_http and record.http.is_html:
            counter.add(record.page())


if __name__ == "__main__":
    TagCount.run()
