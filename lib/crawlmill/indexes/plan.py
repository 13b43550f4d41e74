"""A plan: which bytes of which files to read for some queries. Made without reading them; can be cut into units.

Each part is a run of neighbouring blocks of a file: gzip members of a shard, or a span of a sorted file. Parts are in
the order of their lines, each block is in exactly one of them, and they can be read independently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Part", "Plan"]

_GAP_BYTES: Final = 32 << 10
_RUN_BYTES: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring blocks of a file.

    Args:
        file: The name of the file in the index: a shard's name, or a location.
        offset: The offset of the first block in the file.
        lengths: The sizes of the blocks, in bytes.
        start: Key and time of the line that the first block begins with; empty if they are not known.
        after: The same of the block after the last one, if it follows in the file and was left out.
    """

    file: str
    offset: int
    lengths: tuple[int, ...]
    start: bytes = b""
    after: bytes = b""

    @property
    def bytes(self) -> int:
        """The size of all blocks."""
        return sum(self.lengths)

    @property
    def end(self) -> int:
        """The offset after the last block."""
        return self.offset + self.bytes

    def to_json(self) -> list[Any]:
        """The part as a JSON array for `from_json`."""
        keys = [key.decode("utf-8", "surrogateescape") for key in (self.start, self.after)]
        return [self.file, self.offset, list(self.lengths), *keys]

    @classmethod
    def from_json(cls, given: list[Any]) -> Part:
        """Parse the array written by `to_json`."""
        start, after = (key.encode("utf-8", "surrogateescape") for key in given[3:])
        return cls(given[0], given[1], tuple(given[2]), start, after)


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts to read."""

    parts: tuple[Part, ...] = ()

    @property
    def blocks(self) -> int:
        """The number of blocks in all parts."""
        return sum(len(part.lengths) for part in self.parts)

    @property
    def bytes(self) -> int:
        """The size of all blocks."""
        return sum(part.bytes for part in self.parts)

    @property
    def requests(self) -> int:
        """The number of requests needed to read it, if none fails."""
        return sum(1 for _ in self.runs())

    def totals(self) -> dict[str, int]:
        """The amounts to read, by unit."""
        return {"blocks": self.blocks, "bytes": self.bytes, "requests": self.requests}

    def runs(self) -> Iterator[list[Part]]:
        """The parts read by one request: of one file, ascending, with gaps smaller than the parts."""
        run: list[Part] = []
        wanted = 0
        for part in self.parts:
            gap = part.offset - run[-1].end if run and part.file == run[-1].file else -1
            if 0 <= gap <= min(_GAP_BYTES, wanted) and wanted + part.bytes <= _RUN_BYTES:
                run.append(part)
                wanted += part.bytes
                continue
            if run:
                yield run
            run, wanted = [part], part.bytes
        if run:
            yield run

    def units(self, blocks: int) -> Iterator[Plan]:
        """The plan in pieces of at most `blocks` blocks, for separate tasks."""
        held: list[Part] = []
        count = 0
        for part in _cut(self.parts, blocks):
            if count + len(part.lengths) > blocks:
                yield Plan(tuple(held))
                held, count = [], 0
            held.append(part)
            count += len(part.lengths)
        if held:
            yield Plan(tuple(held))

    def to_json(self) -> list[Any]:
        """The plan as a JSON array for `from_json`."""
        return [part.to_json() for part in self.parts]

    @classmethod
    def from_json(cls, given: list[Any]) -> Plan:
        """Parse the array written by `to_json`."""
        return cls(tuple(map(Part.from_json, given)))


def _cut(parts: Iterable[Part], blocks: int) -> Iterator[Part]:
    for part in parts:
        offset = part.offset
        for at in range(0, len(part.lengths), blocks):
            lengths = part.lengths[at : at + blocks]
            is_last = at + blocks >= len(part.lengths)
            yield Part(part.file, offset, lengths, b"" if at else part.start, part.after if is_last else b"")
            offset += sum(lengths)
