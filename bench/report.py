"""Prints comparisons as tables, and saves them: results.json with every run, results.md for readers.

Each value is a median, followed in parentheses by its ratio to the table's first row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from bench.harness import Comparison, Quantity, Row

__all__ = ["as_text", "results_folder", "save"]

_HEADS = ("", "CPU s", "wall s", "peak MB", "MB/s", "x limit", "keys", "total")
_WORDS = {True: "met", False: "MISSED", None: "open"}
_SHOWN = {
    "crawlmill",
    "crawlmill-native",
    "deflate",
    "fastwarc",
    "isal",
    "mrjob",
    "pyspark",
    "ujson",
    "warcio",
    "zlib-ng",
}


def as_text(comparison: Comparison) -> str:
    """The table in Markdown, with its goals and what went wrong below."""
    rows = [_HEADS, *(_cells(row, comparison) for row in comparison.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [f"## {comparison.section}: {comparison.title}", ""]
    if comparison.workload is not None:
        lines += [f"{comparison.workload}.", ""]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
        if number == 0:
            lines.append(
                "|-"
                + "-|-".join("-" * width for width in widths[:1])
                + "-|"
                + "|".join("-" * (width + 1) + ":" for width in widths[1:])
                + "|"
            )
    loads = [run.load for row in comparison.rows for run in row.runs]
    return "\n".join(
        [
            *lines,
            "",
            *(f"- {_WORDS[verdict.met]}: {verdict.text}" for verdict in comparison.verdicts()),
            *(f"- failed: {row.name}: {row.failure}" for row in comparison.rows if row.failure),
            f"- load average before the runs: {min(loads, default=0):.1f} to {max(loads, default=0):.1f}",
            "",
        ]
    )


def _cells(row: Row, comparison: Comparison) -> tuple[str, ...]:
    cpu = row.value("cpu")
    limit = comparison.row(comparison.limit) if comparison.limit else None
    least = limit.value("cpu") if limit else None
    size = comparison.workload.compressed if comparison.workload else None
    return (
        row.name,
        *(_compared(row, comparison.rows[0], quantity) for quantity in ("cpu", "wall", "memory")),
        f"{size / 1e6 / cpu:,.1f}" if cpu and size else "",
        f"{cpu / least:.2f}" if cpu and least else "",
        *((f"{row.answer.keys:,}", f"{row.answer.total:,}") if row.answer else ("", "")),
    )


def _compared(row: Row, first: Row, quantity: Quantity) -> str:
    value, base = row.value(quantity), first.value(quantity)
    if value is None:
        return "-"
    shown = f"{value / 1e6:,.0f}" if quantity == "memory" else f"{value:.2f}"
    return shown if row is first or not base else f"{shown} ({value / base:.2f})"


def results_folder(runs: Path, machine: dict[str, Any], scale: str) -> Path:
    """The new folder for the results of a run: runs/DATE-HOST[-SCALE][-NUMBER]; the scale `full` is not named."""
    name = f"{date.today().isoformat()}-{machine['host']}" + ("" if scale == "full" else f"-{scale}")
    number = 1
    while (folder := runs / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def save(folder: Path, facts: dict[str, Any], comparisons: Sequence[Comparison]) -> None:
    """Write both files, replacing those of fewer comparisons."""
    tables = [
        _without_paths(asdict(comparison)) | {"goals": [asdict(verdict) for verdict in comparison.verdicts()]}
        for comparison in comparisons
    ]
    folder.mkdir(parents=True, exist_ok=True)
    raw = json.dumps(facts | {"comparisons": tables}, indent=1)
    (folder / "results.json").write_text(raw + "\n")
    (folder / "results.md").write_text("\n".join([_preface(facts), *map(as_text, comparisons)]))


def _without_paths(table: dict[str, Any]) -> dict[str, Any]:
    """The input without its paths, which only matter on this machine; keeps the number of files."""
    if table["workload"]:
        table["workload"]["files"] = len(table["workload"].pop("paths"))
        del table["workload"]["input_list"]
    return table


def _preface(facts: dict[str, Any]) -> str:
    machine = facts["machine"]
    packages = {
        f"{name} {version}"
        for environment in machine["environments"].values()
        for name, version in environment["packages"].items()
        if name.lower() in _SHOWN
    }
    return f"""# Benchmark of {facts["date"]}, scale {facts["scale"]}, commit {machine["commit"]}

{machine["cpu"]}, {machine["cores"]} cores, {machine["memory_bytes"] / 1e9:.0f} GB; {machine["system"]}; \
Python {machine["environments"]["crawlmill"]["python"]}; Java: {machine["java"] or "none"}.
{", ".join(sorted(packages, key=str.lower))}.

Medians of {facts["repeat"]} runs, in turn, each in a fresh process; in parentheses: times the first row's.
CPU: user and system time of the whole process tree, start of the interpreter included.
Peak: resident memory of the whole process tree.
MB/s: compressed input by CPU second.
x limit: CPU by that of inflating the same members once with libdeflate, nothing else.
"""
