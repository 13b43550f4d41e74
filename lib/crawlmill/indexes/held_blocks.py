"""The blocks of a file that is read by ranges: held in memory, kept in a store between runs, or fetched."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from crawlmill.codecs.source import ByteSource, read_up_to
from crawlmill.errors import FormatError
from crawlmill.indexes.source import BlockStore, Source

__all__ = ["HeldBlocks"]

_HELD_BYTES: Final = 16 << 20


class HeldBlocks:
    """The blocks of a file, the last of which may be shorter. The most recently used ones are held, up to 16 MiB.

    Args:
        source: The file.
        size: Its size in bytes.
        block_bytes: Bytes of a block.
        origin: The offset of the first block.
        store: Keeps blocks between runs, if given.
        stored_from: The number of the first block in the store.
    """

    def __init__(
        self,
        source: Source,
        size: int,
        block_bytes: int,
        *,
        origin: int = 0,
        store: BlockStore | None = None,
        stored_from: int = 0,
    ) -> None:
        self.source, self.size, self.block_bytes, self.origin = source, size, block_bytes, origin
        self._store, self._stored_from = store, stored_from
        self._held: OrderedDict[int, bytes] = OrderedDict()

    def block(self, number: int, *, ahead: int = 0) -> bytes:
        """A block; if it must be fetched, the request includes `ahead` blocks after it.

        Raises:
            SourceError: The file cannot be read.
            FormatError: `truncated`: the file ends before.
        """
        block = self.at_hand(number)
        if block is None:
            stop = number + 1
            while stop <= number + ahead and self._place(stop)[1] and self.at_hand(stop) is None:
                stop += 1
            begin, (last, length) = self._place(number)[0], self._place(stop - 1)
            with self.source.open(begin, last + length - begin) as stream:
                block = self.read(stream, number)
                for each in range(number + 1, stop):
                    self.read(stream, each)
        return block

    def at_hand(self, number: int) -> bytes | None:
        """A block that does not have to be fetched; else None."""
        block = self._held.get(number)
        if block is not None:
            self._held.move_to_end(number)
        elif self._store is not None and (block := self._store.get(self._stored_from + number)) is not None:
            if len(block) != self._place(number)[1]:
                return None
            self.hold(number, block)
        return block

    def read(self, stream: ByteSource, number: int) -> bytes:
        """The block that a stream returns next. Raises: as `block`."""
        offset, length = self._place(number)
        block = read_up_to(stream, length)
        if len(block) < length:
            raise FormatError(
                "the file ends before the size it had",
                reason="truncated",
                source=self.source.name,
                offset=offset + len(block),
                expected=f"{self.size} bytes",
            )
        if self._store is not None:
            self._store.put(self._stored_from + number, block)
        self.hold(number, block)
        return block

    def hold(self, number: int, block: bytes) -> None:
        """Keep a block in memory."""
        self._held[number] = block
        while len(self._held) * self.block_bytes > _HELD_BYTES and len(self._held) > 1:
            self._held.popitem(last=False)

    def _place(self, number: int) -> tuple[int, int]:
        """The offset and the size of a block."""
        offset = self.origin + number * self.block_bytes
        return offset, max(min(self.block_bytes, self.size - offset), 0)
