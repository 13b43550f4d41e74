"""The results of a run, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crawlmill.mr.task.pairs import decode_pair, encode_pair
from crawlmill.report.folder import RunFolder

__all__ = ["read_results"]


def read_results(folder: RunFolder) -> Iterator[tuple[Any, Any]]:
    """Key and value of each result, part after part; lines that are none are problems of the folder."""
    for part in folder.parts:
        bad, first = 0, 0
        for number, line in enumerate(folder.lines(part), 1):
            try:
                pair = decode_pair(line)
                if b"NaN" in line or b"Infinity" in line:
                    encode_pair(*pair)  # refuses what Python reads though JSON has no such numbers
            except (ValueError, RecursionError):
                bad, first = bad + 1, first or number
                continue
            yield pair
        if bad:
            lines = f"line {first} is no result" if bad == 1 else f"{bad:,} lines are no results, the first is {first}"
            folder.problem(part, f"{lines} (expected key TAB value in JSON)")
