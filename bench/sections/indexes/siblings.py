"""Building a sibling index of WARC, WAT and WET files, 1 GB in all, compared with inflating all of them once.

Answers are the pages, and their records in WAT and WET files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.harness import Answer, AtLeast, Comparison, Goal
from bench.lab import LIMIT, NATIVE, Lab

__all__ = ["measure"]

_ROOT = Path(__file__).parents[3]
_MEGABYTES = 1000
_OUTPUT = "siblings"
_MOST = 1.3


def measure(lab: Lab) -> Iterator[Comparison]:
    """One table: in one process, and on the local runner with two cores."""
    workload = lab.corpus.of_all_kinds(_MEGABYTES)
    command = [
        sys.executable,
        str(_ROOT / "jobs/sibling_index.py"),
        "--no-progress",
        "--quiet",
        "--output-dir",
        _OUTPUT,
        workload.input_list,
    ]
    contenders = [
        replace(each, name=f"{each.name}, {runner}")
        for runner, options in (("inline", []), ("local", ["--num-cores", "2"]))
        for each in lab.each_core([*command, "-r", runner, *options], _pages)
    ]
    goals: list[Goal] = [AtLeast(f"{NATIVE}, {runner}", LIMIT, "cpu", 1 / _MOST) for runner in ("inline", "local")]
    contenders.append(lab.inflating("libdeflate", workload))
    yield lab.compare("siblings", "sibling_index", contenders, workload, goals=goals, limit=LIMIT)


def _pages(scratch: Path) -> Answer:
    """The rows of the table, and how many records of other files they name."""
    import pyarrow.parquet as pq

    pages = records = 0
    for path in next(scratch.rglob(_OUTPUT)).glob("crawl=*/*.parquet"):
        table = pq.read_table(path, columns=["wat_record_offset", "wet_record_offset"])
        pages += table.num_rows
        records += sum(table.num_rows - column.null_count for column in table.columns)
    return Answer(pages, records)
