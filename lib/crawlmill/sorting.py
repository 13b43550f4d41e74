r"""Sorts lines by their bytes, like `LC_ALL=C sort`, any number of them, in bounded memory.

    with sort_lines(pieces, folder, 256 << 20) as lines:
        for line in lines:
            ...

Line ends are not part of what is compared. Lines that do not fit into memory are sorted in runs, which are written to
unnamed files in `folder` and then merged; nothing is left of them, even after a crash. The native core, if used, sorts
one buffer while the next one fills and other threads run, and compresses runs if that is faster than the disk; the
results are the same.
"""

from __future__ import annotations

import os
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from crawlmill import core

__all__ = ["LINE_COST", "Blocks", "Part", "SortedLines", "batches", "merge_parts", "sort_lines"]

LINE_COST: Final = 60
"""Bytes that a line in memory costs beyond its own, in Python."""

_BATCH: Final = 1 << 16
_MAX_RUNS: Final = 200  # each may be an open file
_LINES_AT_ONCE: Final = 4096

Blocks = Iterator[list[bytes]]
"""A sorted run: lists of its lines, without their line ends, none of them empty."""


class Part(NamedTuple):
    """Whole lines in part of a file: `length` bytes from `offset`."""

    path: str
    offset: int
    length: int


class SortedLines:
    """Sorted lines: iterate once, over lines with their line ends or over `chunks` of many."""

    def __init__(self, chunks: Iterator[bytes], close: Callable[[], object] = lambda: None) -> None:
        self._chunks, self._close = _closed_at_the_end(chunks, close), close

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            yield from BytesIO(chunk)

    def chunks(self) -> Iterator[bytes]:
        """Yield chunks of whole lines, of about a mebibyte: the fast way to write them."""
        return self._chunks

    def close(self) -> None:
        """Close the files."""
        self._chunks = iter(())
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def sort_lines(source: Iterable[bytes], folder: Path, memory: int) -> SortedLines:
    """Sort the lines of a text by their bytes.

    The text is the concatenation of the pieces of `source`, cut anywhere: lines, or the chunks of a file. Its last line
    gets a line end if it has none. `memory` is the limit for lines held, in bytes; `folder` must have room for all
    lines that do not fit, and twice that if there are more than some hundred times as many.

    Raises:
        OSError: The folder cannot be written, or is full. No files are left there.
        ValueError: A line has 4 GiB or more.
    """
    native = core.native()
    if native is not None:
        native_sorter = native.LineSorter(str(folder), memory)
        for batch in batches(source, memory):
            native_sorter.add(batch)
        return _native_lines(native_sorter.finish())
    with ExitStack() as files:
        sorter = _Sorter(folder, memory, files)
        for batch in batches(source, memory):
            sorter.add(batch)
        merged = sorter.finish()
        return SortedLines(_joined(merged), files.pop_all().close)


def merge_parts(parts: Sequence[Part], folder: Path, memory: int) -> SortedLines:
    """Merge parts of files, each with sorted lines, into sorted lines; any number of parts.

    `memory`, in bytes, and `folder`: as in `sort_lines`.

    Raises:
        OSError: A file cannot be read, or the folder is needed and cannot be written.
    """
    native = core.native()
    if native is not None:
        return _native_lines(native.merge_runs(list(parts), str(folder), memory))
    size = _block_size(memory, len(parts))
    with ExitStack() as stack:
        runs = _no_more_than_can_be_merged([_read_part(part, size) for part in parts], folder, stack)
        return SortedLines(_joined(_merge(runs)), stack.pop_all().close)


def batches(pieces: Iterable[bytes], memory: int = 1 << 20) -> Iterator[bytes]:
    """The same text in larger pieces, which are small compared with `memory`, in bytes."""
    enough = min(_BATCH, memory // 16)
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= enough:
            yield held[0] if len(held) == 1 else b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)


def _closed_at_the_end(chunks: Iterator[bytes], close: Callable[[], object]) -> Iterator[bytes]:
    try:
        yield from chunks
    finally:
        close()


