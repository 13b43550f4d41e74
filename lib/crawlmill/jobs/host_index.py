"""Build a host index: a table with a row for each host of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.indexes.cluster.sharding import shards_of
from crawlmill.indexes.columnar.host_layout import host_part_name
from crawlmill.indexes.columnar.host_rows import HostLines, host_rows
from crawlmill.indexes.columnar.layout import CODECS, crawl_word
from crawlmill.mr.job.sharded import FileGroup, ShardedJob, number_of_files
from crawlmill.mr.task.rows import Pair

__all__ = ["HostIndex"]

_END: Final = b"\0"


class HostIndex(ShardedJob):
    """Build a host index, a table with a row for each host of a crawl, in --output-dir.

    Reads captures: CDXJ and CDX files, clusters, tables of Parquet files; WARC and ARC are indexed on the way. Writes
    crawl=…/part-00000.gz.parquet and so on, with the columns of Common Crawl's own host index, sorted by
    surt_host_name. Columns that captures cannot tell (ranks, the crawler's log) are null: `crawlmill sql --join` adds
    ranks. Crawls follow from the names of WARC files, and robots.txt files from their folders.

    Needs the package pyarrow, on the nodes of a cluster too: pip install 'crawlmill[columnar]'.
    """

    formats = ("warc", "arc", "cdxj", "cdx", "parquet")
    lines_per_file = 30_000_000

    def configure_args(self) -> None:
        """Declare what a table is like."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--parts", type=number_of_files, metavar="N",
            help="files of each crawl (default: one per 30 million captures)")  # fmt: skip
        add("--compression", choices=tuple(CODECS), default="gzip", help="how pages are compressed (default gzip)")
        add("--crawl", type=crawl_word, default="local", metavar="NAME",
            help="the crawl of WARC files whose names are not Common Crawl's (default local)")  # fmt: skip

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """The lines of an input's captures, by the folders of their crawls."""
        lines = HostLines(self.options.crawl)
        for block in self.blocks(reading):
            yield from lines.of(block, _ignore if survey else reading.drop)

    def files_wanted(self) -> int | None:
        """The parts that the user wants of each crawl."""
        wanted: int | None = self.options.parts
        return wanted

    @cached_property
    def file_groups(self) -> dict[bytes, FileGroup]:
        """The crawls and their parts; a part begins with a host, so that no host is in two."""
        groups: dict[bytes, FileGroup] = {}
        first = 0
        for name, group in super().file_groups.items():
            points = sorted({point.partition(_END)[0] + _END for point in group.points})
            groups[name] = FileGroup(name, first, points)
            first += len(points) + 1
        return groups

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the parts of a reduce task; there are no pairs."""
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            self._write_part(int(label), (lines for _, lines in pieces))
        yield from ()

    def _write_part(self, number: int, pieces: Iterator[list[bytes]]) -> None:
        try:
            from crawlmill.indexes.columnar.host_writer import write_host_rows  # noqa: PLC0415 - the launcher needs none
        except ImportError as error:
            raise MissingDependency(
                f"host_index needs the package {error.name}: pip install 'crawlmill[columnar]'"
            ) from error
        group = next(each for each in reversed(self.file_groups.values()) if each.first <= number)
        crawl, compression = group.name.decode().partition("=")[2], self.options.compression
        with self.write_file(host_part_name(crawl, number - group.first, compression)) as file:
            write_host_rows(file, host_rows(chain.from_iterable(pieces)), compression=compression)


def _ignore(_: FormatError) -> None:
    """What the survey is told is told again."""


if __name__ == "__main__":
    HostIndex.run()
