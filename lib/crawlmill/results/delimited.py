r"""Rows of comma- or tab-separated text, in UTF-8 without a byte order mark.

Spec: RFC 4180, strictly: lines end in CR LF; a cell that contains the delimiter, a quote, CR or LF is quoted, and
quotes in it are doubled. For tsv the delimiter is a tab, with everything else the same. Beyond the RFC:

* null is an empty cell without quotes, an empty string one with quotes (`""`);
* a lone surrogate, which UTF-8 cannot express, is written as JSON's escape, `\ud800`, and read as these six characters.

The reader also accepts lines that end in LF only, as written by editors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from crawlmill.errors import FormatError
from crawlmill.results.columns import Cell, Column
from crawlmill.results.pairs import from_json

__all__ = ["DELIMITERS", "read_cells", "typed_cells", "write_cells"]

DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
_INTEGER: Final = re.compile(r"-?[0-9]{1,19}")


def write_cells(cells: Iterable[str | None], delimiter: str) -> str:
    """The line of a row, with its line end."""
    needs_quotes = _needs_quotes(delimiter)
    found = [
        "" if cell is None else '"' + cell.replace('"', '""') + '"' if not cell or needs_quotes(cell) else cell
        for cell in cells
    ]
    return delimiter.join(found) + "\r\n"


def read_cells(lines: Iterable[bytes], delimiter: str) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the rows of a text given in lines, each with the number of its first line, from 1.

    Raises:
        FormatError: `truncated`: the text ends within quotes; `bad-encoding`: it is not UTF-8, or has a quote where
        none is allowed. `source` is the number of the line.
    """
    parse = _parser(delimiter)
    held: list[bytes] = []
    first = number = 0
    for number, line in enumerate(lines, 1):
        open_before = bool(held)
        if not open_before:
            first = number
        if (line.count(b'"') % 2 == 1) != open_before:  # the row continues on the next line
            held.append(line)
            continue
        text = b"\n".join([*held, line]) if held else line
        held = []
        try:
            yield first, parse(text.decode().removesuffix("\r"))
        except ValueError as error:
            raise FormatError(f"no row: {error}", reason="bad-encoding", source=f"line {first}") from error
    if held:
        raise FormatError("the text ends within quotes", reason="truncated", source=f"line {first}")


def typed_cells(cells: Sequence[str | None], columns: Sequence[Column]) -> list[Cell]:
    """Convert the cells of a row to the types of their columns. Raises: ValueError."""
    if len(cells) != len(columns):
        raise ValueError(f"expected {len(columns)} cells, got {len(cells)}")
    found: list[Cell] = []
    for cell, (name, kind) in zip(cells, columns, strict=True):
        if cell is None or kind == "string":
            found.append(cell)
        elif kind == "json":
            found.append(from_json(cell))
        elif _INTEGER.fullmatch(cell):
            found.append(int(cell))
        else:
            raise ValueError(f"expected a whole number as {name}, got {cell[:80]!r}")
    return found


@cache
def _needs_quotes(delimiter: str) -> Callable[[str], object]:
    return re.compile(f'[{delimiter}"\r\n]').search


@cache
def _parser(delimiter: str) -> Callable[[str], list[str | None]]:
    # The quantifiers are possessive: cells may have millions of characters, and there is no other way to match them.
    cell_at = re.compile(f'(?:"((?:[^"]++|"")*+)"|([^{delimiter}"]*+))({delimiter}|\\Z)').match

    def parse(text: str) -> list[str | None]:
        if '"' not in text:
            return [cell or None for cell in text.split(delimiter)]
        cells: list[str | None] = []
        at = 0
        while True:
            found = cell_at(text, at)
            if found is None:
                raise ValueError(f"a quote that neither begins nor ends a cell: {text[at : at + 80]!r}")
            quoted, plain, end = found.groups()
            cells.append(quoted.replace('""', '"') if quoted is not None else plain or None)
            at = found.end()
            if not end:
                return cells

    return parse
