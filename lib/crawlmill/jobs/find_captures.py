"""Find the captures of many URLs in URL indexes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.indexes.index import OnProblem
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.output import make_printer
from crawlmill.indexes.query import Query, parse_filter
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.job.selected_lines import SelectedLines
from crawlmill.mr.run.lookup import Losses
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.run.pattern_lists import read_pattern_lists
from crawlmill.mr.run.searching import Lost, Search, SearchTask, cut_search
from crawlmill.mr.task.pairs import ENCODED
from crawlmill.mr.task.rows import Pair
from crawlmill.storage import Storage, is_pipe, redact
from crawlmill.storage.limits import CDX_API
from crawlmill.urls.patterns import parse_pattern

__all__ = ["FindCaptures"]

_FORMATS: Final = ("cdxj", "json", "list")
_AT_ONCE: Final = 1 << 16  # bytes of lines that are written at once
_ANY: Final = parse_pattern("http://a/")


class FindCaptures(CrawlJob):
    """Find the captures of many URLs in URL indexes: `crawlmill lookup` for lists of patterns.

    A list has a pattern per line, as `crawlmill lookup` takes it, perhaps with a tab and exact, prefix, host or domain.
    --index names what is searched: a cluster, a file, a crawl or a CDX API. The work is cut by what must be read,
    blocks of a cluster or pages of an API, so that a large domain is many tasks, and many single URLs are few.

    Prints captures, an input list for any job. The ledger has a row for each pattern.
    """

    searches = True
    columns = None
    formats_results = False
    items = object

    def configure_args(self) -> None:
        """Declare how captures are printed."""
        super().configure_args()
        self.add_passthru_arg(
            "--output-format",
            choices=_FORMATS,
            default="cdxj",
            help="cdxj: lines as they are stored (default); json: objects; list: file, offset, length",
        )
        self.add_passthru_arg(
            "--with-pattern", action="store_true", help="print each pattern, a tab and its capture as an object"
        )
        add = self.arg_parser.add_argument
        add("--plan", action="store_true", help="print how many tasks would read how much, and read none of it")
        add(
            "--page-size",
            type=whole_number(1),
            metavar="N",
            help="for a CDX API: blocks per page (default: the server's)",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        if self.is_task() or self.options.worker is not None:
            return
        if not self.options.index:
            raise UsageError("no index given: name one with --index, such as a file, a folder or a crawl")
        if self.options.inputs_per_task:
            raise UsageError("--inputs-per-task: the tasks of this job are cut by what they read of the index")
        if self.options.with_pattern and self.options.output_format == "list":
            raise UsageError("--with-pattern prints objects: it cannot be combined with --output-format list")

    # In the launcher: lists of patterns, cut into tasks

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:  # noqa: ARG002
        """Read the lists of patterns; each pattern is an input."""
        from crawlmill.inputs.indexes import find_indexes  # noqa: PLC0415 - no task needs it

        options = self.options
        filters = tuple(map(parse_filter, options.filter))
        like = Query(_ANY, options.start, options.end, filters, options.newest, options.distinct, limit=options.limit)
        self._asked, repeated = read_pattern_lists(
            lists, storage, self.stdin, like, is_key=options.key, match=options.match
        )
        places = find_indexes(options.index, storage, base_url=options.base_url, index_url=options.index_url)
        for place in places:
            if is_pipe(place.location):
                raise UsageError(f"--index {redact(place.location)}: every task reads it, so it cannot be a pipe")
        self._search = Search(tuple(places), like, options.key, options.match, options.page_size)
        location = places[0].location
        kind = CDX_API if any(place.api for place in places) else None
        return Inputs([Input(line, location) for line in self._asked], repeated, kind=kind)

    def cut_tasks(self, ranked: list[tuple[int, Input]], storage: Storage, say: Callable[[str], None]) -> list[bytes]:
        """Cut the patterns into tasks by the amount of index data to read."""
        lost: Lost = []
        try:
            lines, self._totals = cut_search(self._search, self._asked, ranked, storage, lost)
        except (SourceError, FormatError) as error:
            raise UsageError(f"cannot use this index: {error}") from error
        losses = Losses(say)
        for each in lost:
            losses.add(each)
        losses.end()
        self.lost = losses.number
        return lines

    def preview(self, tasks: int) -> str | None:  # noqa: ARG002
        """What the run would read, for `--plan`."""
        if not self.options.plan:
            return None
        return "".join(f"{name} {number}\n" for name, number in self._totals.items())

    # In the tasks

    def mapper(self, _key: None, line: str) -> Iterator[Pair]:
        """Print the captures of a task's patterns and return a ledger row for each pattern."""
        task = SearchTask(line, self.storage)
        shown = self._printer()
        lines = SelectedLines(self.criteria) if self.criteria else None
        with self.monitor.alive(lambda: task.reached):
            held = bytearray()
            for pattern, chunk in task.chunks(apart=self.options.with_pattern or self.options.output_format != "cdxj"):
                chosen = bytes(chunk) if lines is None else lines.of(bytes(chunk))
                if chosen:
                    held += shown(pattern, chosen, task.lose_line)
                if len(held) >= _AT_ONCE:
                    yield ENCODED, bytes(held)
                    held.clear()
            if held:
                yield ENCODED, bytes(held)
        if lines is not None and task.rows:
            task.rows.row(0).deselected += lines.left_out
        yield from self.monitor.account_all(task.rows)

    def _printer(self) -> Callable[[str, Chunk, OnProblem], Chunk]:
        if self.options.with_pattern:
            objects = make_printer("json", None)
            return lambda pattern, chunk, on_problem: _with_pattern(pattern, objects(chunk, on_problem))
        printer = make_printer(self.options.output_format, None)
        return lambda _, chunk, on_problem: printer(chunk, on_problem)


def _with_pattern(pattern: str, objects: Chunk) -> bytes:
    """Objects, one per line, each after the pattern."""
    name = json.dumps(pattern).encode("ascii")
    return b"".join(b"%s\t%s\n" % (name, each) for each in bytes(objects).split(b"\n")[:-1])


if __name__ == "__main__":
    FindCaptures.run()
