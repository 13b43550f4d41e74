"""The data of a report, from a run's output folder, in the form of the JSON in its page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from crawlmill.report.compare import compare
from crawlmill.report.folder import Problems, RunFolder
from crawlmill.report.inputs import read_inputs
from crawlmill.report.pictures.graph import graph_pictures
from crawlmill.report.pictures.hosts import Hosts
from crawlmill.report.pictures.model import Picture
from crawlmill.report.pictures.statistics import Statistics
from crawlmill.report.results import read_results
from crawlmill.report.tally import Tally
from crawlmill.storage import Storage, redact

__all__ = ["Groups", "gather"]

VERSION: Final = 1
_MAX_GROUPS: Final = 60
_MAX_SAMPLE: Final = 20
_MAX_TEXT: Final = 300


@dataclass
class Groups:
    """Tallies of results whose keys are lists that begin with a string, grouped by that string.

    Empty if there are other keys, or more than sixty different strings, which are then not names of tables.
    """

    top: int
    tallies: dict[str, Tally] | None = field(default_factory=dict)

    def add(self, key: Any, value: Any) -> None:
        """Add a result."""
        if self.tallies is None:
            return
        if not isinstance(key, list) or not key or not isinstance(key[0], str):
            self.tallies = None
            return
        tally = self.tallies.get(key[0])
        if tally is None:
            if len(self.tallies) >= _MAX_GROUPS:
                self.tallies = None
                return
            tally = self.tallies[key[0]] = Tally(self.top)
        tally.add(key, value)

    def to_json(self) -> dict[str, Any]:
        """{name: {lines, total, top}}, by name."""
        tallies = sorted((self.tallies or {}).items())
        return {name: {"lines": each.lines, "total": each.total, "top": each.top()} for name, each in tallies}


def gather(
    location: str, storage: Storage, *, top: int, other: str | None = None, ledger: str | None = None
) -> dict[str, Any]:
    """Read the output folder at a location; `other` is one to compare it with, `top` the number of results to show.

    `ledger` is the location of the ledger, if it is not in the folder.

    Raises:
        UsageError: One of them is not the output folder of a run.
        OSError: The temporary folder is full.
    """
    problems = Problems()
    folder = RunFolder(location, storage, problems)
    against = None if other is None else RunFolder(other, storage, problems, f"{redact(other)}: ")
    inputs, run = read_inputs(folder, ledger), folder.run()
    folder.look_for_parts(run)
    if against is not None:
        against.look_for_parts(against.run())
    results, pictures, crawls = _results(folder, top)
    compared = None
    if other is not None and against is not None:
        quiet = RunFolder(location, storage, Problems())  # its problems have been reported
        compared = {"out": redact(other), **compare(read_results(quiet), read_results(against), top)}
    return {
        "version": VERSION,
        "run": run,
        "finished": folder.finished,
        "inputs": inputs.counts() if inputs else None,
        "records": inputs.records if inputs else None,
        "bytes": inputs.bytes if inputs else None,
        "lost": dict(sorted(inputs.lost.items())) if inputs else {},
        "ledger": {"rows": inputs.rows if inputs else 0, "shown": inputs.shown if inputs else []},
        "results": results,
        "crawls": crawls,
        "pictures": [picture.to_json() for picture in pictures],
        "problems": problems.lines(),
        "throughput": _progress(run),
        "compare": compared,
    }


def _results(folder: RunFolder, top: int) -> tuple[dict[str, Any], list[Picture], int]:
    tally, groups, hosts, statistics = Tally(top, ranks=True), Groups(top), Hosts(top), Statistics()
    sample: list[list[Any]] = []
    for key, value in read_results(folder):
        tally.add(key, value)
        groups.add(key, value)
        hosts.add(key, value)
        statistics.add(key, value)
        if len(sample) < _MAX_SAMPLE:
            sample.append([_text(each) for each in (key, value)])
    counts = tally.counts and bool(folder.parts)
    results = {
        "lines": tally.lines,
        "kind": "counts" if counts else "other",
        "total": tally.total if counts else None,
        "singles": tally.singles() if counts else None,
        "top": tally.top(),
        "rank_frequency": tally.rank_frequency(),
        "groups": groups.to_json(),
        "sample": [] if counts else sample,
    }
    pictures = [*hosts.pictures(), *statistics.pictures(), *graph_pictures(folder, top)]
    return results, pictures, statistics.crawls if statistics.found else 0


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))[:_MAX_TEXT]


def _progress(run: dict[str, Any] | None) -> list[list[Any]]:
    """`progress` of `_run.json`, if it is valid."""
    points = (run or {}).get("progress")
    if not isinstance(points, list):
        return []
    numbers = all(
        isinstance(point, list) and len(point) == 4 and all(type(each) in (int, float) for each in point)
        for point in points
    )
    return points if numbers else []
