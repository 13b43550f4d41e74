"""Rows of `cluster.idx` as a look-up reads them, with checks that none is missing.

A row that is missing hides its member. So the rows that are read, and the one after them, must follow each other, and
the last row must lead to the end of its shard. A row with a wrong key hides lines, too. So the first member that is
read must begin as its row says, and so must the one after the last, of which only the beginning is read (by
`members`, or here if it is in another shard).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from crawlmill.codecs.gzip_member import inflated_start
from crawlmill.codecs.source import read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cluster.members import PROBE_BYTES, beginning_error
from crawlmill.indexes.cluster.places import Shards
from crawlmill.indexes.cluster.rows import Row, parse_row
from crawlmill.indexes.index import Losses

__all__ = ["CheckedRows", "Rows"]

Rows = Iterator[tuple[bytes, Row]]
"""Rows, each as written and parsed."""

_BEGINNING: Final = Row(b"", "", 0, 0, 0)
"""What the first row follows."""


class CheckedRows:
    """Parses rows, and reports what is wrong with them, once, however often they are read.

    `name` is that of the `cluster.idx`.

    Attributes:
        is_in_order: Whether the rows are in the order of the file; if not, missing ones cannot be noticed.
    """

    def __init__(self, shards: Shards, losses: Losses, name: str) -> None:
        self._shards, self._losses, self._name = shards, losses, name
        self.is_in_order = True
        self._told: set[bytes] = set()

    def __call__(self, lines: Iterable[bytes], after: bytes | None, *, is_first: bool) -> Rows:
        """Neighbouring lines that are rows; reports other ones, and rows missing among them or around them.

        `after` is the line after them, None at the end of the file; `is_first`: the file begins with them.
        """
        try:
            following = None if after is None else parse_row(after)
        except FormatError:  # it is not wanted, so it does not have to be a row
            following = None
        before = _BEGINNING if is_first else None
        for line in lines:
            row = self._parsed(line)
            if row is not None:
                self._check_next(before, row)
                ends = following is not None and (following.shard, following.offset) == (row.shard, row.end)
                yield line, replace(row, after=following.start) if following is not None and ends else row
            before = row
        if following is not None or after is None:
            self._check_next(before, following)
        if following is not None and before is not None and following.offset == 0:
            self._check_first_member(following)

    def _parsed(self, line: bytes) -> Row | None:
        try:
            return parse_row(line)
        except FormatError as error:
            self._tell(error, line)
            return None

    def _check_next(self, row: Row | None, after: Row | None) -> None:
        """Report rows that are missing between a row and the one after it (None: the end of the file)."""
        if row is None or not self.is_in_order:
            return
        if after is not None and not row.is_followed_by(after):
            self._miss(row, "the row that follows it", _shown(after))
            return
        ends_shard = after is None or (after.number is None and after.shard != row.shard)
        if not ends_shard:
            return
        try:
            if after is None and (other := self._shard_after(row.shard)) is not None:
                self._miss(row, f"rows for {other}, which cluster.loc names", "none")
            size = None if row is _BEGINNING else self._shards.size(row.shard)
        except (FormatError, SourceError):
            return  # reported when its members are read
        if size is not None and size > row.end:
            self._miss(row, f"rows for {size} bytes of {row.shard}", row.end)

    def _check_first_member(self, row: Row) -> None:
        """Report a row of the first member of a shard, of which nothing else is read, if that begins otherwise."""
        try:
            with self._shards.open(row.shard, 0, min(row.length, PROBE_BYTES)) as stream:
                text = inflated_start(read_up_to(stream, PROBE_BYTES), PROBE_BYTES)
        except (FormatError, SourceError):
            return  # reported when it is needed
        if (error := beginning_error("the first member of a shard", text, row.start)) is not None:
            error.source, error.offset = row.shard, 0
            self._tell(error, row.start)

    def _shard_after(self, last: str) -> str | None:
        """A shard in `cluster.loc` after the last one that `cluster.idx` lists (empty: it lists none)."""
        others = self._shards.unlisted({last} - {""})
        return next((name for name in others if name > last and self._shards.may_hold_lines(name)), None)

    def _miss(self, row: Row, expected: str, actual: str | int) -> None:
        what = f"cluster.idx lacks rows after {_shown(row)}, so that captures may be missed"
        self._tell(FormatError(what, reason="bad-header", expected=expected, actual=actual), row.start)

    def _tell(self, error: FormatError, line: bytes) -> None:
        """Report what is wrong at a line, once, however often it is read."""
        if line not in self._told:
            self._told.add(line)
            self._losses.add(error, self._name)


def _shown(row: Row) -> str:
    return repr(row.start[:80].decode("utf-8", "backslashreplace"))
