"""Files that are series of compressed members, each verified to its end: the common part of gzip and Zstandard.

`MemberReader` yields each member with its exact offset and length, inflated and verified; damage is located and
reported, and reading continues at the next valid member. A codec implements how members are recognised.

How a member is read:

1. Its length is found without inflating it, if possible. If a fast library says that these bytes are one whole member,
   it is yielded as it is.
2. If not (a large member, damage, a wrong guess of its end), it is read from its start, piece by piece. A member of up
   to 16 MiB is yielded whole, after verification; a larger one as a stream, which is verified at its end.
3. If it is damaged, the next member is searched for: right after it if its end is certain, otherwise at the next place
   within or after the data read that looks like a member and inflates to something that `plausible` accepts, or is
   itself whole.

With `heads`, only the first bytes of each member are inflated, and only its length and its declared size are known; the
caller must compare these with what the head declares, and call `reread` if they disagree.

Once `ahead` is set, it is called first for each member: it may move the window past any number of whole members, and
return what it makes of them. The member at which it stops is read as above.

A file truncated exactly between two members cannot be recognised.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from crawlmill.codecs.inflate import MAX_WHOLE, Content
from crawlmill.codecs.source import ByteSource, CannotGoBackError, Window
from crawlmill.errors import FormatError

__all__ = ["REACH", "ContentError", "Member", "MemberReader"]

REACH = 8 << 20
"""Compressed bytes in which the end of a member is sought before it is streamed."""


class ContentError(FormatError):
    """Damage within a member whose end is certain nevertheless: the next member begins there."""


class Member:
    """One compressed member: `offset` and `length` in bytes of the file.

    `content` is the whole verified content, or None. If None, the member is streamed by `read`, `length` is None until
    its end, and damage is raised as a FormatError. In a reader of heads, `head` is the first bytes and `size` the
    declared size of the content (gzip: modulo 2^32; None: not declared); `inflate` returns the whole content.
    """

    __slots__ = ("_error", "_inflate", "_pieces", "_rest", "content", "head", "length", "offset", "size")

    def __init__(
        self,
        offset: int,
        length: int | None,
        content: Content | None = None,
        *,
        head: bytes | None = None,
        size: int | None = None,
        inflate: Callable[[], Content] | None = None,
    ) -> None:
        self.offset, self.length, self.content = offset, length, content
        self.head, self.size, self._inflate = head, size, inflate
        self._pieces: Iterator[bytes] = iter(())
        self._rest = b""
        self._error: FormatError | None = None

    def stream(self, pieces: Iterator[bytes]) -> None:
        """Set the pieces of the content that `read` returns."""
        self._pieces = pieces

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes of a streamed member.

        Raises:
            FormatError: The member is damaged; data read before is not verified.
        """
        if not self._rest:
            self._rest = self._next()
        piece, self._rest = self._rest[:n], self._rest[n:]
        return piece

    def pieces(self, size: int) -> Iterator[Content]:
        """Yield the content: at once if it is held whole, else in pieces of at most `size` bytes.

        Raises:
            FormatError: A streamed member is damaged; data returned before is not verified.
        """
        if self.content is not None:
            yield self.content
            return
        while piece := self.read(size):
            yield piece

    def seek(self, offset: int, /) -> int:
        """Refuse: a streamed member only goes forward."""
        raise CannotGoBackError(offset)

    def peek(self) -> bytes:
        """Return the next bytes of a streamed member without consuming them.

        Raises:
            FormatError: The member is damaged.
        """
        if not self._rest:
            self._rest = self._next()
        return self._rest

    def drain(self) -> None:
        """Read a streamed member to its end, which verifies it.

        Raises:
            FormatError: The member is damaged, now or when it was read before.
        """
        self._rest = b""
        while self._next():
            pass

    def inflate(self) -> Content:
        """The verified content of a member of which only the head was inflated.

        Raises:
            FormatError: The member is damaged.
        """
        if self._inflate is None:
            raise ValueError("no member of which only the head was inflated")
        return self._inflate()

    def _next(self) -> bytes:
        if self._error is not None:
            raise self._error
        try:
            return next(self._pieces, b"")
        except FormatError as error:
            self._error = error
            raise


