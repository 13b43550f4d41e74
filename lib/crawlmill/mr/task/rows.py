"""How ledger rows travel from map tasks to the launcher.

A row is a pair under a reserved key, which holds the input's rank: its place in the ledger. On Hadoop and EMR
such pairs go the way of all pairs, so that the rows of attempts that do not count are never heard of; whoever
receives them first (the reducer of the first step, or the map task itself where there is none) sets them aside into a
file per task. The runners of one machine set them aside in the map task at once, beside its output, which is taken or
thrown away as a whole; Spark's tasks do too, and their rows come with Spark's word that they have succeeded.

The row of a unit, of an input that several tasks read, says which of how many it is; the launcher merges them.

Beside its fields a row brings the version of Unicode by which its task has read: what a letter is and what its lower
case is depend on it, so the launcher tells of a difference. So it does of the core, on which the task's speed depends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from json.encoder import encode_basestring
from types import TracebackType
from typing import Any, BinaryIO, Final, Self
from unicodedata import unidata_version

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.ledger.row import LedgerRow, WrittenRow
from crawlmill.mr.task.files import ROWS, TaskFiles
from crawlmill.mr.task.pairs import decode_pair, encode_pair
from crawlmill.storage.locations import redact

__all__ = [
    "Pair",
    "RowsFile",
    "decode_row",
    "encode_row",
    "lines_of_streaming",
    "row_pair",
    "take_row",
    "without_row_lines",
    "without_rows",
    "write_rows",
]

Pair = tuple[Any, Any]

_PREFIX: Final = "\0ledger:"  # no crawl holds a key that begins with a NUL and this word
_ROW_LINE: Final = b'"\\u0000ledger:'
_UNICODE: Final = "unicode"
_CORE: Final = "core"
_PIECE: Final = 1 << 20
_UNIT: Final = "unit"
_SCHEME: Final = "://"  # of a location that may hold a secret
_WRITTEN: Final = re.compile(
    # Within a text of JSON no quote stands without a backslash before it, so that these names are names.
    rb'"\\u0000ledger:([0-9]{12})"\t(\{[^\n]*,"outcome":"ok","records":([0-9]+),"bytes":([0-9]+),'
    rb'"verified":(?:true|false),"lost":\{\},"problems":\[\]),"unicode":"([0-9.]+)","core":"([a-z]+)"\}\n?\Z'
)
_SKIPPED: Final = "skipped"
_LEFT_OUT: Final = "deselected"
_CUT: Final = "cut"


def row_pair(rank: int, row: LedgerRow) -> Pair:
    """The pair that stands for a row. Ranks and numbers of units have so many digits that the keys' order is theirs."""
    beside: dict[str, Any] = {_UNICODE: row.unicode or unidata_version, _CORE: row.core or core.name()}
    if row.skipped:
        beside[_SKIPPED] = row.skipped
    beside |= {name: number for name, number in ((_LEFT_OUT, row.deselected), (_CUT, row.truncated)) if number}
    key, fields = f"{_PREFIX}{rank:012}", {**row.to_json(), **beside}
    if row.unit is None:
        return key, fields
    return f"{key}.{row.unit[0]:09}", {**fields, _UNIT: row.unit}


def without_rows(pairs: Iterable[Pair], take: Callable[[Pair], object]) -> Iterator[Pair]:
    """The pairs that are no rows; those that are go to `take`."""
    for pair in pairs:
        key = pair[0]
        if type(key) is str and key.startswith(_PREFIX):
            take(pair)
        else:
            yield pair


def lines_of_streaming(stdin: BinaryIO) -> Iterator[bytes]:
    """What Hadoop's streaming gives a reduce task: whole lines, many at a time.

    A key without a value has a TAB after it there, which is taken off.
    """
    rest = b""
    while piece := stdin.read(_PIECE):
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield (rest + piece[:cut]).replace(b"\t\n", b"\n")
        rest = piece[cut:] if cut else rest + piece
    if rest:
        yield rest + b"\n"


def without_row_lines(chunks: Iterable[bytes], take: Callable[[Pair], object]) -> Iterator[bytes]:
    """Whole lines, without those that are encoded rows; these go to `take`."""
    for chunk in chunks:
        if chunk.startswith(_ROW_LINE) or b"\n" + _ROW_LINE in chunk:
            lines = chunk.split(b"\n")
            for line in lines:
                if line.startswith(_ROW_LINE):
                    take(decode_pair(line))
            others = b"\n".join(line for line in lines if not line.startswith(_ROW_LINE))
            if others:
                yield others
        else:
            yield chunk


class RowsFile:
    """The rows among an attempt's files, written as they come; None is no place, and no row is no file."""

    def __init__(self, files: TaskFiles | None) -> None:
        self._files = files
        self._file: BinaryIO | None = None
        self._open = ExitStack()

    def add(self, pair: Pair) -> None:
        """Write a row pair."""
        if self._file is None and self._files is not None:
            self._file = self._open.enter_context(self._files.write(ROWS))
        if self._file is not None:
            self._file.write(encode_pair(*pair) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)


def write_rows(lines: Iterable[bytes], file: BinaryIO) -> None:
    """Write encoded rows, sorted by rank."""
    file.writelines(line + b"\n" for line in sorted(lines))


def encode_row(rank: int, row: LedgerRow) -> bytes:
    """The line of the pair of a row, without its line end: `encode_pair(*row_pair(rank, row))`."""
    told = row.lost or row.problems or row.skipped or row.deselected or row.truncated
    secret = _SCHEME in row.location and redact(row.location) != row.location
    if told or secret or row.unit is not None or (row.offset is None) != (row.length is None):
        return encode_pair(*row_pair(rank, row))
    span = "" if row.length is None else f'"offset":{row.offset},"length":{row.length},'
    form = "null" if row.format is None else f'"{row.format}"'
    text = (
        f'"\\u0000ledger:{rank:012}"\t{{"input":{encode_basestring(row.input)},'
        f'"location":{encode_basestring(row.location)},{span}"format":{form},"outcome":"ok","records":{row.records},'
        f'"bytes":{row.bytes},"verified":{"true" if row.verified else "false"},"lost":{{}},"problems":[],'
        f'"unicode":"{row.unicode or unidata_version}","core":"{row.core or core.name()}"}}'
    )
    return text.encode("utf-8", "backslashreplace")


def take_row(line: bytes) -> tuple[int, LedgerRow | WrittenRow]:
    """Rank and row of a line, as it was written if nothing is to be done with it. Raises: as `decode_row`."""
    found = _WRITTEN.match(line)
    if found is None:
        return decode_row(line)
    rank, fields, records, size, version, name = found.groups()
    return int(rank), WrittenRow(fields + b"}", int(records), int(size), version.decode(), name.decode())


def decode_row(line: bytes) -> tuple[int, LedgerRow]:
    """Rank and row of a line.

    Raises:
        FormatError: `bad-json`: this line is none of `encode_row`.
    """
    try:
        key, fields = decode_pair(line.rstrip())
        row = LedgerRow.from_json(fields)
        row.unicode, row.core = fields.get(_UNICODE), fields.get(_CORE)
        row.skipped = Counter(fields.get(_SKIPPED, ()))
        row.deselected, row.truncated = fields.get(_LEFT_OUT, 0), fields.get(_CUT, 0)
        if _UNIT in fields:
            number, count = fields[_UNIT]
            row.unit = (number, count)
        return int(key.removeprefix(_PREFIX).partition(".")[0]), row
    except (TypeError, ValueError) as error:
        raise FormatError(f"no ledger row: {error}", reason="bad-json") from error
