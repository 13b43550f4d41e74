"""Between map and reduce: pairs as lines, sorted by key, cut into partitions; in bounded memory.

A map task writes its lines into *spills*: files that hold one sorted run per partition, one behind the other. A
reduce task merges the runs of its partition. Lines sort as they are, key before value: since a tab sorts before
whatever JSON may hold, the order is that of the keys' bytes, with the values of each key in order too, whichever task
was done first.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final
from zlib import crc32

__all__ = ["Partitioner", "Run", "Spill", "merge"]

_LINE_COST: Final = 60
"""Bytes that a line in memory costs beyond its own."""

_BUFFER: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class Run:
    """Sorted lines of one partition: `length` bytes from `offset` of a file."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Spill:
    """One file of runs: its name, and the bytes of each partition's run."""

    name: str
    lengths: tuple[int, ...]

    def runs(self, folder: Path) -> list[Run]:
        """The run of each partition, the file lying in this folder."""
        offsets = accumulate(self.lengths, initial=0)
        return [Run(str(folder / self.name), offset, length) for offset, length in zip(offsets, self.lengths)]  # noqa: B905


class Partitioner:
    """Takes the lines of one map task and leaves spills in a folder.

    `combine`, if there is one, is given the sorted lines of a partition and gives back fewer. `memory` is what the
    lines held may cost, in bytes.
    """

    def __init__(
        self,
        folder: Path,
        partitions: int,
        *,
        memory: int,
        combine: Callable[[list[bytes]], list[bytes]] | None = None,
    ) -> None:
        self._folder, self._count, self._memory, self._combine = folder, partitions, memory, combine
        self._lines: list[bytes] = []
        self.spills: list[Spill] = []

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Take lines, each `key TAB value` and a line end."""
        cost, held = 0, self._lines
        for line in lines:
            held.append(line)
            cost += len(line) + _LINE_COST
            if cost > self._memory:
                self._spill()
                cost = 0
        self._spill()

    def _spill(self) -> None:
        if not self._lines:
            return
        self._lines.sort()
        parts: list[list[bytes]] = [[] for _ in range(self._count)]
        if self._count == 1:
            parts[0].extend(self._lines)
        else:
            for line in self._lines:
                parts[crc32(line[: line.index(b"\t")]) % self._count].append(line)
        self._lines.clear()
        name = f"spill-{len(self.spills)}"
        lengths = []
        with (self._folder / name).open("wb", _BUFFER) as file:
            for part in parts:
                start = file.tell()
                # A combiner may change keys; what it gives is sorted again (at next to no cost if it did not).
                file.writelines(sorted(self._combine(part)) if self._combine and part else part)
                lengths.append(file.tell() - start)
        self.spills.append(Spill(name, tuple(lengths)))


def merge(runs: Sequence[Run], folder: Path, *, memory: int) -> Iterator[bytes]:
    """The lines of all runs, sorted.

    As many runs as `memory` (bytes) takes are sorted in memory, at once where that is all of them; else each such batch
    becomes a run in a temporary file in `folder`, and those are merged.
    """
    lines: list[bytes] = []
    cost = 0
    with ExitStack() as stack:
        files = []
        for line in _lines(runs):
            lines.append(line)
            cost += len(line) + _LINE_COST
            if cost > memory:
                lines.sort()
                file = stack.enter_context(tempfile.TemporaryFile(dir=folder, buffering=_BUFFER))
                file.writelines(lines)
                file.seek(0)
                files.append(file)
                lines.clear()
                cost = 0
        lines.sort()
        yield from heapq.merge(*files, lines) if files else lines


def _lines(runs: Iterable[Run]) -> Iterator[bytes]:
    for run in runs:
        if run.length:
            with open(run.path, "rb", _BUFFER) as file:  # noqa: PTH123
                file.seek(run.offset)
                left = run.length
                for line in file:
                    yield line
                    left -= len(line)
                    if left <= 0:
                        break
