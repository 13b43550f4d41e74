"""Compressed WARC records read ahead in Python, of which only heads are wanted: the twin of `native` for usual members.

It goes from member to member while each head is that of one ordinary record which fills its member, and stops before
any other without a verdict: `codecs.members` takes that member and decides. What it reads is counted, or not wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from crawlmill.codecs.gzip import GzipReader
from crawlmill.codecs.inflate import inflate_head
from crawlmill.codecs.members import REACH
from crawlmill.codecs.source import Window
from crawlmill.formats.warc.record import WarcRecord, quick_head

__all__ = ["HeadCounter", "HeadReader"]

HeadCounter = Callable[[str, int, int, bytes, tuple[int, int]], bool]
"""Counts a record: by its type, where its block begins, how long that is, the first bytes of the member, and (length,
offset) of the member. If it must see more, or the crawler truncated the payload, it returns False and does nothing."""

_SHORTEST: Final = 18
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
        types, heads, count = self._types, self._heads, self._counter
        passed, usual = 0, True
        for found in GzipReader.candidate.finditer(data, at + searched):
            behind = found.start()
            head = inflate_head(data[at : min(behind, at + heads)], heads)
            said = quick_head(head)
            usual = said is not None and said[1] + said[2] + 4 == int.from_bytes(data[behind - 4 : behind], "little")
            if said is not None and usual and (types is None or said[0] in types):
                self._unseen += len(head)
                usual = self._unseen <= _MAX_UNSEEN and count(*said, head, (behind - at, start + at))
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
