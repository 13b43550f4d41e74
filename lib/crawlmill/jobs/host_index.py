"""Build a host index: a table with a row for each host of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from crawlmill.indexes.columnar.host_layout import host_part_name
from crawlmill.indexes.columnar.host_rows import HostLines, host_rows
from crawlmill.mr.job.sorting.tables import TableJob, ignore

__all__ = ["HostIndex"]


class HostIndex(TableJob):
    """Build a host index, a table with a row for each host of a crawl, in --output-dir.

    Reads captures: CDXJ and CDX files, clusters, tables of Parquet files; WARC and ARC are indexed on the way. Writes
    crawl=…/part-00000.gz.parquet and so on, with the columns of Common Crawl's own host index, sorted by
    surt_host_name. Columns that captures do not have (ranks, the crawler's log) are null: `crawlmill sql --join`
    adds ranks. Crawls follow from the names of WARC files, and robots.txt files from their folders.

    Needs the package pyarrow, on the nodes of a cluster too: pip install 'crawlmill[columnar]'.
    """

    formats = ("warc", "arc", "cdxj", "cdx", "parquet")
    lines_per_file = 30_000_000
    unit = "30 million captures"
    key_end = b"\0"

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield the lines of an input's captures, each with the folder of its crawl."""
        lines = HostLines(self.options.crawl)
        for block in self.blocks(reading):
            yield from lines.of(block, ignore if survey else reading.drop)

    def write_part(self, folder: str, number: int, pieces: Iterator[list[bytes]]) -> None:
        """Write one part of a crawl. Parts begin with a new host, so that no host is in two of them."""
        from crawlmill.indexes.columnar.host_writer import write_host_rows  # noqa: PLC0415 - not needed in the launcher

        crawl, compression = folder.partition("=")[2], self.options.compression
        with self.write_file(host_part_name(crawl, number, compression)) as file:
            write_host_rows(file, host_rows(chain.from_iterable(pieces)), compression=compression)


if __name__ == "__main__":
    HostIndex.run()
