"""The parts of an output folder: their names and formats, and the pairs in them."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.results.columns import FORMATS, Columns
from crawlmill.results.delimited import DELIMITERS, read_cells, typed_cells
from crawlmill.results.pairs import decode_pair, from_json, lines_of
from crawlmill.storage.interface import Stream

__all__ = ["Part", "find_parts", "missing_parts", "part_name", "read_part"]

_NAME: Final = re.compile(r"part-([0-9]+)((?:\.[A-Za-z0-9]+)*)")
_OPENERS: Final[dict[bytes, Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its name in the folder, and one of `FORMATS`."""

    name: str
    format: str


def part_name(number: int, format_: str) -> str:
    """The name of a part in a format other than pairs."""
    return f"part-{number:05}.{format_}"


def find_parts(names: Iterable[str]) -> list[Part]:
    """The parts among the names of a folder's files, in order."""
    found = []
    for name in names:
        if match := _NAME.fullmatch(name):
            ending = match[2].removeprefix(".")
            found.append((int(match[1]), name, ending if ending in FORMATS else "pairs"))
    return [Part(name, format_) for _, name, format_ in sorted(found)]


def missing_parts(run: Mapping[str, Any] | None, found: int) -> str | None:
    """How many parts are missing of those that `_run.json` counts, as a sentence; None if none is known to be."""
    expected = (run or {}).get("parts")
    if type(expected) is not int or expected <= found:
        return None
    return f"{expected - found:,} of {expected:,} parts {'is' if expected - found == 1 else 'are'} missing"


def read_part(stream: Stream, format_: str, columns: Columns | None, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a part, with these columns; None if only the names in the part itself are known.

    Raises:
        FormatError: The part is damaged; the message has its name and, for text, the line number.
        SourceError: It cannot be read.
    """
    if format_ == "parquet":
        from crawlmill.results.parquet import read_rows  # noqa: PLC0415 - optional

        yield from read_rows(stream, columns, name)
        return
    try:
        lines = lines_of(_inflated(stream))
        if format_ in DELIMITERS:
            yield from _delimited(lines, DELIMITERS[format_], columns)
        else:
            yield from _json_lines(lines, columns) if format_ == "jsonl" else _pairs(lines)
    except FormatError as error:
        error.source = f"{name}, {error.source}" if error.source else name
        raise


def _pairs(lines: Iterable[bytes]) -> Iterator[tuple[Any, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            yield decode_pair(line)
        except (ValueError, RecursionError) as error:
            raise _broken(number, f"no result line: {error}", "bad-json") from error


def _json_lines(lines: Iterable[bytes], columns: Columns | None) -> Iterator[tuple[Any, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            row = from_json(line.decode())
        except (ValueError, RecursionError) as error:
            raise _broken(number, f"not JSON: {error}", "bad-json") from error
        if not isinstance(row, dict):
            raise _broken(number, f"expected an object, got {line[:80]!r}", "bad-json")
        if columns is None:
            columns = _located(Columns.by_names, list(row), number)
        if list(row) != columns.names:
            raise _broken(number, _names(columns.names, list(row)), "bad-json")
        yield columns.pair(list(row.values()))


def _delimited(lines: Iterable[bytes], delimiter: str, columns: Columns | None) -> Iterator[tuple[Any, Any]]:
    rows = read_cells(lines, delimiter)
    _, header = next(rows, (1, None))
    if header is None:
        raise FormatError("a part without a header", reason="truncated")
    names = [cell or "" for cell in header]
    if columns is None:
        columns = _located(Columns.by_names, names, 1)
    if names != columns.names:
        raise _broken(1, _names(columns.names, names), "bad-header")
    for number, cells in rows:
        try:
            yield columns.pair(typed_cells(cells, columns.all))
        except (ValueError, RecursionError) as error:
            raise _broken(number, f"no row: {error}", "bad-encoding") from error


def _inflated(stream: Stream) -> Iterator[bytes]:
    """The bytes of a part, which engines may have compressed with gzip or bzip2; the first two bytes show it."""
    start = b""
    while len(start) < 2 and (piece := stream.read(2 - len(start))):
        start += piece
    stream.seek(0)
    file = _OPENERS[start](stream) if start in _OPENERS else stream
    try:
        while piece := file.read(_PIECE):
            yield piece
    except EOFError as error:
        raise FormatError("a compressed part ends too soon", reason="truncated") from error
    except (OSError, zlib.error) as error:
        raise FormatError(f"a compressed part is damaged: {error}", reason="bad-compression") from error


def _located(make: Any, names: list[str], line: int) -> Columns:
    try:
        found: Columns = make(names)
    except FormatError as error:
        raise error.located(source=f"line {line}") from error
    return found


def _names(expected: list[str], got: list[str]) -> str:
    return f"the columns: expected {', '.join(expected)}, got {', '.join(got)[:200]}"


def _broken(number: int, what: str, reason: str) -> FormatError:
    return FormatError(what, reason=reason, source=f"line {number}")
