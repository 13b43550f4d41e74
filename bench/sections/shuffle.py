"""The pairs of a counting job between map and reduce: drained, spilled, merged, summed and written, in one process.

Its cost is the difference between doing all of it and only counting. The peer gets the same pairs as a file of lines,
drained in advance: `sort` in the C locale, and awk, which adds up the lines of each key.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Answer, Comparison, Contender, Goal, PairsASecond, json_answer
from bench.lab import CORES, LOOPS, Lab, ours

__all__ = ["measure"]

_ALONE = ", counting alone"
_PEER = "sort and awk"
_GOALS = {"python": 0.25, "native": 2.0}  # million pairs a second of CPU
_SUM = r"""function out() { if (NR > 1) print key "\t[" words "," texts "]" }
{ split($2, n, /[],[]/); if ($1 != key) { out(); key = $1; words = texts = 0 } words += n[2]; texts += n[3] }
END { out() }"""


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table."""
    workload = lab.corpus.workload("wet")
    loop = [sys.executable, str(LOOPS / "shuffle_loop.py")]
    pairs = lab.corpus.made_by(f"pairs-{len(workload.paths)}", [*loop, "drain", *workload.paths])
    contenders: list[Contender] = []
    goals: list[Goal] = []
    for name, core in zip(ours(), CORES, strict=True):
        env = {"CRAWLMILL_CORE": core}
        contenders += [
            Contender(name, [*loop, "whole", *workload.paths], env, json_answer),
            Contender(name + _ALONE, [*loop, "count", *workload.paths], env, json_answer),
        ]
        goals.append(PairsASecond(name, name + _ALONE, _PEER, _GOALS[core]))
    command = f"sort -S 256M --parallel=2 -T . '{pairs}' | awk -F '\t' '{_SUM}' > result"
    contenders.append(Contender(_PEER, ["sh", "-c", command], {"LC_ALL": "C"}, _keys))
    yield lab.compare("shuffle", "counts of words, in one process", contenders, workload, goals=goals)


def _keys(scratch: Path) -> Answer:
    with (scratch / "work/result").open("rb") as lines:
        return Answer(sum(1 for _ in lines), 0)
