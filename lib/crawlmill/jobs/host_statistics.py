"""Count what a crawl has of each host, domain, suffix or path."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

from crawlmill.analysis.statistics.groups import GROUPINGS, GroupLines, grouped
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.capture import disk_fields
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.json_lines import begins_json_captures
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.mr.compat import MRStep
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.job.sorting.sharded import SortingJob
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.largest import Largest
from crawlmill.mr.task.pairs import ENCODED, JsonPairs
from crawlmill.mr.task.rows import Pair
from crawlmill.results.columns import Columns
from crawlmill.storage import Storage
from crawlmill.storage.locations import absolute

__all__ = ["HostStatistics"]

_HEAD_BYTES: Final = 1 << 12


class HostStatistics(SortingJob):
    """Count what a crawl has of each host: captures, distinct URLs and digests, days, statuses, media types, bytes.

    Reads captures (URL indexes, and what `crawlmill lookup` or find_captures print: a file of captures given as LIST is
    counted, and nothing is fetched), WARC, ARC, WAT, and metadata of 2012. All captures count, whatever their status.

    A result line is a host and an object:
    "e.org"<TAB>{"captures":3,"urls":2,"digests":2,"first":"2024-02-01","last":"2024-03-01","status":{"200":3},…}
    """

    formats = ("warc", "arc", "wat", "cdxj", "cdx", "captures", "parquet", "metadata")
    columns = Columns({"host": "string"}, {"statistics": "json"})
    writes_files = False
    publishes_pairs = True
    # The order of the results depends on this number, which therefore must not depend on the tasks.
    JOBCONF: ClassVar[dict[str, Any]] = {**SortingJob.JOBCONF, "mapreduce.job.reduces": 16}
    takes_described = True

    def configure_args(self) -> None:
        """Declare the options for grouping."""
        super().configure_args()
        group = self.arg_parser.add_argument_group("hosts")
        self._pass_on(
            group,
            "--by",
            type=_grouping,
            default="host",
            metavar="host|domain|tld|path:N",
            help="what captures are grouped by: hosts (default), registered domains, public suffixes, or hosts with "
            "the first N segments of paths",
        )
        self._pass_on(
            group,
            "--min-count",
            type=whole_number(1),
            default=1,
            metavar="N",
            help="leave out groups of fewer captures (default: 1)",
        )
        self._pass_on(
            group,
            "--top",
            type=whole_number(1),
            metavar="N",
            help="only the N groups with the most captures, largest first",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super(SortingJob, self).load_args(args)

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:
        """Read the lists; a list of captures is itself an input."""
        here = os.getcwd()  # noqa: PTH109
        items = [Input(given, absolute(given, here)) for given in lists if _is_captures(given, here, storage)]
        own = {item.given for item in items}
        rest = [given for given in lists if given not in own]
        if not rest and items:
            return Inputs(list(dict.fromkeys(items)))
        others = super().read_lists(rest, storage, read)
        return Inputs([*dict.fromkeys(items), *others.items], others.repeated, others.beside, others.kind)

    def pick_protocols(self, step_num: int, step_type: str) -> tuple[Any, Any]:
        """Use the protocol of sorted lines in the first step only."""
        if step_num == 0:
            picked: tuple[Any, Any] = CrawlJob.pick_protocols(self, step_num, step_type)
            return picked
        return JsonPairs.read, JsonPairs.write

    def steps(self) -> list[MRStep]:
        """Sort and count; with --top, one more step that selects."""
        counting = MRStep(mapper_init=self.mapper_init, mapper=self.mapper, reducer=self.reducer)
        if self.options.top is None:
            return [counting]
        self._largest = Largest(self.options.top)
        return [
            counting,
            MRStep(reducer=self._choose, reducer_final=self._chosen, jobconf={"mapreduce.job.reduces": 1}),
        ]

    def mapper_init(self) -> None:
        """Begin a map task."""
        self._lines = GroupLines(disk_fields, self.options.by)

    def read(self, reading: Any) -> Iterator[Pair]:
        """Yield the lines of an input's captures."""
        for block in self.blocks(reading):

            def lose(index: int, why: object, block: Block = block) -> None:
                where = f"line {block.number_of(index)} is not a capture: {why}"
                reading.drop(FormatError(where, reason="bad-header", offset=block.offset))

            yield ENCODED, self._lines.add(block.data, lose)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the rows of a reduce task from its sorted lines."""
        rows = grouped(chunks, least=self.options.min_count, ranked=self.options.top is not None)
        return ((ENCODED, lines) for lines in rows)

    def _choose(self, _key: None, values: Iterator[Any]) -> Iterator[Pair]:
        for captures, key, row in values:
            self._largest.add(key, [captures, row])
        return iter(())

    def _chosen(self) -> Iterator[Pair]:
        return ((key, row) for key, (_, row) in self._largest.pairs())


def _is_captures(given: str, here: str, storage: Storage) -> bool:
    """Whether a list consists of captures as JSON objects, one on each line."""
    if given == "-":
        return False
    try:
        with storage.open_stream(absolute(given, here), 0, _HEAD_BYTES) as stream:
            return begins_json_captures(stream.read(_HEAD_BYTES))
    except SourceError:
        return False  # it will be read as a list of inputs, which reports the error


def _grouping(text: str) -> str | int:
    name, _, number = text.partition(":")
    if text in GROUPINGS:
        return text
    if name == "path" and number.isascii() and number.isdigit() and int(number[:6]) > 0 and len(number) < 6:
        return int(number)
    raise ArgumentTypeError(f"expected host, domain, tld or path:N, N from 1, got {text!r}")


if __name__ == "__main__":
    HostStatistics.run()
