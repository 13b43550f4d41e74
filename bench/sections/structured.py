"""Structured data of pages that have much of it, compared with extruct; and the cost of pages that have none.

extruct returns items as JSON, and Crawlmill writes a cluster of N-Quads, so their answers count different things.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.corpus import Workload
from bench.harness import Answer, AtLeast, AtMostBeyond, Comparison, Contender, Goal, json_answer
from bench.lab import LIMIT, LOOPS, NATIVE, Lab
from bench.marked_up import write_pages
from bench.peers import environment

__all__ = ["measure"]

_PAGES = {"full": 3_000, "medium": 1_000, "small": 100}
_MORE = 10  # pages without structured data, for each with it
_OUTPUT = "quads"
_START = ", one page"


def measure(lab: Lab) -> Iterator[Comparison]:
    """Both tables."""
    pages = _PAGES[lab.corpus.scale.name]
    workload = _workload(lab, pages, marked_up=True)
    command = [str(environment(lab.venvs, "extruct")), str(LOOPS / "extruct_loop.py"), "structured", *workload.paths]
    contenders = [*_jobs(lab, workload), Contender("extruct", command, answer=json_answer)]
    goals: list[Goal] = [AtLeast(NATIVE, "extruct", "cpu", 8)]
    yield lab.compare("structured", "pages with structured data, one process", contenders, workload, goals=goals)

    workload, one = (_workload(lab, number, marked_up=False) for number in (pages * _MORE, 1))
    limit = lab.inflating("libdeflate", one)
    contenders = [*_jobs(lab, workload), lab.inflating("libdeflate", workload)]
    contenders += [*_jobs(lab, one, suffix=_START), replace(limit, name=limit.name + _START)]
    goals = [AtMostBeyond(NATIVE, LIMIT, _START, "cpu", 1.3)]
    yield lab.compare("structured", "pages without, one process", contenders, workload, goals=goals, limit=LIMIT)


def _workload(lab: Lab, pages: int, *, marked_up: bool) -> Workload:
    path = lab.corpus.data / f"{'marked-up' if marked_up else 'plain'}-{pages}.warc.gz"
    if not path.exists():
        lab.tell(f"making {path}, once")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        write_pages(part, pages, marked_up=marked_up)
        part.rename(path)
    return lab.corpus.of_file(path, path.name)


def _jobs(lab: Lab, workload: Workload, suffix: str = "") -> list[Contender]:
    options = ("--output-dir", _OUTPUT)
    return lab.inline_jobs("structured_data.py", workload.input_list, *options, suffix=suffix, env={}, answer=_quads)


def _quads(scratch: Path) -> Answer:
    """The pages that have quads, and these."""
    folder = next(scratch.rglob(_OUTPUT))
    return Answer(_lines(folder, "pages-*.gz"), _lines(folder, "part-*.nq.gz"))


def _lines(folder: Path, names: str) -> int:
    number = 0
    for path in folder.glob(names):
        with gzip.open(path) as lines:
            number += sum(1 for _ in lines)
    return number
