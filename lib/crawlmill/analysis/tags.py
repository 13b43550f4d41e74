"""Counts the start tags of HTML pages, for `tag_count`.

For what a start tag is, and how its name is found, see `crawlmill.analysis.html_tokenizer`. Names are folded as by the
WHATWG tokenizer, A-Z to a-z and nothing else, NUL to U+FFFD; then decoded as UTF-8, with U+FFFD for invalid bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from crawlmill import core

__all__ = ["TagCounter", "count_tags"]


class TagCounter:
    """Counts over many pages, held until drained.

    `len()` is the number of spellings held, several of which may be one name, so at least the number of names from
    `drain`. `native` is the corresponding counter of the native core, which can also count the HTML pages among the
    responses of an archive while they are read; None in Python.
    """

    __slots__ = ("_counter", "native")

    def __init__(self) -> None:
        native = core.native()
        self.native: Any | None = None if native is None else native.TagCounter()
        self._counter = _PythonCounter() if self.native is None else self.native

    def add(self, page: bytes) -> None:
        """Count one page, in an ASCII-compatible encoding."""
        self._counter.add(page)

    def __len__(self) -> int:
        return len(self._counter)

    def drain(self) -> Iterator[tuple[str, int]]:
        """Yield each name once with its count, in no particular order. Empties the counter as soon as it is called."""
        return iter(self._counter.drain())

    def drain_lines(self) -> Iterable[bytes]:
        """The native core's counts, if it is in use, as lines of JSON, `key TAB value`, several in each item.

        The other counts come from `drain`.
        """
        return () if self.native is None else self.native.drain_lines()


class _PythonCounter:
    __slots__ = ("_counts", "_names")

    def __init__(self) -> None:
        from crawlmill.analysis.html_skimmer import skim_tag_names  # noqa: PLC0415 - its expressions compile in 8 ms

        self._counts: Counter[bytes] = Counter()
        self._names = skim_tag_names

    def add(self, page: bytes) -> None:
        self._counts.update(self._names(page))

    def __len__(self) -> int:
        return len(self._counts)

    def drain(self) -> Iterable[tuple[str, int]]:
        spellings, self._counts = self._counts, Counter()
        names: Counter[str] = Counter()
        for spelling, count in spellings.items():
            names[_folded(spelling)] += count
        return names.items()


def count_tags(page: bytes) -> Counter[str]:
    """The start tags of one page, by folded name.

    >>> count_tags(b"<P>one<p title='<b>'>two<!-- <i> -->")
    Counter({'p': 2})
    """
    counter = TagCounter()
    counter.add(page)
    return Counter(dict(counter.drain()))


def _folded(spelling: bytes) -> str:
    return spelling.lower().replace(b"\0", b"\xef\xbf\xbd").decode("utf-8", "replace")
