"""Sums by key over undecoded lines: the same result as the reducer `summing`, without an object per pair.

Lines `key TAB value` come sorted by key; sums are written in the same form. Keys are compared byte by byte; values are
read as whole numbers of up to 18 digits, or lists of two of them. If a value is anything else, all lines of its key are
decoded and passed to `summing`; so are keys whose JSON can be written in several ways, and ledger rows, which are
among the lines. `_Sums` is the Python version of the native core's `LineSums`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

from crawlmill import core
from crawlmill.mr.task.largest import Largest, leading_number
from crawlmill.mr.task.pairs import decode_pair, encode_pair
from crawlmill.mr.task.rows import Pair, without_rows
from crawlmill.sorting import SortedLines, batches

__all__ = ["Choice", "chunks_of", "sum_lines", "summing"]

_NUMBER: Final = rb"(-?(?:0|[1-9][0-9]{0,17}))"
_VALUE: Final = re.compile(rb"%s|\[%s,%s\]" % (_NUMBER, _NUMBER, _NUMBER))
# A line that would be written unchanged: not a row, nothing escaped, no number with several spellings.
_NATURAL: Final = rb"([1-9][0-9]{0,17})"
_USUAL_VALUE: Final = re.compile(rb"%s|\[%s,%s\]" % (_NATURAL, _NATURAL, _NATURAL))
_USUAL: Final = re.compile(rb"[^\\\t]+\t(?:%s)" % _USUAL_VALUE.pattern)
_CHUNK: Final = 1 << 20


def summing(_job: object, key: Any, values: Iterable[Any]) -> Iterator[Pair]:
    """A reducer (or combiner) that yields one sum per key; lists are summed item by item."""
    values = iter(values)
    first = next(values)
    if isinstance(first, list):
        yield key, [sum(column) for column in zip(first, *values, strict=True)]
    else:
        yield key, sum(values, first)


@dataclass(frozen=True, slots=True)
class Choice:
    """Selects sums: those of at least `least`; with `most`, only that many of the largest, in falling order.

    With `most`, a reducer yields its largest sums under the key `null`, for one more reducer to select from.
    """

    least: int | None = None
    most: int | None = None


def sum_lines(
    chunks: Iterable[bytes], choice: Choice, take_row: Callable[[Pair], object] | None = None
) -> Iterator[bytes]:
    """Yield lines of sums, several at a time. Ledger rows go to `take_row`, if given.

    Raises:
        ValueError: A line is not a pair.
    """
    native = core.native()
    sums = (native.LineSums if native is not None else _Sums)(choice.least, choice.most)
    pieces = chain.from_iterable(chain(map(sums.add, chunks), map(_call, [sums.finish])))
    largest = Largest(choice.most) if choice.most is not None else None
    for left, group in groupby(pieces, itemgetter(0)):
        texts = map(itemgetter(1), group)
        if left:
            for key, value in _summed(texts, choice, take_row):
                if largest is None:
                    yield encode_pair(key, value) + b"\n"
                else:
                    largest.add(key, value)
        elif largest is None:
            yield from texts
        else:
            yield from _handed_on(texts, largest)
            return
    if largest is not None:
        yield from _handed_on([], largest)


def chunks_of(stream: Any) -> Iterator[bytes]:
    """The lines of a task's input in chunks, which may end within a line."""
    if isinstance(stream, SortedLines):
        return stream.chunks()
    if hasattr(stream, "read1"):
        return iter(partial(stream.read1, _CHUNK), b"")
    return batches(stream)


def _call(function: Callable[[], Any]) -> Any:
    return function()


def _handed_on(texts: Iterable[bytes], others: Largest) -> Iterator[bytes]:
    """The largest sums, as pairs under `null`: from `texts`, which are in order, and from `others`."""
    rest = others.pairs()
    if not rest:
        for text in texts:
            lines = text.split(b"\n")
            lines.pop()
            yield b"".join(b"null\t[%s]\n" % line.replace(b"\t", b",") for line in lines)
        return
    for text in texts:
        for line in text.splitlines():
            others.add(*decode_pair(line))
    for pair in others.pairs():
        yield encode_pair(None, pair) + b"\n"


def _summed(texts: Iterable[bytes], choice: Choice, take_row: Callable[[Pair], object] | None) -> Iterator[Pair]:
    """The sums of lines that must be decoded."""
    lines = chain.from_iterable(text.split(b"\n")[:-1] for text in texts)
    for _, group in groupby(lines, lambda line: line.partition(b"\t")[0]):
        pairs: Iterator[Pair] = map(decode_pair, group)
        if take_row is not None:
            pairs = without_rows(pairs, take_row)
        for key, value in pairs:  # the first pair, if there is any
            for pair in summing(None, key, chain([value], (other for _, other in pairs))):
                if choice.least is None or leading_number(pair[1]) >= choice.least:
                    yield pair


