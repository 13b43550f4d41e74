"""`SortingJob` and `ShardedJob`: base classes of jobs that sort captures into files, the latter of similar size.

`SortingJob` labels lines with the number of their file and lets the shuffle sort them. `ShardedJob` first finds where
each file begins, so that files are balanced whatever the inputs are:

    survey    count the lines of each group of files, and sample them
    conclude  decide where each file begins: groups in the order of their names, each cut according to its sample
    map       label lines with the number of their file (`indexes.cluster.sharding`)
    reduce    write the files from sorted lines: the job's own code

A job decides which group a line belongs to (`grouped`). Groups are cut separately; no file holds lines of two groups.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

from crawlmill.errors import FormatError, UsageError
from crawlmill.indexes.cluster.sharding import MAX_SHARDS, escaped_lines, label_lines
from crawlmill.indexes.cluster.splits import Sampler, number_of_shards, sample_size, split_points
from crawlmill.mr.job.captures import CapturesJob
from crawlmill.mr.job.sorting.labelled import LabelledJob
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.task.pairs import ENCODED
from crawlmill.mr.task.rows import Pair

__all__ = ["FileGroup", "ShardedJob", "SortingJob", "number_of_files"]


@dataclass(frozen=True, slots=True)
class FileGroup:
    """The files of a group: the number of the first file, and the first lines of the others, escaped and in order."""

    name: bytes
    first: int
    points: list[bytes]


class SortingJob(LabelledJob, CapturesJob):
    """The base class of jobs that label lines with the number of their file, and write the files in `reduce_lines`."""

    def load_args(self, args: list[str]) -> None:
        """Parse the command line."""
        super().load_args(args)
        self.require_output_dir()


class ShardedJob(SortingJob):
    """The base class of jobs that sort captures into files of similar size."""

    lines_per_file: ClassVar[int]
    """Lines of a file where the user does not say how many files there are to be."""

    surveys = True

    def grouped(self, reading: Any, *, survey: bool) -> Iterator[tuple[bytes, bytes]]:
        """Yield (group, lines): the lines of an input in the form that sorts, in chunks of whole lines of one group.

        Args:
            reading: The input.
            survey: Whether the lines are only counted: every group must occur, but there may be more lines than in the
            end.
        """
        raise NotImplementedError(f"{type(self).__name__} has no grouped()")

    def files_wanted(self) -> int | None:
        """The number of files per group, if the user has set it."""
        raise NotImplementedError(f"{type(self).__name__} has no files_wanted()")

    def survey(self, reading: Any) -> Iterator[Pair]:
        """Yield a sample of an input's lines, by group."""
        inputs = int(os.environ.get("mapreduce_job_maps", "1"))  # noqa: SIM112 - Hadoop's name
        most = sample_size(self.files_wanted(), inputs)
        samplers: defaultdict[bytes, Sampler] = defaultdict(lambda: Sampler(most))
        for group, lines in self.grouped(reading, survey=True):
            samplers[group].add(escaped_lines(lines))
        for group, sampler in samplers.items():
            sample = list(sampler.sample())
            counted = {"lines": sampler.lines, "weight": sum(stands_for for _, stands_for in sample)}
            yield ENCODED, b"0\t%s\t%s\n" % (group, json.dumps(counted).encode())
            for line, stands_for in sample:
                # Engines sort by the first two fields, so the group and the line are joined to one.
                yield ENCODED, b"1\t%s\0%s\t%d\n" % (group, line, stands_for)

    def conclude(self, key: bytes, values: Iterator[bytes]) -> Iterator[Pair]:
        """Yield each group, followed by the first lines of its files except the first file."""
        if key == b"0":
            self._counted: dict[bytes, tuple[int, int]] = {}
            for value in values:
                group, _, counted = value.partition(b"\t")
                before, more = self._counted.get(group, (0, 0)), json.loads(counted)
                self._counted[group] = (before[0] + more["lines"], before[1] + more["weight"])
            if len(self._counted) * (self.files_wanted() or 1) > MAX_SHARDS:
                raise UsageError(f"more than {MAX_SHARDS} files: {len(self._counted)} groups of captures")
            for group in self._counted:
                yield ENCODED, b"2\t%s\n" % group
            return
        for group, sampled in groupby(values, lambda value: value.partition(b"\0")[0]):
            lines, weight = self._counted[group]
            files = self.files_wanted() or number_of_shards(lines, self.lines_per_file)
            pairs = (each.partition(b"\0")[2].rsplit(b"\t", 1) for each in sampled)
            sample = ((line, int(stands_for)) for line, stands_for in pairs)
            for point in split_points(sample, weight, files):
                yield ENCODED, b"2\t%s\t%s\n" % (group, point)

    @cached_property
    def file_groups(self) -> dict[bytes, FileGroup]:
        """The groups and their files by name, in order."""
        points: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for _, found in self.findings:
            name, tab, point = found.partition(b"\t")
            points[name] += [point] if tab else []
        groups: dict[bytes, FileGroup] = {}
        first = 0
        for name in sorted(points):
            groups[name] = FileGroup(name, first, points[name])
            first += len(points[name]) + 1
        return groups

    def read(self, reading: Any) -> Iterator[Pair]:
        """Yield the lines of an input, labelled with their files."""
        for name, lines in self.grouped(reading, survey=False):
            group = self.file_groups.get(name) or (None if name else FileGroup(name, 0, []))
            if group is None:  # the survey could not read what can be read now, so there is no file for it
                reading.row.records -= lines.count(b"\n") - 1
                reading.drop(FormatError("captures that the survey could not read", reason="truncated"))
                continue
            yield ENCODED, label_lines(lines, group.points, group.first)


def number_of_files(text: str) -> int:
    """Parse the value of an option for a number of files. Raises: ValueError."""
    number = whole_number(1)(text)
    if number > MAX_SHARDS:
        raise ValueError(text)
    return number
