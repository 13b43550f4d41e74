"""Sums by key over lines that are not decoded: what the reducer `summing` gives, without an object for each pair.

Lines come sorted by key, `key TAB value`; a sum leaves as such a line. Keys are compared as they stand, values read as
numbers: whole ones of up to 18 digits, or lists of two of those. Where a value is anything else, its line and the
others of its key are decoded and given to `summing`; so are keys of which the same text may be written otherwise, and
the rows of the ledger are told apart among them. `LineSums` of the native core does what `_Sums` does here.
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
_CHUNK: Final = 1 << 20


def summing(_job: object, key: Any, values: Iterable[Any]) -> Iterator[Pair]:
    """A reducer (or combiner): one sum per key; lists are summed place by place."""
    values = iter(values)
    first = next(values)
    if isinstance(first, list):
        yield key, [sum(column) for column in zip(first, *values, strict=True)]
    else:
        yield key, sum(values, first)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sums are given: those of at least `least`, and of them with `most` only the largest, falling.

    With `most`, the largest of one reducer are given under the key `null`, for another one to choose from.
    """

    least: int | None = None
    most: int | None = None


def sum_lines(
    chunks: Iterable[bytes], choice: Choice, take_row: Callable[[Pair], object] | None = None
) -> Iterator[bytes]:
    """Lines of sums, some of them at a time. Rows of the ledger go to `take_row`, if there is one.

    Raises:
        ValueError: A line is no pair.
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
    """The lines of a task's input, many at once, perhaps cut within a line."""
    if isinstance(stream, SortedLines):
        return stream.chunks()
    if hasattr(stream, "read1"):
        return iter(partial(stream.read1, _CHUNK), b"")
    return batches(stream)


def _call(function: Callable[[], Any]) -> Any:
    return function()


def _handed_on(texts: Iterable[bytes], others: Largest) -> Iterator[bytes]:
    """The largest, each a pair under `null`: those of `texts`, which are in order, and those among `others`."""
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
    """The sums of lines that have to be decoded."""
    lines = chain.from_iterable(text.split(b"\n")[:-1] for text in texts)
    for _, group in groupby(lines, lambda line: line.partition(b"\t")[0]):
        pairs: Iterator[Pair] = map(decode_pair, group)
        if take_row is not None:
            pairs = without_rows(pairs, take_row)
        for key, value in pairs:  # the first, of which there may be none
            for pair in summing(None, key, chain([value], (other for _, other in pairs))):
                if choice.least is None or leading_number(pair[1]) >= choice.least:
                    yield pair


class _Sums:
    """`LineSums` in Python: gives (left, lines), where `left` says that these are lines to be decoded."""

    def __init__(self, least: int | None, most: int | None) -> None:
        self._least, self._most = least, most
        self._ranking: list[tuple[int, bool, bytes, bytes]] = []
        self._rest = b""
        self._key: bytes | None = None
        self._sum: int | None = None  # None: what comes of this key is left
        self._second: int | None = None  # of a list of two
        self._pieces: list[tuple[bool, list[bytes]]] = []

    def add(self, data: bytes) -> list[tuple[bool, bytes]]:
        """Take more lines, wherever they are cut."""
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            self._line(line)
        return self._given()

    def finish(self) -> list[tuple[bool, bytes]]:
        """The rest."""
        if self._rest:
            self._line(self._rest)
        self._end_key()
        self._key, self._rest = None, b""
        if self._most is not None:
            self._ranking.sort()
            for _, _, _, line in self._ranking[: self._most]:
                self._put(False, line)
        return self._given()

    def _given(self) -> list[tuple[bool, bytes]]:
        pieces, self._pieces = self._pieces, []
        for _, lines in pieces:
            lines.append(b"")
        return [(left, b"\n".join(lines)) for left, lines in pieces]

    def _line(self, line: bytes) -> None:
        key, tab, text = line.removesuffix(b"\r").partition(b"\t")
        same = key == self._key
        if not same:
            self._end_key()
            self._key = key
        elif self._sum is None:
            self._put(True, line)
            return
        value = _VALUE.fullmatch(text) if same or (tab and _is_usual(key)) else None
        if value is None:
            self._leave(line)
            return
        one, first, second = value.groups()
        if not same:
            self._sum, self._second = int(one or first), None if second is None else int(second)
        elif (second is None) != (self._second is None):
            self._leave(line)
        elif second is None:
            self._sum += int(one)  # type: ignore[operator]
        else:
            self._sum += int(first)  # type: ignore[operator]
            self._second += int(second)  # type: ignore[operator]

    def _leave(self, line: bytes) -> None:
        """Leave this key from now on: its sum so far, and this line."""
        if self._sum is not None:
            self._put(True, self._summed())
            self._sum = None
        self._put(True, line)

    def _end_key(self) -> None:
        if self._sum is None or (self._least is not None and self._sum < self._least):
            self._sum = None
            return
        line = self._summed()
        if self._most is None:
            self._put(False, line)
        else:
            key = self._key or b""
            self._ranking.append((-self._sum, key != b"null", key, line))
            if len(self._ranking) > 2 * self._most + 1000:
                self._ranking.sort()
                del self._ranking[self._most :]
        self._sum = None

    def _summed(self) -> bytes:
        key = self._key or b""
        if self._second is None:
            return b"%b\t%d" % (key, self._sum or 0)
        return b"%b\t[%d,%d]" % (key, self._sum or 0, self._second)

    def _put(self, left: bool, line: bytes) -> None:
        if not self._pieces or self._pieces[-1][0] != left:
            self._pieces.append((left, []))
        self._pieces[-1][1].append(line)


def _is_usual(key: bytes) -> bool:
    # Rows of the ledger begin with a NUL; escapes of surrogates may stand for one character.
    return not key.startswith(b'"\\u0000') and b"\\ud" not in key
