"""Chunks: the bytes of whole lines, in the order of an index; and functions to bisect, check and split them.

A chunk ends with a line end. Blank lines and headers may be anywhere and are ignored: ` CDX N b a …` names the columns
of a CDX file, `!meta {…}` and other words with a `!` describe a CDXJ file (pywb, OutbackCDX, OpenWayback).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from crawlmill import core
from crawlmill.errors import FormatError

__all__ = [
    "MAX_LINE",
    "Chunk",
    "Order",
    "chunks_of",
    "find_line",
    "first_disorder",
    "first_line",
    "is_header",
    "is_sorted",
    "key_and_time",
    "last_line",
    "sorted_lines",
    "sound_lines",
    "tidy",
]

Chunk = bytes | bytearray

MAX_LINE: Final = 4 << 20
"""Bytes of a line, beyond which it is taken for no line of an index."""

_SOUND: Final = re.compile(rb"(?:[^ \n]++ [0-9]{14} (?:\{[^\n]*\}|[^{\n][^\n]*+)\n)*+")
_HEADER: Final = re.compile(rb" CDX |![A-Za-z][A-Za-z0-9_-]* (?![0-9]{14} )")
_LF: Final = 0x0A


def tidy(chunk: Chunk) -> Chunk:
    """The chunk with LF instead of CR LF, with a complete last line, without blank lines at either end."""
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
    if chunk.startswith(b"\n"):
        chunk = chunk.lstrip(b"\n")
    if chunk.endswith(b"\n\n"):
        chunk = chunk.rstrip(b"\n")
    return chunk if not chunk or chunk.endswith(b"\n") else chunk + b"\n"


def first_line(chunk: Chunk) -> bytes:
    """The first line of a chunk, without its line end."""
    end = chunk.find(b"\n")
    return bytes(chunk[: end if end >= 0 else len(chunk)])


def last_line(chunk: Chunk) -> bytes:
    """The last line of a chunk, without its line end."""
    return bytes(chunk[chunk.rfind(b"\n", 0, len(chunk) - 1) + 1 : -1])


def find_line(chunk: Chunk, target: bytes) -> int:
    """The position in a sorted, tidy chunk of the first line that is not less than `target`, or the chunk's length."""
    low, high = 0, len(chunk)
    while low < high:
        middle = (low + high) // 2
        start = place = chunk.rfind(b"\n", low, middle) + 1 or low
        while start < high and chunk[start] == _LF:  # a blank line is skipped in favour of the one after it
            start += 1
        if start == high:
            high = place
            continue
        end = chunk.find(b"\n", max(start, middle))
        if chunk[start:end] < target:
            low = end + 1
        else:
            high = place
    return low


def is_header(line: Chunk) -> bool:
    """Whether a line describes its file: it is not a capture, and skipping it is not a loss."""
    return _HEADER.match(line) is not None


def is_sorted(chunk: Chunk) -> bool:
    """Whether no line of a tidy chunk is less than the one before it."""
    if (native := core.native()) is not None:
        return bool(native.is_sorted(bytes(chunk)))
    lines = [line for line in chunk.split(b"\n") if line]
    return lines == sorted(lines)


def key_and_time(line: bytes) -> bytes:
    """The part of a line that determines its place; the rest may be in any order."""
    return b" ".join(line.split(b" ", 2)[:2])


def first_disorder(chunk: Chunk, before: bytes = b"") -> tuple[bytes, bytes] | None:
    """The first line that is out of order, and the line before it; None if the chunk is sorted."""
    for line in bytes(chunk).split(b"\n"):
        if line:
            if key_and_time(line) < key_and_time(before):
                return line, before
            before = line
    return None


class Order:
    """Checks that consecutive chunks are in the order of keys and times; each may begin with headers."""

    def __init__(self) -> None:
        self._last = b""

    def take(self, chunk: Chunk) -> tuple[bytes, bytes] | None:
        """The first line of the next chunk that is out of order, and the line before it; None if there is none."""
        at = 0
        while _HEADER.match(chunk, at):
            at = chunk.index(b"\n", at) + 1
        if at == len(chunk):
            return None
        chunk = chunk[at:] if at else chunk
        before, self._last = self._last, last_line(chunk)
        if key_and_time(first_line(chunk)) >= key_and_time(before) and is_sorted(chunk):
            return None
        return first_disorder(chunk, before)


def sorted_lines(chunk: Chunk) -> bytes:
    """The lines of a chunk in the order of their bytes, without blank ones."""
    lines = sorted(line for line in bytes(chunk).split(b"\n") if line)
    return b"\n".join(lines) + b"\n" if lines else b""


def sound_lines(chunk: Chunk) -> int:
    """The size in bytes of the leading lines of a chunk that have a key, a timestamp, and JSON in braces or columns."""
    if (native := core.native()) is not None:
        return int(native.sound_lines(bytes(chunk)))
    found = _SOUND.match(chunk)
    return found.end() if found else 0


def chunks_of(pieces: Iterable[bytes | bytearray], size: int = 1 << 20) -> Iterator[Chunk]:
    """Split a text given in pieces into tidy chunks of about `size` bytes.

    Raises:
        FormatError: `too-large`: a line has more than 4 MiB.
    """
    rest: list[bytes | bytearray] = []
    held = 0
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if not end or held + end < size:
            rest.append(piece)
            held += len(piece)
            if not end and held > MAX_LINE + size:
                raise FormatError("a line without an end", reason="too-large", expected=f"<= {MAX_LINE} bytes")
            continue
        yield tidy(b"".join((*rest, piece[:end])))
        rest, held = [piece[end:]], len(piece) - end
    if any(rest):
        yield tidy(b"".join(rest))
