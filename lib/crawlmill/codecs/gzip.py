"""Gzip members, each proven to its end: RFC 1952, section 2.

A gzip file is a row of members. `GzipReader` gives each of them with its exact offset and length, inflated and with its
CRC32 and ISIZE compared; what is damaged is located, named and reported, and reading goes on at the next true member.

How a member is read:

1. Its end is guessed: the next place that looks like a member's first four bytes. If a fast library says that the
   bytes up to there are one whole member, it is given out as it is (`codecs.inflate`).
2. If not (a false boundary inside the data, an empty or a large member, damage), zlib reads it from its start. A member
   of up to 16 MiB is given out whole, after its proof; a larger one as a stream, whose proof comes at its end.
3. If zlib finds damage, the next member is sought: right after the member if either its checksum or its length is
   right, so that its end is one; otherwise at the next place within or after what was read that looks like a member
   and inflates to something that `plausible` accepts, or is itself whole.

With `heads`, only the first bytes of each member are inflated, and only its guessed end and its ISIZE are known;
whoever reads it must compare these with what the head declares, and asks for `reread` where they disagree.

Once `ahead` is set, it is asked first, each time a member is at hand: it may move the window past members that are
whole, as many as it likes, and give what it makes of them. The member at which it stops is read as above.

Deviations: bytes between members, zeros among them, are reported; `gzip` skips zeros in silence. A cut exactly between
two members cannot be seen.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from crawlmill.codecs.gzip_member import MAGIC, MAX_HEADER, ContentError, header_length, inflate_member
from crawlmill.codecs.inflate import MAX_WHOLE, Content, inflate_head, inflate_whole
from crawlmill.codecs.source import ByteSource, CannotGoBackError, Window
from crawlmill.errors import FormatError

__all__ = ["REACH", "GzipReader", "Member"]

_CANDIDATE = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]", re.DOTALL)
REACH: Final = 8 << 20
"""Compressed bytes in which the end of a member is sought before it is streamed."""


class Member:
    """One gzip member: `offset` and `length` in bytes of the file.

    `content` is the proven whole, or None. Without it the member is streamed by `read`, `length` is None until its end,
    and damage shows as a FormatError. In a reader of heads, `head` holds the first bytes and `isize` what the member
    declares to hold; `inflate` gives the rest.
    """

    __slots__ = ("_error", "_pieces", "_rest", "compressed", "content", "head", "isize", "length", "offset")

    def __init__(
        self,
        offset: int,
        length: int | None,
        content: Content | None = None,
        *,
        head: bytes | None = None,
        compressed: bytes = b"",
    ) -> None:
        self.offset, self.length, self.content = offset, length, content
        self.head, self.compressed = head, compressed
        self.isize = int.from_bytes(compressed[-4:], "little")
        self._pieces: Iterator[bytes] = iter(())
        self._rest = b""
        self._error: FormatError | None = None

    def stream(self, pieces: Iterator[bytes]) -> None:
        """Give the content in pieces, by `read`."""
        self._pieces = pieces

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes of a streamed member.

        Raises:
            FormatError: The member is damaged; what was read before is not proven.
        """
        if not self._rest:
            self._rest = self._next()
        piece, self._rest = self._rest[:n], self._rest[n:]
        return piece

    def seek(self, offset: int, /) -> int:
        """Refuse: a streamed member only goes forward."""
        raise CannotGoBackError(offset)

    def peek(self) -> bytes:
        """The next bytes of a streamed member, which `read` will give again.

        Raises:
            FormatError: The member is damaged.
        """
        if not self._rest:
            self._rest = self._next()
        return self._rest

    def drain(self) -> None:
        """Read a streamed member to its end, and so prove it.

        Raises:
            FormatError: The member is damaged, now or when it was read before.
        """
        self._rest = b""
        while self._next():
            pass

    def inflate(self) -> Content:
        """The proven content of a member of which only the head was inflated.

        Raises:
            FormatError: The member is damaged.
        """
        content = inflate_whole(self.compressed)
        if content is None:
            window = Window(io.BytesIO(self.compressed))
            content = b"".join(inflate_member(window))
        return content

    def _next(self) -> bytes:
        if self._error is not None:
            raise self._error
        try:
            return next(self._pieces, b"")
        except FormatError as error:
            self._error = error
            raise


