"""Pictures of a host graph: `vertices` (`id TAB org.example`) and `edges` (`from TAB to`), each a file or folder.

Edges are sorted by their first number, as the format requires, so a host's links are together.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from itertools import groupby
from typing import Any, Final

from crawlmill.report.folder import RunFolder
from crawlmill.report.pictures.model import Bars, Picture, Plot, thinned

__all__ = ["graph_pictures"]

_MAX_VERTICES: Final = 200_000_000
"""Beyond it, the degrees would not fit into a usual machine's memory: 4 bytes each."""


def graph_pictures(folder: RunFolder, top: int) -> list[Picture]:
    """The pictures of the graph in a folder; empty if there is none."""
    if not _files(folder, "vertices"):
        return []
    vertices = sum(1 for _ in _vertices(folder))
    known = vertices <= _MAX_VERTICES
    linked = array("I", bytes(4 * vertices if known else 0))
    out_degrees: Counter[int] = Counter()
    edges = 0
    for _, group in groupby(_edges(folder), key=lambda edge: edge[0]):
        degree = 0
        for _, target in group:
            degree += 1
            if target < len(linked):
                linked[target] += 1
        out_degrees[degree] += 1
        edges += degree
    silent = vertices - out_degrees.total()
    in_degrees = Counter(linked)
    note = f"{vertices:,} hosts and {edges:,} links between them; without links to others: {silent:,}"
    note += f", without links from others: {in_degrees[0]:,}." if known else "."
    series = {"links to other hosts": _points(out_degrees)}
    if known:
        series = {"linked to by other hosts": _points(in_degrees), **series}
    plot = Plot("Degrees", "How many hosts have so many links.", "hosts linked", "how many hosts", series)
    return [Bars("Hosts most linked to", note, ["host", "linked by"], _most_linked(folder, linked, top)), plot]


def _most_linked(folder: RunFolder, linked: array[int], top: int) -> list[list[Any]]:
    chosen = nsmallest(top, range(len(linked)), key=lambda vertex: (-linked[vertex], vertex))
    wanted = {vertex: "" for vertex in chosen if linked[vertex]}
    for vertex, name in _vertices(folder) if wanted else ():
        if vertex in wanted:
            wanted[vertex] = ".".join(reversed(name.split(".")))
    return [[name or str(vertex), linked[vertex]] for vertex, name in wanted.items()]


def _points(degrees: Counter[int]) -> list[list[int]]:
    return thinned([[degree, hosts] for degree, hosts in sorted(degrees.items()) if degree])


def _vertices(folder: RunFolder) -> Iterator[tuple[int, str]]:
    for number, name in _pairs(folder, "vertices"):
        yield int(number), name.decode("utf-8", "replace")


def _edges(folder: RunFolder) -> Iterator[tuple[int, int]]:
    for source, target in _pairs(folder, "edges"):
        if target.isdigit():
            yield int(source), int(target)


def _pairs(folder: RunFolder, kind: str) -> Iterator[tuple[bytes, bytes]]:
    """The first two fields of each line; lines without them are reported once per file."""
    for name in _files(folder, kind):
        bad = 0
        for line in folder.lines(name):
            first, _, rest = line.partition(b"\t")
            second = rest.partition(b"\t")[0]
            if first.isdigit() and second:
                yield first, second
            else:
                bad += 1
        if bad:
            folder.problem(name, f"{bad:,} {'line is' if bad == 1 else 'lines are'} not of a graph")


def _files(folder: RunFolder, kind: str) -> list[str]:
    names = (f"{kind}.txt.gz", f"{kind}.txt")
    return [name for name in folder.names if name in names or name.startswith(f"{kind}/part-")]
