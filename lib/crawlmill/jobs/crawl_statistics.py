"""Count the statistics of crawls, in the form in which Common Crawl publishes them."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Final

from crawlmill.analysis.statistics.compare import Sketches, compared, read_sketches
from crawlmill.analysis.statistics.page_lines import PageLines, crawl_in
from crawlmill.analysis.statistics.sketch import Sketch
from crawlmill.analysis.statistics.tally import counted_pages
from crawlmill.analysis.statistics.vectors import ITEMS, SUMMED, histograms_of, summed, trimmed
from crawlmill.errors import CrawlmillError, FormatError, UsageError
from crawlmill.indexes.capture import disk_fields
from crawlmill.indexes.cdx.block import Block
from crawlmill.mr.compat import MRStep
from crawlmill.mr.job.published import published_lines
from crawlmill.mr.job.sorting.sharded import SortingJob
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.largest import Largest
from crawlmill.mr.task.pairs import ENCODED, JsonPairs, encode_pair
from crawlmill.mr.task.rows import Pair
from crawlmill.results.columns import Columns
from crawlmill.storage.locations import absolute

__all__ = ["CrawlStatistics"]

_MAX_KEYS: Final = 100_000
_COMPARED: Final = "\0compared"


class CrawlStatistics(SortingJob):
    """Count the statistics of crawls: sizes, hosts, domains, media types, charsets, languages.

    Reads URL indexes (CDX and CDXJ files, clusters, tables of Parquet files) and the captures of WARC and ARC files.
    Prints the lines that Common Crawl publishes as statistics of its crawls, so that both can be merged and plotted by
    the same programs.
    Distinct things are counted exactly, in bounded memory; URLs and digests are also sketched (HyperLogLog).

    A result line is [metric, item, crawl] and a number, or a list of the numbers of pages, URLs, hosts and domains:
    ["tld","org","CC-MAIN-2024-10"]<TAB>[123,100,7,5]
    """

    formats = ("warc", "arc", "cdxj", "cdx", "parquet")
    columns = Columns({"key": "json"}, {"value": "json"})  # keys of three to five items
    writes_files = False
    publishes_pairs = True
    # The order of the results depends on this number, which therefore must not depend on the tasks.
    JOBCONF: ClassVar[dict[str, Any]] = {**SortingJob.JOBCONF, "mapreduce.job.reduces": 16}

    def configure_args(self) -> None:
        """Declare the options for accuracy and for comparison with earlier crawls."""
        super().configure_args()
        group = self.arg_parser.add_argument_group("statistics")
        self._pass_on(
            group,
            "--crawl",
            metavar="ID",
            help="the crawl of all captures (default: the id in the path of their index, or in the name of their file)",
        )
        self._pass_on(group, "--exact", action="store_true", help="count distinct digests and new items, too (default)")
        self._pass_on(group, "--sketch", action="store_true", help="estimate them only, which takes less time")
        self._pass_on(
            group,
            "--compare",
            action="append",
            default=[],
            metavar="EARLIER",
            help="statistics of earlier "
            "crawls to compare sizes with: a file, or a folder of output, that tasks can read; may be "
            "repeated",
        )
        self._pass_on(group, "--top", type=whole_number(1), metavar="N", help="only the N largest items of each metric")

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        _absolute_values(args, "--compare")  # in place, since tasks get the same arguments but run in other folders
        super(SortingJob, self).load_args(args)
        if self.options.exact and self.options.sketch:
            raise UsageError("--exact and --sketch exclude each other")
        if not self.is_task() and self.options.worker is None:
            self._earlier  # noqa: B018 - report sketches that cannot be compared before anything runs

    def pick_protocols(self, step_num: int, step_type: str) -> tuple[Any, Any]:
        """Use the protocol of sorted lines in the first step only."""
        if step_num == 0:
            picked: tuple[Any, Any] = super().pick_protocols(step_num, step_type)
            return picked
        return JsonPairs.read, JsonPairs.write

    def steps(self) -> list[MRStep]:
        """Sort and count, add up, and derive the totals; with --top, one more step that selects."""
        steps = [
            MRStep(
                mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final, reducer=self.reducer
            ),
            MRStep(reducer_init=self._begin, reducer=self._sum, reducer_final=self._sized),
            MRStep(reducer=self._finish),
        ]
        if self.options.top is None:
            return steps
        self._largest = Largest(self.options.top, _ranking)
        return [
            *steps[:2],
            MRStep(reducer=self._gather, reducer_final=self._hand_on),
            MRStep(reducer=self._choose, reducer_final=self._chosen, jobconf={"mapreduce.job.reduces": 1}),
        ]

    # Map: turn captures into lines

    def mapper_init(self) -> None:
        """Begin a map task."""
        self._pages = PageLines(disk_fields, exact=not self.options.sketch)

    def read(self, reading: Any) -> Iterator[Pair]:
        """Yield the lines of an input's captures."""
        crawl = self.options.crawl or crawl_in(reading.item.location)
        for block in self.blocks(reading):

            def lose(index: int, error: FormatError, block: Block = block) -> None:
                where = f"line {block.number_of(index)}: {error}"
                reading.drop(FormatError(where, reason="bad-header", offset=block.offset))

            yield ENCODED, self._pages.add(block.data, crawl, lose)
            if len(self._pages) > _MAX_KEYS:
                yield ENCODED, self._drained()

    def mapper_final(self) -> Iterator[Pair]:
        """Yield what the map task counted and sketched itself."""
        yield ENCODED, self._drained()

    def _drained(self) -> bytes:
        counts, sketches = self._pages.drain()
        pairs: list[Pair] = [(list(key), number) for key, number in counts.items()]
        pairs += ((["size_estimate", *key], _packed(sketch)) for key, sketch in sketches.items())
        return b"".join(map(_carried, pairs))

    # Reduce: count lines with the same key, add the counts up, then derive the totals

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the pairs of a reduce task from its sorted lines."""
        return ((ENCODED, lines) for lines in counted_pages(chunks, exact=not self.options.sketch))

    def _begin(self) -> None:
        self._counts: Counter[tuple[Any, ...]] = Counter()

    def _sum(self, key: list[Any], values: Iterator[Any]) -> Iterator[Pair]:
        metric, crawl = key[0], key[2]
        if metric in SUMMED:
            vector = summed(value if isinstance(value, list) else [value] for value in values)
            for each in histograms_of(metric, crawl, vector * 2 if metric == "http_status" else vector):
                self._counts[tuple(each)] += 1
            yield key, trimmed(vector)
            if len(self._counts) > _MAX_KEYS:
                yield from self._sized()
        elif metric == "size_estimate":
            sketch = Sketch()
            for value in values:
                sketch.merge(_unpacked(value))
            yield key, sketch.to_json()
            if self._earlier:
                yield [_COMPARED, key[1]], [crawl, _packed(sketch)]
        elif metric in ITEMS:
            yield from ((key, value) for value in values)
        else:
            yield key, sum(values)

    def _sized(self) -> Iterator[Pair]:
        counts, self._counts = self._counts, Counter()
        return ((list(key), number) for key, number in counts.items())

    def _finish(self, key: list[Any], values: Iterator[Any]) -> Iterator[Pair]:
        if key[0] == _COMPARED:
            crawls = {crawl: _unpacked(packed) for crawl, packed in values}
            earlier = {crawl: sketch for (item, crawl), sketch in self._earlier.items() if item == key[1]}
            yield from compared(key[1], earlier, crawls)
        elif key[0] in ITEMS or key[0] == "size_estimate":
            yield from ((key, value) for value in values)
        else:
            yield key, sum(values)

    def _gather(self, key: list[Any], values: Iterator[Any]) -> Iterator[Pair]:
        for name, value in self._finish(key, values):
            if name[0] in ITEMS:
                self._largest.add(name, value)
            else:
                yield name, value

    def _hand_on(self) -> Iterator[Pair]:
        return ((None, pair) for pair in self._largest.pairs())

    def _choose(self, key: list[Any] | None, values: Iterator[Any]) -> Iterator[Pair]:
        for value in values:
            if key is None:
                self._largest.add(*value)
            else:
                yield key, value

    def _chosen(self) -> Iterator[Pair]:
        yield from self._largest.pairs()

    @cached_property
    def _earlier(self) -> Sketches:
        """The sketches of earlier crawls, from the files of --compare. Raises: UsageError."""
        found: Sketches = {}
        for name in self.options.compare:
            try:
                some = read_sketches(published_lines(name, self.storage))
            except (CrawlmillError, ValueError, zlib.error, OSError, EOFError) as error:
                raise UsageError(f"--compare {name}: {error}") from error
            if not some:
                raise UsageError(f"--compare {name}: no statistics (a line of size_estimate)")
            found |= some
        return found


def _absolute_values(args: list[str], option: str) -> None:
    """Make the locations given with an option absolute, in place."""
    here = os.getcwd()  # noqa: PTH109
    for at, text in enumerate(args):
        if at and args[at - 1] == option:
            args[at] = absolute(text, here)
        elif text.startswith(f"{option}="):
            args[at] = f"{option}={absolute(text.partition('=')[2], here)}"


def _carried(pair: Pair) -> bytes:
    """A pair as a line that passes the sorting unchanged."""
    return b"0\tc%b\n" % encode_pair(*pair)


def _packed(sketch: Sketch) -> str:
    return base64.b64encode(zlib.compress(bytes(sketch.registers), 1)).decode("ascii")


def _unpacked(text: str) -> Sketch:
    return Sketch(zlib.decompress(base64.b64decode(text)))


def _ranking(key: list[Any]) -> str:
    """The group in which a key is ranked: one for each metric of each crawl."""
    return json.dumps([key[0], key[2]])


if __name__ == "__main__":
    CrawlStatistics.run()
