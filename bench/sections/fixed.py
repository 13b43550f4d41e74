"""What a job costs before it does anything: one tiny input, compared with the start of the interpreter and of Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench.harness import AtMost, Comparison, Contender
from bench.lab import Lab, ours

__all__ = ["measure"]

_START = "python -c pass"


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table."""
    workload = lab.corpus.tiny()
    contenders = [
        *lab.jobs("tag_count.py", workload),
        Contender(_START, [sys.executable, "-c", "pass"]),
        *lab.loops("tags", workload, ", bare loop"),
        *lab.spark_jobs("html_tag_count.py", workload),
    ]
    goals = [AtMost(name, _START, "wall", 1.2) for name in ours()]
    yield lab.compare("fixed", "one tiny input", contenders, workload, goals=goals)
