"""`LabelledJob`: the base class of jobs whose map tasks label lines for the shuffle.

The label selects the reducer of a line; the shuffle sorts the lines of a label by their bytes.
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
    """The protocol of lines `label TAB line`. A label begins with a digit; ledger rows are JSON, as elsewhere."""

    @staticmethod
    def read(line: bytes) -> Pair:
        """Split a line into label and line."""
        if not line[:1].isdigit():
            return JsonPairs.read(line)
        label, _, text = line.partition(b"\t")
        return label, text

    @staticmethod
    def write(key: Any, value: Any) -> bytes:
        """Join label and line."""
        return JsonPairs.write(key, value)


class LabelledJob(CrawlJob):
    """The base class of jobs that write files from labelled lines, which `reduce_lines` gets in order."""

    columns: Columns | None = None
    writes_files = True
    publishes_pairs = False
    reduces_lines = True
    INTERNAL_PROTOCOL = LabelledLines
    OUTPUT_PROTOCOL = LabelledLines

    # Label and line together are the sort key; the label alone selects the reducer.
    PARTITIONER = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"
    JOBCONF: ClassVar[dict[str, Any]] = {
        **CrawlJob.JOBCONF,
        "stream.num.map.output.key.fields": 2,
        "mapreduce.partition.keypartitioner.options": "-k1,1",
    }
    most_reducers: ClassVar[int | None] = 16  # each label is a file of its own, however many reducers write them

    def require_output_dir(self) -> None:
        """Check that an output folder is given. Raises: UsageError."""
        launches = not self.is_task() and self.options.worker is None
        if launches and self.needs_output_dir() and not self.options.output_dir:
            raise UsageError("--output-dir is needed: what this job writes is a folder of files")

    def reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Never called: `reduce_lines` replaces it."""
        raise NotImplementedError