def _native_lines(blocks: object) -> SortedLines:
    return SortedLines(iter(blocks.read, b""))  # type: ignore[attr-defined]


class _Sorter:
    """The Python version of `sort_lines`."""

    def __init__(self, folder: Path, memory: int, files: ExitStack) -> None:
        self._folder, self._memory, self._files = folder, memory, files
        self._lines: list[bytes] = []
        self._cost = 0
        self._rest = b""
        self._runs: list[Blocks] = []
        self._file: _RunFile | None = None

    def add(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        self._lines += lines
        self._cost += len(data) + LINE_COST * len(lines)
        if self._cost > self._memory and self._lines:
            if self._file is None:
                self._file = _RunFile(self._folder, self._files)
            self._lines.sort()
            self._runs.append(self._file.write(_in_memory(self._lines)))
            self._lines.clear()
            self._cost = len(self._rest)

    def finish(self) -> Blocks:
        if self._rest:
            self._lines.append(self._rest)
        self._lines.sort()
        return _merge([*_no_more_than_can_be_merged(self._runs, self._folder, self._files), _in_memory(self._lines)])


class _RunFile:
    """An unnamed file of runs, which is removed when `files` is closed."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        file = tempfile.TemporaryFile(dir=folder, buffering=1 << 18)  # noqa: SIM115 - `files` closes it
        self._file = files.enter_context(file)

    def write(self, blocks: Blocks) -> Blocks:
        """Write a run; returns it for reading."""
        start = self._file.tell()
        self._file.writelines(_joined(blocks))
        self._file.flush()
        return _read_file(self._file.fileno(), start, self._file.tell() - start, 1 << 18)


def _no_more_than_can_be_merged(runs: list[Blocks], folder: Path, files: ExitStack) -> list[Blocks]:
    """The same lines in at most as many runs as can be merged at once."""
    while len(runs) > _MAX_RUNS:
        file = _RunFile(folder, files)
        runs = [file.write(_merge(runs[n : n + _MAX_RUNS])) for n in range(0, len(runs), _MAX_RUNS)]
    return runs


def _merge(runs: Sequence[Blocks]) -> Blocks:
    """Merge runs: collect all lines that no unread line can precede, and sort them at once."""
    heads = [(block, 0, run) for run in runs if (block := next(run, None))]
    while heads:
        bound = min(block[-1] for block, _, _ in heads)
        taken: list[bytes] = []
        left: list[tuple[list[bytes], int, Blocks]] = []
        for block, start, run in heads:
            end = bisect_right(block, bound, start)
            taken += block[start:end]
            if end < len(block):
                left.append((block, end, run))
            elif following := next(run, None):
                left.append((following, 0, run))
        taken.sort()  # fast, since it detects the sorted runs
        yield taken
        heads = left


def _in_memory(lines: list[bytes]) -> Blocks:
    for start in range(0, len(lines), _LINES_AT_ONCE):
        yield lines[start : start + _LINES_AT_ONCE]


def _joined(blocks: Blocks) -> Iterator[bytes]:
    for block in blocks:
        block.append(b"")
        yield b"\n".join(block)


def _block_size(memory: int, runs: int) -> int:
    return min(max(memory // (4 * max(min(runs, _MAX_RUNS), 1)), 1 << 12), 1 << 18)


def _read_part(part: Part, size: int) -> Blocks:
    if part.length:
        with open(part.path, "rb", 0) as file:  # noqa: PTH123
            yield from _read_file(file.fileno(), part.offset, part.length, size)


def _read_file(number: int, offset: int, length: int, size: int) -> Blocks:
    """The lines in part of a file, given by its descriptor."""
    end, rest = offset + length, b""
    while offset < end:
        data = os.pread(number, min(size, end - offset), offset)
        if not data:
            raise OSError(f"a file of sorted lines ends early: expected {end - offset} more bytes")
        offset += len(data)
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        if lines:
            yield lines
    if rest:
        yield [rest]
