"""Gzip members, each verified to its end: RFC 1952, section 2.3.

`codecs.members` describes how a series of members is read. For gzip, the end of a member is guessed as the next place
that looks like a member's first four bytes; a member is whole if its CRC32 and ISIZE are right and it ends there. If
not (a false boundary in the data, an empty or a large member, damage), zlib reads it from its start. If at least one of
its checksum and its length is right, its end is certain.

Deviations: bytes between members, even zeros, are reported; `gzip` silently skips zeros.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from functools import partial

from crawlmill.codecs.gzip_member import MAGIC, MAX_HEADER, header_length, inflate_member
from crawlmill.codecs.inflate import Content, inflate_head, inflate_whole
from crawlmill.codecs.members import REACH, Member, MemberReader
from crawlmill.codecs.source import Window
from crawlmill.errors import FormatError

__all__ = ["GzipReader", "head_only"]


class GzipReader(MemberReader):
    """The members of a gzip file, in order; see `MemberReader`."""

    what = "gzip member"
    magic = MAGIC
    begins = "1f8b08 and known flags"
    candidate = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]", re.DOTALL)

    def _length(self) -> int | None:
        window, checked = self._window, 18
        while True:
            if found := self.candidate.search(window.data, window.at + checked):
                return found.start() - window.at
            if window.held >= REACH:
                return None
            checked = max(window.held - 3, 18)
            if not window.more():
                return window.held

    def _whole(self, compressed: bytes) -> Content | None:
        return inflate_whole(compressed)

    def _pieces(self) -> Iterator[bytes]:
        return inflate_member(self._window)

    def _head_of(self, compressed: bytes, offset: int) -> Member | None:
        head = inflate_head(compressed, self._heads)
        return head_only(compressed, offset, head) if head else None

    def _begins_well(self) -> bool:
        window = self._window
        window.hold(MAX_HEADER)
        data = window.data[window.at : window.at + MAX_HEADER]
        try:
            length = header_length(data)
        except FormatError:
            return False
        if length is None:
            return False
        try:
            head = zlib.decompressobj(-15).decompress(data[length : length + 4096], 512)
        except zlib.error:
            return False
        return self._plausible(head)


def head_only(compressed: bytes, offset: int, head: bytes) -> Member:
    """The member that these bytes seem to be, of which only the first bytes, `head`, were inflated."""
    size = int.from_bytes(compressed[-4:], "little")
    return Member(offset, len(compressed), head=head, size=size, inflate=partial(_inflated, compressed, offset))


def _inflated(compressed: bytes, offset: int) -> Content:
    content = inflate_whole(compressed)
    if content is None:
        return b"".join(inflate_member(Window(io.BytesIO(compressed), start=offset)))
    return content
