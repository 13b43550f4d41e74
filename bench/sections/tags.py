"""Counting HTML tags in WARC files: with bare functions in one process, and with whole jobs on two cores.

Crawlmill counts the start tags of the WHATWG tokenizer; the peers count what a regex takes for a tag.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import AtLeast, Comparison, Goal
from bench.lab import LIMIT, NATIVE, SPARK, Lab, ours

__all__ = ["measure"]


def measure(lab: Lab) -> Iterator[Comparison]:
    """Both tables."""
    workload = lab.corpus.workload("warc")
    limit = lab.inflating("libdeflate", workload)
    peers = [lab.reader_loop(reader, "tags", workload) for reader in ("warcio", "fastwarc")]
    goals: list[Goal] = [AtLeast(name, "warcio", "cpu", 1.7) for name in ours()]
    goals += [AtLeast(NATIVE, LIMIT, "cpu", 0.55)]
    goals += [AtLeast(NATIVE, "warcio", "cpu", 4.5), AtLeast(NATIVE, "fastwarc", "cpu", 3)]
    yield lab.compare(
        "tags", "bare, one process", [*lab.loops("tags", workload), *peers, limit], workload, goals=goals, limit=LIMIT
    )
    goals = []
    for name in ours():
        goals += [AtLeast(name, SPARK, "wall", 5), AtLeast(name, SPARK, "memory", 3)]
    contenders = [*lab.jobs("tag_count.py", workload), *lab.spark_jobs("html_tag_count.py", workload), limit]
    yield lab.compare("tags", "whole jobs, two cores", contenders, workload, goals=goals, limit=LIMIT)
