"""Build the columnar index: a table of captures in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from crawlmill.indexes.cdx.archive import IndexOptions
from crawlmill.indexes.columnar.checked import LineChecker
from crawlmill.indexes.columnar.layout import crawl_word, part_name
from crawlmill.mr.job.sorting.tables import TableJob, ignore
from crawlmill.mr.run.options import whole_number

__all__ = ["UrlTable"]

_ROWS: Final = 1_000_000


class UrlTable(TableJob):
    """Build the columnar index, a table of captures in Parquet files, in --output-dir.

    Reads WARC and ARC, which are indexed as `crawlmill index` does, CDX and CDXJ files, plain or gzip, and the shards
    of clusters. Writes crawl=…/subset=…/part-00000.c000.gz.parquet and so on, with the columns and types of Common
    Crawl's own table, sorted by url_surtkey within each part. Crawl and subset follow from the names of WARC files.

    A line that cannot be a row (no date that exists, no URL, an offset beyond 2 GiB) is reported with its number.
    Needs the package pyarrow, on the nodes of a cluster too: pip install 'crawlmill[columnar]'.
    """

    lines_per_file = 10_000_000
    group = "crawl and subset"
    unit = "10 million rows"

    def configure_args(self) -> None:
        """Declare the options of the table."""
        super().configure_args()
        add = self.add_passthru_arg
        add(
            "--rows",
            type=whole_number(1),
            default=_ROWS,
            metavar="N",
            help="most rows of a row group, which a task holds in memory (default 1,000,000)",
        )
        add("--record-ids", action="store_true", help="also write the column warc_record_id")
        add(
            "--subset",
            type=crawl_word,
            default="warc",
            metavar="NAME",
            help="the subset of WARC files whose names are not Common Crawl's (default warc)",
        )

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield the lines of an input that can become rows, each with the folder of its partition."""
        checker = LineChecker(self.options.crawl, self.options.subset)
        for block in self.blocks(reading):
            yield from checker.check(block, ignore if survey else reading.drop)

    @cached_property
    def index_options(self) -> IndexOptions:
        """What to index of archives; with record ids, if they are among the columns."""
        extra = self.options.fields
        if self.options.record_ids and "recordid" not in extra:
            extra = ("recordid", *extra)
        return IndexOptions(self.options.records, "cdxj", extra)

    def write_part(self, folder: str, number: int, pieces: Iterator[list[bytes]]) -> None:
        """Write one part of a partition."""
        from crawlmill.indexes.columnar.writer import PartWriter  # noqa: PLC0415 - the launcher does not need pyarrow

        options = self.options
        with self.write_file(part_name(folder, number, options.compression)) as file:
            part = PartWriter(file, rows=options.rows, compression=options.compression, record_ids=options.record_ids)
            for lines in pieces:
                part.write(lines)
            part.close()


if __name__ == "__main__":
    UrlTable.run()
