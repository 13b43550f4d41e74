"""Compressed WARC records read by the native core: the members that are whole and hold one usual record each.

What is usual is what `warc.quick_head` says. The native core goes from member to member as far as it finds nothing
else, and has no opinion on the one where it stops: the Python reader takes that, and its verdict is the one there is.

A job that counts what the native core can count, too, lends its counter. Usual records are then counted where they were
inflated, and never become Python objects; all others are given, for the job to count them. So that a job can look after
its counter, a record is given after 8 MiB in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crawlmill.codecs.members import REACH, Member
from crawlmill.codecs.source import Window
from crawlmill.formats.record import MAX_BODY, Block
from crawlmill.formats.warc.record import WarcRecord

__all__ = ["NativeReader"]


class NativeReader:
    """Reads records of these types ahead (None: of all) and counts the others: what a `MemberReader` takes as `ahead`.

    Args:
        native: The native core.
        types: The types.
        criteria: What usual records must meet to be given or counted; None: nothing.
        heads: As it is there.
        counter: One of the native core; what it counts is not given. None gives all.
        max_body: Bytes of a block up to which the counter may take it.
        dictionary: Of a file of Zstandard frames: the dictionary as far as it is known now, or nothing. None: of gzip.
        head_only: Makes a member of which only the head was inflated: of its bytes, offset and head.
        on_left_out: Told how many records were read and not given.
        on_deselected: Told how many of these are of wanted types and do not meet the criteria.
        on_cut: Told how many of these were counted and have a payload that the crawler has cut.
        on_unproven: Called for each record of which a changed byte need not be noticed.
    """

    def __init__(
        self,
        native: Any,
        types: frozenset[str] | None,
        criteria: dict[str, Any] | None = None,
        *,
        heads: int,
        counter: Any | None = None,
        max_body: int = MAX_BODY,
        dictionary: Callable[[], bytes] | None = None,
        head_only: Callable[[bytes, int, bytes], Member],
        on_left_out: Callable[[int], None],
        on_deselected: Callable[[int], None],
        on_cut: Callable[[int], None],
        on_unproven: Callable[[], None],
    ) -> None:
        self._open = partial(native.RecordReader, None if types is None else list(types), heads, max_body, criteria)
        self._dictionary, self._known = dictionary, b""
        self._reader = self._open() if dictionary is None else self._open(b"")
        self._head_only, self._on_unproven = head_only, on_unproven
        self._heads, self._counter, self._on_left_out = heads, counter, on_left_out
        self._on_deselected, self._on_cut = on_deselected, on_cut

    def __call__(self, window: Window) -> list[WarcRecord]:
        """The wanted records at hand; the window moves past all that were read."""
        if self._dictionary is not None and self._known != (known := self._dictionary()):
            self._reader, self._known = self._open(known), known
        while True:
            data, start = window.data, window.start
            window.at, left_out, rows = self._reader.read(data, window.at, window.ended, self._counter, start)
            if left_out:
                self._on_left_out(left_out)
                deselected, cut = self._reader.noted()
                self._on_deselected(deselected)
                self._on_cut(cut)
            if self._dictionary is not None:
                for _ in range(self._reader.unproven()):
                    self._on_unproven()
            if rows or not self._reader.short or window.held >= REACH:
                break
            window.hold(max(2 * window.held, 4))
        if self._heads:
            return [
                self._of_head(kind, start + at, data[at : at + length], begin, size, head)
                for kind, at, length, begin, size, head in rows
            ]
        return [
            WarcRecord(kind, content[:begin], Block(size, content, begin), offset=start + at, length=length)
            for kind, at, length, begin, size, content in rows
        ]

    def _of_head(self, kind: str, offset: int, compressed: bytes, begin: int, size: int, head: bytes) -> WarcRecord:
        member = self._head_only(compressed, offset, head)
        block = Block(size, head, begin, reinflate=member.inflate)
        return WarcRecord(kind, head[:begin], block, offset=offset, length=member.length)
