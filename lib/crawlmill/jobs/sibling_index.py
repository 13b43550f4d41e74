"""Build a sibling index: where each page of a crawl is in its WARC, WAT and WET files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final

from crawlmill.errors import Problem, UsageError
from crawlmill.extraction.beside import with_siblings
from crawlmill.indexes.cdx.archive import DEFAULT_TYPES, IndexOptions
from crawlmill.indexes.cdx.names import file_name
from crawlmill.indexes.columnar.host_layout import host_part_name
from crawlmill.indexes.columnar.layout import SIBLINGS, partition_of
from crawlmill.inputs.reading import ReadOptions
from crawlmill.mr.job.sorting.tables import TableJob

__all__ = ["SiblingIndex"]

_AT_ONCE: Final = 1000


class SiblingIndex(TableJob):
    """Build a sibling index in --output-dir: a table that says where each page is in WARC, WAT and WET files.

    Reads lists of WARC files; the WAT and WET files are found beside them, by their names. A row is a page (a response,
    revisit or resource): its key, URL and time, record id, Last-Modified, and file, offset and length of its record in
    each of the three. It joins captures as an annotation, and `crawlmill lookup --kind wet` looks up in it.

    Only heads are read, and members are proven by their lengths; --verify proves all bytes. Writes
    crawl=…/part-00000.gz.parquet and so on, sorted by url_surtkey. Needs the package pyarrow, on the nodes of a cluster
    too: pip install 'crawlmill[columnar]'.
    """

    formats = ("warc",)
    lines_per_file = 10_000_000
    unit = "10 million pages"
    key_end = b" "

    def configure_args(self) -> None:
        """Declare the options of the table."""
        super().configure_args()
        add = self.add_passthru_arg
        add(
            "--siblings",
            default=",".join(SIBLINGS),
            metavar="A,B",
            help="the kinds of files to look in besides WARC: wat,wet (default), or one of them",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        self.siblings = tuple(filter(None, self.options.siblings.split(",")))
        if unknown := sorted(set(self.siblings) - set(SIBLINGS)):
            raise UsageError(f"--siblings {unknown[0]}", expected=", ".join(SIBLINGS))

    @cached_property
    def read_options(self) -> ReadOptions:
        """Read only the heads of records, unless --verify is given."""
        options = super().read_options
        return options if options.verify else replace(options, heads_only=True)

    @property
    def index_options(self) -> IndexOptions:
        """What to index of WARC files; in the survey, only what the native core can index by itself."""
        return IndexOptions(self.options.records, "cdxj", () if self._surveying else ("recordid", "last-modified"))

    _surveying = False

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield the lines of a WARC file's pages, with the places of their siblings, by the folder of their crawl."""
        self._surveying = survey
        found = partition_of(self._name_of(reading.item))
        folder = f"crawl={found.crawl if found else self.options.crawl}".encode()
        lines = (block.data for block in self.blocks(reading))
        if survey:
            yield from ((folder, data) for data in lines)
            return
        options = self.options

        def name_of(location: str) -> str:
            return file_name(location, root=options.dir_root, prefix=options.filename_prefix)

        def lose(problem: Problem) -> None:
            reading.row.lose(problem)

        def complete() -> bool:
            whole = reading.item.length is None and options.records == DEFAULT_TYPES
            return whole and not reading.selection.criteria and not reading.row.lost

        has_siblings = found is None or found.subset in ("warc", "news-warc")
        every = with_siblings(
            lines,
            reading.item.location,
            self.siblings if has_siblings else (),
            self.storage,
            self.read_options,
            name_of=name_of,
            watch=self.watched,
            lose=lose,
            complete=complete,
        )
        while some := b"".join(islice(every, _AT_ONCE)):
            yield folder, some

    def write_part(self, folder: str, number: int, pieces: Iterator[list[bytes]]) -> None:
        """Write one part of a crawl; the survey compares keys alone, so a part begins with a new key."""
        from crawlmill.indexes.columnar.sibling_table import write_sibling_rows  # noqa: PLC0415 - only reducers need it

        crawl, compression = folder.partition("=")[2], self.options.compression
        with self.write_file(host_part_name(crawl, number, compression)) as file:
            write_sibling_rows(file, chain.from_iterable(pieces), compression=compression)


if __name__ == "__main__":
    SiblingIndex.run()
