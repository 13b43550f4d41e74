"""Reading all records of WARC files, each proven to its end: in gzip members, and in Zstandard frames.

There are two tables for each, since the libraries differ in what they do by default: one for iterating over the records
with the plain loop of each library (warcio and FastWARC parse HTTP headers there, Crawlmill does so on first use), and
one for reading the bytes of every block, where only gowarc parses HTTP headers. gowarc's own ways are described in its
loop. Of the peers, only FastWARC reads Zstandard.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import AtLeast, Comparison, Goal
from bench.lab import LIMIT, NATIVE, Lab, ours

__all__ = ["measure"]


_WORK = (("pass-records", "passing over all records"), ("take-blocks", "taking every block"))


def measure(lab: Lab) -> Iterator[Comparison]:
    """All four tables."""
    workload = lab.corpus.workload("warc")
    limits = [lab.inflating(library, workload) for library in ("libdeflate", "isal", "zlib")]
    goals: list[Goal] = []
    for name in ours():
        goals += [AtLeast(name, "warcio", "cpu", 3.3), AtLeast(name, "fastwarc", "cpu", 1.2)]
    goals += [AtLeast(NATIVE, "warcio", "cpu", 4), AtLeast(NATIVE, "fastwarc", "cpu", 1.4)]
    goals += [AtLeast(NATIVE, "gowarc", "cpu", 3), AtLeast(NATIVE, LIMIT, "cpu", 0.87)]
    for work, title in _WORK:
        peers = [lab.reader_loop(reader, work, workload) for reader in ("warcio", "fastwarc")]
        contenders = [*lab.loops(work, workload), *peers, *lab.gowarc_loop(work, workload), *limits]
        yield lab.compare("records", title, contenders, workload, goals=goals, limit=LIMIT)
    workload = lab.corpus.as_zstd(workload)
    for work, title in _WORK:
        contenders = [*lab.loops(work, workload), lab.reader_loop("fastwarc", work, workload)]
        goals = [AtLeast(NATIVE, "fastwarc", "cpu", 1)]
        yield lab.compare("records", f"{title}, Zstandard", contenders, workload, goals=goals)
