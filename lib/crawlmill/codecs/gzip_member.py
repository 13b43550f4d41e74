"""Reads one gzip member with zlib, from its first byte to its last, and verifies it: RFC 1952, section 2.3.

| offset | size | content |
|---|---|---|
| 0 | 3 | 1f 8b, and 08 for deflate |
| 3 | 1 | flags: 1 text, 2 header checksum, 4 extra field, 8 name, 16 comment; the rest must be 0 |
| 4 | 6 | time, extra flags, operating system: any values |
| 10 | | extra field (2-byte length, bytes), name, comment (each ends with 0), CRC16 of the header, as flagged |
| | | deflate data (RFC 1951) |
| -8 | 4 | CRC32 of the content, little-endian |
| -4 | 4 | ISIZE: bytes of the content modulo 2^32, little-endian |
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from crawlmill.codecs.members import ContentError
from crawlmill.codecs.source import Window
from crawlmill.errors import FormatError

__all__ = ["MAGIC", "MAX_HEADER", "header_length", "inflate_member", "inflate_without_header", "inflated_start"]

MAGIC: Final = b"\x1f\x8b\x08"
MAX_HEADER: Final = 1 << 17  # an extra field has up to 64 KiB; as much again is allowed for name and comment

_PIECE = 1 << 18  # bytes inflated at a time
_FEED = 1 << 15  # compressed bytes passed to zlib at a time: it copies what it does not use


def header_length(data: bytes) -> int | None:
    """The size of the gzip header at the beginning of `data`; None if `data` is too short for it.

    Raises:
        FormatError: The bytes are not the header of a gzip member.

    Spec: RFC 1952 section 2.3.
    """
    if len(data) < 10:
        return None
    flags = data[3]
    if data[:3] != MAGIC or flags & 0xE0:
        raise FormatError("not a gzip header", reason="bad-compression", expected="1f8b08", actual=data[:4].hex())
    at = 10
    if flags & 4:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):
        if flags & flag:
            end = data.find(b"\0", at)
            if end < 0:
                return None
            at = end + 1
    if flags & 2:
        stored = int.from_bytes(data[at : at + 2], "little")
        computed = zlib.crc32(data[:at]) & 0xFFFF
        at += 2
        if at <= len(data) and stored != computed:
            raise FormatError(
                "wrong checksum of a gzip header",
                reason="bad-checksum",
                expected=f"CRC16 {stored:04x}",
                actual=f"{computed:04x}",
            )
    return at if at <= len(data) else None


def inflated_start(data: bytes, most: int) -> bytes:
    """The beginning of the content of gzip members, up to about `most` bytes, as far as they are intact in `data`."""
    text = b""
    while data.startswith(MAGIC) and len(text) < most:
        inflater = zlib.decompressobj(31)
        try:
            text += inflater.decompress(data, most)
        except zlib.error:
            break
        data = inflater.unused_data
    return text


def inflate_without_header(data: bytes, most: int) -> bytes:
    """The beginning of the content of a gzip member whose header has 10 bytes, as most have; b"" if it is damaged."""
    try:
        return zlib.decompressobj(-15).decompress(data[10:], most)
    except zlib.error:
        return b""


def inflate_member(window: Window) -> Iterator[bytes]:
    """Yield the content of the current member; moves the window along, at the end past the member.

    Raises:
        FormatError: `truncated`, `bad-compression` or `bad-checksum`, with the member's offset. It is a `ContentError`
        if the window is past the member nevertheless, because either the checksum or the length is right; if neither
        is, the deflate data may be those of another member, which was reached through damage.
    """
    offset = window.offset
    length = _read_header(window)
    window.at += length
    inflater = zlib.decompressobj(-15)
    crc = size = 0
    compressed = b""
    while not inflater.eof:
        if not compressed:
            if not window.hold(1):
                raise _cut("member", offset, "more compressed data", f"the end of the data at {window.offset}")
            compressed = window.data[window.at : window.at + _FEED]
            window.at += len(compressed)
        try:
            piece = inflater.decompress(compressed, _PIECE)
        except zlib.error as error:
            raise FormatError(
                "broken deflate data",
                reason="bad-compression",
                offset=offset,
                actual=str(error).partition(": ")[2] or str(error),
            ) from None
        compressed = inflater.unconsumed_tail
        if piece:
            crc = zlib.crc32(piece, crc)
            size += len(piece)
            yield piece
    window.at -= len(inflater.unused_data)
    if not window.hold(8):
        raise _cut("member", offset, "8 trailer bytes", f"{window.held}")
    trailer = window.data[window.at : window.at + 8]
    window.at += 8
    stored_crc, stored_size = int.from_bytes(trailer[:4], "little"), int.from_bytes(trailer[4:], "little")
    size &= 0xFFFFFFFF
    if stored_crc != crc:
        kind = ContentError if stored_size == size else FormatError
        raise kind(
            "wrong checksum of a gzip member",
            reason="bad-checksum",
            offset=offset,
            expected=f"CRC32 {stored_crc:08x}",
            actual=f"{crc:08x}",
        )
    if stored_size != size:
        raise ContentError(
            "wrong length of a gzip member",
            reason="bad-checksum",
            offset=offset,
            expected=f"ISIZE {stored_size}",
            actual=size,
        )


def _read_header(window: Window) -> int:
    """The size of the current header, which is then in memory."""
    window.hold(MAX_HEADER)
    try:
        length = header_length(window.data[window.at : window.at + MAX_HEADER])
    except FormatError as error:
        raise error.located(offset=window.offset) from None
    if length is not None:
        return length
    if window.held < MAX_HEADER:
        raise _cut("header", window.offset, "its end", f"{window.held} bytes")
    raise FormatError(
        "gzip header without an end",
        reason="bad-compression",
        offset=window.offset,
        expected=f"its end within {MAX_HEADER} bytes",
        actual="none",
    )


def _cut(what: str, offset: int, expected: str, actual: str) -> FormatError:
    return FormatError(f"truncated gzip {what}", reason="truncated", offset=offset, expected=expected, actual=actual)
