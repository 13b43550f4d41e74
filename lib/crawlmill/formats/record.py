"""What the records of all archives have in common: where they are, what they say of themselves, block and payload.

Terms are those of WARC 1.1 (ISO 28500:2017, section 4): a record is a header and a block; the payload of an HTTP
response is its body, without transfer and content codings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

from crawlmill.codecs.inflate import Content
from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.payload.charset import text_of, tokenizable
from crawlmill.formats.payload.codings import decode_body
from crawlmill.formats.payload.http import HttpMessage, parse_response

__all__ = ["HEAD_BYTES", "MAX_BODY", "Block", "Record"]

MAX_BODY: Final = 64 << 20
"""Bytes that a payload may have, after decoding, unless a job says otherwise."""

HEAD_BYTES: Final = 64 << 10
"""Bytes at a block's beginning in which its HTTP header must end."""

_USUAL_HEAD = 4 << 10
_PIECE = 1 << 20


class Block:
    """The block of a record: `length` bytes, held in memory or still to be read from its archive.

    The length of one that is still to be read is what its record declares, until it was read to its end.

    Args:
        length: Bytes that the block has.
        held: Bytes that hold the block, or nothing where there is a `rest`.
        start: Where in `held` it begins.
        rest: Gives the block in pieces; a FormatError says that it is damaged or cut, a SourceError that it cannot be
            read; it is raised again for everyone who reads on.
        reinflate: Gives `held` anew with the whole block in it, where only its head was inflated.
    """

    __slots__ = ("_error", "_given", "_held", "_reinflate", "_rest", "_start", "length")

    def __init__(
        self,
        length: int,
        held: Content,
        start: int,
        *,
        rest: Iterator[bytes] | None = None,
        reinflate: Callable[[], Content] | None = None,
    ) -> None:
        self.length, self._held, self._start = length, held, start
        self._rest, self._reinflate = rest, reinflate
        self._given = 0
        self._error: FormatError | SourceError | None = None

    @property
    def streamed(self) -> bool:
        """Whether some of the block is still to be read from its archive."""
        return self._rest is not None

    def peek(self, n: int) -> bytes:
        """At most `n` bytes of the beginning: those that are held."""
        end = self._start + (n if self._rest is not None else min(n, self.length))
        return bytes(memoryview(self._held)[self._start : end])

    def head(self, n: int) -> bytes:
        """The first `n` bytes, or all of a shorter block; what is read stays held."""
        self.hold(n)
        return self.peek(n)

    def tail(self, at: int, limit: int) -> bytes:
        """The bytes from position `at` to the end of the block.

        Raises:
            FormatError: `too-large` for more than `limit` bytes, or why the archive is damaged here.
        """
        if self.length - at <= limit:
            self.hold(at + limit + 1)
        if self.length - at > limit or self.streamed:
            raise FormatError(
                "record too large", reason="too-large", expected=f"at most {limit} bytes", actual=self.length - at
            )
        return bytes(memoryview(self._held)[self._start + at : self._start + self.length])

    def pieces(self) -> Iterator[bytes]:
        """The block in pieces; what is not held in memory is read once and let go."""
        if self._reinflate is not None:
            self.hold(self.length)
        held = memoryview(self._held)[self._start :]
        held = held if self._rest is not None else held[: self.length]
        for at in range(0, len(held), _PIECE):
            yield bytes(held[at : at + _PIECE])
        while (piece := self._read()) is not None:
            yield piece

    def drain(self) -> None:
        """Read what was not read, and let go of it; so a streamed block is proven."""
        while self._read() is not None:
            pass

    def _read(self) -> bytes | None:
        """The next piece of a streamed block; None at its end."""
        if self._error is not None:
            raise self._error
        if self._rest is None:
            return None
        try:
            piece = next(self._rest, None)
        except (FormatError, SourceError) as error:
            self._error = error
            raise
        if piece is None:
            self._rest, self.length = None, self._given
        else:
            self._given += len(piece)
        return piece

    def hold(self, n: int) -> None:
        """Hold at least the first `n` bytes in memory, or all of a shorter block, without a copy of them."""
        if self._reinflate is not None:
            if len(self._held) - self._start < min(n, self.length):
                self._held, self._reinflate = self._reinflate(), None
            return
        at = len(self._held) - self._start
        if at >= (n if self.streamed else min(n, self.length)):
            return
        if at != self._given:
            raise FormatError("record too large to be kept", reason="too-large", actual=self.length)
        held = bytearray(min(n + _PIECE, self.length))  # filled in place: a join would hold it twice
        held[:at] = self._held
        while at < n and (piece := self._read()) is not None:
            held[at : at + len(piece)] = piece
            at += len(piece)
        del held[at:]
        self._held, self._start = held, 0


