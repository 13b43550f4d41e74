"""Removes the transfer and content codings from the body of an HTTP message.

`chunked` (RFC 9112 section 7.1), `gzip` and `x-gzip` (RFC 1952), `deflate` (RFC 1950, and RFC 1951 as many servers send
it), `br` (RFC 7932), `zstd` (RFC 8878), singly or in any order (RFC 9110 section 8.4). Rules for archived messages:

* A header may be wrong about a body that was decoded before it was stored, so the bytes decide: a coding is skipped if
  the body does not show it, or if it is unknown. Signs are: for `chunked` a size line, that much data, a line end and
  the next size line; for `gzip` and `zstd` their magic. `deflate` and `br` have no magic: the body must decode to its
  end, or to the end of a truncated body that contains control characters, which compressed data does and text does not.
* Common Crawl stores bodies decoded and renames the headers that no longer apply to `X-Crawler-Content-Encoding`,
  `X-Crawler-Transfer-Encoding` and `X-Crawler-Content-Length`: they record history and are ignored here.
* ARC files of 2008-2012 keep `Content-Encoding: gzip` and `Transfer-Encoding: chunked` above decoded bodies. With
  `already_decoded` only codings with a magic are removed.
* Crawlers truncate long bodies (Common Crawl at 1 MiB), and some servers send broken ones: what can be decoded of such
  a body is returned, and `damage` reports it. The archive that contains the body is not damaged.
* After the end of a gzip or zstd body more members or frames may follow; other bytes after a body are ignored.
* Content-Length is ignored: it is the length on the wire, and the block ends where the body ends.

Cost is bounded: decoding stops as soon as more than `limit` bytes came out, so a decompression bomb takes that much
memory and a buffer. If a header names very many codings, only the outermost are tried.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from crawlmill.formats.payload.compressed import (
    BrotliDecoder,
    Decoder,
    ZlibDecoder,
    ZstdDecoder,
    read_stream,
    too_large,
)
from crawlmill.formats.payload.http import HttpMessage

__all__ = ["SIZE_LINE", "DecodedBody", "codings_of", "decode_body", "has_zlib_header"]

_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_PADDING: Final = b"\0\r\n "
SIZE_LINE: Final = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?(\r?\n)")
_CUT_SIZE_LINE = re.compile(rb"[ \t]*(?:[0-9A-Fa-f]{1,15}[ \t]*)?(?:;[^\n]*)?\r?\Z")
_LINE_END = re.compile(rb"\r?\n")
_NEXT_SIZE: Final = re.compile(_LINE_END.pattern + SIZE_LINE.pattern)
"""The end of a chunk and the size line behind it."""
_CUT_LINE_END = re.compile(rb"\r?\Z")
_BEHIND_LAST_CHUNK = re.compile(rb"\r?\n|[!-9;-~]+:")
_CUT: Final = "is cut"
_MAX_CODINGS: Final = 8


@dataclass(frozen=True, slots=True)
class DecodedBody:
    """A body, the codings that were removed from it, outermost first, and what was wrong with them, or None."""

    data: bytes
    codings: tuple[str, ...] = ()
    damage: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every removed coding was complete and undamaged."""
        return self.damage is None


def decode_body(message: HttpMessage, body: bytes, *, limit: int, already_decoded: bool = False) -> DecodedBody:
    """Remove the transfer and content codings that the header names and the bytes show.

    Args:
        message: The header above the body.
        body: The body as it is stored.
        limit: Maximum size of the result, in bytes.
        already_decoded: The crawler stored decoded bodies with their original headers: remove only codings with a
        magic.

    Raises:
        FormatError: `too-large`: the body has more than `limit` bytes, as stored or after removing a coding.
        MissingDependency: A body is coded with `br` or `zstd`, and the package that decodes it is not installed.
    """
    codings = codings_of(message, among=_SELF_PROVING if already_decoded else None)
    removed: list[str] = []
    damage = None
    for coding in codings:
        decoder = _DECODERS.get(coding)
        found = decoder(body, limit) if decoder and body else None
        if found is not None:
            body, trouble = found
            removed.append(coding)
            if trouble and damage is None:
                damage = f"{coding} body {trouble}"
    if len(body) > limit:
        raise too_large(limit)
    return DecodedBody(body, tuple(removed), damage)


def codings_of(message: HttpMessage, *, among: frozenset[str] | None = None) -> list[str]:
    """The codings that a header names, outermost first, up to the limit; with `among`, only these."""
    named = _tokens(message, "Content-Encoding") + _tokens(message, "Transfer-Encoding")
    return [coding for coding in reversed(named) if among is None or coding in among][:_MAX_CODINGS]


def _tokens(message: HttpMessage, name: str) -> list[str]:
    values = message.get_all(name)
    return [token.partition(";")[0].strip().lower() for value in values for token in value.split(",")]


