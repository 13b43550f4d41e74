"""What records of all archives have in common: their place, their properties, block and payload.

Terms are those of WARC 1.1 (ISO 28500:2017, section 4): a record is a header and a block; the payload of an HTTP
response is its body without transfer and content codings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from crawlmill.codecs.inflate import Content
from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.payload.http import HttpMessage, parse_response
from crawlmill.later import later

if TYPE_CHECKING:
    from crawlmill.formats.payload.codings import DecodedBody

__all__ = ["HEAD_BYTES", "MAX_BODY", "Block", "Record"]

MAX_BODY: Final = 64 << 20
"""Bytes that a payload may have, after decoding, unless a job says otherwise."""

HEAD_BYTES: Final = 1 << 20
"""Bytes at a block's beginning in which its HTTP header must end; crawlers accept headers of a few hundred KiB."""

# Many tasks need no payload, or have it from the native core.
_decode_body: Callable[..., DecodedBody] = later("crawlmill.formats.payload.codings:decode_body")
_text_of: Callable[[HttpMessage, bytes], str] = later("crawlmill.formats.payload.charset:text_of")
_tokenizable: Callable[[bytes, HttpMessage], bytes] = later("crawlmill.formats.payload.charset:tokenizable")

_USUAL_HEAD = 4 << 10
_LONG_HEAD = 64 << 10
_PIECE = 1 << 20


class Block:
    """The block of a record: `length` bytes, in memory or still to be read from its archive.

    Until a streamed block has been read to its end, its length is the one that its record declares.

    Args:
        length: Size of the block, in bytes.
        held: Bytes that contain the block; empty if there is a `rest`.
        start: Offset of the block in `held`.
        rest: Yields the block in pieces. A FormatError means that it is damaged or truncated, a SourceError that it
        cannot be read; the error is raised again for everyone who continues to read.
        reinflate: Returns `held` again with the whole block, if only its head was decompressed.
    """

    __slots__ = ("_error", "_given", "_held", "_reinflate", "_rest", "_start", "length")

    def __init__(
        self,
        length: int,
        held: Content,
        start: int,
        rest: Iterator[bytes] | None = None,
        reinflate: Callable[[], Content] | None = None,
    ) -> None:
        self.length, self._held, self._start = length, held, start
        self._rest, self._reinflate = rest, reinflate
        self._given = 0
        self._error: FormatError | SourceError | None = None

    @property
    def streamed(self) -> bool:
        """Whether part of the block is still to be read from its archive."""
        return self._rest is not None

    def peek(self, n: int) -> bytes:
        """At most `n` bytes of the beginning, as far as they are in memory."""
        held, start = self._held, self._start
        end = start + (n if n < self.length or self._rest is not None else self.length)
        return held[start:end] if type(held) is bytes else bytes(memoryview(held)[start:end])

    def head(self, n: int) -> bytes:
        """The first `n` bytes, or all of a shorter block; bytes that are read stay in memory."""
        self.hold(n)
        return self.peek(n)

    def tail(self, at: int, limit: int) -> bytes:
        """The bytes from position `at` to the end of the block.

        Raises:
            FormatError: `too-large`: more than `limit` bytes; or why the archive is damaged here.
        """
        if self.length - at <= limit:
            self.hold(at + limit + 1)
        if self.length - at > limit or self.streamed:
            raise FormatError(
                "record too large", reason="too-large", expected=f"at most {limit} bytes", actual=self.length - at
            )
        return bytes(memoryview(self._held)[self._start + at : self._start + self.length])

    def pieces(self) -> Iterator[bytes]:
        """Yield the block in pieces; what is not in memory is read once and then dropped."""
        if self._reinflate is not None:
            self.hold(self.length)
        if self._rest is None and self.length <= _PIECE:  # nearly always
            if whole := self.peek(self.length):
                yield whole
            return
        held = memoryview(self._held)[self._start :]
        held = held if self._rest is not None else held[: self.length]
        for at in range(0, len(held), _PIECE):
            yield bytes(held[at : at + _PIECE])
        while (piece := self._read()) is not None:
            yield piece

    def drain(self) -> None:
        """Read and drop the rest of the block, which verifies a streamed block."""
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
        """Load at least the first `n` bytes, or all of a shorter block, without copying them later."""
        if self._reinflate is not None:
            if len(self._held) - self._start < min(n, self.length):
                self._held, self._reinflate = self._reinflate(), None
            return
        at = len(self._held) - self._start
        if at >= (n if self.streamed else min(n, self.length)):
            return
        if at != self._given:
            raise FormatError("record too large to be kept", reason="too-large", actual=self.length)
        held = bytearray(min(n + _PIECE, self.length))  # filled in place: joining pieces would need twice the memory
        held[:at] = self._held
        while at < n and (piece := self._read()) is not None:
            held[at : at + len(piece)] = piece
            at += len(piece)
        del held[at:]
        self._held, self._start = held, 0


