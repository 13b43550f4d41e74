"""How ledger rows travel from map tasks to the launcher.

A row is a pair under a reserved key that holds the input's rank, which is its place in the ledger. On Hadoop and EMR
such pairs travel like all others, so rows of attempts that do not count are dropped with them; the first receiver (the
reducer of the first step, or the map task itself if there is none) writes them to a file of its task. The runners of
one machine set rows aside in the map task, beside its output, which is kept or discarded as a whole. So do Spark's
tasks; Spark's report of a task's success says that its rows count.

The row of a unit (part of an input that several tasks read) has its number and the number of units; the launcher merges
them.

Besides its fields a row has the Unicode version of the task's Python: it decides what a letter is and how it is
lower-cased, so the launcher reports a difference. It also has the task's core, on which the task's speed depends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from io import BytesIO
from json.encoder import encode_basestring
from types import TracebackType
from typing import Any, BinaryIO, Final, Self, TypeVar
from unicodedata import unidata_version

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.ledger.row import LedgerRow, WrittenRows
from crawlmill.mr.task.files import ROWS, TaskFiles
from crawlmill.mr.task.pairs import decode_pair, encode_pair
from crawlmill.mr.task.task_list import input_of
from crawlmill.storage.locations import redact

__all__ = [
    "Pair",
    "RowsFile",
    "TaskRows",
    "decode_row",
    "encode_row",
    "encode_usual",
    "lines_of_streaming",
    "row_pair",
    "take_row",
    "take_rows",
    "without_row_lines",
    "without_rows",
]

T = TypeVar("T")

Pair = tuple[Any, Any]

_PLACE: Final = 5
"""How many values a task's line has for an input; a unit has more."""

_PREFIX: Final = "\0ledger:"  # no key from a crawl begins with a NUL and this word
_ROW_LINE: Final = b'"\\u0000ledger:'
_UNICODE: Final = "unicode"
_CORE: Final = "core"
_PIECE: Final = 1 << 20
_UNIT: Final = "unit"
_SCHEME: Final = "://"  # in a location that may hold a secret
_WRITTEN: Final = re.compile(
    # In JSON text, a quote within a string has a backslash before it, so these match names only.
    rb'"\\u0000ledger:([0-9]{12})"\t(\{[^\n]*,"outcome":"ok","records":([0-9]+),"bytes":([0-9]+),'
    rb'"verified":(?:true|false),"lost":\{\},"problems":\[\]),"unicode":"([0-9.]+)","core":"([a-z]+)"\}\n?\Z'
)
_SKIPPED: Final = "skipped"
_LEFT_OUT: Final = "deselected"
_CUT: Final = "cut"


def row_pair(rank: int, row: LedgerRow) -> Pair:
    """The pair for a row. Ranks and unit numbers are padded with zeros, so that keys sort by number."""
    beside: dict[str, Any] = {_UNICODE: row.unicode or unidata_version, _CORE: row.core or core.name()}
    if row.skipped:
        beside[_SKIPPED] = row.skipped
    beside |= {name: number for name, number in ((_LEFT_OUT, row.deselected), (_CUT, row.truncated)) if number}
    key, fields = f"{_PREFIX}{rank:012}", {**row.to_json(), **beside}
    if row.unit is None:
        return key, fields
    return f"{key}.{row.unit[0]:09}", {**fields, _UNIT: row.unit}


def without_rows(pairs: Iterable[Pair], take: Callable[[Pair], object]) -> Iterator[Pair]:
    """Yield the pairs that are not rows; rows go to `take`."""
    for pair in pairs:
        key = pair[0]
        if type(key) is str and key.startswith(_PREFIX):
            take(pair)
        else:
            yield pair


def lines_of_streaming(stdin: BinaryIO) -> Iterator[bytes]:
    """Yield the input of a reduce task of Hadoop streaming: whole lines, many at a time.

    Streaming adds a TAB to a key without a value; it is removed.
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
    """Yield whole lines without encoded rows, which go to `take`."""
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


class TaskRows:
    """The rows of very many inputs of a task: few of them ever become objects.

    Args:
        inputs: The inputs as `decode_lists` returns them: rank, line, location, offset, length.

    Attributes:
        format, verified: As in `LedgerRow`, of all rows.
        records, bytes: As in `LedgerRow`, of each row.
    """

    def __init__(self, inputs: list[tuple[Any, ...]]) -> None:
        self._inputs = inputs
        self.format: str | None = None
        self.verified = True
        self.records, self.bytes = [0] * len(inputs), [0] * len(inputs)
        self._unusual: dict[int, LedgerRow] = {}

    def __len__(self) -> int:
        return len(self._inputs)

    def __iter__(self) -> Iterator[tuple[int, LedgerRow]]:
        """The ranks of all inputs, and their rows."""
        return ((fields[0], self._complete(number)) for number, fields in enumerate(self._inputs))

    def row(self, number: int) -> LedgerRow:
        """The row of an input, to which losses and the like can be added."""
        row = self._unusual.get(number)
        if row is None:
            row = self._unusual[number] = LedgerRow.of(input_of(self._inputs[number]))
        return row

    def encode(self) -> tuple[bytes, tuple[int, int, int], list[tuple[int, LedgerRow]]]:
        """The lines of usual rows; their number, records and bytes; ranks and rows of all others."""
        secret = set(filter(_is_secret, {fields[2] for fields in self._inputs}))
        others = [
            number
            for number, fields in enumerate(self._inputs)
            if number in self._unusual or fields[2] in secret or len(fields) > _PLACE
        ]
        inputs, records, sizes = (_without(values, others) for values in (self._inputs, self.records, self.bytes))
        around = _around_numbers(self.format, self.verified, unidata_version, core.name())
        lines = encode_usual(inputs, records, sizes, around)
        rows = [(self._inputs[number][0], self._complete(number)) for number in others]
        return lines, (len(inputs), sum(records), sum(sizes)), rows

    def _complete(self, number: int) -> LedgerRow:
        row = self._unusual.get(number) or LedgerRow.of(input_of(self._inputs[number]))
        row.format, row.verified = self.format, self.verified
        row.records, row.bytes = self.records[number], self.bytes[number]
        return row


class RowsFile:
    """A file for rows among an attempt's files, opened at the first row. With None rows are dropped."""

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