class MemberReader(ABC):
    """The members of a file, in order.

    Args:
        source: The file, at offset `start`.
        on_problem: Called with a FormatError, whose offset is that of the member, for each loss.
        plausible: Whether the first bytes of a member look right; only used to find the next member after damage.
        heads: Inflate only this many bytes of each member; 0: inflate and verify everything.
        cut: Whether to yield a member truncated by the end of the source, too, as a stream that ends in the FormatError
            which was reported. Its content is not verified.
    """

    what: ClassVar[str]
    """What messages call a member: "gzip member"."""

    magic: ClassVar[bytes]
    """The bytes with which a member begins."""

    begins: ClassVar[str]
    """How messages say what a member begins with."""

    candidate: ClassVar[re.Pattern[bytes]]
    """Matches where a member may begin: at four bytes."""

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

    # Implemented by a codec

    @abstractmethod
    def _length(self) -> int | None:
        """The apparent length of the current member, all of it in memory; None if no end is in reach."""

    @abstractmethod
    def _whole(self, compressed: bytes) -> Content | None:
        """The content of these bytes if they are exactly one whole member; None otherwise, damaged or not."""

    @abstractmethod
    def _pieces(self) -> Iterator[bytes]:
        """Yield the content of the current member; moves the window along, at the end past the member.

        Raises:
            FormatError: It is damaged; a `ContentError` if the window is past the member nevertheless.
        """

    @abstractmethod
    def _head_of(self, compressed: bytes, offset: int) -> Member | None:
        """The member that these bytes seem to be, with its head; None if that cannot be inflated."""

    @abstractmethod
    def _begins_well(self) -> bool:
        """Whether the current candidate begins a member whose first bytes are plausible."""

    # Stepping through the members

    @property
    def offset(self) -> int:
        """The current offset in the file."""
        return self._window.offset

    def reread(self) -> None:
        """Yield the last member once more, inflated and verified, before the next one."""
        self._again = True

    def __iter__(self) -> Iterator[Any]:
        """Yield the members: each a `Member`, or a list returned by `ahead`."""
        window, heads = self._window, self._heads
        while window.hold(4) or window.held:
            at = window.at
            if self.candidate.match(window.data, at) is None:
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
            length = self._length()
            if self.ahead is not None and (window.held, window.ended) != seen:
                continue  # it may not have reached the member's end
            at = window.at
            if length is not None:
                compressed = window.data[at : at + length]
                offset = window.start + at
                member = None
                if heads:  # a longer member may not be in memory: that it is must not change what is verified
                    member = self._head_of(compressed, offset) if length <= REACH else None
                elif content := self._whole(compressed):
                    member = Member(offset, length, content)
                if member is not None:
                    yield member
                    if not self._again:
                        window.at = at + length
                        continue
                    self._again = False
                    if content := self._whole(compressed):
                        yield Member(offset, length, content)
                        window.at = at + length
                        continue
            yield from self._read_slowly()

    # The slow path: from the member's start, piece by piece, with an error if it is damaged.

    def _read_slowly(self) -> Iterator[Member]:
        """The current member, whole or as a stream; leaves the window where the next one begins."""
        window = self._window
        offset = window.offset
        pieces = self._pieces()
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
        """Report a damaged member and move to the next valid one; returns True if the source's end truncated it."""
        window = self._window
        behind = window.offset
        if isinstance(error, ContentError) and self._at_boundary():
            self._on_problem(error)  # the framing is intact: the next member begins where this one ended
            return False
        window.go_to(offset + 1)
        found = self._seek_member()
        if found is not None and error.reason == "truncated":
            error = FormatError(
                f"{self.what} runs past its end",
                reason="bad-compression",
                offset=offset,
                expected=f"its end before the member at {found}",
                actual=f"none up to {behind}",
            )
        self._on_problem(error)
        return error.reason == "truncated"

    def _at_boundary(self) -> bool:
        window = self._window
        return not (window.hold(4) or window.held) or self.candidate.match(window.data, window.at) is not None

    def _skip_to_member(self) -> None:
        """Report the current bytes, which do not begin a member, and move to the next member or to the end."""
        window = self._window
        offset, shown = window.offset, window.data[window.at : window.at + 4]
        stub = len(shown) < 4 and self.magic.startswith(shown)
        found = self._seek_member()
        if stub:
            error = FormatError(
                f"truncated {self.what}",
                reason="truncated",
                offset=offset,
                expected="a whole header",
                actual=f"{len(shown)} bytes",
            )
        else:
            lost = found is not None or shown.startswith(self.magic)
            error = FormatError(
                f"{window.offset - offset} bytes that are not a {self.what}",
                offset=offset,
                reason="bad-compression" if lost else "trailing-bytes",
                expected=self.begins,
                actual=shown.hex(),
            )
        self._on_problem(error)

    def _seek_member(self) -> int | None:
        """Move to the next valid member; returns its offset, or None at the end of the source."""
        window = self._window
        while True:
            found = self.candidate.search(window.data, window.at)
            if found is None:
                window.at = max(len(window.data) - 3, window.at)
                if not window.more():
                    window.at = len(window.data)
                    return None
                continue
            window.at = found.start()
            if self._begins_well() or self._is_whole():
                return window.offset
            window.at += 1

    def _is_whole(self) -> bool:
        window = self._window
        length = self._length()
        return length is not None and self._whole(window.data[window.at : window.at + length]) is not None


def _until(pieces: list[bytes], error: FormatError) -> Iterator[bytes]:
    yield from pieces
    raise error
