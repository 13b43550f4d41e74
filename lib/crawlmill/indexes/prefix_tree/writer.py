"""Writes a prefix tree as the program of 2012 did, byte for byte, from sorted items, in bounded memory.

Data blocks are filled in order. Where a block begins, the shortest prefix of its first key that the last key of the
block before it does not have goes into the index block above; of equal keys that is the whole key. Index blocks are
filled in the same way, level by level: what parts two of them goes into the level above, and the first pointer of each
but the first repeats the last one of its neighbour.

Source: trivio/common_crawl_index (the writer of 2012), by the files it has written.
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
    """Find a key that no block can hold.

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
    """Takes sorted items, and writes their tree when all are there. What it holds until then is in files in `folder`.

    Args:
        block_bytes: Bytes of a block.
        folder: Where files without names are kept.
    """

    def __init__(self, block_bytes: int, folder: Path) -> None:
        self._block_bytes, self._folder = block_bytes, folder
        self._data = _file(folder)
        self._blocks = 0
        self._room = 0  # bytes of the last data block that are free
        self._last = b""
        self._levels = [_Level(block_bytes, folder)]  # from the one above the data

    def add(self, key: bytes, value: bytes) -> None:
        """Take the next item, which fits into a block."""
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
            FormatError: `too-large`: it has more blocks than can be numbered.
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
        """Put what parts the last block from the next one into the levels above."""
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
    """The index blocks of one level. Pointers count the blocks of the level below, until it is known where that is."""

    def __init__(self, block_bytes: int, folder: Path) -> None:
        self.blocks = 0
        self._block_bytes = block_bytes
        self._file = _file(folder)
        self._children = 1
        self._block = POINTER.pack(0)

    def add(self, separator: bytes) -> bool:
        """One more block below, and what parts it from the one before. Whether that begins a new block of this level.

        Then the separator is what parts the two in the level above, too.
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
        """Write all blocks to a file; the block `base` is the first one of the level below."""
        self._file.seek(0)
        while block := self._file.read(self._block_bytes):
            prefixes, pointers = parse_index_block(block)
            packed = pack_index_block(prefixes, [base + pointer for pointer in pointers])
            file.write(packed.ljust(self._block_bytes, b"\0"))

    def close(self) -> None:
        """Release the file."""
        self._file.close()


def _separator(left: bytes, right: bytes) -> bytes:
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return right[: at + 1]
    return right[: len(left) + 1]


def _file(folder: Path) -> BinaryIO:
    return TemporaryFile(dir=folder, buffering=1 << 16)  # type: ignore[return-value]