# A decoder returns the decoded bytes and what is wrong with them, or None if the bytes do not show its coding.
_Decoded = tuple[bytes, str | None] | None


def _chunked(body: bytes, limit: int) -> _Decoded:
    line = SIZE_LINE.match(body)
    if line is None or not _begins_chunked(body, line):
        return None
    out, view = bytearray(), memoryview(body)
    while True:
        size = int(line[1], 16)
        if not size:
            return bytes(out), None  # trailer fields, if any, are not part of the body
        end = line.end() + size
        out += view[line.end() : end]
        if len(out) > limit:
            raise too_large(limit)
        line = _NEXT_SIZE.match(body, end)  # a single expression, since chunks may be as short as one byte
        if line is None:
            break
    line_end = _LINE_END.match(body, end)
    if line_end is None:
        cut = _CUT_LINE_END.match(body, end)
        return bytes(out), _CUT if cut else f"has a chunk that does not end at byte {end}"
    at = line_end.end()
    return bytes(out), _CUT if _CUT_SIZE_LINE.match(body, at) else f"has no chunk size at byte {at}"


def _begins_chunked(body: bytes, line: re.Match[bytes]) -> bool:
    """Whether the bytes after the first size line prove that a body is chunked; without CR, more proof is required."""
    start, size, crlf = line.end(), int(line[1], 16), line[2] == b"\r\n"
    if not size:
        return (crlf and start == len(body)) or _BEHIND_LAST_CHUNK.match(body, start) is not None
    if start + size >= len(body):
        return crlf and start < len(body)  # truncated in its only chunk
    line_end = _LINE_END.match(body, start + size)
    if line_end is None:
        return crlf and _CUT_LINE_END.match(body, start + size) is not None
    at = line_end.end()
    return SIZE_LINE.match(body, at) is not None or (crlf and _CUT_SIZE_LINE.match(body, at) is not None)


def _concatenated(magic: bytes, decoder: Callable[[], Decoder], body: bytes, limit: int) -> _Decoded:
    """Decode the consecutive streams of a coding with a magic."""
    pieces: list[bytes] = []
    at = size = 0
    while body.startswith(magic, at):
        stream = read_stream(decoder, body, at, limit, before=size)
        pieces.append(stream.data)
        if stream.end is None:
            return b"".join(pieces), _CUT if stream.error is None else f"is damaged: {stream.error}"
        at, size = stream.end, size + len(stream.data)
    return (b"".join(pieces), None) if at else None


def _by_trial(decoder: Callable[[], Decoder], body: bytes, limit: int) -> _Decoded:
    """Decode the stream of a coding without a magic, if the body is one complete or truncated stream."""
    stream = read_stream(decoder, body, 0, limit)
    if stream.end is not None:
        return None if body[stream.end :].strip(_PADDING) else (stream.data, None)
    return (stream.data, _CUT) if stream.error is None and stream.data and _NO_TEXT.search(body) else None


def _gzip(body: bytes, limit: int) -> _Decoded:
    return _concatenated(b"\x1f\x8b\x08", partial(ZlibDecoder, 31), body, limit)


def _zstd(body: bytes, limit: int) -> _Decoded:
    return _concatenated(b"\x28\xb5\x2f\xfd", partial(ZstdDecoder, limit), body, limit)


def _brotli(body: bytes, limit: int) -> _Decoded:
    return _by_trial(BrotliDecoder, body, limit)


def _deflate(body: bytes, limit: int) -> _Decoded:
    inflater = partial(ZlibDecoder, -15)
    if not has_zlib_header(body):
        return _by_trial(inflater, body, limit)
    stream = read_stream(inflater, body, 2, limit)
    if stream.end is not None:
        checksum = body[stream.end : stream.end + 4]
        if checksum == zlib.adler32(stream.data).to_bytes(4, "big"):
            return stream.data, None
        return stream.data, _CUT if len(checksum) < 4 else "has a wrong checksum"
    found = _by_trial(inflater, body, limit) if stream.error else None
    if found is None and stream.data and _NO_TEXT.search(body):
        return stream.data, f"is damaged: {stream.error}" if stream.error else _CUT
    return found


def has_zlib_header(body: bytes) -> bool:
    """Whether the body begins with an RFC 1950 header (section 2.2) without a dictionary, checksum included."""
    if len(body) < 2:
        return False
    method, flags = body[0], body[1]
    return method & 0x8F == 8 and not flags & 0x20 and (method << 8 | flags) % 31 == 0


_DECODERS: Final[dict[str, Callable[[bytes, int], _Decoded]]] = {
    "br": _brotli,
    "chunked": _chunked,
    "deflate": _deflate,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "zstd": _zstd,
}
_SELF_PROVING: Final = frozenset(("gzip", "x-gzip", "zstd"))
