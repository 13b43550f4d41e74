"""Counting Server headers: in WAT files with bare functions and with whole jobs, in WARC files with bare functions.

With `--heads-only`, the boundaries and lengths of members are proven instead of their checksums.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import AtLeast, Comparison, Goal
from bench.lab import LIMIT, NATIVE, SPARK, Lab, ours

__all__ = ["measure"]

_HEADS = ", heads only"


def measure(lab: Lab) -> Iterator[Comparison]:
    """All three tables."""
    workload = lab.corpus.workload("wat")
    limit = lab.inflating("libdeflate", workload)
    loops = [*lab.loops("servers", workload), *lab.loops("servers-heads", workload, _HEADS)]
    peers = [lab.reader_loop(reader, "servers", workload) for reader in ("warcio", "fastwarc")]
    goals: list[Goal] = [AtLeast(name, "warcio", "cpu", 4.5) for name in ours()]
    goals += [AtLeast(name, "warcio", "cpu", 6.5) for name in ours(_HEADS)]
    yield lab.compare("servers", "bare, one process", [*loops, *peers, limit], workload, goals=goals, limit=LIMIT)
    jobs = [
        *lab.jobs("server_count.py", workload),
        *lab.jobs("server_count.py", workload, "--heads-only", suffix=_HEADS),
        *lab.spark_jobs("server_count.py", workload),
    ]
    goals = []
    for name in ours():
        goals += [AtLeast(name, SPARK, "wall", 10), AtLeast(name, SPARK, "memory", 3)]
    goals += [AtLeast(name, SPARK, "wall", 14) for name in ours(_HEADS)]
    yield lab.compare("servers", "whole jobs, two cores", [*jobs, limit], workload, goals=goals, limit=LIMIT)
    workload = lab.corpus.workload("warc")
    loops = [*lab.loops("servers", workload), *lab.loops("servers-heads", workload, _HEADS)]
    goals = [AtLeast(NATIVE, LIMIT, "cpu", 0.83), AtLeast(NATIVE + _HEADS, LIMIT, "cpu", 2.5)]
    contenders = [*loops, lab.inflating("libdeflate", workload)]
    yield lab.compare("servers", "in WARC, bare, one process", contenders, workload, goals=goals, limit=LIMIT)
