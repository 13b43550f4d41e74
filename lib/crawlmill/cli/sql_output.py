"""Prints SQL results as a table, CSV, JSON lines or an input list."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.ledger.input_lines import as_line
from crawlmill.terminal.text import visible_field

__all__ = ["OUTPUTS", "PLACE", "TEXTS", "check_columns", "text_of"]

OUTPUTS: Final = ("table", "csv", "json", "parquet", "list")

PLACE: Final = ("warc_filename", "warc_record_offset", "warc_record_length")
"""The columns that make a row a line of an input list."""

_MEASURED: Final = 1000
_HELD: Final = 1000

Rows = Iterable[list[Any]]


def check_columns(output: str, names: list[str]) -> None:
    """Check that a result can be printed in this form. Raises: UsageError."""
    missing = [name for name in PLACE if name not in names]
    if output == "list" and missing:
        raise UsageError("--output list", expected=f"the columns {', '.join(PLACE)}", actual=f"no {', '.join(missing)}")
    if output in ("json", "list") and len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise UsageError(f"two columns are named {twice[0]}: give them other names with AS")


def text_of(output: str, names: list[str], rows: Rows) -> Iterator[str]:
    """The text of a result, in pieces."""
    return TEXTS[output](names, rows)


def _json(names: list[str], rows: Rows) -> Iterator[str]:
    for batch in _batches(rows):
        yield "".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in batch)


def _csv(names: list[str], rows: Rows) -> Iterator[str]:
    for batch in _batches(chain([names], rows)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_cell(value, "") for value in row] for row in batch)
        yield text.getvalue()


def _list(names: list[str], rows: Rows) -> Iterator[str]:
    places = [names.index(name) for name in PLACE]
    for batch in _batches(rows):
        yield "".join(_line(*(row[place] for place in places)) for row in batch)


def _line(location: Any, offset: Any, length: Any) -> str:
    if location is None or offset is None or length is None:
        raise UsageError("a row does not say where its record is", expected=", ".join(PLACE), actual="NULL")
    try:
        return f"{as_line(str(location), int(offset), int(length))}\n"
    except ValueError:
        raise UsageError("--output list", expected="numbers of bytes", actual=f"{offset!r} {length!r}") from None


def _table(names: list[str], rows: Rows) -> Iterator[str]:
    """A table with columns as wide as the first thousand rows need."""
    names = [visible_field(name) for name in names]
    rest = ([visible_field(str(_cell(value, "NULL"))) for value in row] for row in rows)
    first = list(islice(rest, _MEASURED))
    widths = [max(map(len, cells)) for cells in zip(names, *first, strict=True)]
    rule = ["-" * width for width in widths]
    for batch in _batches(chain([names, rule], first, rest)):
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in batch)
        yield "".join(f"{line.rstrip()}\n" for line in lines)


def _cell(value: Any, missing: str) -> Any:
    if value is None:
        return missing
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value)
    return value


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while batch := list(islice(rows, _HELD)):
        yield batch


TEXTS: Final[dict[str, Callable[[list[str], Rows], Iterator[str]]]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "list": _list,
}
