"""The sections about the results: the largest, their distribution, groups, pictures, and a comparison."""

from __future__ import annotations

import html
from typing import Any, Final

from crawlmill.report.page import charts
from crawlmill.report.page.tables import bars, table
from crawlmill.report.page.text import count, item, key, percent, plural, text
from crawlmill.report.pictures.statistics import item_of

__all__ = ["comparison", "distribution", "groups", "pictures", "top"]

Data = dict[str, Any]

_IN_GROUP: Final = 10
_NO_ITEMS: Final = {"histogram", "size", "size_estimate"}
"""Groups of statistics whose lines are no items: pictures show them."""


def top(data: Data) -> str:
    """The largest results; if results are not counts, the first few."""
    results = data["results"]
    if results["kind"] == "counts":
        if not results["top"]:
            return "<p>There are no results.</p>"
        switch = (
            '<p class="controls" data-scripted="" hidden><label><input type="checkbox"> Log scale</label></p>'
            if len(results["top"]) > 1
            else ""
        )
        shown, lines = len(results["top"]), results["lines"]
        caption = (
            f"All {plural(lines, 'result')}"
            if shown == lines
            else f"The largest {shown:,} of {plural(lines, 'result')}"
        )
        return switch + bars(caption, ["key", "number"], results["top"], total=results["total"], sorts=True)
    if not results["lines"]:
        return "<p>This run has no result lines.</p>"
    said = f"<p>{plural(results['lines'], 'result line')}, whose values are not numbers that can be ranked.</p>"
    if any(picture["shape"] for picture in data["pictures"]) or results["groups"]:
        return said
    rows = [[key(name), key(value)] for name, value in results["sample"]]
    return said + table("The first results", ["key", "value"], rows, kind="sample")


def distribution(data: Data) -> str:
    """The distribution of the counts."""
    results = data["results"]
    points = [point for point in results["rank_frequency"] if point[1] > 0]
    if not points:
        return "<p>There is nothing to draw: the results are not counts.</p>"
    lines, total = results["lines"], results["total"]
    said = []
    if len(results["top"]) >= 10 and lines > 10 and total > 0:
        share = percent(sum(number for _, number in results["top"][:10]), total)
        said.append(f"The ten largest make up {share} of all that was counted.")
    if results["singles"]:
        said.append(
            f"{count(results['singles'])} of {plural(lines, 'key')} occur once ({percent(results['singles'], lines)})."
        )
    ends = ", ".join(f"{number:,} at rank {rank:,}" for rank, number in (points[0], points[-1]))
    name = f"Number by rank, both logarithmic: {ends}"
    drawn = charts.log_log(name, [points], "rank", "number")
    return f'<p>{" ".join(said)}</p><div class="figure">{drawn}</div>'


def groups(data: Data) -> str:
    """A table with bars for each first string of the keys."""
    found, crawls = data["results"]["groups"], data["crawls"]
    drawn = []
    for name, group in found.items():
        if not group["top"] or (crawls and name in _NO_ITEMS):
            continue
        rows = [[_short_key(of, crawls), number] for of, number in group["top"][:_IN_GROUP]]
        shown, lines = len(rows), group["lines"]
        caption = plural(lines, "item") if shown == lines else f"the largest {shown:,} of {plural(lines, 'item')}"
        drawn.append(
            f'<div class="group"><h3>{text(name)}</h3>'
            f"{bars(caption, ['item', 'number'], rows, total=group['total'])}</div>"
        )
    return f'<div class="groups">{"".join(drawn)}</div>' if drawn else ""


def pictures(data: Data) -> str:
    """Pictures that only some jobs have."""
    drawn = []
    for picture in data["pictures"]:
        title = f"<h3>{text(picture['title'])}</h3>"
        if picture["shape"] == "bars":
            body = bars(picture["note"] or picture["title"], picture["columns"], picture["rows"])
            wide = " wide" if len(picture["columns"]) > 2 else ""
        else:
            body, wide = f"<p>{text(picture['note'])}</p>{_plot(picture)}", ""
        drawn.append(f'<div class="group{wide}">{title}{body}</div>')
    return f'<div class="groups">{"".join(drawn)}</div>' if drawn else ""


def comparison(data: Data) -> str:
    """A comparison of the results of two runs by key."""
    found = data["compare"]
    sums = [("only here", "only_here"), ("only there", "only_there"), ("equal", "equal"), ("different", "changed")]
    facts = "".join(f"<div><dt>{name}</dt><dd>{count(found[of])}</dd></div>" for name, of in sums)
    said = f'<p>Keys of this run (here) and the other (there):</p><dl class="facts small">{facts}</dl>'
    if not found["rows"]:
        return f"{said}<p>There are no numbers to compare.</p>"
    rows = []
    largest = max(abs((here or 0) - (there or 0)) for _, here, there in found["rows"])
    for name, here, there in found["rows"]:
        gap = (here or 0) - (there or 0)
        cells = [item(here) or "–", item(there) or "–", ("+" if gap > 0 else "") + count(gap)]
        rows.append([key(name), *cells, charts.bar(abs(gap), largest, "less" if gap < 0 else "more")])
    caption = f"The {plural(len(rows), 'largest difference')}" if len(rows) > 1 else "The largest difference"
    return said + table(caption, ["key", "#here", "#there", "#difference", "="], rows, kind="compare", sorts=True)


def _short_key(of: list[Any], crawls: int) -> Any:
    rest = item_of(of, crawls) if crawls else of[1:]
    return rest[0] if isinstance(rest, list) and len(rest) == 1 else rest


def _plot(picture: dict[str, Any]) -> str:
    series = {name: points for name, points in picture["series"].items() if points}
    if not series:
        return "<p>There is nothing to draw.</p>"
    drawn = charts.log_log(picture["title"], list(series.values()), picture["x"], picture["y"])
    legend = ""
    if len(series) > 1:
        entries = "".join(
            '<li><svg class="swatch" aria-hidden="true" width="10" height="10">'
            f'<circle class="s{index}" cx="5" cy="5" r="4"/></svg> {html.escape(name)}</li>'
            for index, name in enumerate(series)
        )
        legend = f'<ul class="legend">{entries}</ul>'
    return f'<div class="figure">{legend}{drawn}</div>'
