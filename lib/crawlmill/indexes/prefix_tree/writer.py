"""Writes a prefix tree from sorted items as the program of 2012 did, byte for byte, in bounded memory.

Data blocks are filled in order. When a block begins, the shortest prefix of its first key that is not a prefix of the
previous block's last key goes into the index block above; for equal keys that is the whole key. Index blocks are filled
in the same way, level by level: the separator of two of them goes into the level above, and the first pointer of each
except the first repeats the last pointer of its neighbour.

Source: the files written by trivio/common_crawl_index (the writer of 2012).
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import BinaryIO, Final, Self

from crawlmill.errors import FormatError
from crawlmill.indexes.prefix_tree.index_blocks import HEADER, POINTER, pack_index_block, parse_index_block

__all__ = ["TreeWriter", "check_fits"]

_MAX_NUMBER: Final = (1 << 32) - 1


def check_fits(key: bytes, value_bytes: int, block_bytes: int) -> None:
    """Check that a key fits into a block.

    Raises:
        FormatError: `too-large`, `bad-header`.
    """
    if len(key) + 1 + value_bytes > block_bytes:
        raise FormatError(
            "a key that does not fit into a block",
            reason="too-large",
            expected=f"<= {block_bytes - 1 - value_bytes} bytes",
            actual=f"{len(key)}",
        )
    if not key or b"\0" in key:
        raise FormatError("a key that an index of 2012 cannot hold", reason="bad-header", actual=repr(key[:40])[1:])


class TreeWriter:
    """Takes sorted items and writes their tree once all are there; until then they are kept in files in `folder`.

    Args:
        block_bytes: The size of a block in bytes.
        folder: The folder for unnamed temporary files.
    """

    def __init__(self, block_bytes: int, folder: Path) -> None:
        self._block_bytes, self._folder = block_bytes, folder
        self._data = _file(folder)
        self._blocks = 0
        self._room = 0  # free bytes in the last data block
        self._last = b""
        self._levels = [_Level(block_bytes, folder)]  # beginning with the one above the data

    def add(self, key: bytes, value: bytes) -> None:
        """Add the next item, which must fit into a block."""
        size = len(key) + 1 + len(value)
        if size > self._room:
            if self._blocks:
                self._data.write(bytes(self._room))
                self._part(_separator(self._last, key))
            self._blocks, self._room = self._blocks + 1, self._block_bytes
        self._data.write(key)
        self._data.write(b"\0")
        self._data.write(value)
        self._room -= size
        self._last = key

    def write(self, file: BinaryIO) -> None:
        """Write the tree.

        Raises:
            FormatError: `too-large`: it has more blocks than a pointer can number.
        """
        self._data.write(bytes(self._room))
        self._room = 0
        levels = self._levels[::-1]
        for level in levels:
            level.end()
        index_blocks = sum(level.blocks for level in levels)
        if index_blocks + self._blocks > _MAX_NUMBER:
            raise FormatError("the index of 2012 has too many blocks", reason="too-large", expected=f"<= {_MAX_NUMBER}")
        file.write(HEADER.pack(self._block_bytes, index_blocks))
        base = 0
        for level in levels:
            base += level.blocks
            level.write(file, base)
        self._data.seek(0)
        while piece := self._data.read(1 << 20):
            file.write(piece)

    def _part(self, separator: bytes) -> None:
        """Add the separator of the last block and the next one to the levels above."""
        for number in range(len(self._levels) + 1):
            if number == len(self._levels):
                self._levels.append(_Level(self._block_bytes, self._folder))
            if not self._levels[number].add(separator):
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._data.close()
        for level in self._levels:
            level.close()


class _Level:
    """The index blocks of a level. Pointers number the blocks of the level below until its position is known."""

    def __init__(self, block_bytes: int, folder: Path) -> None:
        self.blocks = 0
        self._block_bytes = block_bytes
        self._file = _file(folder)
        self._children = 1
        self._block = POINTER.pack(0)

    def add(self, separator: bytes) -> bool:
        """Add a block below, and its separator from the one before; returns whether that begins a new block here.

        The separator must then be added to the level above, too.
        """
        entry = separator + b"\0" + POINTER.pack(self._children)
        new = len(self._block) + len(entry) > self._block_bytes
        if new:
            self.end()
            self._block = POINTER.pack(self._children - 1)
        self._block += entry
        self._children += 1
        return new

    def end(self) -> None:
        """Write the current block."""
        self._file.write(self._block.ljust(self._block_bytes, b"\0"))
        self.blocks += 1

    def write(self, file: BinaryIO, base: int) -> None:
        """Write all blocks to a file; `base` is the number of the first block of the level below."""
        self._file.seek(0)
        while block := self._file.read(self._block_bytes):
            prefixes, pointers = parse_index_block(block)
            packed = pack_index_block(prefixes, [base + pointer for pointer in pointers])
            file.write(packed.ljust(self._block_bytes, b"\0"))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _separator(left: bytes, right: bytes) -> bytes:
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return right[: at + 1]
    return right[: len(left) + 1]


def _file(folder: Path) -> BinaryIO:
    return TemporaryFile(dir=folder, buffering=1 << 16)  # type: ignore[return-value]
