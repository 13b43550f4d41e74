"""Compressed WARC records read ahead in Python, of which only heads are wanted: the twin of `native` for usual members.

It goes from member to member while each head is that of one ordinary record which fills its member, and stops before
any other without a verdict: `codecs.members` takes that member and decides. What it reads is counted, or not wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Final, Protocol

from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.inflate import head_inflater
from crawlmill.codecs.members import REACH
from crawlmill.codecs.source import Window
from crawlmill.formats.warc.layouts import Layouts, UsualHead
from crawlmill.formats.warc.record import WarcRecord

__all__ = ["HeadCounter", "HeadReader"]


class HeadCounter(Protocol):
    """Counts records of which only the first bytes are read."""

    layouts: Layouts
    """Reads the heads of records, with the fields that the counter wants."""

    def count(self, head: UsualHead, data: bytes, place: tuple[int, int]) -> bool:
        """Count a record: by its head, the first bytes of its member, and (length, offset) of the member.

        Returns False, and does nothing, if it must see more, or if the crawler truncated the payload.
        """


_SHORTEST: Final = 18
_SIZE: Final = Struct("<I")  # of its content, at the end of a member
_MAX_UNSEEN: Final = 8 << 20  # bytes counted before a record is yielded in any case: its job may check the counter


class HeadReader:
    """Passes by or counts the records that are ahead: the `ahead` of a `MemberReader` of heads. It returns none.

    Args:
        types: The types of wanted records; None: all.
        heads: Bytes of each member to decompress.
        counter: Counts the wanted records.
        on_left_out: Called with the number of records that were read.
    """

    def __init__(
        self, types: frozenset[str] | None, heads: int, counter: HeadCounter, on_left_out: Callable[[int], None]
    ) -> None:
        self._types, self._heads, self._counter, self._on_left_out = types, heads, counter, on_left_out
        self._inflate = head_inflater(heads)
        self._stopped_at, self._unseen = -1, 0

    def __call__(self, window: Window) -> list[WarcRecord]:
        """Read from the current position; moves the window past all records that were read."""
        searched = _SHORTEST
        while window.offset != self._stopped_at and self._pass_by(window, searched):
            searched = max(window.held - 3, _SHORTEST)
            if window.held >= REACH or not window.more():
                break
        return []

    def _pass_by(self, window: Window, searched: int) -> bool:
        """Step over the members in memory, the first of which is longer than `searched`; False at an unusual one."""
        data, start, at = window.data, window.start, window.at
        types, heads, inflate = self._types, self._heads, self._inflate
        read, count = self._counter.layouts.read, self._counter.count
        passed, usual = 0, True
        for found in GzipReader.candidate.finditer(data, at + searched):
            behind = found.start()
            content = inflate(data[at : min(behind, at + heads)])
            head = read(content)
            usual = head is not None and head[1] + head[2] + 4 == _SIZE.unpack_from(data, behind - 4)[0]
            usual = usual and behind - at <= REACH
            if head is not None and usual and (types is None or head[0] in types):
                self._unseen += len(content)
                usual = self._unseen <= _MAX_UNSEEN and count(head, content, (behind - at, start + at))
                if not usual:
                    self._unseen = 0
            if not usual:
                self._stopped_at = start + at
                break
            passed += 1
            at = behind
        window.at = at
        self._on_left_out(passed)
        return usual
