"""Hadoop's compression codecs, applied to whole buffers: decoded to the end, verified, and bounded.

| class (`org.apache.hadoop.io.compress.`) | a compressed buffer is | verified by |
|---|---|---|
| DefaultCodec, DeflateCodec | one zlib stream (RFC 1950) | Adler-32 |
| GzipCodec | gzip members (RFC 1952), usually one | CRC-32 and length |
| BZip2Codec | bzip2 streams, usually one | CRC-32 |
| ZStandardCodec, `io.airlift.compress.zstd.ZstdCodec` | one frame (RFC 8878) | the frame's checksum, if it has one |
| SnappyCodec, Lz4Codec | Hadoop's block framing, below | none: lengths only |

Block framing: {uint32 BE length N, then chunks {uint32 BE compressed length, raw snappy or LZ4 block} until N bytes
were produced}, repeated. One N may cover several chunks, and Hadoop ends large writes with an N of 0.

zlib streams and gzip members are inflated by a fast library (`codecs.inflate`), which only says whether a buffer is
whole; if not, zlib reads the buffer again, and zlib's error is the one reported.

A compressed buffer of 0 bytes stands for 0 bytes with every codec: some of Hadoop's streams write nothing if they are
given nothing, and are not read from in that case.

Deviations from Hadoop: bytes after the compressed data, which Hadoop ignores, are an error.
"""

from __future__ import annotations

import bz2
import importlib
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from crawlmill.codecs.inflate import inflate_stream
from crawlmill.errors import FormatError, MissingDependency

__all__ = ["Codec", "codec_named"]

Inflate = Callable[[bytes, int], bytes | None]
"""(compressed, limit) -> the whole content, or None if it is longer than the limit; FormatError if it is damaged."""
Deflate = Callable[[bytes], bytes]


class _Inflater(Protocol):
    """The common interface of zlib's and bz2's decompressors."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes | memoryview, max_length: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Codec:
    """One of Hadoop's codecs, with the name of its Java class."""

    class_name: str
    _inflate: Inflate
    _deflate: Deflate | None = None

    def decode(self, data: bytes, limit: int) -> bytes:
        """Decode a whole compressed buffer to at most `limit` bytes; more is never produced.

        Raises:
            FormatError: `bad-compression`, `bad-checksum`, `bad-length` (of a part of it), or `too-large`.
        """
        content = self._inflate(data, limit) if data else data
        if content is None:
            raise FormatError("compressed data", reason="too-large", expected=f"at most {limit} bytes", actual="more")
        return content

    def decode_exactly(self, data: bytes, size: int) -> bytes:
        """Decode a whole compressed buffer, which must contain `size` bytes; more is never produced.

        Raises:
            FormatError: As for `decode`; `bad-length` if the content has another size.
        """
        content = self._inflate(data, size) if data else data
        if content is None or len(content) != size:
            actual = "more" if content is None else len(content)
            raise FormatError("decoded bytes", reason="bad-length", expected=size, actual=actual)
        return content

    def encode(self, data: bytes) -> bytes:
        """Compress this content to one buffer.

        Raises:
            ValueError: The codec can only decode.
        """
        if self._deflate is None:
            raise ValueError(f"{self.class_name} is read, but not written")
        return self._deflate(data)


def codec_named(class_name: str) -> Codec:
    """The codec for a Java class.

    Raises:
        FormatError: `unsupported-format`: an unknown codec.
        MissingDependency: The library for it is not installed.
    """
    make = _CODECS.get(class_name)
    if make is None:
        raise FormatError(
            "compression codec", reason="unsupported-format", expected="one of Hadoop's own", actual=class_name
        )
    return Codec(class_name, *make())


_PIECE = 1 << 16  # bytes passed to a decompressor at once, so that data after a stream is not copied as a whole


def _zlib_streams(name: str, wbits: int, *, several: bool) -> Inflate:
    def inflate(data: bytes, limit: int) -> bytes | None:
        content = inflate_stream(data, wbits, limit)
        if content is not None:
            return content
        return _inflate_streams(data, limit, name, lambda: zlib.decompressobj(wbits), zlib.error, several)

    return inflate


def _bzip2_streams(data: bytes, limit: int) -> bytes | None:
    return _inflate_streams(data, limit, "bzip2", bz2.BZ2Decompressor, OSError, several=True)


def _inflate_streams(
    data: bytes,
    limit: int,
    name: str,
    make: Callable[[], _Inflater],
    failed: type[Exception],
    several: bool,
) -> bytes | None:
    view, at, parts, room = memoryview(data), 0, list[bytes](), limit
    while True:
        inflater = make()
        while not inflater.eof:
            if at >= len(view):
                raise FormatError(f"{name} data without its end", reason="bad-compression", actual=f"{len(data)} bytes")
            given = view[at : at + _PIECE]
            try:
                piece = inflater.decompress(given, room + 1)
            except failed as error:
                reason = "bad-checksum" if "check" in str(error) and "header" not in str(error) else "bad-compression"
                raise FormatError(f"{name} data: {error}", reason=reason) from error
            room -= len(piece)
            if room < 0:
                return None
            parts.append(piece)
            at += len(given) - len(inflater.unused_data)
        if at == len(view):
            return b"".join(parts)
        if not several:
            raise FormatError(f"bytes after the {name} data", reason="bad-length", expected=0, actual=len(view) - at)


_ZSTD_BLOCK = 1 << 17  # the largest block


