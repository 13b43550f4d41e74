"""Answer the usual questions about the 2012 crawl, all in one pass."""

from __future__ import annotations

from collections.abc import Iterator

from crawlmill.analysis.metadata_tables import metadata_tables
from crawlmill.formats.crawl2012.valid import valid_metadata
from crawlmill.mr import Columns, CountJob, Record

__all__ = ["MetadataStatistics"]


class MetadataStatistics(CountJob):
    """Count what the metadata of 2012 say about all attempts, in one table per question.

    Reads metadata files. Tables of attempts: disposition, failure, redirect, host, tld, domain. Of responses: status,
    server, content_len. Of bodies: mime, charset, detector, gzip, truncated, download_size, gunzip_content_len. Of what
    was parsed: parsed, links, pages_with_links, links_per_page. Sizes and numbers of links are grouped by powers of
    two: 4096 stands for 4096 to 8191. --top keeps the largest counts of each table.

    A result line is a table with one of its items, and the count: ["status",200]<TAB>1234
    """

    columns = Columns({"question": "string", "item": "string"}, {"count": "int64"})
    formats = ("metadata",)
    types = ("metadata",)

    def process(self, record: Record) -> Iterator[tuple[tuple[str, object], int]]:
        """Yield each table and item that a record counts towards."""
        fields = valid_metadata(record.body()).fields
        for table, item, number in metadata_tables(record.uri or "", fields):
            yield (table, item), number

    def ranked_in(self, key: list[str]) -> str:
        """Rank each table by itself."""
        return key[0]


if __name__ == "__main__":
    MetadataStatistics.run()
