r"""Lines of captures in a shuffle, labelled with the number of their shard so that they sort correctly by bytes.

    00012 TAB com,example)/ 20240101000000 {…}

A label has five digits, followed by the line itself, so sorting by bytes orders the shards, and the lines within each.
Engines end a line at CR and a key at TAB, so these two are written as two bytes, and so are the bytes that come before
each of them, which keeps the order of the lines:

    \b  08 01        TAB  08 02        FF  0c 01        CR  0c 02
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from crawlmill import core

__all__ = ["LABEL", "MAX_SHARDS", "Lines", "escape", "escaped_lines", "label_lines", "shards_of", "unescape"]

LABEL: Final = 5
"""Digits of a label."""

MAX_SHARDS: Final = 10**LABEL

_ESCAPES: Final = ((b"\x08", b"\x08\x01"), (b"\t", b"\x08\x02"), (b"\x0c", b"\x0c\x01"), (b"\r", b"\x0c\x02"))


def escape(data: bytes) -> bytes:
    """Escape CR and TAB in lines without changing their order."""
    for plain, escaped in _ESCAPES:
        data = data.replace(plain, escaped)  # a search for one byte is as fast as memory, and mostly finds none
    return data


def unescape(data: bytes) -> bytes:
    """Undo `escape`."""
    if b"\x08" in data or b"\x0c" in data:
        for plain, escaped in reversed(_ESCAPES):
            data = data.replace(escaped, plain)
    return data


class Lines(Protocol):
    """Lines by number, from 0."""

    def __len__(self) -> int:
        """The number of lines."""
        ...

    def __getitem__(self, number: int, /) -> bytes:
        """A line without its line end."""
        ...


class _Unsplit:
    """The lines of a text, split and escaped on demand, in ascending order: most of them are never used."""

    def __init__(self, native: Any, text: bytes) -> None:
        self._native, self._text = native, text
        self._count: int = native.count_lines(text)
        self._number = self._at = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> bytes:
        self._at, end = self._native.line_at(self._text, self._at, number - self._number)
        self._number = number
        return escape(self._text[self._at : end])


def escaped_lines(text: bytes) -> Lines:
    """The lines of a text of whole lines, escaped; may only be accessed in ascending order."""
    native = core.native()
    return escape(text[:-1]).split(b"\n") if native is None else _Unsplit(native, text)


def label_lines(data: bytes, points: list[bytes], first: int = 0) -> bytes:
    """Whole lines, escaped, each after the label of its shard.

    Args:
        data: Lines, each with its LF.
        points: The first line of each shard except the first, escaped, in order.
        first: The number of the first shard.
    """
    if (native := core.native()) is not None:
        labelled: bytes = native.label_lines(data, points, first)
        return labelled
    data = escape(data)
    if not points:
        label = b"%0*d\t" % (LABEL, first)
        return label + data[:-1].replace(b"\n", b"\n" + label) + b"\n"
    labels = [b"%0*d\t" % (LABEL, first + number) for number in range(len(points) + 1)]
    lines = data.split(b"\n")
    lines.pop()
    return b"\n".join([labels[bisect_right(points, line)] + line for line in lines]) + b"\n"


def shards_of(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Split sorted labelled lines into (label, lines without line ends); a shard may come in many pieces.

    Args:
        chunks: Whole lines, each with its LF.
    """
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            label = chunk[at : at + LABEL]
            last = chunk.rfind(b"\n%s\t" % label, at) + 1 or at
            end = chunk.index(b"\n", last) + 1
            text = chunk[at + LABEL + 1 : end - 1].replace(b"\n%s\t" % label, b"\n")
            yield label, unescape(text).split(b"\n")
            at = end
