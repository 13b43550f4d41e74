"""Build a URL index: a ZipNum cluster of captures."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from crawlmill.indexes.cluster.sharding import LABEL, shards_of
from crawlmill.indexes.cluster.shards import Member, ShardWriter, cluster_idx, cluster_loc, metadata_yaml, shard_name
from crawlmill.indexes.cluster.splits import LINES_PER_SHARD
from crawlmill.mr.job.sorting.sharded import ShardedJob, number_of_files
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.run.results import Results
from crawlmill.mr.task.pairs import ENCODED
from crawlmill.mr.task.rows import Pair
from crawlmill.sorting import sort_lines

__all__ = ["UrlIndex"]


class UrlIndex(ShardedJob):
    """Build a URL index, a ZipNum cluster, in --output-dir.

    Reads WARC and ARC, which are indexed as `crawlmill index` does, CDX and CDXJ files, plain or gzip, whose lines are
    kept as they stand, and the shards of other clusters. Writes shards of gzip members (cdx-00000.gz …), cluster.idx,
    cluster.loc and metadata.yaml, as Common Crawl publishes them: all lines, sorted by their bytes.

    A survey of all inputs comes first, so that shards are of about the same size whatever the inputs are.
    """

    lines_per_file = LINES_PER_SHARD

    def configure_args(self) -> None:
        """Declare the options of the cluster."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--shards", type=number_of_files, metavar="N", help="shards to write (default: one per 3 million lines)")
        add("--lines", type=whole_number(1), default=3000, metavar="N", help="lines of a gzip member (default 3000)")
        add("--duplicates", choices=("keep", "drop"), default="keep", help="whether equal lines are written once each")

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:  # noqa: ARG002
        """Yield all lines of an input, in one group."""
        return ((b"", lines) for lines in self.captures(reading))

    def files_wanted(self) -> int | None:
        """The number of shards that the user asked for."""
        wanted: int | None = self.options.shards
        return wanted

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the shards of a reduce task; yield their members."""
        for label, pieces in groupby(shards_of(chunks), itemgetter(0)):
            with self.write_file(shard_name(int(label))) as file:
                shard = ShardWriter(file, self.options.lines, distinct=self.options.duplicates == "drop")
                members = chain.from_iterable(chain((shard.write(lines) for _, lines in pieces), [shard.close()]))
                for number, each in enumerate(members):
                    place = f"{each.offset} {each.length} {each.lines}"
                    yield ENCODED, b"%s%09d\t%s\t%s\n" % (label, number, place.encode(), each.start)

    def finish(self, results: Results) -> None:
        """Write cluster.idx, cluster.loc and metadata.yaml."""
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
    """Counts the members of all shards as they pass."""

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


if __name__ == "__main__":
    UrlIndex.run()
