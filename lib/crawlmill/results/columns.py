"""The columns of results: names and types declared by a job, and the conversion of pairs to rows and back.

    string  a string or null; other values, such as a number among the items of a table, are stored as JSON text
    int64   a whole number or null
    json    anything: a nested value in `jsonl`, JSON text in the other formats

The columns of a key come first. A single column contains the key as it is; several contain the items of a list;
likewise for the value. Columns are declared by the job, the same in every part, and never guessed from the results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from crawlmill.errors import CrawlmillError, FormatError

__all__ = ["FORMATS", "JSON_PAIRS", "Cell", "Column", "Columns", "Kind", "json_text"]

Kind = Literal["string", "int64", "json"]
Cell = Any
"""What a column holds of a row: str, int or None; of `json` anything that JSON has."""

FORMATS: Final = ("pairs", "jsonl", "csv", "tsv", "parquet")
"""The formats of parts. Those of pairs have no ending, or that of a compression."""

_INT64: Final = range(-(1 << 63), 1 << 63)
_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

_KINDS_BY_NAME: Final[dict[str, Kind]] = {
    "count": "int64",
    "documents": "int64",
    "key": "json",
    "value": "json",
    "record": "json",
}


class Column(NamedTuple):
    """One column."""

    name: str
    kind: Kind


class Columns:
    """The columns of a job's results: of its keys, and of its values.

    >>> columns = Columns({"word": "string"}, {"count": "int64", "documents": "int64"})
    >>> columns.cells("fox", [12, 5])
    ['fox', 12, 5]
    >>> columns.pair(["fox", 12, 5])
    ('fox', [12, 5])

    Raises:
        ValueError: There is no column for the key or for the value, a repeated name, or an unknown type.
    """

    def __init__(self, key: dict[str, Kind], value: dict[str, Kind]) -> None:
        self.key = tuple(Column(*each) for each in key.items())
        self.value = tuple(Column(*each) for each in value.items())
        self.all: tuple[Column, ...] = self.key + self.value
        self.names = [column.name for column in self.all]
        if not key or not value or len(set(self.names)) < len(self.names):
            raise ValueError(f"columns of a key and of a value, each with a name of its own: got {self.names}")
        if wrong := [column.kind for column in self.all if column.kind not in get_args(Kind)]:
            raise ValueError(f"not a type of a column: {wrong[0]!r}")
        self._checks = [_CHECKS[column.kind] for column in self.all]

    def cells(self, key: Any, value: Any) -> list[Cell]:
        """Convert a pair to a row.

        Raises:
            CrawlmillError: The pair does not fit the columns.
        """
        cells = [key] if len(self.key) == 1 else _items(key, self.key)
        cells += [value] if len(self.value) == 1 else _items(value, self.value)
        for n, (check, cell) in enumerate(zip(self._checks, cells, strict=True)):
            if check is not None:
                cells[n] = check(cell, self.names[n])
        return cells

    def pair(self, cells: Sequence[Cell]) -> tuple[Any, Any]:
        """Convert a row to a pair."""
        at = len(self.key)
        key = cells[0] if at == 1 else list(cells[:at])
        return key, cells[at] if at + 1 == len(cells) else list(cells[at:])

    def to_json(self) -> dict[str, dict[str, Kind]]:
        """The object stored in `_run.json`."""
        return {"key": dict(self.key), "value": dict(self.value)}

    @classmethod
    def from_json(cls, given: Any) -> Self:
        """Parse the object written by `to_json`. Raises: FormatError."""
        try:
            return cls(dict(given["key"]), dict(given["value"]))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"no columns of results: {error!r}", reason="bad-json") from error

    @classmethod
    def by_names(cls, names: Sequence[str]) -> Self:
        """Columns of which only the names are known: counts are the value, otherwise the last column is.

        Raises:
            FormatError: There are fewer than two columns.
        """
        at = len(names)
        while at > 0 and _KINDS_BY_NAME.get(names[at - 1]) == "int64":
            at -= 1
        at = min(max(at, 1), len(names) - 1)
        kinds: list[tuple[str, Kind]] = [(name, _KINDS_BY_NAME.get(name, "string")) for name in names]
        try:
            return cls(dict(kinds[:at]), dict(kinds[at:]))
        except ValueError as error:
            raise FormatError(f"no columns of results: {error}", reason="bad-header") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and (self.key, self.value) == (other.key, other.value)

    def __hash__(self) -> int:
        return hash((self.key, self.value))

    def __repr__(self) -> str:
        return f"Columns({dict(self.key)}, {dict(self.value)})"


def json_text(value: Any) -> str:
    """The JSON of a value, as a string."""
    return _text(value)


def _items(value: Any, columns: Sequence[Column]) -> list[Cell]:
    if not isinstance(value, list | tuple) or len(value) != len(columns):
        raise CrawlmillError(
            f"a result does not fit the columns {', '.join(column.name for column in columns)}",
            expected=f"a list of {len(columns)}",
            actual=repr(value)[:80],
        )
    return list(value)


def _string(cell: Any, name: str) -> str | None:  # noqa: ARG001 - every value can be converted to a string
    return cell if cell is None or type(cell) is str else _text(cell)


def _int64(cell: Any, name: str) -> int | None:
    if cell is None or (type(cell) is int and cell in _INT64):
        return cell
    raise CrawlmillError(f"a result does not fit the column {name}", expected="int64", actual=repr(cell)[:80])


_CHECKS: Final[dict[str, Callable[[Any, str], Cell] | None]] = {"string": _string, "int64": _int64, "json": None}

JSON_PAIRS: Final = Columns({"key": "json"}, {"value": "json"})
"""The columns of a job that declares none."""
