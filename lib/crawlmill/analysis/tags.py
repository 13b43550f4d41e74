"""Counts the start tags of HTML pages: what `tag_count` asks.

What a start tag is, and how its name is found: see `crawlmill.analysis.html_tokenizer`. Names are folded as the WHATWG
tokenizer does it, A-Z to a-z and nothing else, NUL to U+FFFD; then read as UTF-8, with U+FFFD for what is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from crawlmill import core

__all__ = ["TagCounter", "count_tags"]


class TagCounter:
    """Counts over many pages, held until they are drained.

    `len()` is the number of spellings held, of which several may be one name, so at least the number of names that
    `drain` gives. `native` is the counter of the native core that it stands for, which can also count the HTML pages
    among the responses of an archive while they are read; None in Python.
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
        """Each name once with its count, in no promised order. The counter is empty as soon as this is called."""
        return iter(self._counter.drain())

    def drain_lines(self) -> Iterable[bytes]:
        """What the native core holds, if it is in use, as lines of JSON, `key TAB value`, some of them in each.

        What is not given here comes out of `drain`.
        """
        return () if self.native is None else self.native.drain_lines()


class _PythonCounter:
    __slots__ = ("_counts", "_names")

    def __init__(self) -> None:
        from crawlmill.analysis.html_skimmer import skim_tag_names  # noqa: PLC0415 - its expressions take 8 ms to make

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