class Record:
    """One record. Subclasses parse its header; properties that are unknown are None.

    `offset` is the offset in the file of the record's gzip member, or in a plain file of the record itself; `length`
    the size of that member (in a plain file, of the record's header and block), None while a streamed member is being
    read; `index` counts the records of one member from 0; `head` is the header as stored; `is_plain` says whether the
    record is in a plain file.
    """

    __slots__ = ("_first", "_http", "block", "head", "index", "is_plain", "length", "max_body", "offset", "type")

    format: str = ""
    plain_bodies = False
    """Whether bodies were decoded before they were stored, whatever their headers say."""

    def __init__(self, kind: str, head: bytes, block: Block, offset: int, length: int | None, index: int = 0) -> None:
        self.type, self.head, self.block = kind, head, block
        self.offset, self.length, self.index = offset, length, index
        self.max_body, self.is_plain = MAX_BODY, False
        self._http: HttpMessage | None = None
        self._first: dict[str, str] | None = None

    @property
    def uri(self) -> str | None:
        """The target URI as written, without the angle brackets that some writers add."""
        raise NotImplementedError

    @property
    def date(self) -> str | None:
        """The date of the record, as written."""
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
        """The row of a listing: names and values, None for properties that the record does not have."""
        return {name: value_of(self) for name, value_of in self.listed.items()}

    @property
    def http(self) -> HttpMessage:
        """The status line and headers of an HTTP response.

        Raises:
            FormatError: `bad-header`: the block does not begin with a status line, or its header has no end in reach.
        """
        if self._http is None:
            head = self.block.peek(_USUAL_HEAD)
            for size in (_LONG_HEAD, HEAD_BYTES + 1):
                if b"\r\n\r\n" not in head and b"\n\n" not in head:
                    head = self.block.head(size)
            http = parse_response(head)
            if http.body_offset > HEAD_BYTES:
                actual = f"{HEAD_BYTES} bytes without one"
                raise FormatError(
                    "HTTP header without an end", reason="bad-header", expected="an empty line", actual=actual
                )
            self._http = http
        return self._http

    def http_facts(self) -> tuple[int | None, str | None]:
        """Status and whole Content-Type of the HTTP response, None if there is no valid one; raises no FormatError."""
        if not self.holds_http:
            return None, None
        try:
            return self.http.status, self.http.content_type
        except FormatError:
            return None, None

    def body(self) -> bytes:
        """The payload: for an HTTP response its body without transfer and content codings, for other records the block.

        Raises:
            FormatError: `too-large`: more than `max_body` bytes, before or after decoding.
        """
        if not self.holds_http:
            return self.block.tail(0, self.max_body)
        return self._body_from(self.body_offset)

    @property
    def body_offset(self) -> int:
        """The offset of an HTTP response's body in the block.

        If Content-Length shows that there is one empty line too many (Common Crawl's writer added one in August 2018),
        it is skipped.

        Raises:
            FormatError: `bad-header`.
        """
        at = self.http.body_offset
        declared = self.http.get("Content-Length") or ""
        extra = declared.isdecimal() and int(declared[:18]) + 2 == self.block.length - at
        return at + 2 if extra and self.block.head(at + 2).endswith(b"\r\n") else at

    def _body_from(self, at: int) -> bytes:
        body = self.block.tail(at, self.max_body)
        return _decode_body(self.http, body, limit=self.max_body, already_decoded=self.plain_bodies).data

    def page(self) -> bytes:
        """The payload in an ASCII-compatible encoding: UTF-16 and ISO-2022-JP are converted to UTF-8."""
        # Starts where the header ends, as in the native core: one more empty line contains no markup.
        body = self._body_from(self.http.body_offset) if self.holds_http else self.body()
        return _tokenizable(body, self.http)

    def text(self) -> str:
        """The payload as text, by its byte order mark, declared charset or own declaration; errors become U+FFFD."""
        if self.holds_http:
            return _text_of(self.http, self.body())
        return self.body().decode("utf-8", "replace")
