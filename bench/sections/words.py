"""Counting words and the texts that contain them, in WET files: with bare functions, and with whole jobs."""

from __future__ import annotations

from collections.abc import Iterator

from bench.harness import AtLeast, Comparison, Goal
from bench.lab import LIMIT, NATIVE, SPARK, Lab, ours

__all__ = ["measure"]


def measure(lab: Lab) -> Iterator[Comparison]:
    """Both tables."""
    workload = lab.corpus.workload("wet")
    limit = lab.inflating("libdeflate", workload)
    peers = [lab.reader_loop(reader, "words", workload) for reader in ("warcio", "fastwarc")]
    goals: list[Goal] = [AtLeast(NATIVE, LIMIT, "cpu", 0.22), AtLeast(NATIVE, "warcio", "cpu", 4)]
    yield lab.compare(
        "words", "bare, one process", [*lab.loops("words", workload), *peers, limit], workload, goals=goals, limit=LIMIT
    )
    goals = []
    for name in ours():
        goals += [AtLeast(name, SPARK, "wall", 10 if name == NATIVE else 3), AtLeast(name, SPARK, "memory", 3)]
    goals.append(AtLeast(NATIVE, SPARK, "cpu", 5))
    jobs = [*lab.jobs("word_count.py", workload, "--document-frequency"), *lab.spark_jobs("word_count.py", workload)]
    yield lab.compare("words", "whole jobs, two cores", [*jobs, limit], workload, goals=goals, limit=LIMIT)
