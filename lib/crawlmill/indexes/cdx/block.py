"""A block of captures: whole lines of an index, so that millions of lines need not be handled one by one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Block"]


@dataclass(frozen=True, slots=True)
class Block:
    """Captures that follow each other in a file.

    `offset` is where the first of them, or the gzip member that contains it, begins in the file; None if they were made
    from the records of an archive. `data` is whole lines with LF; `lines` is their number. `first` is the line number,
    in the file, of the first line of the block's text; `gaps` are the places, from 0, of lines of that text that are
    left out.
    """

    offset: int | None
    data: bytes
    lines: int
    first: int = 1
    gaps: tuple[int, ...] = ()

    def number_of(self, index: int) -> int:
        """The number in the file, from 1, of the line at an index, from 0, in the block."""
        for gap in self.gaps:
            if gap > index:
                break
            index += 1
        return self.first + index
