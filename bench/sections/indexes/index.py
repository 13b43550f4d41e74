"""Making CDXJ from WARC files, with every body proven and from heads only; and making urlkeys.

cdxj-indexer reads and parses every record with warcio. FastWARC has no indexer, so a loop with `surt`
(loops/fastwarc_index_loop.py) stands in, which says less about each capture. Neither proves that members are whole, and
neither can skip bodies, so both tables show the same figures for them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import Workload
from bench.harness import AtLeast, Comparison, Contender, Goal, json_answer, lines_answer
from bench.lab import NATIVE, Lab, ours
from bench.peers import environment

__all__ = ["measure"]

_LOOPS = Path(__file__).parents[2] / "loops"
_TIMES = "400"  # so that starting is a small part; none of the contenders remembers keys


def measure(lab: Lab) -> Iterator[Comparison]:
    """The three tables."""
    workload = lab.corpus.workload("warc")
    python = environment(lab.venvs, "indexers")
    peers = [
        Contender("cdxj-indexer", [str(python.with_name("cdxj-indexer")), *workload.paths], answer=lines_answer),
        Contender(
            "FastWARC and surt",
            [str(python), str(_LOOPS / "fastwarc_index_loop.py"), *workload.paths],
            answer=lines_answer,
        ),
    ]
    for title, options, factors in (
        ("CDXJ, every body proven", [], (5.0, 1.8)),
        ("CDXJ, --heads-only", ["--heads-only"], (15.0, 5.0)),
    ):
        goals: list[Goal] = []
        for name in ours():
            share = 1 if name == NATIVE else 2 if options else 3
            goals += [AtLeast(name, "cdxj-indexer", "cpu", factors[0] / share)]
            goals += [AtLeast(name, "FastWARC and surt", "cpu", factors[1] / share)]
        command = [sys.executable, "-m", "crawlmill", "index", *options, *workload.paths]
        yield lab.compare("index", title, [*lab.each_core(command, lines_answer), *peers], workload, goals=goals)
    yield _urlkeys(lab, workload, python)


def _urlkeys(lab: Lab, workload: Workload, python: Path) -> Comparison:
    urls = Path(workload.paths[0] + ".urls")
    if not urls.exists():
        urls.write_text(_urls(workload.paths[0]), encoding="utf-8")
    arguments = [str(_LOOPS / "urlkey_loop.py")]
    contenders = [
        *lab.each_core([sys.executable, *arguments, "crawlmill", str(urls), _TIMES], json_answer),
        Contender("surt", [str(python), *arguments, "surt", str(urls), _TIMES], answer=json_answer),
    ]
    goals = [AtLeast(name, "surt", "cpu", 20 if name == NATIVE else 2) for name in ours()]
    return lab.compare("index", f"urlkeys of the URLs of a file, {_TIMES} times", contenders, None, goals=goals)


def _urls(path: str) -> str:
    command = [sys.executable, "-m", "crawlmill", "index", "--heads-only", path]
    lines = subprocess.run(command, capture_output=True, check=True, encoding="ascii").stdout.splitlines()
    return "".join(json.loads(line.split(" ", 2)[2])["url"] + "\n" for line in lines)
