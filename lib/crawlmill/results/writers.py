"""Writes parts in formats other than pairs: each format is a class that takes rows of cells; `PartFormat` opens one.

Memory does not grow with a part, but for a row group of Parquet. The formats are described in `docs/results.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

from crawlmill.results.columns import Cell, Columns, json_text
from crawlmill.results.delimited import DELIMITERS, write_cells
from crawlmill.results.pairs import decode_pair, lines_of

__all__ = ["FORMULA_STARTS", "PartFormat", "PartWriter"]

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""What the texts begin with that a spreadsheet takes for formulas (OWASP: CSV injection)."""

_BUFFER: Final = 1 << 16  # characters


class _Format(Protocol):
    """Takes the rows of a part."""

    formulas: int

    def write(self, cells: list[Cell]) -> None:
        """Take a row."""

    def close(self) -> None:
        """Write what is held; the file is left open."""


class _Lines:
    """What the formats of text share: lines are written many at a time."""

    formulas = 0

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[str] = []
        self._size = 0

    def add(self, line: str) -> None:
        """Take a line with its end."""
        self._held.append(line)
        self._size += len(line)
        if self._size >= _BUFFER:
            self.close()

    def close(self) -> None:
        """See `_Format`."""
        # Half a character, which UTF-8 has no bytes for, becomes the escape that JSON has for it.
        self._file.write("".join(self._held).encode("utf-8", "backslashreplace"))
        self._held, self._size = [], 0


class _JsonLines(_Lines):
    """An object per row; nested values stay nested."""

    def __init__(self, file: BinaryIO, columns: Columns) -> None:
        super().__init__(file)
        self._names = columns.names

    def write(self, cells: list[Cell]) -> None:
        """See `_Format`."""
        self.add(json_text(dict(zip(self._names, cells, strict=True))) + "\n")


class _Delimited(_Lines):
    """A line of cells per row, after a header."""

    def __init__(self, file: BinaryIO, columns: Columns, delimiter: str, *, harmless: bool) -> None:
        super().__init__(file)
        self._delimiter, self._harmless = delimiter, harmless
        self._kinds = [column.kind for column in columns.all]
        self.add(write_cells(columns.names, delimiter))

    def write(self, cells: list[Cell]) -> None:
        """See `_Format`."""
        found: list[str | None] = []
        for cell, kind in zip(cells, self._kinds, strict=True):
            if kind == "string":
                text = cell
                if cell is not None and cell.startswith(FORMULA_STARTS):
                    self.formulas += 1
                    text = f"'{cell}" if self._harmless else cell
            else:
                text = json_text(cell) if kind == "json" else None if cell is None else str(cell)
            found.append(text)
        self.add(write_cells(found, self._delimiter))


class _Parquet:
    """Typed columns."""

    formulas = 0

    def __init__(self, file: BinaryIO, columns: Columns) -> None:
        from crawlmill.results.parquet import RowWriter  # noqa: PLC0415 - the package is an extra

        self._writer = RowWriter(file, columns)
        self._nested = [n for n, column in enumerate(columns.all) if column.kind == "json"]

    def write(self, cells: list[Cell]) -> None:
        """See `_Format`."""
        for n in self._nested:
            cells[n] = json_text(cells[n])
        self._writer.write(cells)

    def close(self) -> None:
        """See `_Format`."""
        self._writer.close()


class PartWriter:
    """Makes rows of result lines. `formulas`: text cells that a spreadsheet takes for formulas."""

    def __init__(self, rows: _Format, columns: Columns) -> None:
        self._rows, self._columns = rows, columns

    @property
    def formulas(self) -> int:
        """So many cells so far begin with one of FORMULA_STARTS; counted for csv and tsv only."""
        return self._rows.formulas

    def writelines(self, chunks: Iterable[bytes]) -> None:
        """Take chunks of result lines, `key TAB value`.

        Raises:
            ValueError: A line is no pair.
            CrawlmillError: A pair does not fit the columns.
        """
        cells_of, write = self._columns.cells, self._rows.write
        for line in lines_of(chunks):
            write(cells_of(*decode_pair(line)))


@dataclass(frozen=True, slots=True)
class PartFormat:
    """How a run's parts are written: a format other than pairs, and the columns.

    `harmless`: an apostrophe is put before texts that a spreadsheet would take for formulas (csv, tsv).
    """

    name: str
    columns: Columns
    harmless: bool = False

    @contextmanager
    def open(self, file: BinaryIO) -> Iterator[PartWriter]:
        """A writer to this file, which has all that was written when the block ends well.

        Raises:
            MissingDependency: Parquet needs pyarrow.
        """
        rows = self._rows(file)
        yield PartWriter(rows, self.columns)
        rows.close()

    def _rows(self, file: BinaryIO) -> _Format:
        if self.name == "parquet":
            return _Parquet(file, self.columns)
        if self.name in DELIMITERS:
            return _Delimited(file, self.columns, DELIMITERS[self.name], harmless=self.harmless)
        return _JsonLines(file, self.columns)
