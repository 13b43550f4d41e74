"""The account of one input: its ledger row, filled while the input is read, whatever its format is.

Nothing that is wrong with an input is raised beyond its account. It becomes a problem of the row, and the row is
complete when reading has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from crawlmill.errors import FormatError, Problem, SourceError
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.opened import Opened
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage.locations import redact

__all__ = ["InputAccount"]


class _RefusedError(Exception):
    """The input is of a format that the job cannot take; no FormatError, which readers would go on after."""

    def __init__(self, error: FormatError) -> None:
        super().__init__(str(error))
        self.error = error


class InputAccount:
    """The account of one input, an `Account` for its reader.

    Args:
        item: The input.
        selection: What can be taken of it.
        verified: Whether what is read is proven as far as its format allows.

    Attributes:
        row: The ledger row.
        first_loss: The error of the first loss, if there was any.
    """

    def __init__(self, item: Input, selection: Selection, *, verified: bool) -> None:
        self.row = LedgerRow.of(item)
        self.row.verified = verified
        self._item, self._selection = item, selection
        self._opened: Opened | None = None
        self.first_loss: FormatError | SourceError | None = None

    @property
    def format(self) -> str | None:
        """The input's format, once it is known."""
        return self.row.format

    @property
    def reached(self) -> int:
        """Bytes of the input that were seen so far; may be asked by another thread."""
        return self._opened.reached if self._opened is not None else 0

    def found(self, name: str, kinds: frozenset[str] = frozenset()) -> None:
        """The input is of this format and may hold these kinds of records; reading ends if that cannot be taken."""
        self.row.format = name
        if (error := self._selection.refuse(name, kinds)) is not None:
            self.refuse(error)

    def found_at(self, location: str) -> None:
        """The input is read from here, which may be a mirror of where it was expected."""
        self.row.location = redact(location)

    def refuse(self, error: FormatError) -> NoReturn:
        """End the reading: nothing of the input is taken, for this reason."""
        raise _RefusedError(error)

    def count(self, items: int) -> None:
        """So many more whole items were read, whether they are given or not."""
        self.row.records += items

    def leave_unproven(self) -> None:
        """Some content has no checksum, so that a changed byte in it need not be noticed."""
        self.row.verified = False

    def leave_out(self, items: int) -> None:
        """So many of these are not given, since they do not meet what the user asks for."""
        self.row.deselected += items

    def cut(self, items: int) -> None:
        """So many of those that are given, or counted, have a payload that the crawler has cut."""
        self.row.truncated += items

    def lose(self, error: FormatError | SourceError) -> None:
        """Something is lost; reading may go on after it."""
        self.row.lose(Problem.of(error.located(source=self.row.location)))
        self.first_loss = self.first_loss or error

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Whatever ends the reading of the input within this block becomes a problem of its row."""
        try:
            yield
        except (FormatError, SourceError) as error:
            self.lose(error)
        except _RefusedError as refused:
            self.row.records = self.row.bytes = self.row.deselected = self.row.truncated = 0
            self.lose(refused.error)

    @contextmanager
    def covering(self, opened: Opened) -> Iterator[None]:
        """The bytes that are read within this block are those the row covers; too few of a range are a problem."""
        self._opened, row, length = opened, self.row, opened.length
        try:
            yield
        finally:
            row.bytes = opened.reached
        if length is not None and row.bytes < length and not row.lost:
            error = FormatError(
                "the file ends before the range does",
                reason="truncated",
                offset=opened.start + row.bytes,
                expected=f"{length} bytes",
                actual=f"{row.bytes} bytes",
            )
            self.lose(error)
