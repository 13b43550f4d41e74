"""Build the columnar index: a table of captures in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.indexes.cdx.archive import IndexOptions
from crawlmill.indexes.cluster.sharding import shards_of
from crawlmill.indexes.columnar.checked import LineChecker
from crawlmill.indexes.columnar.layout import CODECS, crawl_word, part_name
from crawlmill.mr.job.sharded import ShardedJob, number_of_files
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.rows import Pair

__all__ = ["UrlTable"]

_ROWS: Final = 1_000_000


class UrlTable(ShardedJob):
    """Build the columnar index, a table of captures in Parquet files, in --output-dir.

    Reads WARC and ARC, which are indexed as `crawlmill index` does, CDX and CDXJ files, plain or gzip, and the shards
    of clusters. Writes crawl=…/subset=…/part-00000.c000.gz.parquet and so on, with the columns and types of Common
    Crawl's own table, sorted by url_surtkey within each part. Crawl and subset follow from the names of WARC files.

    A line that cannot be a row (no date that exists, no URL, an offset beyond 2 GiB) is reported with its number.
    Needs the package pyarrow, on the nodes of a cluster too: pip install 'crawlmill[columnar]'.
    """

    lines_per_file = 10_000_000

    def configure_args(self) -> None:
        """Declare what a table is like."""
        super().configure_args()
        add = self.add_passthru_arg
        add(
            "--parts",
            type=number_of_files,
            metavar="N",
            help="files of each crawl and subset (default: one per 10 million rows)",
        )
        add("--rows", type=whole_number(1), default=_ROWS, metavar="N",
            help="most rows of a row group, which a task holds in memory (default 1,000,000)")  # fmt: skip
        add("--compression", choices=tuple(CODECS), default="gzip", help="how pages are compressed (default gzip)")
        add("--record-ids", action="store_true", help="also write the column warc_record_id")
        for name, default in (("crawl", "local"), ("subset", "warc")):
            add(f"--{name}", type=crawl_word, default=default, metavar="NAME",
                help=f"the {name} of WARC files whose names are not Common Crawl's (default {default})")  # fmt: skip

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """The lines of an input that can be rows, by the folders of their partitions."""
        checker = LineChecker(self.options.crawl, self.options.subset)
        for block in self.blocks(reading):
            yield from checker.check(block, _ignore if survey else reading.drop)

    def files_wanted(self) -> int | None:
        """The parts that the user wants of each partition."""
        wanted: int | None = self.options.parts
        return wanted

    @cached_property
    def index_options(self) -> IndexOptions:
        """What is indexed of archives, and how: with record ids, if they are wanted."""
        extra = self.options.fields
        if self.options.record_ids and "recordid" not in extra:
            extra = ("recordid", *extra)
        return IndexOptions(self.options.records, "cdxj", extra)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the parts of a reduce task; there are no pairs."""
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            self._write_part(int(label), (lines for _, lines in pieces))
        yield from ()

    def _write_part(self, number: int, pieces: Iterator[list[bytes]]) -> None:
        try:
            from crawlmill.indexes.columnar.writer import PartWriter  # noqa: PLC0415 - the launcher needs no pyarrow
        except ImportError as error:
            raise MissingDependency(
                f"url_table needs the package {error.name}: pip install 'crawlmill[columnar]'"
            ) from error
        group = next(each for each in reversed(self.file_groups.values()) if each.first <= number)
        options = self.options
        with self.write_file(part_name(group.name.decode(), number - group.first, options.compression)) as file:
            part = PartWriter(file, rows=options.rows, compression=options.compression, record_ids=options.record_ids)
            for lines in pieces:
                part.write(lines)
            part.close()


def _ignore(_: FormatError) -> None:
    """What the survey is told is told again."""


if __name__ == "__main__":
    UrlTable.run()
