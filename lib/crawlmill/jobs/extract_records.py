"""Copy the listed records into WARC and ARC files of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from crawlmill.errors import UsageError
from crawlmill.extraction.headers import RunInfo
from crawlmill.extraction.listed import listed_of
from crawlmill.extraction.members import FORMATS, prove
from crawlmill.extraction.options import add_output_files
from crawlmill.extraction.output import KINDS, OutputFile, file_stem
from crawlmill.extraction.plan import plan_files
from crawlmill.extraction.ranges import Fetched, batches, fetch_ranges
from crawlmill.extraction.siblings import extract_siblings
from crawlmill.inputs.lists import Input
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.task.rows import Pair, TaskRows
from crawlmill.mr.task.task_list import decode_task, encode_task, task_label
from crawlmill.storage import Storage, redact

__all__ = ["ExtractRecords"]


class ExtractRecords(CrawlJob):
    """Copy the records of captures, byte for byte, into WARC and ARC files in --output-dir.

    The lists name captures: lines of CDXJ, as `crawlmill lookup` prints them, or LOCATION, OFFSET and LENGTH. Records
    are copied as they are stored, once they are proven to be whole and of the listed URL; beside each output file is
    its index, a sorted CDXJ file. Which record goes into which file is planned from the lists alone.
    """

    formats = FORMATS
    columns = None
    writes_files = True
    publishes_pairs = False
    selects_lists = True

    def configure_args(self) -> None:
        """Declare the options for the output files."""
        super().configure_args()
        add = self.add_passthru_arg
        add_output_files(add)
        add(
            "--kind",
            choices=tuple(KINDS),
            default="warc",
            help="wat or wet: copy the records of the same pages from the WAT or WET files beside",
        )

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        if self.is_task() or self.options.worker is not None:
            return
        if not self.options.output_dir:
            raise UsageError("--output-dir is needed: records are copied into a folder of files")
        if self.options.inputs_per_task:
            raise UsageError("--inputs-per-task: this job has a task for each output file; --max-size says how large")

    def cut_tasks(
        self, ranked: list[tuple[int, Input]], storage: Storage, say: Callable[[str], None]
    ) -> list[bytes] | None:
        """Return one task for each output file, planned from the list alone."""
        del storage, say
        options = self.options
        named = [f"{name} in {' '.join(options.index)}" for name in options.args] if options.index else options.args
        info = RunInfo.now([redact(name) for name in named])
        files = plan_files(ranked, options.max_size, notes=options.provenance)
        return [encode_task(file.inputs, info.label(file.number)) for file in files]

    def mapper(self, _key: None, line: str) -> Iterator[Pair]:
        """Write one output file and return a ledger row for each of its inputs."""
        task, options = decode_task(line), self.options
        number, info = RunInfo.of_label(task_label(line) or "")
        stem = file_stem(options.prefix, number)
        with OutputFile(stem, self.write_file, info, kind=options.kind, notes=options.provenance) as output:
            if options.kind != "warc":
                for rank, row in extract_siblings(task, self.storage, self.read_options, options.kind, output):
                    yield from self.monitor.account(rank, row)
                return
            for batch in batches(fetch_ranges(task, self.storage), output.batch):
                yield from self._copy(batch, output)

    def _copy(self, ranges: list[tuple[int, Input, Fetched]], output: OutputFile) -> Iterator[Pair]:
        at = 0
        while at < len(ranges):
            end = at if self.read_options.verify else output.add_usual(ranges, at)
            yield from self.monitor.account_all(_rows_of_usual(ranges[at:end])) if end > at else ()
            for rank, item, fetched in ranges[end : end + 1]:
                listed = listed_of(item)
                with closing(prove(item, listed, fetched, self.storage, self.read_options)) as proven:
                    output.index(output.add(item, listed, proven))
                yield from self.monitor.account(rank, proven.row)
            at = end + 1


def _rows_of_usual(ranges: Sequence[tuple[int, Input, Fetched]]) -> TaskRows:
    """The rows of ranges that have been copied, each a member with one record."""
    rows = TaskRows([(rank, *item[:4]) for rank, item, _ in ranges])
    rows.format = "warc"
    rows.records, rows.bytes = [1] * len(rows), [item.length or 0 for _, item, _ in ranges]
    return rows


if __name__ == "__main__":
    ExtractRecords.run()
