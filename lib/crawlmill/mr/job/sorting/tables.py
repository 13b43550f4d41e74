"""`TableJob`: the base class of jobs that write Parquet tables: a folder for each group, with parts of equal size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import ClassVar

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.indexes.cluster.sharding import shards_of
from crawlmill.indexes.columnar.layout import CODECS, crawl_word
from crawlmill.mr.job.sorting.sharded import FileGroup, ShardedJob, number_of_files
from crawlmill.mr.task.rows import Pair

__all__ = ["TableJob", "ignore"]


class TableJob(ShardedJob):
    """A subclass assigns lines to groups (`grouped`) and writes the parts (`write_part`)."""

    group: ClassVar[str] = "crawl"
    """What the groups are, for the help."""

    unit: ClassVar[str]
    """What `lines_per_file` are: "10 million rows"."""

    key_end: ClassVar[bytes] = b""
    """What ends the key of a line: no key is in two parts. Empty if that may be."""

    def configure_args(self) -> None:
        """Declare the options that all tables share."""
        super().configure_args()
        add = self.add_passthru_arg
        add(
            "--parts",
            type=number_of_files,
            metavar="N",
            help=f"files of each {self.group} (default: one per {self.unit})",
        )
        add("--compression", choices=tuple(CODECS), default="gzip", help="how pages are compressed (default gzip)")
        add(
            "--crawl",
            type=crawl_word,
            default="local",
            metavar="NAME",
            help="the crawl of WARC files whose names are not Common Crawl's (default local)",
        )

    def files_wanted(self) -> int | None:
        """The number of parts per group that the user asked for."""
        wanted: int | None = self.options.parts
        return wanted

    def write_part(self, folder: str, number: int, pieces: Iterator[list[bytes]]) -> None:
        """Write a part of a group's folder from chunks of its sorted lines. Import pyarrow only in here."""
        raise NotImplementedError(f"{type(self).__name__} has no write_part()")

    @cached_property
    def file_groups(self) -> dict[bytes, FileGroup]:
        """The groups and their parts."""
        if not self.key_end:
            return super().file_groups
        groups: dict[bytes, FileGroup] = {}
        first = 0
        for name, group in super().file_groups.items():
            points = sorted({point.partition(self.key_end)[0] + self.key_end for point in group.points})
            groups[name] = FileGroup(name, first, points)
            first += len(points) + 1
        return groups

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the parts of a reduce task; yields no pairs."""
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            number = int(label)
            group = next(each for each in reversed(self.file_groups.values()) if each.first <= number)
            try:
                self.write_part(group.name.decode(), number - group.first, (lines for _, lines in pieces))
            except ImportError as error:
                raise MissingDependency(
                    f"{self.name()} needs the package {error.name}: pip install 'crawlmill[columnar]'"
                ) from error
        yield from ()


def ignore(_: FormatError) -> None:
    """Ignore an error found by the survey: it is reported when the input is processed."""
