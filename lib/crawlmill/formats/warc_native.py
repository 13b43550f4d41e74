"""Gzipped WARC records read by the native core: the members that are whole and hold one usual record each.

What is usual is what `warc.quick_head` says. The native core goes from member to member as far as it finds nothing
else, and has no opinion on the one where it stops: the Python reader takes that, and its verdict is the one there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crawlmill.codecs.gzip import Member
from crawlmill.codecs.source import Window
from crawlmill.formats.record import Block
from crawlmill.formats.warc import WarcRecord

__all__ = ["NativeReader"]


class NativeReader:
    """Reads records of these types ahead (None: of all) and counts the others: what a `GzipReader` takes as `ahead`.

    `heads` is as it is there; `on_left_out` is told how many records were left out.
    """

    def __init__(
        self, native: Any, types: frozenset[str] | None, *, heads: int, on_left_out: Callable[[int], None]
    ) -> None:
        self._reader = native.RecordReader(None if types is None else list(types), heads)
        self._heads, self._on_left_out = heads, on_left_out

    def __call__(self, window: Window) -> list[WarcRecord]:
        """The wanted records at hand; the window moves behind all that were read."""
        data, start = window.data, window.start
        window.at, left_out, rows = self._reader.read(data, window.at, window.ended)
        if left_out:
            self._on_left_out(left_out)
        if self._heads:
            return [
                _head_only(kind, start + at, data[at : at + length], begin, size, head)
                for kind, at, length, begin, size, head in rows
            ]
        return [
            WarcRecord(kind, content[:begin], Block(size, content, begin), offset=start + at, length=length)
            for kind, at, length, begin, size, content in rows
        ]


def _head_only(kind: str, offset: int, compressed: bytes, begin: int, size: int, head: bytes) -> WarcRecord:
    length = len(compressed)
    member = Member(offset, length, head=head, compressed=compressed)
    return WarcRecord(
        kind, head[:begin], Block(size, head, begin, reinflate=member.inflate), offset=offset, length=length
    )
