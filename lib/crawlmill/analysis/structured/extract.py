"""Extracts the structured data of one capture of a page, by format: from its text to lines of N-Quads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from crawlmill.analysis.structured.json_ld import add_json_ld
from crawlmill.analysis.structured.markup import FORMATS
from crawlmill.analysis.structured.microdata import add_microdata
from crawlmill.analysis.structured.microformats.reader import add_microformats
from crawlmill.analysis.structured.page import Page
from crawlmill.analysis.structured.quads import TooMuchError, Triples
from crawlmill.analysis.structured.rdfa.processor import add_rdfa
from crawlmill.analysis.structured.terms import graph_name

__all__ = ["Extracted", "extract"]

_READERS: Final[dict[str, Callable[[Page, Triples], None]]] = {
    "microdata": add_microdata,
    "rdfa": add_rdfa,
    "json-ld": add_json_ld,
    "microformats2": add_microformats,
}


@dataclass(slots=True)
class Extracted:
    """The structured data of a page.

    Attributes:
        graph: The term that names the page.
        quads: Lines without line ends, by format; formats without any are left out.
        skipped: Counts of what could not be used, by reason.
    """

    graph: str
    quads: dict[str, list[str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)


def extract(text: str, uri: str, formats: Iterable[str], nodes: str) -> Extracted | None:
    """Extract a page's data in some formats; None if its URI is not absolute.

    Args:
        text: The page, decoded.
        uri: The URI of the page.
        formats: Names of `FORMATS`.
        nodes: The prefix of its blank nodes, see `quads.node_prefix`.
    """
    graph = graph_name(uri)
    if graph is None:
        return None
    page = Page(text, graph[1:-1])
    found = Extracted(graph)
    wanted = set(formats)
    for name in FORMATS:
        if name not in wanted:
            continue
        triples = Triples(f"{nodes}{name[0]}{name[-1]}")
        try:
            _READERS[name](page, triples)
        except TooMuchError as error:
            found.skipped[error.reason] += 1
            continue
        finally:
            found.skipped += triples.skipped
        if len(triples):
            found.quads[name] = triples.lines(graph)
    return found
