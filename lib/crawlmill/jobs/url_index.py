"""Build a URL index: a ZipNum cluster of captures."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar

from crawlmill.errors import UsageError
from crawlmill.indexes.cluster.sharding import LABEL, MAX_SHARDS, escape, label_lines, shards_of
from crawlmill.indexes.cluster.shards import Member, ShardWriter, cluster_idx, cluster_loc, metadata_yaml, shard_name
from crawlmill.indexes.cluster.splits import Sampler, number_of_shards, sample_size, split_points
from crawlmill.mr.job.captures import CapturesJob
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.run.results import Results
from crawlmill.mr.task.pairs import ENCODED, JsonPairs
from crawlmill.mr.task.rows import Pair
from crawlmill.sorting import sort_lines

__all__ = ["UrlIndex"]


class _Lines:
    """The protocol of lines that carry their order in their first bytes; rows of the ledger are JSON as ever."""

    @staticmethod
    def read(line: bytes) -> Pair:
        if not line[:1].isdigit():
            return JsonPairs.read(line)
        key, _, text = line.partition(b"\t")
        return key, text

    @staticmethod
    def write(key: Any, lines: Any) -> bytes:
        return JsonPairs.write(key, lines)


class UrlIndex(CapturesJob):
    """Build a URL index, a ZipNum cluster, in --output-dir.

    Reads WARC and ARC, which are indexed as `crawlmill index` does, CDX and CDXJ files, plain or gzip, whose lines are
    kept as they stand, and the shards of other clusters. Writes shards of gzip members (cdx-00000.gz …), cluster.idx,
    cluster.loc and metadata.yaml, as Common Crawl publishes them: all lines, sorted by their bytes.

    A survey of all inputs comes first, so that shards are of about the same size whatever the inputs are.
    """

    writes_files = True
    publishes_pairs = False
    surveys = True
    reduces_lines = True
    INTERNAL_PROTOCOL = _Lines
    OUTPUT_PROTOCOL = _Lines

    # A shard number and a line are the key together; the number alone says which reducer it goes to.
    PARTITIONER = "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"
    JOBCONF: ClassVar[dict[str, Any]] = {
        **CapturesJob.JOBCONF,
        "stream.num.map.output.key.fields": 2,
        "mapreduce.partition.keypartitioner.options": "-k1,1",
        "mapreduce.job.reduces": 16,
    }

    def configure_args(self) -> None:
        """Declare what a cluster is like."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--shards", type=_shards, metavar="N", help="shards to write (default: one per 3 million lines)")
        add("--lines", type=whole_number(1), default=3000, metavar="N", help="lines of a gzip member (default 3000)")
        add("--duplicates", choices=("keep", "drop"), default="keep", help="whether equal lines are written once each")

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        if not self.is_task() and self.options.worker is None and not self.options.output_dir:
            raise UsageError("--output-dir is needed: a cluster is a folder of files")

    # The survey: how many lines there are, and where shards begin

    def survey(self, reading: Any) -> Iterator[Pair]:
        """A sample of an input's lines."""
        inputs = int(os.environ.get("mapreduce_job_maps", "1"))  # noqa: SIM112 - Hadoop's name
        sampler = Sampler(sample_size(self.options.shards, inputs))
        for lines in self.captures(reading):
            sampler.add(escape(lines[:-1]).split(b"\n"))
        sample = list(sampler.sample())
        weight = sum(stands_for for _, stands_for in sample)
        yield ENCODED, b"0\t%s\n" % json.dumps({"lines": sampler.lines, "weight": weight}).encode()
        for line, stands_for in sample:
            yield ENCODED, b"1\t%s\t%d\n" % (line, stands_for)

    def conclude(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """The first lines of all shards but the first."""
        if key == b"0":
            counts = [json.loads(value) for value in values]
            self._counted = tuple(sum(count[name] for count in counts) for name in ("lines", "weight"))
            return
        lines, weight = self._counted
        shards = self.options.shards or number_of_shards(lines)
        sample = ((line, int(stands_for)) for line, stands_for in (value.rsplit(b"\t", 1) for value in values))
        for point in split_points(sample, weight, shards):
            yield ENCODED, b"2\t%s\n" % point

    @cached_property
    def _points(self) -> list[bytes]:
        return [point for _, point in self.findings]

    # The cluster: lines go to their shards, sorted on the way

    def read(self, reading: Any) -> Iterator[Pair]:
        """The lines of an input, labelled with their shards."""
        for lines in self.captures(reading):
            yield ENCODED, label_lines(lines, self._points)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the shards of a reduce task; its pairs are their members."""
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            with self.write_file(shard_name(int(label))) as file:
                shard = ShardWriter(file, self.options.lines, distinct=self.options.duplicates == "drop")
                members = chain.from_iterable(chain((shard.write(lines) for _, lines in pieces), [shard.close()]))
                for number, each in enumerate(members):
                    place = f"{each.offset} {each.length} {each.lines}"
                    yield ENCODED, b"%s%09d\t%s\t%s\n" % (label, number, place.encode(), each.start)

    def reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Never called: `reduce_lines` takes its place."""
        raise NotImplementedError

    def finish(self, results: Results) -> None:
        """Write what leads into the shards."""
        counted = _Counted()
        with (
            tempfile.TemporaryDirectory() as folder,
            sort_lines(results.lines(), Path(folder), 64 << 20) as lines,
            results.write("cluster.idx") as file,
        ):
            file.writelines(cluster_idx(counted.members(lines)))
        with results.write("cluster.loc") as file:
            file.write(cluster_loc(counted.shards))
        with results.write("metadata.yaml") as file:
            file.write(counted.metadata(self.options.lines))


class _Counted:
    """The members of all shards, counted as they go by."""

    def __init__(self) -> None:
        self.shards: list[str] = []
        self._lines = self._members = 0

    def members(self, lines: Iterable[bytes]) -> Iterator[tuple[str, Member]]:
        for line in lines:
            label, place, start = line.rstrip(b"\n").split(b"\t", 2)
            offset, length, count = map(int, place.split(b" "))
            name = shard_name(int(label[:LABEL]))
            if self.shards[-1:] != [name]:
                self.shards.append(name)
            self._lines, self._members = self._lines + count, self._members + 1
            yield name, Member(start, offset, length, count)

    def metadata(self, per_member: int) -> bytes:
        return metadata_yaml(
            lines=self._lines, members=self._members, shards=len(self.shards), lines_per_member=per_member
        )


def _shards(text: str) -> int:
    number = whole_number(1)(text)
    if number > MAX_SHARDS:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    UrlIndex.run()
