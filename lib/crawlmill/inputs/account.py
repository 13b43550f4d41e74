"""The account of one input: its ledger row, filled in while the input is read, whatever its format.

Errors of an input are never raised beyond its account: they become problems of its row, which is complete when reading
ends.
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
    """The job cannot take the input's format. Not a FormatError, since readers continue after those."""

    def __init__(self, error: FormatError) -> None:
        super().__init__(str(error))
        self.error = error


class InputAccount:
    """The account of one input: an `Account` for its reader.

    Args:
        item: The input.
        selection: Which formats and records can be processed.
        verified: Whether data is verified as far as its format allows.

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
        """The input's format, once known."""
        return self.row.format

    @property
    def reached(self) -> int:
        """Bytes of the input read so far; safe to call from another thread."""
        return self._opened.reached if self._opened is not None else 0

    def found(self, name: str, kinds: frozenset[str] = frozenset()) -> None:
        """Report the input's format and the kinds of records it may hold; ends the reading if they are not wanted."""
        self.row.format = name
        if (error := self._selection.refuse(name, kinds)) is not None:
            self.refuse(error)

    def found_at(self, location: str) -> None:
        """Report the location that is actually read, which may be a mirror."""
        self.row.location = redact(location)

    def refuse(self, error: FormatError) -> NoReturn:
        """End the reading: nothing of the input can be processed, for this reason."""
        raise _RefusedError(error)

    def count(self, items: int) -> None:
        """Count whole items that were read, whether or not they are yielded."""
        self.row.records += items

    def leave_unproven(self) -> None:
        """Note that some content has no checksum, so that a changed byte in it may go unnoticed."""
        self.row.verified = False

    def leave_out(self, items: int) -> None:
        """Count items that are not yielded because the user's selection excludes them."""
        self.row.deselected += items

    def cut(self, items: int) -> None:
        """Count yielded or counted items whose payload the crawler has truncated."""
        self.row.truncated += items

    def lose(self, error: FormatError | SourceError) -> None:
        """Record a loss; reading may continue after it."""
        self.row.lose(Problem.of(error.located(source=self.row.location)))
        self.first_loss = self.first_loss or error

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Turn any error that ends the reading within this block into a problem of the row."""
        try:
            yield
        except (FormatError, SourceError) as error:
            self.lose(error)
        except _RefusedError as refused:
            self.row.records = self.row.bytes = self.row.deselected = self.row.truncated = 0
            self.lose(refused.error)

    @contextmanager
    def covering(self, opened: Opened) -> Iterator[None]:
        """Add the bytes read within this block to those the row covers; a range that is cut short is a problem."""
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
