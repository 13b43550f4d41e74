"""Statistics of crawls, counted from sorted CDXJ; and what selecting pages costs.

The peer is Common Crawl's own program, cc-crawl-statistics, on mrjob's local runner with two cores. Each file is one
gzip member, because that program reads only the first. Selectors drop nearly all records, so that only reading and
selecting are measured; they are compared with iterating over all records, each proven.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.captures import make_captures
from bench.harness import AtLeast, Comparison, Contender, Goal, lines_answer
from bench.lab import NATIVE, Lab, local_job, ours
from bench.peers import environment

__all__ = ["measure"]

_LINES = {"full": 1_000_000, "medium": 200_000, "small": 20_000}
_FILES = 4
_CRAWL = "CC-MAIN-2024-10"  # the peer knows no later crawl than its own version
_PEER = "cc-crawl-statistics"
_COUNTED = {"exact": ["--exact"], "sketch": ["--sketch"]}
_PEER_COUNTED = {"exact": ["--exact-counts"], "sketch": ["--no-exact-counts"]}
_SELECTORS = [
    ["--status", "418"],
    ["--mime", "model/*"],
    ["--domain", "nowhere.example"],
    ["--language", "tlh"],
    ["--charset", "x-none"],
    ["--from", "2099"],
    ["--truncated", "only"],
    ["--sample-records", "1%"],
    ["--url-regex", "nowhere"],
]


def measure(lab: Lab) -> Iterator[Comparison]:
    """The two tables."""
    lines = _LINES[lab.corpus.scale.name]
    folder = lab.folder(
        f"sorted-captures-{lines}", f"{lines:,} sorted lines of CDXJ", lambda folder: _prepare(folder, lines)
    )
    yield _counting(lab, folder, lines)
    yield _selecting(lab)


def _prepare(folder: Path, lines: int) -> None:
    """Captures, sorted and cut into files, and a list of them."""
    made = make_captures(folder / "unsorted", lines, _FILES)
    sorting = (
        'gzip -dc "$@" | LC_ALL=C sort -T . '
        f"| split -l {lines // _FILES} --additional-suffix=.cdxj.gz --filter='gzip -1 > $FILE' - sorted-"
    )
    subprocess.run(["bash", "-c", sorting, "sort", *map(str, made)], cwd=folder, check=True)
    shutil.rmtree(folder / "unsorted")
    (folder / "captures.paths").write_text("".join(f"{path}\n" for path in _files(folder)))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("sorted-*.cdxj.gz"))


def _counting(lab: Lab, folder: Path, lines: int) -> Comparison:
    """`crawl_statistics`, exact and with sketches, compared with the peer; `host_statistics` on the same captures."""
    jobs = {
        what: local_job("crawl_statistics.py", "--quiet", "--crawl", _CRAWL, *more) for what, more in _COUNTED.items()
    }
    jobs["hosts"] = local_job("host_statistics.py", "--quiet")
    contenders = [
        Contender(f"{each.name}, {what}", [*each.command, str(folder / "captures.paths")], each.env, lines_answer)
        for what, command in jobs.items()
        for each in lab.each_core(command)
    ]
    if lab.cc_crawl_statistics is not None:
        python = environment(lab.venvs, _PEER)
        command = [
            str(python),
            str(lab.cc_crawl_statistics / "crawlstats.py"),
            "-r",
            "local",
            "--num-cores",
            "2",
            "--crawl",
            _CRAWL,
        ]
        contenders += [
            Contender(f"{_PEER}, {what}", [*command, *more, *map(str, _files(folder))], answer=lines_answer)
            for what, more in _PEER_COUNTED.items()
        ]
    goals: list[Goal] = []
    for name in ours():
        for what, native in (("exact", 8), ("sketch", 12)):
            goals.append(AtLeast(f"{name}, {what}", f"{_PEER}, {what}", "cpu", native if name == NATIVE else 3))
        goals.append(AtLeast(f"{name}, hosts", f"{name}, sketch", "wall", 0.5))
    return lab.compare("statistics", f"of {lines:,} captures, two cores", contenders, None, goals=goals)


def _selecting(lab: Lab) -> Comparison:
    """Counting the tags of hardly any page, in one process."""
    workload = lab.corpus.workload("warc")
    passing = lab.loops("pass-records", workload)
    selecting = [
        each
        for selector in _SELECTORS
        for each in lab.inline_jobs("tag_count.py", workload.input_list, *selector, suffix=_named(selector), env={})
    ]
    goals = [
        AtLeast(name + _named(selector), name, "cpu", 1 / 1.1)
        for name in ours()
        if name == NATIVE
        for selector in _SELECTORS
    ]
    title = "tags of selected pages, beside passing over all records; one process"
    return lab.compare("statistics", title, [*passing, *selecting], workload, goals=goals)


def _named(selector: list[str]) -> str:
    return ", " + " ".join(selector)
