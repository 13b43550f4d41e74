"""Extract structured data from pages: microdata, RDFa, JSON-LD and microformats2, as N-Quads."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from argparse import SUPPRESS
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, Final
from zlib import crc32

from crawlmill.analysis.structured.markup import FORMATS, formats_in, page_filter
from crawlmill.analysis.structured.quads import node_prefix
from crawlmill.analysis.structured.statistics import PageCounter, totals
from crawlmill.errors import FormatError, MissingDependency, UsageError
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.indexes.cdx.fields import capture_fields
from crawlmill.indexes.cdx.names import file_name
from crawlmill.indexes.cluster.sharding import shards_of
from crawlmill.indexes.cluster.shards import Member, cluster_idx, cluster_loc, metadata_yaml
from crawlmill.indexes.quads.pages import Page, pages_of, shuffled_line, survey_line
from crawlmill.indexes.quads.writer import CAPTURES_PER_MEMBER, QuadWriter, captures_name, part_name
from crawlmill.inputs.lists import Inputs
from crawlmill.mr.compat import MRStep
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.job.sorting.sharded import ShardedJob, number_of_files
from crawlmill.mr.run.results import Results
from crawlmill.mr.task.pairs import ENCODED
from crawlmill.mr.task.rows import Pair
from crawlmill.sorting import sort_lines
from crawlmill.storage import Storage
from crawlmill.urls.surt import urlkey

__all__ = ["StructuredData"]

_NEEDED: Final = ("turbohtml", "pyoxigraph")
_FEW_TASKS: Final = 16
_REDUCERS: Final = 16
_SORT_MEMORY: Final = 64 << 20


class StructuredData(ShardedJob):
    """Extract structured data from pages, as N-Quads.

    Reads WARC and ARC. Takes the pages among their responses (text/html, application/xhtml+xml) and extracts microdata,
    RDFa 1.1, JSON-LD and microformats2. A page's URI is the graph of its quads. Pages are sorted by urlkey.

    With --output-dir the quads come in gzip members (part-00000.nq.gz …), beside a cluster of the pages' captures, so
    that `crawlmill lookup '*.example.com' --index DIR` prints the quads of pages; without it they are printed. What
    cannot be taken is left out, and counted in _run.json: JSON-LD that names a context other than schema.org's
    (unknown-context) or is not valid (bad-json-ld), and pages that are too-deep or too-large.

    Needs packages, on the nodes of a cluster too: pip install 'crawlmill[structured]'.
    """

    items: ClassVar[type[Any]] = Record
    formats = ("warc", "arc")
    types = ("response",)
    heads_suffice = False
    streamed = False
    lines_per_file = 500_000

    def configure_args(self) -> None:
        """Declare what to extract and how to write it."""
        CrawlJob.configure_args(self)  # not those of capture jobs, which accept index files too
        add = self.add_passthru_arg
        add(
            "--formats",
            dest="data_formats",
            type=_formats,
            default=FORMATS,
            metavar="A,B",
            help=f"the formats to extract, separated by commas (default: all: {','.join(FORMATS)})",
        )
        add(
            "--statistics",
            action="store_true",
            help="print how many pages, hosts, domains and triples say what, in place of quads",
        )
        add(
            "--parts",
            type=number_of_files,
            metavar="N",
            help="files of quads to write (default: one per 500,000 pages)",
        )
        add("--print-quads", action="store_true", help=SUPPRESS)  # set for tasks if there is no --output-dir
        names = self.arg_parser.add_mutually_exclusive_group()
        for option, meta, text in (
            ("--dir-root", "DIR", "name archives relative to this folder"),
            ("--filename-prefix", "P", "begin the names of archives with this"),
        ):
            self._passthru_arg_dests.add(names.add_argument(option, metavar=meta, help=text).dest)

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        if self.options.statistics and self.options.parts:
            raise UsageError("--parts: statistics are one file")
        if self.is_task() or self.options.worker is not None:
            return
        if self._is_here:
            _check_packages()
        if not self.options.output_dir:
            self._cl_args = [*self._cl_args, "--print-quads"]
            self.options.print_quads = True

    # In the launcher

    def needs_output_dir(self) -> bool:
        """False: without an output folder the quads are printed."""
        return False

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:  # noqa: ARG002
        """Read the lists; captures name records to read, as with any job over records."""
        return read(lists)

    def selection(self) -> Selection:
        """Which records to process."""
        return CrawlJob.selection(self)

    def steps(self) -> list[MRStep]:
        """Sort the pages; to count statistics, add up in one more step."""
        steps = super().steps()
        if self.options.statistics:
            steps.append(MRStep(reducer=self._sum))
        return steps

    def finish(self, results: Results) -> None:
        """Write the index of the quads, or the statistics."""
        if self.options.statistics:
            with results.write("part-00000") as file:
                file.writelines(sorted(results.lines()))
            return
        numbers: list[int] = []
        pages = members = 0

        def counted(lines: Any) -> Iterator[tuple[str, Member]]:
            nonlocal pages, members
            for line in lines:
                label, place, start = line.rstrip(b"\n").split(b"\t", 2)
                offset, length, count = map(int, place.split(b" "))
                number = int(label[:5])
                if numbers[-1:] != [number]:
                    numbers.append(number)
                pages, members = pages + count, members + 1
                yield captures_name(number), Member(start, offset, length, count)

        with (
            tempfile.TemporaryDirectory() as folder,
            sort_lines(results.lines(), Path(folder), _SORT_MEMORY) as lines,
            results.write("cluster.idx") as file,
        ):
            file.writelines(cluster_idx(counted(lines)))
        with results.write("cluster.loc") as file:
            file.write(cluster_loc(map(captures_name, numbers)))
        with results.write("metadata.yaml") as file:
            file.write(
                metadata_yaml(lines=pages, members=members, shards=len(numbers), lines_per_member=CAPTURES_PER_MEMBER)
            )
        if not numbers:  # an empty result has one part, too
            with results.write(part_name(0)) as file:
                file.write(b"")

    # In the tasks

    def files_wanted(self) -> int | None:
        """The number of parts that the user asked for; printed quads are one part."""
        if self.options.statistics:
            return _REDUCERS
        wanted: int | None = self.options.parts
        return 1 if self.options.print_quads else wanted

    def survey(self, reading: Any) -> Iterator[Pair]:
        """Yield a sample of an input's pages, unless there is only one part or there are few inputs."""
        tasks = int(os.environ.get("mapreduce_job_maps", "1"))  # noqa: SIM112 - Hadoop's name
        wanted = self.files_wanted()
        if wanted == 1 or (wanted is None and tasks <= _FEW_TASKS) or self.options.statistics:
            return iter(())
        return super().survey(reading)

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield the pages of an input, all in one group."""
        name = file_name(reading.item.location, root=self.options.dir_root, prefix=self.options.filename_prefix)
        if not survey:
            reading.counter = page_filter(self._wanted)  # drops most other records before they reach Python
        for record in self.watched(reading):
            try:
                if not record.holds_http or not record.http.is_html:
                    continue
                if survey:
                    if record.uri:
                        yield b"", survey_line(urlkey(record.uri))
                    continue
                line = self._line(record, name, reading.row.skipped)
            except FormatError as error:
                if not survey:
                    reading.lose(error, record)
                continue
            if line is not None:
                yield b"", line

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.options.data_formats)

    def _line(self, record: Record, filename: str, skipped: Any) -> bytes | None:
        """The line of a page; None if it holds no structured data."""
        found = formats_in(record.page(), self._wanted)
        if not found or not record.uri:
            return None
        _check_packages()
        from crawlmill.analysis.structured.extract import extract  # noqa: PLC0415 - most pages hold none

        uri, date = record.uri, record.date or ""
        name = (record.get("WARC-Record-ID") or "") if isinstance(record, WarcRecord) else ""
        said = extract(record.text(), uri, found, node_prefix(uri, date, name))
        timestamp = timestamp_of(date)
        if said is None or timestamp is None:
            skipped["bad-uri" if said is None else "bad-date"] += 1
            return None
        skipped.update(said.skipped)
        if not said.quads:
            return None
        capture = capture_fields(record, filename)
        return shuffled_line(urlkey(uri), said.graph[1:-1], timestamp, capture, said.quads)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the parts of a reduce task, or yield the quads or their counts as lines."""
        options = self.options
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            keys = pages_of(chain.from_iterable(lines for _, lines in pieces))
            if options.statistics:
                yield from _counted(chain.from_iterable(keys))
            elif options.print_quads:
                yield from ((ENCODED, text) for text in _printed(keys))
            else:
                yield from self._write_part(int(label), keys)

    def _write_part(self, number: int, keys: Iterator[Iterator[Page]]) -> Iterator[Pair]:
        with ExitStack() as files:
            quads = files.enter_context(self.write_file(part_name(number)))
            captures = files.enter_context(self.write_file(captures_name(number)))
            writer = QuadWriter(number, quads, captures)
            members = chain(chain.from_iterable(map(writer.write, keys)), _closed(writer))
            for order, each in enumerate(members):
                place = f"{each.offset} {each.length} {each.lines}"
                yield ENCODED, b"%05d%09d\t%s\t%s\n" % (number, order, place.encode(), each.start)

    def _sum(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:  # noqa: ARG002
        lines = (value.rstrip(b"\t").decode("utf-8", "surrogateescape") for value in values)
        for name, numbers in totals(lines):
            text = f"{name}\t{json.dumps(numbers, separators=(',', ':'))}\n"
            yield ENCODED, text.encode("utf-8", "surrogateescape")

    @property
    def _is_here(self) -> bool:
        """Whether tasks run on this machine, with its installed packages."""
        return self.options.runner in (None, "inline", "local")


def _closed(writer: QuadWriter) -> Iterator[Member]:
    yield from writer.close()


def _printed(keys: Iterator[Iterator[Page]]) -> Iterator[bytes]:
    for pages in keys:
        for _, _, lines in sorted((page.timestamp, json.dumps(page.capture), page.lines()) for page in pages):
            yield "".join(f"{line}\n" for line in lines).encode()


def _counted(pages: Iterator[Page]) -> Iterator[Pair]:
    counter = PageCounter()

    def drained() -> Iterator[Pair]:
        for key, line in counter.drain():
            text = f"{crc32(key.encode('utf-8', 'surrogateescape')) % _REDUCERS:05}\t{line}\n"
            yield ENCODED, text.encode("utf-8", "surrogateescape")

    for page in pages:
        counter.add(page.uri, page.quads)
        if counter.is_full:
            yield from drained()
    yield from drained()


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := [name for name in names if name not in FORMATS]:
        raise UsageError("--formats", expected=f"names out of {', '.join(FORMATS)}", actual=", ".join(unknown))
    return names


def _check_packages() -> None:
    """Check that the packages of the extra are installed. Raises: MissingDependency."""
    for name in _NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingDependency(f"structured_data needs the package {name}: pip install 'crawlmill[structured]'")


if __name__ == "__main__":
    StructuredData.run()
