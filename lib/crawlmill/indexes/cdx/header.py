"""The header of a CDX file, which names its columns by letters: ` CDX N b a m s k r M S V g`.

Lines are parsed by their number of columns (`indexes.capture`), as the usual headers have them. If a file has another
header, its lines are put into the usual 11 columns when they are read; columns with other letters are left out.

Spec: https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/ and the legend at
https://archive.org/web/researcher/cdx_legend.php
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crawlmill.errors import FormatError
from crawlmill.indexes.lines import Chunk

__all__ = ["Columns", "UsualColumns", "parse_header"]

_BEGIN: Final = b" CDX "
_LETTERS: Final = b"N b a m s k r M S V g".split()
_USUAL: Final = (b"N b a m s k r M S V g", b"N b a m s k r M V g", b"N b a m s k r V g", b"N b a m s k V g")
_NEEDED: Final = 3


@dataclass(frozen=True, slots=True)
class Columns:
    """Unusual columns: their number, and where each of the usual 11 columns is among them (None: it is missing)."""

    count: int
    places: tuple[int | None, ...]

    def usual(self, line: bytes) -> bytes:
        """A line, without its line end, in the usual columns; a line of CDXJ as it is.

        Raises:
            FormatError: `bad-header`: it has another number of columns.
        """
        columns = line.split(b" ")
        if len(columns) >= _NEEDED and columns[_NEEDED - 1].startswith(b"{"):
            return line
        if len(columns) == self.count:
            return b" ".join([b"-" if place is None else columns[place] for place in self.places])
        raise FormatError(
            "a line of CDX has another number of columns than its header",
            reason="bad-header",
            expected=self.count,
            actual=f"{len(columns)} in {line[:60].decode('utf-8', 'backslashreplace')!r}",
        )


def parse_header(line: bytes) -> Columns | None:
    """The columns that a header names; None if they are usual, or it is a header of another kind.

    Raises:
        FormatError: `unknown-format`: there is no urlkey, timestamp, or URL among them.
    """
    if not line.startswith(_BEGIN):
        return None
    letters = line.removeprefix(_BEGIN).split()
    if b" ".join(letters) in _USUAL:
        return None
    if missing := [each.decode() for each in _LETTERS[:_NEEDED] if each not in letters]:
        raise FormatError(
            "the header of a CDX file lacks columns",
            reason="unknown-format",
            expected="N (urlkey), b (timestamp) and a (URL)",
            actual=f"no {' and no '.join(missing)} in {line[:60].decode('utf-8', 'backslashreplace').strip()!r}",
        )
    return Columns(len(letters), tuple(letters.index(each) if each in letters else None for each in _LETTERS))


class UsualColumns:
    """Puts the lines of a file into the usual columns, by the headers among them; reports lines that do not fit."""

    def __init__(self, on_problem: Callable[[FormatError], None]) -> None:
        self._on_problem = on_problem
        self._columns: Columns | None = None

    def of(self, chunk: Chunk) -> Chunk:
        """The next whole lines. Raises: FormatError: as for `parse_header`."""
        if self._columns is None and not chunk.startswith(_BEGIN) and b"\n" + _BEGIN not in chunk:
            return chunk
        return b"".join(self._usual(line) for line in bytes(chunk).splitlines(keepends=True))

    def _usual(self, line: bytes) -> bytes:
        text = line.rstrip(b"\r\n")
        if text.startswith(_BEGIN):
            self._columns = parse_header(text)
            return line
        if self._columns is None or not text or text.startswith(b"!"):
            return line
        try:
            return self._columns.usual(text) + b"\n"
        except FormatError as error:
            self._on_problem(error)
            return b""
