"""Counts the structured data of pages in the form of Web Data Commons: per format, class and property.

    ["format", F]           pages, hosts, domains; triples, distinct within a page
    ["class", F, IRI]       pages that have a thing of the class, and entities: subjects in a page that are of it
    ["property", F, IRI]    pages that use the property, and entities: subjects in a page that have it

Pages are counted first, in any order and in parts; `PageCounter` writes lines which, sorted, are summed by `totals`, in
bounded memory.

Source: http://webdatacommons.org/structureddata/
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from crawlmill.analysis.structured.terms import RDF_TYPE
from crawlmill.urls.hosts import host_of
from crawlmill.urls.suffixes import registered_domain

__all__ = ["PageCounter", "totals"]

_MAX_KEYS: Final = 200_000


class PageCounter:
    """Counts of pages. `len()` is the number of counts held."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def is_full(self) -> bool:
        """Whether the counts should be drained."""
        return len(self._counts) >= _MAX_KEYS

    def add(self, uri: str, quads: dict[str, list[str]]) -> None:
        """Count a page, by its IRI and its distinct quads by format."""
        host = host_of(uri) or ""
        domain = (registered_domain(host) or host) if host else ""
        for name, lines in quads.items():
            classes: dict[str, set[str]] = {}
            properties: dict[str, set[str]] = {}
            for line in lines:
                subject, predicate, rest = line.split(" ", 2)
                properties.setdefault(predicate, set()).add(subject)
                if predicate == RDF_TYPE and rest.startswith("<"):
                    classes.setdefault(rest.partition(" ")[0], set()).add(subject)
            self._count(["format", name], f"{domain}\0{host}\0", len(lines))
            for kind, found in (("class", classes), ("property", properties)):
                for term, subjects in found.items():
                    self._count([kind, name, term[1:-1]], "", len(subjects))

    def _count(self, key: list[str], within: str, number: int) -> None:
        text = json.dumps(key, ensure_ascii=False, separators=(",", ":")) + "\0" + within
        count = self._counts.setdefault(text, [0, 0])
        count[0] += 1
        count[1] += number

    def drain(self) -> Iterator[tuple[str, str]]:
        """Yield the counts, each as the JSON of its key and a line, and empty the counter."""
        counts, self._counts = self._counts, {}
        for text, (pages, number) in counts.items():
            yield text.partition("\0")[0], f"{text}{pages}\0{number}"


def totals(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, int]]]:
    """The sums of sorted lines: the JSON of each key, and its numbers."""
    cut = (line.split("\0") for line in lines)
    for key, counts in groupby(cut, lambda parts: parts[0]):
        of_key = _of_format if key.startswith('["format"') else _of_term
        yield key, of_key(counts)


def _of_format(counts: Iterable[list[str]]) -> dict[str, int]:
    found = {"pages": 0, "hosts": 0, "domains": 0, "triples": 0}
    for domain, of_domain in groupby(counts, lambda parts: parts[1]):
        found["domains"] += bool(domain)
        for host, of_host in groupby(of_domain, lambda parts: parts[2]):
            found["hosts"] += bool(host)
            for parts in of_host:
                found["pages"] += int(parts[3])
                found["triples"] += int(parts[4])
    return found


def _of_term(counts: Iterable[list[str]]) -> dict[str, int]:
    found = {"pages": 0, "entities": 0}
    for parts in counts:
        found["pages"] += int(parts[1])
        found["entities"] += int(parts[2])
    return found
