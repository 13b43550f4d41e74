"""Writes parts in formats other than pairs: each format is a class that takes rows of cells; `PartFormat` opens one.

Memory does not grow with a part, except for a row group of Parquet. `docs/results.md` describes the formats.
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
    """Writes the rows of a part."""

    formulas: int

    def write(self, cells: list[Cell]) -> None:
        """Add a row."""

    def close(self) -> None:
        """Write the remaining rows; the file stays open."""


class _Lines:
    """The common part of the text formats: writes many lines at a time."""

    formulas = 0

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[str] = []
        self._size = 0

    def add(self, line: str) -> None:
        """Add a line with its line end."""
        self._held.append(line)
        self._size += len(line)
        if self._size >= _BUFFER:
            self.close()

    def close(self) -> None:
        """See `_Format`."""
        # Lone surrogates, which UTF-8 cannot express, become JSON's escapes.
        self._file.write("".join(self._held).encode("utf-8", "backslashreplace"))
        self._held, self._size = [], 0


class _JsonLines(_Lines):
    """An object for each row; nested values stay nested."""

    def __init__(self, file: BinaryIO, columns: Columns) -> None:
        super().__init__(file)
        self._names = columns.names

    def write(self, cells: list[Cell]) -> None:
        """See `_Format`."""
        self.add(json_text(dict(zip(self._names, cells, strict=True))) + "\n")


class _Delimited(_Lines):
    """A line of cells for each row, after a header."""

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
        from crawlmill.results.parquet import RowWriter  # noqa: PLC0415 - optional

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
    """Converts result lines to rows. `formulas`: the number of cells that a spreadsheet would treat as formulas."""

    def __init__(self, rows: _Format, columns: Columns) -> None:
        self._rows, self._columns = rows, columns

    @property
    def formulas(self) -> int:
        """The number of cells so far that begin with one of FORMULA_STARTS; counted for csv and tsv only."""
        return self._rows.formulas

    def writelines(self, chunks: Iterable[bytes]) -> None:
        """Add chunks of result lines, `key TAB value`.

        Raises:
            ValueError: A line is not a pair.
            CrawlmillError: A pair does not fit the columns.
        """
        cells_of, write = self._columns.cells, self._rows.write
        for line in lines_of(chunks):
            write(cells_of(*decode_pair(line)))


@dataclass(frozen=True, slots=True)
class PartFormat:
    """The format of a run's parts, other than pairs, and their columns.

    `harmless`: put an apostrophe before texts that a spreadsheet would treat as formulas (csv, tsv).
    """

    name: str
    columns: Columns
    harmless: bool = False

    @contextmanager
    def open(self, file: BinaryIO) -> Iterator[PartWriter]:
        """Yield a writer to this file; everything has been written when the block ends normally.

        Raises:
            MissingDependency: The format is Parquet and pyarrow is not installed.
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
