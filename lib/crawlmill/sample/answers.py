"""What jobs must find in a sample crawl, summed up from what its pages declare of themselves.

The files of 2012 hold less than those of today, so their answers are others: bodies were kept of good responses only
(no 404, no redirect), of repeated headers the last, and titles are no part of textData.
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
    """Tables of (key, count), by falling count, then by key; the server None is a response that names none.

    `triples` counts those that pages say in structured data, by predicate. These are of WARC, WAT and WET files.
    `legacy` has those of other formats, by format and table: "arc" has "tags" and "servers", "metadata" has "servers",
    "text" has "words".
    """

    tags: Table
    servers: Table
    words: Table
    triples: Table
    legacy: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)

    def to_json(self) -> str:
        """An object of the tables, and of an object for each legacy format; one row on a line."""
        tables = {"tags": self.tags, "servers": self.servers, "words": self.words, "triples": self.triples}
        parts = [_tables(tables), *(f'"{name}": {{\n{_tables(own)}\n}}' for name, own in self.legacy.items())]
        return "{\n" + ",\n".join(parts) + "\n}\n"


class _Sum:
    """Sums up what documents hold. Fragments that many of them share are counted as wholes and resolved at the end."""

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
    """Sums up pages, as WARC, WAT and WET files hold them."""

    def __init__(self) -> None:
        self._tags, self._words = _Sum(_tags), _Sum(_words)
        self._servers: Counter[str | None] = Counter()
        self._triples = _Sum(_predicates)

    def add(self, page: Page) -> None:
        """Count a page: its servers, and tags, words and triples if it is an HTML page."""
        self._servers.update(page.servers)
        if page.document is not None:
            self._tags.add(page.document)
            self._words.add(page.document)
            self._triples.add(page.document)

    def answers(self, legacy: Mapping[str, Mapping[str, Table]]) -> Answers:
        """The tables so far, beside those of legacy formats."""
        return Answers(self._tags.table(), _table(self._servers), self._words.table(), self._triples.table(), legacy)


class LegacyTally:
    """Sums up visits, as ARC, metadata and textData files hold them."""

    def __init__(self) -> None:
        self._tags, self._words = _Sum(_tags), _Sum(_body_words)
        self._archived: Counter[str | None] = Counter()
        self._recorded: Counter[str | None] = Counter()

    def add(self, visit: Visit) -> None:
        """Count a visit: its servers if there was a response, and what is in the body where that was kept."""
        if visit.succeeded:
            self._recorded[visit.headers.get("server") or None] += 1
        if visit.stored:
            self._archived.update(visit.page.servers)
            if visit.page.document is not None:
                self._tags.add(visit.page.document)
        if visit.parsed is not None:
            self._words.add(visit.parsed)

    def tables(self, formats: Collection[str]) -> dict[str, dict[str, Table]]:
        """The tables so far of these formats."""
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
