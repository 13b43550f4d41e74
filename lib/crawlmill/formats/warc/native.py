"""Compressed WARC records read by the native core: whole members that hold one ordinary record each.

An ordinary record is one whose header `warc.record.quick_head` accepts. The native core proceeds from member to member
while all is ordinary, and stops before any other without a verdict: the Python reader takes that member and decides.

A job that counts what the native core can count too lends its counter. Ordinary records are then counted right after
decompression and never become Python objects; all others are yielded for the job to count. A record is yielded after
8 MiB in any case, so that a job can check its counter.
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
    """Reads records of the given types ahead (None: of all) and counts the others: the `ahead` of a `MemberReader`.

    Args:
        native: The native core.
        types: The types of records to return.
        criteria: Conditions on records to be returned or counted; None: none.
        heads: Bytes of each member to decompress; 0: all.
        counter: A counter of the native core; what it counts is not returned. None: return all.
        max_body: The largest block, in bytes, that the counter may process.
        dictionary: For Zstandard frames: returns the dictionary if it is known by now, else b"". None: gzip members.
        head_only: Creates a member of which only the head was inflated, from its bytes, offset and head.
        on_left_out: Called with the number of records that were read and not returned.
        on_deselected: Called with the number of these that have a wanted type and do not meet the criteria.
        on_cut: Called with the number of these that were counted and whose payload the crawler truncated.
        on_unproven: Called for each record in which a changed byte may go unnoticed.
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
        """The wanted records at the current position; moves the window past all records that were read."""
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
        return [  # without keywords, which cost as much again for each record
            WarcRecord(kind, content[:begin], Block(size, content, begin), start + at, length)
            for kind, at, length, begin, size, content in rows
        ]

    def _of_head(self, kind: str, offset: int, compressed: bytes, begin: int, size: int, head: bytes) -> WarcRecord:
        member = self._head_only(compressed, offset, head)
        block = Block(size, head, begin, reinflate=member.inflate)
        return WarcRecord(kind, head[:begin], block, offset=offset, length=member.length)
