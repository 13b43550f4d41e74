"""The interface of every kind of index: a plan of what to read for some queries, and their captures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.plan import Plan
from crawlmill.indexes.query import Query

__all__ = ["Found", "Index", "Losses", "OnProblem"]

OnProblem = Callable[[FormatError | SourceError], None]

Found = tuple[int, Chunk]
"""The number of a query, and lines of the index that its ranges hold, in order."""

_MAX_FILES: Final = 1 << 12


class Index(Protocol):
    """An index. What is lost of it is reported to the `on_problem` that it was made with, and reading continues."""

    @property
    def name(self) -> str:
        """The location, without secrets."""

    @property
    def format(self) -> str:
        """As ledgers call it: `cdx`, `cdxj`, `cluster`, `cdx-api`, `prefix-tree`."""

    @property
    def in_line_order(self) -> bool:
        """Whether the lines of a query come in the order of their bytes; others are sorted where that matters."""

    @property
    def reads_through(self) -> bool:
        """Whether all of it is read, whatever is wanted: many queries are better answered at once then."""

    @property
    def shares_blocks(self) -> bool:
        """Whether what is read for one query serves others: if so, small queries are better answered at once."""

    def plan(self, queries: Sequence[Query]) -> Plan:
        """What must be read to answer the queries.

        Raises:
            SourceError, FormatError: It cannot be found out.
        """

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """The lines within the ranges of each query, those of a query in the order of the index.

        Each block is read once, however many queries it serves. Of a plan that was cut, only its parts are read.
        Filters, limits and orders are not applied.
        """


@dataclass(slots=True)
class Losses:
    """What is lost of an index: every damage is told, a file that cannot be had once."""

    on_problem: OnProblem
    _files: set[str | None]

    @classmethod
    def of(cls, on_problem: OnProblem) -> Losses:
        """Nothing lost yet."""
        return cls(on_problem, set())

    def __contains__(self, file: str) -> bool:
        return file in self._files

    def add(self, error: FormatError | SourceError, file: str) -> None:
        """Tell it; a file that cannot be had is not asked for again."""
        error.located(source=file)
        if isinstance(error, SourceError):
            if file in self._files:
                return
            if len(self._files) < _MAX_FILES:
                self._files.add(file)
        self.on_problem(error)
