"""The correct results of jobs on a sample crawl, summed up from what its pages declare about themselves.

The files of 2012 contain less than today's, so their answers differ: only bodies of good responses were kept (no 404,
no redirect), only the last of repeated headers, and titles are not part of textData.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from crawlmill.sample.pages import Page
from crawlmill.sample.text.documents import Document
from crawlmill.sample.text.fragments import Fragment
from crawlmill.sample.visits import Visit

__all__ = ["Answers", "LegacyTally", "Table", "Tally"]

Table = tuple[tuple[str | None, int], ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """Tables of (key, count), by falling count, then by key; the server None is a response without one.

    `triples` counts triples in the pages' structured data, by predicate. These tables are for WARC, WAT and WET files.
    `legacy` has those for other formats, by format and table: "arc" has "tags" and "servers", "metadata" has "servers",
    "text" has "words".
    """

    tags: Table
    servers: Table
    words: Table
    triples: Table
    legacy: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)

    def to_json(self) -> str:
        """An object of the tables, with an object for each legacy format; one row per line."""
        tables = {"tags": self.tags, "servers": self.servers, "words": self.words, "triples": self.triples}
        parts = [_tables(tables), *(f'"{name}": {{\n{_tables(own)}\n}}' for name, own in self.legacy.items())]
        return "{\n" + ",\n".join(parts) + "\n}\n"


class _Sum:
    """Sums over documents. Fragments shared by many documents are counted as wholes and resolved at the end."""

    def __init__(self, held: Callable[[Fragment], Iterable[tuple[str, int]]]) -> None:
        self._held = held
        self._own: Counter[str] = Counter()
        self._shared: Counter[Fragment] = Counter()

    def add(self, document: Document) -> None:
        for fragment in document.fragments:
            if fragment.shared:
                self._shared[fragment] += 1
            else:
                _add(self._own, self._held(fragment), 1)

    def table(self) -> Table:
        counts = self._own.copy()
        for fragment, times in self._shared.items():
            _add(counts, self._held(fragment), times)
        return _table(counts)


class Tally:
    """Sums over pages, for WARC, WAT and WET files."""

    def __init__(self) -> None:
        self._tags, self._words = _Sum(_tags), _Sum(_words)
        self._servers: Counter[str | None] = Counter()
        self._triples = _Sum(_predicates)

    def add(self, page: Page) -> None:
        """Count a page: its servers and, for an HTML page, its tags, words and triples."""
        self._servers.update(page.servers)
        if page.document is not None:
            self._tags.add(page.document)
            self._words.add(page.document)
            self._triples.add(page.document)

    def answers(self, legacy: Mapping[str, Mapping[str, Table]]) -> Answers:
        """The tables so far, with those of legacy formats."""
        return Answers(self._tags.table(), _table(self._servers), self._words.table(), self._triples.table(), legacy)


class LegacyTally:
    """Sums over visits, for ARC, metadata and textData files."""

    def __init__(self) -> None:
        self._tags, self._words = _Sum(_tags), _Sum(_body_words)
        self._archived: Counter[str | None] = Counter()
        self._recorded: Counter[str | None] = Counter()

    def add(self, visit: Visit) -> None:
        """Count a visit: its servers if there was a response, and the content of its body if that was kept."""
        if visit.succeeded:
            self._recorded[visit.headers.get("server") or None] += 1
        if visit.stored:
            self._archived.update(visit.page.servers)
            if visit.page.document is not None:
                self._tags.add(visit.page.document)
        if visit.parsed is not None:
            self._words.add(visit.parsed)

    def tables(self, formats: Collection[str]) -> dict[str, dict[str, Table]]:
        """The tables so far for these formats."""
        tables: dict[str, dict[str, Table]] = {
            "arc": {"tags": self._tags.table(), "servers": _table(self._archived)},
            "metadata": {"servers": _table(self._recorded)},
            "text": {"words": self._words.table()},
        }
        return {name: table for name, table in tables.items() if name in formats}


def _tags(fragment: Fragment) -> Iterable[tuple[str, int]]:
    return fragment.tags


def _predicates(fragment: Fragment) -> Iterable[tuple[str, int]]:
    return ((triple.predicate[1:-1], 1) for triple in fragment.triples)


def _words(fragment: Fragment) -> Iterable[tuple[str, int]]:
    return ((word, 1) for word in (*fragment.head.words, *fragment.words))


def _body_words(fragment: Fragment) -> Iterable[tuple[str, int]]:
    return ((word, 1) for word in fragment.words)


def _add(counts: Counter[str], held: Iterable[tuple[str, int]], times: int) -> None:
    for key, number in held:
        counts[key] += number * times


def _table(counts: Counter[str] | Counter[str | None]) -> Table:
    return tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0] is not None, _json(row[0]).encode())))


def _tables(tables: Mapping[str, Table]) -> str:
    return ",\n".join(f'"{name}": [\n{_rows(table)}\n]' for name, table in tables.items())


def _rows(table: Table) -> str:
    return ",\n".join(f"[{_json(key)}, {count}]" for key, count in table)


def _json(value: str | None) -> str:
    return json.dumps(value, ensure_ascii=False)