class _Sums:
    """The Python version of `LineSums`: returns (left, lines), where `left` marks lines to be decoded."""

    def __init__(self, least: int | None, most: int | None) -> None:
        self._least, self._most = least, most
        self._ranking: list[tuple[int, bool, bytes, bytes]] = []
        self._rest = b""
        self._key: bytes | None = None
        self._only: bytes | None = None  # the only line of the key so far, if it is an ordinary one
        self._sum: int | None = None  # None, without `_only`: lines of this key are left for decoding
        self._second: int | None = None  # for lists of two
        self._pieces: list[tuple[bool, list[bytes]]] = []

    def add(self, data: bytes) -> list[tuple[bool, bytes]]:
        """Add more lines; `data` may be cut anywhere."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        plain = self._least is None and self._most is None
        usual, usual_value = _USUAL.fullmatch, _USUAL_VALUE.fullmatch
        key, only, total, second = self._key, self._only, self._sum, self._second
        out: list[bytes] | None = None
        # Ordinary lines are handled here, where names are local; `_line` handles all kinds.
        for line in lines:
            name, _, text = line.partition(b"\t")
            if not plain:
                pass
            elif name != key:
                if usual(line):
                    if out is None:
                        out = self._lines(left=False)
                    if only is not None:
                        out.append(only)  # most keys occur once, and their line is the result
                    elif total is not None:
                        out.append(_line_of(key, total, second))
                    key, only, total = name, line, None
                    continue
            elif (only is not None or total is not None) and (value := usual_value(text)):
                if only is not None:
                    total, second = _numbers(usual_value(only[len(name) + 1 :]))
                    only = None
                number, other, another = value.groups()
                if another is None and second is None:
                    total += int(number)  # type: ignore[operator]
                    continue
                if another is not None and second is not None:
                    total += int(other)  # type: ignore[operator]
                    second += int(another)
                    continue
            self._key, self._only, self._sum, self._second = key, only, total, second
            self._line(line)
            key, only, total, second = self._key, self._only, self._sum, self._second
            out = None
        self._key, self._only, self._sum, self._second = key, only, total, second
        return self._given()

    def finish(self) -> list[tuple[bool, bytes]]:
        """Return the remaining lines."""
        if self._rest:
            self._line(self._rest)
        self._end_key()
        self._key, self._rest = None, b""
        if self._most is not None:
            self._ranking.sort()
            self._lines(left=False).extend(line for _, _, _, line in self._ranking[: self._most])
        return self._given()

    def _given(self) -> list[tuple[bool, bytes]]:
        pieces, self._pieces = self._pieces, []
        return [(left, b"\n".join([*lines, b""])) for left, lines in pieces if lines]

    def _line(self, line: bytes) -> None:
        key, tab, text = line.removesuffix(b"\r").partition(b"\t")
        if key != self._key:
            self._end_key()
            self._key = key
            value = _VALUE.fullmatch(text) if tab and _is_usual(key) else None
            if value is None:
                self._leave(line)
            else:
                self._sum, self._second = _numbers(value)
            return
        if self._only is not None:
            value = _VALUE.fullmatch(self._only.partition(b"\t")[2])
            self._only = None
            if value is not None:
                self._sum, self._second = _numbers(value)
        if self._sum is None:
            self._leave(line)
            return
        value = _VALUE.fullmatch(text)
        number, second = _numbers(value) if value else (0, None)
        if value is None or (second is None) != (self._second is None):
            self._leave(line)
            return
        self._sum += number
        if second is not None and self._second is not None:
            self._second += second

    def _leave(self, line: bytes) -> None:
        """Leave this key for decoding from now on: its sum so far, and this line."""
        if self._sum is not None:
            self._lines(left=True).append(self._summed())
            self._sum = None
        self._lines(left=True).append(line)

    def _end_key(self) -> None:
        if self._only is not None:
            self._lines(left=False).append(self._only)
            self._only = None
        if self._sum is None or (self._least is not None and self._sum < self._least):
            self._sum = None
            return
        line = self._summed()
        if self._most is None:
            self._lines(left=False).append(line)
        else:
            key = self._key or b""
            self._ranking.append((-self._sum, key != b"null", key, line))
            if len(self._ranking) > 2 * self._most + 1000:
                self._ranking.sort()
                del self._ranking[self._most :]
        self._sum = None

    def _summed(self) -> bytes:
        return _line_of(self._key, self._sum, self._second)

    def _lines(self, *, left: bool) -> list[bytes]:
        """The list to which the next lines of this kind are added."""
        if not self._pieces or self._pieces[-1][0] != left:
            self._pieces.append((left, []))
        return self._pieces[-1][1]


def _line_of(key: bytes | None, number: int | None, second: int | None) -> bytes:
    if second is None:
        return b"%b\t%d" % (key or b"", number or 0)
    return b"%b\t[%d,%d]" % (key or b"", number or 0, second)


def _numbers(value: re.Match[bytes] | None) -> tuple[int, int | None]:
    if value is None:
        raise ValueError("not a number, nor a list of two")
    one, first, second = value.groups()
    return (int(one), None) if second is None else (int(first), int(second))


def _is_usual(key: bytes) -> bool:
    # Ledger rows begin with a NUL; two escapes of surrogates may stand for one character.
    return not key.startswith(b'"\\u0000') and b"\\ud" not in key
