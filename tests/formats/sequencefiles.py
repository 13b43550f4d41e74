"""SequenceFiles for the tests, byte by byte after Hadoop's layout and without the project's writer; and how they are read."""

from __future__ import annotations

import bz2
import hashlib
import io
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import zstandard

from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.reader import SequenceRecord, read_sequencefile

cramjam = pytest.importorskip("cramjam", reason="SequenceFiles with snappy and LZ4 need crawlmill[legacy]")

TEXT = "org.apache.hadoop.io.Text"
CODECS = "org.apache.hadoop.io.compress."
SYNC = hashlib.md5(b"sync").digest()
ESCAPE = b"\xff\xff\xff\xff" + SYNC

Pair = tuple[bytes, bytes]
Compress = Callable[[bytes], bytes]


def vint(number: int) -> bytes:
    """A number of at least 0."""
    if number < 128:
        return bytes([number])
    size = (number.bit_length() + 7) // 8
    return bytes([144 - size]) + number.to_bytes(size, "big")


def text(payload: bytes) -> bytes:
    return vint(len(payload)) + payload


def header(
    codec: str | None = None,
    *,
    block: bool = False,
    version: int = 6,
    key: str = TEXT,
    value: str = TEXT,
    metadata: tuple[Pair, ...] = (),
) -> bytes:
    """The header of any version, as far as that version can say it."""
    names = [key.encode(), value.encode()]
    head = b"SEQ" + bytes([version])
    head += b"".join(text(n) if version >= 4 else struct.pack(">H", len(n)) + n for n in names)
    head += bytes([codec is not None]) if version > 2 else b""
    head += bytes([block]) if version >= 4 else b""
    head += text(codec.encode()) if codec is not None and version >= 5 else b""
    if version >= 6:
        head += struct.pack(">i", len(metadata)) + b"".join(text(k) + text(v) for k, v in metadata)
    return head + (SYNC if version > 1 else b"")


def gzip(data: bytes) -> bytes:
    """As Java writes it: operating system 0."""
    deflater = zlib.compressobj(wbits=31)
    packed = bytearray(deflater.compress(data) + deflater.flush())
    packed[9] = 0
    return bytes(packed)


def zstd(data: bytes) -> bytes:
    """With a checksum and without its size, as a stream is written."""
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return compressor.compress(data) + compressor.flush()


def framed(data: bytes, chunk: Compress) -> bytes:
    """Hadoop's block framing; two chunks in the first block, and an empty block at the end."""
    half = len(data) // 2
    chunks = [chunk(part) for part in (data[:half], data[half:]) if part]
    return (
        struct.pack(">I", len(data)) + b"".join(struct.pack(">I", len(c)) + c for c in chunks) + bytes(4 * bool(chunks))
    )


def snappy(data: bytes) -> bytes:
    return framed(data, lambda part: bytes(cramjam.snappy.compress_raw(part)))


def lz4(data: bytes) -> bytes:
    return framed(data, lambda part: bytes(cramjam.lz4.compress_block(part, store_size=False)))


COMPRESSORS: dict[str, Compress] = {
    "DefaultCodec": zlib.compress,
    "GzipCodec": gzip,
    "BZip2Codec": bz2.compress,
    "ZStandardCodec": zstd,
    "SnappyCodec": snappy,
    "Lz4Codec": lz4,
}
CHECKSUMMED = ("DefaultCodec", "GzipCodec", "BZip2Codec", "ZStandardCodec")


def plain_file(records: list[Pair], codec: str | None = None, *, interval: int = 200, version: int = 6) -> bytes:
    """A file without block compression, and with an escape after every `interval` bytes."""
    out = bytearray(header(CODECS + codec if codec else None, version=version))
    synced = 0
    for key, value in records:
        key, value = text(key), text(value)
        if codec:
            value = COMPRESSORS[codec](value)
        if version > 1 and len(out) >= synced + interval:
            out += ESCAPE
            synced = len(out)
        out += struct.pack(">ii", len(key) + len(value), len(key)) + key + value
    return bytes(out)


def buffers(records: list[Pair]) -> list[bytes]:
    """The four buffers of a block, not compressed."""
    keys, values = [text(key) for key, _ in records], [text(value) for _, value in records]
    return [
        b"".join(map(vint, map(len, keys))),
        b"".join(keys),
        b"".join(map(vint, map(len, values))),
        b"".join(values),
    ]


def block(count: int, packed: list[bytes]) -> bytes:
    """A block of compressed buffers."""
    return ESCAPE + vint(count) + b"".join(vint(len(p)) + p for p in packed)


def block_file(records: list[Pair], codec: str = "GzipCodec", *, each: int = 4) -> bytes:
    """A block-compressed file of `each` records a block."""
    parts = [records[start : start + each] for start in range(0, len(records), each)]
    compress = COMPRESSORS[codec]
    return header(CODECS + codec, block=True) + b"".join(
        block(len(part), [compress(buffer) for buffer in buffers(part)]) for part in parts
    )


SMALL: list[Pair] = [
    (b"http://a.example/", b""),
    (b"", b"an empty key"),
    ("http://a.example/\u00e9\U0001f642".encode(), b"\0\1\r\n\t"),
    (b"http://a.example/ones", b"\xff" * 24),
    (b"http://a.example/long", b"0123456789" * 14),
    *((b"http://a.example/%d" % n, b"value %d " % n * (n % 4)) for n in range(5, 11)),
]

KINDS: dict[str, bytes] = {
    "none": plain_file(SMALL),
    **{f"record {codec}": plain_file(SMALL, codec) for codec in COMPRESSORS},
    **{f"block {codec}": block_file(SMALL, codec) for codec in COMPRESSORS},
}


class Item(NamedTuple):
    """A record of a plain file, or a block: its offset, its end, how many records it holds."""

    offset: int
    end: int
    records: int


def header_end(data: bytes) -> int:
    """Of a file made here: where its body begins."""
    return data.index(SYNC) + 16


def items(data: bytes, at: int, *, blocks: bool, version: int = 6) -> Iterator[Item]:
    """The items of a whole body."""
    while at < len(data):
        start = at
        if blocks:
            count, at = _number(data, at + 20)
            for _ in range(4):
                size, at = _number(data, at)
                at += size
            yield Item(start, at, count)
        else:
            if version > 1 and data.startswith(b"\xff\xff\xff\xff", at):
                start = at = at + 20
            at += 8 + struct.unpack_from(">i", data, at)[0]
            yield Item(start, at, 1)


def _number(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    size = 0 if first < 128 else 144 - first
    return (int.from_bytes(data[at + 1 : at + 1 + size], "big") if size else first), at + 1 + size


class Source:
    """A source that gives at most `most` bytes at a time, and counts them."""

    def __init__(self, data: bytes, most: int = 1 << 30) -> None:
        self.stream, self.most, self.given, self.largest = io.BytesIO(data), most, 0, 0

    def read(self, n: int, /) -> bytes:
        self.largest = max(self.largest, n)
        data = self.stream.read(min(n, self.most))
        self.given += len(data)
        return data

    def seek(self, offset: int, /) -> int:
        return self.stream.seek(offset)


def read(
    data: bytes, *, known: bool = True, most: int = 1 << 30, **options: int
) -> tuple[list[SequenceRecord], list[FormatError]]:
    """All records and problems of a file, or of a split."""
    problems: list[FormatError] = []
    size = len(data) if known else None
    return list(read_sequencefile(Source(data, most), size, on_problem=problems.append, **options)), problems


def pairs(records: list[SequenceRecord]) -> list[Pair]:
    return [(record.key, record.value) for record in records]