def _zstandard() -> tuple[Inflate, None]:
    zstandard = importlib.import_module("zstandard")
    decompressor = zstandard.ZstdDecompressor()

    def inflate(data: bytes, limit: int) -> bytes | None:
        _prove_zstd_frame(data)
        reader, parts, room = decompressor.stream_reader(data), list[bytes](), limit + 1
        try:
            while room and (part := reader.read(min(room, _ZSTD_BLOCK))):
                parts.append(part)
                room -= len(part)
        except zstandard.ZstdError as error:
            reason = "bad-checksum" if "checksum" in str(error) else "bad-compression"
            raise FormatError(f"Zstandard data: {error}", reason=reason) from error
        return b"".join(parts) if room else None

    return inflate, None


def _prove_zstd_frame(data: bytes) -> None:
    """Check that the data is one frame from its first to its last block, not truncated and with nothing after it.

    The library's reader silently ends where its input ends. Spec: RFC 8878 section 3.1.1.
    """
    if data[:4] != b"\x28\xb5\x2f\xfd" or len(data) < 6:
        raise FormatError("Zstandard data", reason="bad-compression", expected="a frame", actual=repr(data[:6])[2:-1])
    flags = data[4]
    single = flags >> 5 & 1
    at = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
    last = 0
    while not last:
        if at + 3 > len(data):
            raise FormatError("Zstandard frame without its last block", reason="bad-compression")
        head = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = head & 1, head >> 1 & 3, head >> 3
        at += 3 + (1 if kind == 1 else size)  # 1: a run of a single byte
    at += 4 if flags & 4 else 0  # the checksum
    if at != len(data):
        raise FormatError("Zstandard frame", reason="bad-length", expected=f"{at} bytes", actual=len(data))


def _framed(name: str, decode_chunk: Callable[[bytes, int], bytes]) -> Inflate:
    """Hadoop's block framing around `decode_chunk(chunk, maximum size)`."""

    def number(data: bytes, at: int) -> int:
        if at + 4 > len(data):
            raise FormatError(f"{name} framing", reason="bad-compression", expected="4 bytes", actual=len(data) - at)
        return int(struct.unpack_from(">I", data, at)[0])

    def inflate(data: bytes, limit: int) -> bytes | None:
        at, made, parts = 0, 0, list[bytes]()
        while at < len(data):
            block, at = number(data, at), at + 4
            most = (len(data) - at) * _MAX_RATIO
            if block > most:
                raise FormatError(f"{name} block", reason="bad-length", expected=f"at most {most} bytes", actual=block)
            wanted = made + block
            if wanted > limit:
                return None
            while made < wanted:
                size, at = number(data, at), at + 4
                if size > len(data) - at:
                    raise FormatError(f"{name} chunk", reason="bad-length", expected=size, actual=len(data) - at)
                part = decode_chunk(data[at : at + size], wanted - made)
                parts.append(part)
                made += len(part)
                at += size
        return b"".join(parts)

    return inflate


_MAX_RATIO = 255  # the highest ratio of LZ4 and snappy


def _cramjam(name: str) -> Any:
    try:
        return importlib.import_module("cramjam")
    except ImportError as error:
        raise MissingDependency(f"{name} needs the package cramjam: pip install 'crawlmill[legacy]'") from error


def _snappy() -> tuple[Inflate, None]:
    cramjam = _cramjam("SnappyCodec")

    def chunk(data: bytes, most: int) -> bytes:
        try:
            size = cramjam.snappy.decompress_raw_len(data)
            if size > most:
                raise FormatError("snappy chunk", reason="bad-length", expected=f"at most {most} bytes", actual=size)
            return bytes(cramjam.snappy.decompress_raw(data))
        except cramjam.DecompressionError as error:
            raise FormatError(f"data: {error}", reason="bad-compression") from error

    return _framed("snappy", chunk), None


def _lz4() -> tuple[Inflate, None]:
    cramjam = _cramjam("Lz4Codec")

    def chunk(data: bytes, most: int) -> bytes:
        # A chunk does not state its decoded size; one N may cover several.
        content = bytearray(min(most, (len(data) + 1) * _MAX_RATIO))
        try:
            made = cramjam.lz4.decompress_block_into(data, content)
        except cramjam.DecompressionError as error:
            raise FormatError(f"LZ4 data: {error}", reason="bad-compression") from error
        return bytes(memoryview(content)[:made])

    return _framed("LZ4", chunk), None


def _default() -> tuple[Inflate, Deflate]:
    return _zlib_streams("zlib", zlib.MAX_WBITS, several=False), zlib.compress


def _gzip() -> tuple[Inflate, Deflate]:
    def deflate(data: bytes) -> bytes:
        # As written by Java: no flags, no time, operating system 0.
        deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        body = deflater.compress(data) + deflater.flush()
        return b"\x1f\x8b\x08\0\0\0\0\0\0\0" + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)

    return _zlib_streams("gzip", 16 + zlib.MAX_WBITS, several=True), deflate


_HADOOP = "org.apache.hadoop.io.compress."
_CODECS: dict[str, Callable[[], tuple[Inflate, Deflate | None]]] = {
    _HADOOP + "DefaultCodec": _default,
    _HADOOP + "DeflateCodec": _default,
    _HADOOP + "GzipCodec": _gzip,
    _HADOOP + "BZip2Codec": lambda: (_bzip2_streams, None),
    _HADOOP + "SnappyCodec": _snappy,
    _HADOOP + "Lz4Codec": _lz4,
    _HADOOP + "ZStandardCodec": _zstandard,
    "io.airlift.compress.zstd.ZstdCodec": _zstandard,
}
