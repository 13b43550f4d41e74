"""Where the CPU time of a job goes: inflating, counting, everything in between, and the runner; for the docs.

The bare loop is sampled (`sampler.py`); the whole job and the inflating of its input are measured too. The time of the
job beyond the loop is for the launcher, two worker processes with their imports, sorting, reducing and writing.
"""

from __future__ import annotations

import json
import sys
from operator import itemgetter
from pathlib import Path

from bench.harness import Contender, Row, compare
from bench.lab import LIMIT, Lab, ours

__all__ = ["JOBS", "profile"]

JOBS = {
    "tags": ("warc", "tag_count.py", ()),
    "servers": ("wat", "server_count.py", ()),
    "servers-heads": ("wat", "server_count.py", ("--heads-only",)),
    "words": ("wet", "word_count.py", ("--document-frequency",)),
}
"""Of each job: the kind of its input, its script and options."""

_BENCH = Path(__file__).parent
_FUNCTIONS = 12
_WORTH = 0.005


def profile(lab: Lab, job: str) -> str:
    """The profile of a job's loop as text, followed by the parts of the whole job."""
    kind, script, options = JOBS[job]
    workload = lab.corpus.workload(kind)
    loop = [str(_BENCH / "loops/crawlmill_loop.py"), job, *workload.paths]
    samples = lab.corpus.samples_file(job)
    sampled = Contender("sampled", [sys.executable, str(_BENCH / "sampler.py"), str(samples), *loop])
    contenders = [
        lab.inflating("libdeflate", workload),
        lab.loops(job, workload)[0],
        lab.jobs(script, workload, *options, suffix=", job")[0],
        sampled,
    ]
    rows = {row.name: row for row in compare(contenders, workload, repeat=lab.repeat, tell=lab.tell)}
    limit, bare, whole = (_cpu(rows[name]) for name in (LIMIT, ours()[0], ours(", job")[0]))
    return "\n".join(
        [
            f"{job}: {workload}",
            "",
            f"{limit:8.2f} CPU s   inflating every member once with libdeflate, nothing else",
            f"{bare:8.2f} CPU s   the bare loop, one process: {bare / limit:.2f} x that",
            f"{whole:8.2f} CPU s   the whole job, two cores: {whole / limit:.2f} x that",
            f"{whole - bare:8.2f} CPU s   beyond the loop: launcher, workers and their imports, sorting, reducing",
            "",
            *_shares(json.loads(samples.read_text())),
        ]
    )


def _cpu(row: Row) -> float:
    value = row.value("cpu")
    if value is None:
        raise SystemExit(f"{row.name}: {row.failure}")
    return value


def _shares(samples: list[tuple[str, str, float]]) -> list[str]:
    """The time of the loop by module, then by its most expensive functions."""
    total = sum(seconds for _, _, seconds in samples)
    modules: dict[str, float] = {}
    for module, _, seconds in samples:
        modules[module] = modules.get(module, 0) + seconds
    longest = sorted(modules.items(), key=itemgetter(1), reverse=True)
    return [
        "The bare loop by module:",
        *(f"{seconds / total:8.1%}   {module}" for module, seconds in longest if seconds >= total * _WORTH),
        "",
        "and by function, with what it calls in C:",
        *(f"{seconds / total:8.1%}   {module}.{function}" for module, function, seconds in samples[:_FUNCTIONS]),
    ]