def encode_row(rank: int, row: LedgerRow) -> bytes:
    """The line of a row: that of `encode_pair(*row_pair(rank, row))`, with its line end.

    Sorted lines are in the order of ranks, and rows of units in that of units.
    """
    told = row.lost or row.problems or row.skipped or row.deselected or row.truncated
    unusual = told or row.unit is not None or (row.offset is None) != (row.length is None)
    if unusual or _is_secret(row.location):
        return encode_pair(*row_pair(rank, row)) + b"\n"
    place = (rank, row.input, row.location, row.offset, row.length)
    around = _around_numbers(row.format, row.verified, row.unicode or unidata_version, row.core or core.name())
    return _usual_line(place, row.records, row.bytes, around)


def encode_usual(inputs: list[tuple[Any, ...]], records: list[int], sizes: list[int], around: tuple[str, str]) -> bytes:
    """The lines of rows without losses, as of `encode_row`; locations must be without secrets."""
    native = core.native()
    lines: bytes | None = None if native is None else native.encode_rows(inputs, records, sizes, *around)
    if lines is not None:
        return lines
    rows = zip(inputs, records, sizes, strict=True)
    return b"".join([_usual_line(place, count, size, around) for place, count, size in rows])


@lru_cache(maxsize=16)  # they are the same for nearly all rows of a task
def _around_numbers(name: str | None, verified: bool, unicode: str, by_core: str) -> tuple[str, str]:
    """What stands before and after the numbers in the line of a row without losses, from the place on."""
    form = "null" if name is None else f'"{name}"'
    end = (
        f'"verified":{"true" if verified else "false"},"lost":{{}},"problems":[],'
        f'"unicode":"{unicode}","core":"{by_core}"}}'
    )
    return f'"format":{form},"outcome":"ok"', end


def _is_secret(location: str) -> bool:
    return _SCHEME in location and redact(location) != location


def _without(values: list[T], numbers: Sequence[int]) -> list[T]:
    if not numbers:
        return values
    left_out = set(numbers)
    return [value for number, value in enumerate(values) if number not in left_out]


def _usual_line(place: tuple[Any, ...], records: int, size: int, around: tuple[str, str]) -> bytes:
    rank, given, location, offset, length = place
    middle, end = around
    span = "" if length is None else f'"offset":{offset},"length":{length},'
    text = (
        f'"\\u0000ledger:{rank:012}"\t{{"input":{encode_basestring(given)},"location":{encode_basestring(location)},'
        f'{span}{middle},"records":{records},"bytes":{size},{end}\n'
    )
    return text.encode("utf-8", "backslashreplace")


def take_rows(chunks: Iterable[bytes]) -> Iterator[tuple[int, LedgerRow | WrittenRows]]:
    """The rows of whole lines, sorted by rank, and their ranks; rows stay encoded if nothing needs their fields.

    Raises: as `decode_row`.
    """
    native = core.native()
    for chunk in chunks:
        for found in BytesIO(chunk) if native is None else native.take_rows(chunk):
            if isinstance(found, bytes):
                yield take_row(found)
            else:
                yield found[0], WrittenRows(*found[1:])


def take_row(line: bytes) -> tuple[int, LedgerRow | WrittenRows]:
    """Rank and row of a line; the row stays encoded if nothing needs its fields. Raises: as `decode_row`."""
    found = _WRITTEN.match(line)
    if found is None:
        return decode_row(line)
    rank, fields, records, size, version, name = found.groups()
    return int(rank), WrittenRows(fields + b"}\n", int(records), int(size), version.decode(), name.decode())


def decode_row(line: bytes) -> tuple[int, LedgerRow]:
    """Parse the rank and row of a line.

    Raises:
        FormatError: `bad-json`: `encode_row` did not write this line.
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
