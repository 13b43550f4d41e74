"""Sorting more lines than fit in memory, compared with GNU `sort` in the C locale, which writes the same bytes."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.corpus import LINE_BYTES
from bench.harness import Answer, AtLeast, Comparison, Contender
from bench.lab import CORES, LOOPS, NATIVE, Lab, ours

__all__ = ["measure"]

_SORT = "sort -S --parallel=2"


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table. Memory is a fifth of the size of the lines, so that all contenders must sort on disk."""
    path = lab.corpus.lines()
    size = path.stat().st_size
    memory = size // 5
    contenders = [
        Contender(
            name,
            [sys.executable, str(LOOPS / "sort_loop.py"), str(path), str(memory)],
            {"CRAWLMILL_CORE": core},
            _sorted,
        )
        for name, core in zip(ours(), CORES, strict=True)
    ]
    command = ["sort", "-S", f"{memory}b", "--parallel=2", "-T", ".", "-o", "sorted", str(path)]
    peer = Contender(_SORT, command, {"LC_ALL": "C"}, _sorted)
    goals = [AtLeast("crawlmill", _SORT, "wall", 0.25), AtLeast(NATIVE, _SORT, "wall", 1)]
    title = f"{size // LINE_BYTES:,} lines of {LINE_BYTES} bytes in {memory / 1e6:,.0f} MB of memory"
    yield lab.compare("sorting", title, [*contenders, peer], None, goals=goals)


def _sorted(scratch: Path) -> Answer:
    """The number of lines, and the checksum of all."""
    lines = checksum = 0
    with (scratch / "work/sorted").open("rb", 0) as file:
        for piece in iter(partial(file.read, 1 << 20), b""):
            lines += piece.count(b"\n")
            checksum = zlib.crc32(piece, checksum)
    return Answer(lines, checksum)