class Record:
    """One record. Subclasses read its header; what they do not know is None.

    `offset` is the byte of the file at which its gzip member, or in a plain file the record itself, begins; `length`
    the bytes of that member (of the record's header and block in a plain file), None while a streamed member is being
    read; `index` counts the records of one member from 0; `head` is the header as it stands; `is_plain` says whether it
    is in a plain file.
    """

    __slots__ = ("_http", "block", "head", "index", "is_plain", "length", "max_body", "offset", "type")

    format: str = ""
    plain_bodies = False
    """Whether bodies were decoded before they were stored, whatever their headers say."""

    def __init__(
        self, kind: str, head: bytes, block: Block, *, offset: int, length: int | None, index: int = 0
    ) -> None:
        self.type, self.head, self.block = kind, head, block
        self.offset, self.length, self.index = offset, length, index
        self.max_body, self.is_plain = MAX_BODY, False
        self._http: HttpMessage | None = None

    @property
    def uri(self) -> str | None:
        """The target URI as written, without the angle brackets that some writers put around it."""
        raise NotImplementedError

    @property
    def date(self) -> str | None:
        """When the record was made, as written."""
        raise NotImplementedError

    @property
    def content_type(self) -> str | None:
        """The content type of the block, as written."""
        raise NotImplementedError

    @property
    def content_length(self) -> int:
        """Bytes of the block."""
        return self.block.length

    @property
    def holds_http(self) -> bool:
        """Whether the block is an HTTP response, or claims to be one."""
        raise NotImplementedError

    @property
    def closing(self) -> bytes:
        """The line ends after the block, which belong to the record as it is stored."""
        raise NotImplementedError

    listed: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """The fields of a listing, by name, in order: each is what this gives of a record. A field is added here."""

    def fields(self) -> dict[str, Any]:
        """The row that a listing shows: names and values, None where the record says nothing."""
        return {name: value_of(self) for name, value_of in self.listed.items()}

    @classmethod
    def all_listed(cls) -> set[str]:
        """The names of the fields of all kinds of records."""
        return set(cls.listed).union(*(kind.all_listed() for kind in cls.__subclasses__()))

    @property
    def http(self) -> HttpMessage:
        """The status line and headers of an HTTP response.

        Raises:
            FormatError: `bad-header`: the block does not begin with a status line.
        """
        if self._http is None:
            head = self.block.peek(_USUAL_HEAD)
            if b"\r\n\r\n" not in head and b"\n\n" not in head:
                head = self.block.head(HEAD_BYTES)
            self._http = parse_response(head)
        return self._http

    def http_facts(self) -> tuple[int | None, str | None]:
        """Status and whole Content-Type of the HTTP response, None where the block holds none: facts, not damage."""
        if not self.holds_http:
            return None, None
        try:
            return self.http.status, self.http.content_type
        except FormatError:
            return None, None

    def body(self) -> bytes:
        """The payload: the body of an HTTP response without transfer and content codings; of other records the block.

        Raises:
            FormatError: `too-large` for more than `max_body` bytes, before or after decoding.
        """
        if not self.holds_http:
            return self.block.tail(0, self.max_body)
        return self._body_from(self.body_offset)

    @property
    def body_offset(self) -> int:
        """Where the body of an HTTP response begins in the block.

        After an empty line too many, as Common Crawl's writer added one in August 2018, if Content-Length shows it.

        Raises:
            FormatError: `bad-header`.
        """
        at = self.http.body_offset
        declared = self.http.get("Content-Length") or ""
        extra = declared.isdecimal() and int(declared[:18]) + 2 == self.block.length - at
        return at + 2 if extra and self.block.head(at + 2).endswith(b"\r\n") else at

    def _body_from(self, at: int) -> bytes:
        body = self.block.tail(at, self.max_body)
        return decode_body(self.http, body, limit=self.max_body, already_decoded=self.plain_bodies).data

    def page(self) -> bytes:
        """The payload in an encoding that keeps ASCII: UTF-16 and ISO-2022-JP are turned into UTF-8."""
        # From where the header ends, as the native core takes it: an empty line more holds no markup.
        body = self._body_from(self.http.body_offset) if self.holds_http else self.body()
        return tokenizable(body, self.http)

    def text(self) -> str:
        """The payload as text, by its byte order mark, declared charset or own declaration; U+FFFD for errors."""
        if self.holds_http:
            return text_of(self.http, self.body())
        return self.body().decode("utf-8", "replace")
