"""The body of an HTTP message without its transfer and content codings.

`chunked` (RFC 9112 section 7.1), `gzip` and `x-gzip` (RFC 1952), `deflate` (RFC 1950, and RFC 1951 as many servers send
it), `br` (RFC 7932), `zstd` (RFC 8878), singly or in any order (RFC 9110 section 8.4). Rules for what archives hold:

* A header may lie about a body that was decoded before it was stored, so the bytes decide: a coding whose body does
  not show it is left out, and so is one that is not known here. What shows them: for `chunked` a size line, that much
  data, a line end and the next size line; for `gzip` and `zstd` their magic; `deflate` and `br` have none and must
  decode to their end, or to the end of a cut body, if it holds control characters, which compressed bytes do and
  texts do not.
* Common Crawl stores bodies decoded and renames the headers that no longer hold to `X-Crawler-Content-Encoding`,
  `X-Crawler-Transfer-Encoding` and `X-Crawler-Content-Length`: they say what was, and change nothing here.
* ARC files of 2008-2012 keep `Content-Encoding: gzip` and `Transfer-Encoding: chunked` above decoded bodies. With
  `already_decoded` only codings with a magic are removed.
* Crawlers cut long bodies (Common Crawl at 1 MiB), and some servers send broken ones: what can be read of a cut or
  damaged body is given, and `damage` says so. The archive that holds such a body is whole.
* After the end of a gzip or zstd body more members or frames may follow; anything else after a body is no part of it.
* Content-Length is not looked at: it is the length on the wire, and the block ends where the body ends.

Cost is bounded: decoding stops as soon as more than `limit` bytes came out, so a compressed bomb takes that much memory
and a buffer; and of a header that names very many codings only the outermost are tried.
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
        """Whether every coding that was removed was whole and sound."""
        return self.damage is None


def decode_body(message: HttpMessage, body: bytes, *, limit: int, already_decoded: bool = False) -> DecodedBody:
    """The body without the transfer and content codings that its header names and its bytes show.

    Args:
        message: The header above the body.
        body: The body as it is stored.
        limit: Bytes that the result may have.
        already_decoded: The crawler decoded bodies but kept their headers: remove only codings with a magic.

    Raises:
        FormatError: `too-large`: the body has more than `limit` bytes, as it is stored or at any stage of decoding.
        MissingDependency: a body is coded with `br` or `zstd`, and the package that decodes it is not there.
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
    """The codings that a header names, outermost first, as many as are looked at; with `among`, only these."""
    named = _tokens(message, "Content-Encoding") + _tokens(message, "Transfer-Encoding")
    return [coding for coding in reversed(named) if among is None or coding in among][:_MAX_CODINGS]


def _tokens(message: HttpMessage, name: str) -> list[str]:
    values = message.get_all(name)
    return [token.partition(";")[0].strip().lower() for value in values for token in value.split(",")]


# A decoder gives what it decoded and what is wrong with it, or None: the bytes do not show this coding.
_Decoded = tuple[bytes, str | None] | None


def _chunked(body: bytes, limit: int) -> _Decoded:
    line = SIZE_LINE.match(body)
    if line is None or not _begins_chunked(body, line):
        return None
    out, view = bytearray(), memoryview(body)
    while True:
        size = int(line[1], 16)
        if not size:
            return bytes(out), None  # trailer fields, if any, are no part of the body
        end = line.end() + size
        out += view[line.end() : end]
        if len(out) > limit:
            raise too_large(limit)
        line = _NEXT_SIZE.match(body, end)  # one expression, since a body may come in chunks of single bytes
        if line is None:
            break
    line_end = _LINE_END.match(body, end)
    if line_end is None:
        cut = _CUT_LINE_END.match(body, end)
        return bytes(out), _CUT if cut else f"has a chunk that does not end at byte {end}"
    at = line_end.end()
    return bytes(out), _CUT if _CUT_SIZE_LINE.match(body, at) else f"has no chunk size at byte {at}"


def _begins_chunked(body: bytes, line: re.Match[bytes]) -> bool:
    """Whether what follows the first size line proves that a body is chunked; line ends without CR must prove more."""
    start, size, crlf = line.end(), int(line[1], 16), line[2] == b"\r\n"
    if not size:
        return (crlf and start == len(body)) or _BEHIND_LAST_CHUNK.match(body, start) is not None
    if start + size >= len(body):
        return crlf and start < len(body)  # cut in its only chunk
    line_end = _LINE_END.match(body, start + size)
    if line_end is None:
        return crlf and _CUT_LINE_END.match(body, start + size) is not None
    at = line_end.end()
    return SIZE_LINE.match(body, at) is not None or (crlf and _CUT_SIZE_LINE.match(body, at) is not None)


def _concatenated(magic: bytes, decoder: Callable[[], Decoder], body: bytes, limit: int) -> _Decoded:
    """The streams of a coding with a magic, one after the other."""
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
    """The stream of a coding without a magic, if the body is one from end to end, or is one that was cut."""
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
    """RFC 1950 section 2.2: method 8, a window of at most 32 KiB, no dictionary, a multiple of 31."""
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
