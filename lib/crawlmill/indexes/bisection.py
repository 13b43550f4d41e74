"""Bisects a file of sorted lines in fixed blocks, which are in memory, in a cache, or fetched.

Blocks are compared by the first line that begins in them. So a file of 2^n blocks takes n requests, and later
bisections find the blocks at the top of the tree in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from crawlmill.errors import FormatError
from crawlmill.indexes.held_blocks import HeldBlocks
from crawlmill.indexes.lines import MAX_LINE, find_line
from crawlmill.indexes.source import Source

__all__ = ["Blocks", "OutOfOrderError"]

_REMOTE_BYTES: Final = 32 << 10
_LOCAL_BYTES: Final = 8 << 10
_SAMPLES: Final = 16


class OutOfOrderError(Exception):
    """Two lines that were read are not in order; `offset` is that of the second."""

    def __init__(self, offset: int, line: bytes, before: bytes) -> None:
        super().__init__(offset)
        self.offset, self.line, self.before = offset, line, before


class Blocks(HeldBlocks):
    """The blocks of a file of `size` bytes, with bisection of its lines.

    Args:
        source: The file.
        size: Its size in bytes.
        key: The part of a line by which lines are sorted.
        persistent: Whether to keep blocks in the source's store.
    """

    def __init__(
        self, source: Source, size: int, *, key: Callable[[bytes], bytes] = lambda line: line, persistent: bool = False
    ) -> None:
        store = source.store() if persistent and source.remote else None
        super().__init__(source, size, _REMOTE_BYTES if source.remote else _LOCAL_BYTES, store=store)
        self._key = key
        self._primed: bytes | None = None
        self._first: dict[int, tuple[int, bytes] | None] = {}

    def prime(self, head: bytes) -> None:
        """Add the first bytes of the file, which were read to detect its format."""
        if len(head) >= min(self.block_bytes, self.size) and self.size:
            block = head[: self.block_bytes]
            if self._store is not None and self._store.get(0) is None:
                self._store.put(0, block)
            self._primed = block  # its order is checked on use, since callers of prime do not expect an error

    def find(self, target: bytes) -> int:
        """Find the offset of the first line that is not less than `target`; the size of the file if there is none.

        Raises:
            OutOfOrderError: Lines read on the way are not in order.
            SourceError, FormatError: The file cannot be read, or has a line without an end.
        """
        low, high = 0, -(-self.size // self.block_bytes)  # the line begins in a block of [low, high], or there is none
        below = above = None
        while high - low > 1:
            middle = (low + high) // 2
            first = self._first_from(middle, high)
            if first is None:
                high = middle  # no line begins in the blocks up to `high`
                continue
            offset, line = first
            if below is not None and self._key(line) < below[1]:
                raise OutOfOrderError(offset, line, below[1])
            if above is not None and self._key(line) > above[1]:
                raise OutOfOrderError(above[0], above[1], line)
            if line < target:
                low, below = offset // self.block_bytes, (offset, self._key(line))
            else:
                high, above = middle, (offset, self._key(line))
        return self._find_in(low, target)

    def check_samples(self) -> None:
        """Compare a few lines: evenly spread ones, and ones near both ends, since one of two joined files may be short.

        Bisection itself reads a line only where it expects it, so it does not notice that sorted files were joined.

        Raises:
            OutOfOrderError: They are not in order.
            SourceError, FormatError: As for `find`.
        """
        count = -(-self.size // self.block_bytes)
        ends = [count >> shift for shift in range(1, count.bit_length() + 1)]
        numbers = {*range(0, count, -(-count // _SAMPLES) or 1), *ends, *(count - 1 - end for end in ends)}
        before = b""
        for number in sorted(numbers.intersection(range(count))):
            if (first := self._first_from(number, number + 1)) is not None:
                offset, line = first
                if self._key(line) < before:
                    raise OutOfOrderError(offset, self._key(line), before)
                before = self._key(line)

    def line_before(self, offset: int) -> int:
        """The offset of the line before the one at `offset`; `offset` itself if there is none."""
        at = offset
        while at > 0:
            number = (at - 1) // self.block_bytes
            start = number * self.block_bytes
            block = self.block(number)[: at - start]
            end = len(block) - 1 if at == offset else len(block)  # skip the line end just before `offset`
            found = block.rfind(b"\n", 0, max(end, 0))
            if found >= 0:
                return start + found + 1
            self._check_length(offset, start)
            at = start
        return 0

    def line_from(self, offset: int) -> bytes | None:
        """The line that begins at an offset, without its LF; None at the end of the file."""
        return self._line_at(offset) if offset < self.size else None

    def spans(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end`, in pieces; adjoining missing blocks are fetched with one request.

        Raises:
            SourceError: The file cannot be read.
            FormatError: `truncated`: the file ends before.
        """
        size = self.block_bytes
        number, last = start // size, -(-end // size)
        while number < last:
            block = self.at_hand(number)
            if block is not None:
                yield self._cut(number, block, start, end)
                number += 1
                continue
            stop = number + 1
            while stop < last and self.at_hand(stop) is None:
                stop += 1
            with self.source.open(number * size, min(stop * size, self.size) - number * size) as stream:
                while number < stop:
                    block = self.read(stream, number)
                    yield self._cut(number, block, start, end)
                    number += 1

    def first_bytes(self) -> bytes:
        """The first block."""
        return self.block(0) if self.size else b""

    def _cut(self, number: int, block: bytes, start: int, end: int) -> bytes:
        offset = number * self.block_bytes
        return block[max(start - offset, 0) : max(end - offset, 0)]

    def at_hand(self, number: int) -> bytes | None:
        """See `HeldBlocks.at_hand`. Raises: OutOfOrderError."""
        if number == 0 and self._primed is not None:
            block, self._primed = self._primed, None
            self.hold(0, block)
        return super().at_hand(number)

    def hold(self, number: int, block: bytes) -> None:
        """See `HeldBlocks.hold`. Raises: OutOfOrderError."""
        self._check_order(number, block)
        super().hold(number, block)

    def _check_order(self, number: int, block: bytes) -> None:
        """Raises: OutOfOrderError: Complete lines of a block are not in order."""
        lines = [line for line in block.split(b"\n")[1 if number else 0 : -1] if line]
        if lines == sorted(lines):
            return
        keys = list(map(self._key, lines))
        for at in range(1, len(keys)):
            if keys[at] < keys[at - 1]:
                offset = number * self.block_bytes + block.find(b"\n" + lines[at]) + 1
                raise OutOfOrderError(offset, keys[at], keys[at - 1])

    def _first_from(self, number: int, high: int) -> tuple[int, bytes] | None:
        """Offset and text of the first line that begins in blocks from `number` on, before `high`; or None."""
        while number < high:
            if number not in self._first:
                if len(self._first) > 1 << 14:
                    self._first.clear()
                self._first[number] = self._find_first(number)
            if (found := self._first[number]) is not None:
                return found
            number += 1
        return None

    def _find_first(self, number: int) -> tuple[int, bytes] | None:
        block, start = self.block(number), number * self.block_bytes
        at = block.find(b"\n") + 1 if number else 0
        if number and not at:
            return None
        while at < len(block):
            line = self._line_at(start + at)
            if line.rstrip(b"\r"):
                return start + at, line
            at += len(line) + 1
        return None

    def _line_at(self, offset: int) -> bytes:
        """The line that begins at an offset, without its line end."""
        number = offset // self.block_bytes
        pieces = []
        at, length = offset - number * self.block_bytes, 0
        while number * self.block_bytes < self.size:
            block = self.block(number)
            end = block.find(b"\n", at)
            pieces.append(block[at : end if end >= 0 else len(block)])
            if end >= 0:
                break
            length += len(pieces[-1])
            self._check_length(offset + length, offset)
            number, at = number + 1, 0
        return b"".join(pieces)

    def _check_length(self, end: int, start: int) -> None:
        if end - start > MAX_LINE:
            raise FormatError(
                "a line without an end",
                reason="too-large",
                source=self.source.name,
                offset=start,
                expected=f"<= {MAX_LINE} bytes",
            )

    def _find_in(self, number: int, target: bytes) -> int:
        """The offset of the first line not less than `target`: it begins in this block, or directly after it."""
        if number * self.block_bytes >= self.size:
            return self.size
        block, start = self.block(number), number * self.block_bytes
        at = block.find(b"\n") + 1 if number else 0
        end = block.rfind(b"\n") + 1
        if at < end and b"\r" not in block:
            at += find_line(block[at:end], target)
        while at < end:
            stop = block.find(b"\n", at)
            line = block[at:stop].rstrip(b"\r")
            if line and not line < target:
                return start + at
            at = stop + 1
        if start + at >= self.size:
            return self.size
        begun = block[at:]
        if begun and begun[: len(target)] > target[: len(begun)]:
            return start + at
        line = self._line_at(start + at)
        if line.rstrip(b"\r") and not line < target:
            return start + at
        return min(start + at + len(line) + 1, self.size)
