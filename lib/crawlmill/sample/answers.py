"""What the three counting jobs must find in a sample crawl, summed up from what its pages declare of themselves."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

from crawlmill.sample.fragments import Fragment
from crawlmill.sample.pages import Page

__all__ = ["Answers", "Tally"]

Key = TypeVar("Key", str, str | None)


@dataclass(frozen=True, slots=True)
class Answers:
    """Three tables of (key, count), by falling count, then by key; the server None is a response that names none."""

    tags: tuple[tuple[str, int], ...]
    servers: tuple[tuple[str | None, int], ...]
    words: tuple[tuple[str, int], ...]

    def to_json(self) -> str:
        """An object of the three tables, one row on a line."""
        tables = {"tags": self.tags, "servers": self.servers, "words": self.words}
        return "{\n" + ",\n".join(f'"{name}": [\n{_rows(table)}\n]' for name, table in tables.items()) + "\n}\n"


class Tally:
    """Sums up pages. Fragments that many pages share are counted as wholes and resolved at the end."""

    def __init__(self) -> None:
        self._tags: Counter[str] = Counter()
        self._servers: Counter[str | None] = Counter()
        self._words: Counter[str] = Counter()
        self._shared: Counter[Fragment] = Counter()

    def add(self, page: Page) -> None:
        """Count a page: its servers, and tags and words if it is an HTML page."""
        self._servers.update(page.servers)
        if page.document is not None:
            for fragment in page.document.fragments:
                if fragment.shared:
                    self._shared[fragment] += 1
                else:
                    _add(self._tags, self._words, fragment, 1)

    def answers(self) -> Answers:
        """The tables so far."""
        tags, words = self._tags.copy(), self._words.copy()
        for fragment, times in self._shared.items():
            _add(tags, words, fragment, times)
        return Answers(_table(tags), _table(self._servers), _table(words))


def _add(tags: Counter[str], words: Counter[str], fragment: Fragment, times: int) -> None:
    for tag, number in fragment.tags:
        tags[tag] += number * times
    for word in fragment.words:
        words[word] += times


def _table(counts: Counter[Key]) -> tuple[tuple[Key, int], ...]:
    return tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0] is not None, _json(row[0]).encode())))


def _rows(table: tuple[tuple[str | None, int], ...]) -> str:
    return ",\n".join(f"[{_json(key)}, {count}]" for key, count in table)


def _json(value: str | None) -> str:
    return json.dumps(value, ensure_ascii=False)
