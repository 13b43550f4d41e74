"""Selects lines of indexes by the properties of their captures."""

from __future__ import annotations

from dataclasses import replace

from crawlmill.errors import FormatError
from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.formats.selectors.facts import CaptureFacts
from crawlmill.indexes.capture import ALIASES, parse_capture
from crawlmill.indexes.cdx.block import Block

__all__ = ["SelectedLines"]


class SelectedLines:
    """Selects lines; `left_out` is the number of lines that were not selected so far."""

    def __init__(self, criteria: Criteria) -> None:
        self._criteria = criteria
        self.left_out = 0

    def of(self, lines: bytes) -> bytes:
        """The selected ones of whole lines. A line that cannot be parsed is kept: the job reports it."""
        chosen = [line for line in lines.split(b"\n")[:-1] if self._takes(line)]
        self.left_out += lines.count(b"\n") - len(chosen)
        return b"\n".join([*chosen, b""]) if chosen else b""

    def chosen(self, block: Block) -> Block | None:
        """The selected lines of a block, with their numbers; None if there are none."""
        lines = block.data.split(b"\n")[:-1]
        takes = [self._takes(line) for line in lines]
        self.left_out += takes.count(False)
        if True not in takes:
            return None
        data = b"\n".join([*(line for line, taken in zip(lines, takes, strict=True) if taken), b""])
        gone = (block.number_of(at) - block.first for at, taken in enumerate(takes) if not taken)
        return replace(block, data=data, lines=takes.count(True), gaps=tuple(sorted((*block.gaps, *gone))))

    def taken_left_out(self) -> int:
        """The number of lines left out since the last call."""
        number, self.left_out = self.left_out, 0
        return number

    def _takes(self, line: bytes) -> bool:
        try:
            capture = parse_capture(line)
        except FormatError:
            return True
        fields = {ALIASES.get(name, name): value for name, value in capture.fields.items()}
        return self._criteria.meets(CaptureFacts(capture.timestamp, fields))
