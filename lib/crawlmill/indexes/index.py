"""The interface of all indexes: a plan of what to read for some queries, and their captures."""

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
    """An index. Losses are reported to the `on_problem` that it was created with, and reading continues."""

    @property
    def name(self) -> str:
        """The location, without secrets."""

    @property
    def format(self) -> str:
        """Its name in ledgers: `cdx`, `cdxj`, `cluster`, `cdx-api`, `prefix-tree`."""

    @property
    def in_line_order(self) -> bool:
        """Whether the lines of a query come in the order of their bytes; if not, they are sorted where that matters."""

    @property
    def reads_through(self) -> bool:
        """Whether all of it is read for any query, so that many queries are better answered together."""

    @property
    def shares_blocks(self) -> bool:
        """Whether blocks read for one query serve others, so that small queries are better answered together."""

    def plan(self, queries: Sequence[Query]) -> Plan:
        """What must be read to answer the queries.

        Raises:
            SourceError, FormatError: It cannot be determined.
        """

    def captures(self, queries: Sequence[Query], plan: Plan | None = None) -> Iterator[Found]:
        """Yield the lines within the ranges of each query, those of a query in the order of the index.

        Each block is read once, however many queries it serves. If the plan was cut, only its parts are read. Filters,
        limits and orders are not applied.
        """


@dataclass(slots=True)
class Losses:
    """The losses of an index: all damage is reported, a file that cannot be read only once."""

    on_problem: OnProblem
    _files: set[str | None]

    @classmethod
    def of(cls, on_problem: OnProblem) -> Losses:
        """No losses yet."""
        return cls(on_problem, set())

    def __contains__(self, file: str) -> bool:
        return file in self._files

    def add(self, error: FormatError | SourceError, file: str) -> None:
        """Report a loss; a file that cannot be read will not be requested again."""
        error.located(source=file)
        if isinstance(error, SourceError):
            if file in self._files:
                return
            if len(self._files) < _MAX_FILES:
                self._files.add(file)
        self.on_problem(error)
