"""The base of jobs whose map tasks label lines for the shuffle: `LabelledJob`.

The label says which reducer a line goes to, and the shuffle sorts the lines of a label by their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from crawlmill.errors import UsageError
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.task.pairs import JsonPairs
from crawlmill.mr.task.rows import Pair
from crawlmill.results.columns import Columns

__all__ = ["LabelledJob", "LabelledLines"]


class LabelledLines:
    """The protocol of lines that begin with a label, which begins with a digit; rows of the ledger are JSON as ever."""

    @staticmethod
    def read(line: bytes) -> Pair:
        """Label and line."""
        if not line[:1].isdigit():
            return JsonPairs.read(line)
        label, _, text = line.partition(b"\t")
        return label, text

    @staticmethod
    def write(key: Any, value: Any) -> bytes:
        """The line of a pair."""
        return JsonPairs.write(key, value)


class LabelledJob(CrawlJob):
    """The base of jobs that write files of labelled lines, which `reduce_lines` takes sorted."""

    columns: Columns | None = None
    writes_files = True
    publishes_pairs = False
    reduces_lines = True
    INTERNAL_PROTOCOL = LabelledLines
    OUTPUT_PROTOCOL = LabelledLines

    # The label and a line are the key together; the label alone says which reducer it goes to.
    PARTITIONER = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"
    JOBCONF: ClassVar[dict[str, Any]] = {
        **CrawlJob.JOBCONF,
        "stream.num.map.output.key.fields": 2,
        "mapreduce.partition.keypartitioner.options": "-k1,1",
        "mapreduce.job.reduces": 16,
    }

    def require_output_dir(self) -> None:
        """Refuse a launch without the folder that the job needs. Raises: UsageError."""
        launches = not self.is_task() and self.options.worker is None
        if launches and self.needs_output_dir() and not self.options.output_dir:
            raise UsageError("--output-dir is needed: what this job writes is a folder of files")

    def reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Never called: `reduce_lines` takes its place."""
        raise NotImplementedError
