"""Copying records into WARC files (`extract_records`), compared with reading the same ranges and inflating them once.

The list has the captures of all pages of some WARC files, sorted by key, as `crawlmill lookup` prints them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.corpus import Workload
from bench.harness import Answer, AtMostBeyond, Comparison, Contender, json_answer
from bench.lab import CORES, LOOPS, NATIVE, Lab, ours

__all__ = ["measure"]

_LIMIT = "read and inflate each range"
_START = ", one record"
_OUTPUT = "copies"
_JOB = Path(__file__).parents[2] / "jobs/extract_records.py"
_RUNNERS = {"inline": ("-r", "inline"), "local": ("-r", "local", "--num-cores", "2")}


def measure(lab: Lab) -> Iterator[Comparison]:
    """A table for each runner of one machine."""
    workload = lab.corpus.workload("warc")
    lines = lab.corpus.made_by(
        f"crawl-data/captures-{len(workload.paths)}.cdxj",
        [sys.executable, "-m", "crawlmill", "index", "--sort", *workload.paths],
    )
    first = lines.with_name(f"first-{lines.name}")
    with lines.open("rb") as file:
        first.write_bytes(file.readline())
    for runner, options in _RUNNERS.items():
        contenders = [
            contender
            for captures, suffix in ((lines, ""), (first, _START))
            for contender in (*_jobs(captures, options, suffix), _loop(captures, workload, suffix))
        ]
        goal = AtMostBeyond(NATIVE, _LIMIT, _START, "cpu", 1.3)
        yield lab.compare(
            "extraction", f"extract_records -r {runner}", contenders, workload, goals=[goal], limit=_LIMIT
        )


def _jobs(captures: Path, options: tuple[str, ...], suffix: str) -> Iterator[Contender]:
    command = [sys.executable, str(_JOB), *options, "--no-progress", "--output-dir", _OUTPUT, str(captures)]
    for name, core in zip(ours(suffix), CORES, strict=True):
        yield Contender(name, command, {"CRAWLMILL_CORE": core}, _copies)


def _loop(captures: Path, workload: Workload, suffix: str) -> Contender:
    ranges = captures.with_suffix(".ranges")
    ranges.write_text("".join(f"{path}\t{offset}\t{length}\n" for path, offset, length in _ranges(captures, workload)))
    return Contender(
        _LIMIT + suffix, [sys.executable, str(LOOPS / "inflate_ranges.py"), str(ranges)], answer=json_answer
    )


def _ranges(captures: Path, workload: Workload) -> list[tuple[str, int, int]]:
    """The ranges of a list in the order of their files."""
    paths = {Path(path).name: path for path in workload.paths}
    with captures.open(encoding="ascii") as lines:
        found = [json.loads(line.split(" ", 2)[2]) for line in lines]
    return sorted(
        (paths[each["filename"].rpartition("/")[2]], int(each["offset"]), int(each["length"])) for each in found
    )


def _copies(scratch: Path) -> Answer:
    """The number of copies, and their bytes."""
    folder = next(scratch.rglob(_OUTPUT))
    with (folder / "records-00000.cdxj").open("rb") as lines:
        number = sum(1 for _ in lines)
    return Answer(number, sum(path.stat().st_size for path in folder.glob("*.warc.gz")))
