"""The results of a run, as pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crawlmill.report.folder import RunFolder
from crawlmill.results.pairs import decode_pair

__all__ = ["read_results"]


def read_results(folder: RunFolder) -> Iterator[tuple[Any, Any]]:
    """Yield key and value of each result, part by part, in any format.

    Lines that are not pairs are problems of the folder; in other formats, everything after damage is lost, too.
    """
    for part in folder.parts:
        yield from _pairs(folder, part.name) if part.format == "pairs" else folder.rows(part)


def _pairs(folder: RunFolder, name: str) -> Iterator[tuple[Any, Any]]:
    bad, first = 0, 0
    for number, line in enumerate(folder.lines(name), 1):
        try:
            pair = decode_pair(line)
        except (ValueError, RecursionError):
            bad, first = bad + 1, first or number
            continue
        yield pair
    if bad:
        lines = f"line {first} is not a result" if bad == 1 else f"{bad:,} lines are not results, the first is {first}"
        folder.problem(name, f"{lines} (expected key TAB value in JSON)")