class GzipReader:
    """The members of a gzip file, in order.

    Args:
        source: The file, at offset `start`.
        on_problem: Called with a FormatError, whose offset is that of the member, for everything that is lost.
        plausible: Whether the first bytes of a member look right; used only to find the next member after damage.
        heads: Inflate only so many bytes of each member; 0 inflates and proves everything.
        cut: Give the beginning of a member that the end of the source cuts, too, as a stream that ends in the
            FormatError which was reported. That is no proof of what it holds.
    """

    def __init__(
        self,
        source: ByteSource,
        *,
        start: int = 0,
        on_problem: Callable[[FormatError], None],
        plausible: Callable[[bytes], bool],
        heads: int = 0,
        cut: bool = False,
    ) -> None:
        self._window = Window(source, start=start)
        self._cut = cut
        self._on_problem, self._plausible, self._heads = on_problem, plausible, heads
        self._again = False
        self.ahead: Callable[[Window], list[Any]] | None = None

    @property
    def offset(self) -> int:
        """The offset in the file that reading has reached."""
        return self._window.offset

    def reread(self) -> None:
        """Give the last member out once more, inflated and proven, before the one that follows it."""
        self._again = True

    def __iter__(self) -> Iterator[Any]:
        """The members: each a `Member`, or a list of what `ahead` gave."""
        window, heads = self._window, self._heads
        while window.hold(4) or window.held:
            at = window.at
            if _CANDIDATE.match(window.data, at) is None:
                self._skip_to_member()
                continue
            if self.ahead is not None:
                offset = window.offset
                found = self.ahead(window)
                if found:
                    yield found
                if window.offset > offset:
                    continue
            seen = window.held, window.ended
            length = self._guess_length()
            if self.ahead is not None and (window.held, window.ended) != seen:
                continue  # it may not have been able to see the member's end
            at = window.at
            if length is not None:
                compressed = window.data[at : at + length]
                offset = window.start + at
                member = None
                if heads:
                    member = self._head_of(compressed, offset)
                elif content := inflate_whole(compressed):
                    member = Member(offset, length, content)
                if member is not None:
                    yield member
                    if not self._again:
                        window.at = at + length
                        continue
                    self._again = False
                    if content := inflate_whole(compressed):
                        yield Member(offset, length, content)
                        window.at = at + length
                        continue
            yield from self._read_slowly()

    def _guess_length(self) -> int | None:
        """The length that the member at hand seems to have; None if it seems to reach beyond what may be held."""
        window, checked = self._window, 18
        while True:
            if found := _CANDIDATE.search(window.data, window.at + checked):
                return found.start() - window.at
            if window.held >= REACH:
                return None
            checked = max(window.held - 3, 18)
            if not window.more():
                return window.held

    def _head_of(self, compressed: bytes, offset: int) -> Member | None:
        head = inflate_head(compressed, self._heads)
        return Member(offset, len(compressed), head=head, compressed=compressed) if head else None

    # The slow way: zlib from the member's start, with a verdict.

    def _read_slowly(self) -> Iterator[Member]:
        """The member at hand, whole or as a stream; the window is left where the next one begins."""
        window = self._window
        offset = window.offset
        pieces = inflate_member(window)
        held: list[bytes] = []
        size = 0
        member = None
        window.keep(offset)
        try:
            for piece in pieces:
                held.append(piece)
                size += len(piece)
                if size > MAX_WHOLE or window.offset - offset > REACH:
                    break
            else:
                window.keep(None)
                yield Member(offset, window.offset - offset, b"".join(held))
                return
            window.keep(None)
            member = Member(offset, None)
            member.stream(self._rest_of(member, held, pieces))
            yield member
            member.drain()
        except FormatError as error:
            window.keep(None)
            is_cut = self._recover(error, offset)
            if is_cut and self._cut and member is None:
                member = Member(offset, None)
                member.stream(_until(held, error))
                yield member

    def _rest_of(self, member: Member, held: list[bytes], pieces: Iterator[bytes]) -> Iterator[bytes]:
        held.reverse()
        while held:
            yield held.pop()
        yield from pieces
        member.length = self._window.offset - member.offset

    def _recover(self, error: FormatError, offset: int) -> bool:
        """Report a damaged member and move to the next true one; True if the end of the source has cut it."""
        window = self._window
        behind = window.offset
        if isinstance(error, ContentError) and self._at_boundary():
            self._on_problem(error)  # the framing held: the next member begins where this one ended
            return False
        window.go_to(offset + 1)
        found = self._seek_member()
        if found is not None and error.reason == "truncated":
            error = FormatError(
                "gzip member runs past its end", reason="bad-compression", offset=offset,
                expected=f"its end before the member at {found}", actual=f"none up to {behind}",
            )  # fmt: skip
        self._on_problem(error)
        return error.reason == "truncated"

    def _at_boundary(self) -> bool:
        window = self._window
        return not (window.hold(4) or window.held) or _CANDIDATE.match(window.data, window.at) is not None

    def _skip_to_member(self) -> None:
        """Report the bytes at hand, which begin no member, and move to the next one or to the end."""
        window = self._window
        offset, shown = window.offset, window.data[window.at : window.at + 4]
        stub = len(shown) < 4 and MAGIC.startswith(shown)
        found = self._seek_member()
        if stub:
            error = FormatError("truncated gzip member", reason="truncated", offset=offset,
                                expected="a header of 10 bytes", actual=f"{len(shown)} bytes")  # fmt: skip
        else:
            lost = found is not None or shown.startswith(MAGIC)
            error = FormatError(
                f"{window.offset - offset} bytes that are not a gzip member", offset=offset,
                reason="bad-compression" if lost else "trailing-bytes",
                expected="1f8b08 and known flags", actual=shown.hex(),
            )  # fmt: skip
        self._on_problem(error)

    def _seek_member(self) -> int | None:
        """Move to the next true member; its offset, or None at the end of the source."""
        window = self._window
        while True:
            found = _CANDIDATE.search(window.data, window.at)
            if found is None:
                window.at = max(len(window.data) - 3, window.at)
                if not window.more():
                    window.at = len(window.data)
                    return None
                continue
            window.at = found.start()
            if self._is_member():
                return window.offset
            window.at += 1

    def _is_member(self) -> bool:
        """Whether a true member, perhaps damaged further on, begins here."""
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
        if self._plausible(head):
            return True
        length = self._guess_length()
        return length is not None and inflate_whole(window.data[window.at : window.at + length]) is not None


def _until(pieces: list[bytes], error: FormatError) -> Iterator[bytes]:
    yield from pieces
    raise error
