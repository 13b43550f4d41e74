"""Between map and reduce: pairs as lines, sorted by key and split into partitions, in bounded memory.

A map task writes its lines to *spills*: files that hold one sorted run per partition, one after another. A reduce task
merges the runs of its partition. Lines sort by their bytes (see `crawlmill.sorting`), key before value: a tab sorts
before every other byte that JSON text may contain, so the order is that of the keys' bytes, and the values of a key are
sorted too, whichever task finished first. The native core does the same and writes the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final
from zlib import crc32

from crawlmill import core
from crawlmill.sorting import LINE_COST, Part, SortedLines, batches, merge_parts, sort_lines

__all__ = ["Partitioner", "SortedRun", "Spill", "merge"]

_BUFFER: Final = 1 << 18
_LINES_AT_ONCE: Final = 4096


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Lines of one partition: `length` bytes from `offset` of a file, sorted unless `in_order` is false."""

    path: str
    offset: int
    length: int
    in_order: bool = True


@dataclass(frozen=True, slots=True)
class Spill:
    """A file of runs: its name, and the size in bytes of each partition's run."""

    name: str
    lengths: tuple[int, ...]

    def runs(self, folder: Path) -> list[SortedRun]:
        """The run of each partition, given the folder of this file."""
        offsets = accumulate(self.lengths, initial=0)
        return [SortedRun(str(folder / self.name), offset, length) for offset, length in zip(offsets, self.lengths)]  # noqa: B905


class Partitioner:
    """Sorts the lines of one map task into spills in a folder.

    `combine`, if given, takes the sorted lines of a partition and returns fewer. `memory` is the limit for lines held,
    in bytes.
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
        self.spills: list[Spill] = []

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Add lines, each `key TAB value` with a line end; an item may hold several lines.

        Raises:
            OSError: The folder cannot be written, or is full.
        """
        native = core.native()
        if native is None or self._combine is not None:
            self._partition(batches(lines, self._memory))
            return
        spiller = native.LineSpiller(str(self._folder), self._count, self._memory)
        for batch in batches(lines, self._memory):
            spiller.add(batch)
        self.spills += (Spill(f"spill-{n}", tuple(lengths)) for n, lengths in enumerate(spiller.finish()))

    def _partition(self, texts: Iterable[bytes]) -> None:
        held: list[bytes] = []
        cost = 0
        for text in texts:
            lines = _lines_of(text)
            held += lines
            cost += len(text) + LINE_COST * len(lines)
            if cost > self._memory:
                self._spill(held)
                cost = 0
        self._spill(held)

    def _spill(self, lines: list[bytes]) -> None:
        """Write lines (without line ends) to a spill, and drop them from memory."""
        if not lines:
            return
        lines.sort()
        parts: list[list[bytes]] = [[] for _ in range(self._count)]
        if self._count == 1:
            parts[0] += lines
        else:
            for line in lines:
                parts[crc32(line.partition(b"\t")[0]) % self._count].append(line)
        lines.clear()
        name = f"spill-{len(self.spills)}"
        lengths = []
        with (self._folder / name).open("wb", _BUFFER) as file:
            for part in parts:
                start = file.tell()
                combined = self._combined(part)
                for at in range(0, len(combined), _LINES_AT_ONCE):
                    file.write(b"\n".join([*combined[at : at + _LINES_AT_ONCE], b""]))
                lengths.append(file.tell() - start)
        self.spills.append(Spill(name, tuple(lengths)))

    def _combined(self, lines: list[bytes]) -> list[bytes]:
        if self._combine is None or not lines:
            return lines
        combined = b"".join(self._combine([b"%s\n" % line for line in lines]))
        # A combiner may change keys, so its output is sorted again (almost free if it is in order).
        return sorted(_lines_of(combined))


def merge(runs: Sequence[SortedRun], folder: Path, *, memory: int) -> SortedLines:
    """Return the lines of all runs, sorted. `memory` is in bytes; beyond it, files in `folder` are used.

    Raises:
        OSError: A run cannot be read, or the folder is needed and cannot be written.
    """
    if all(run.in_order for run in runs):
        return merge_parts([Part(run.path, run.offset, run.length) for run in runs if run.length], folder, memory)
    return sort_lines(_texts(runs), folder, memory)


def _lines_of(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    lines.pop()
    return lines


def _texts(runs: Iterable[SortedRun]) -> Iterator[bytes]:
    for run in runs:
        with open(run.path, "rb") as file:  # noqa: PTH123
            file.seek(run.offset)
            left = run.length
            while left:
                text = file.read(min(left, _BUFFER))
                if not text:
                    raise OSError(f"{run.path} ends early: expected {left} more bytes")
                left -= len(text)
                yield text
