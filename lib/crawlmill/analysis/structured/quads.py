"""Collects the triples of one capture of a page, without duplicates, in order, as lines of N-Quads.

Blank nodes are named after the capture, so that they are the same in every run, in whatever order, and no two captures
share one. For each format a page may not use more than `MAX_PAGE_BYTES` of terms, nor more than `MAX_STEPS` steps of
work.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

__all__ = ["MAX_DEPTH", "MAX_PAGE_BYTES", "MAX_STEPS", "TooMuchError", "Triples", "node_prefix"]

MAX_DEPTH: Final = 500
"""How deep items and nodes of a page may be nested."""

MAX_PAGE_BYTES: Final = 64 << 20
"""Bytes of the terms that one format of a page may give."""

MAX_STEPS: Final = 1_000_000
"""Elements that may be visited for one format of a page: few are visited twice unless a page means harm."""


class TooMuchError(Exception):
    """A page is nested too deeply, or has too much data; `reason` is the name for counting it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def node_prefix(*names: str) -> str:
    """The prefix of a capture's blank nodes, from what identifies the capture, such as its URI and record id."""
    digest = hashlib.sha256("\n".join(names).encode("utf-8", "backslashreplace"))
    return f"_:b{digest.hexdigest()[:20]}"


class Triples:
    """The triples of one capture.

    Args:
        prefix: The prefix of blank nodes (`node_prefix`).

    Attributes:
        skipped: Counts of what could not be used, by reason.
    """

    def __init__(self, prefix: str) -> None:
        self.skipped: Counter[str] = Counter()
        self._prefix, self._nodes = prefix, 0
        self._found: dict[tuple[str, str, str], None] = {}
        self._bytes = self._steps = 0

    def node(self) -> str:
        """A new blank node."""
        self._nodes += 1
        return f"{self._prefix}n{self._nodes}"

    def add(self, subject: str | None, predicate: str | None, value: str | None) -> None:
        """Add one triple, unless one of its terms is None or "", because it is invalid.

        Raises:
            TooMuchError: The page exceeds its limits.
        """
        if not subject or not predicate or not value:
            return
        triple = (subject, predicate, value)
        if triple not in self._found:
            self._found[triple] = None
            self.charge(len(value) + len(subject) + len(predicate))

    def charge(self, size: int) -> None:
        """Account for bytes made from the page. Raises: TooMuchError."""
        self._bytes += size
        if self._bytes > MAX_PAGE_BYTES:
            raise TooMuchError("too-large")

    def step(self, steps: int = 1) -> None:
        """Account for elements that were visited. Raises: TooMuchError."""
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise TooMuchError("too-large")

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self._found)

    def keep(self, count: int) -> None:
        """Drop all but the first `count` triples."""
        self._found = dict.fromkeys(list(self._found)[:count])

    def replace(self, triples: list[tuple[str, str, str]]) -> None:
        """Replace all triples by these."""
        self._found = dict.fromkeys(triples)

    def lines(self, graph: str) -> list[str]:
        """The quads of a graph, named by its term, as lines without line ends."""
        return [f"{subject} {predicate} {value} {graph} ." for subject, predicate, value in self._found]
