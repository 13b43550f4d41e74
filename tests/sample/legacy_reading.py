"""Plain readings of the files of 2008 to 2012, for these tests alone: struct, zlib, and the hash as its authors put it."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass
class ArcRecord:
    """A member of an ARC file: the fields of its first line, all behind that, and of this header and body."""

    offset: int
    length: int
    packed: bytes
    line: list[str]
    rest: bytes

    @property
    def header(self) -> bytes:
        return self.rest.partition(b"\r\n\r\n")[0] + b"\r\n"

    @property
    def body(self) -> bytes:
        assert self.rest.endswith(b"\n")
        return self.rest.partition(b"\r\n\r\n")[2][:-1]

    @property
    def fields(self) -> list[tuple[str, str]]:
        lines = self.header.decode().split("\r\n")[1:-1]
        return [(name, value) for name, value in (line.split(":", 1) for line in lines)]

    def values(self, name: str) -> list[str]:
        return [value for known, value in self.fields if known.lower() == name.lower()]


def read_arc(path: Path) -> list[ArcRecord]:
    """All members, the first of which describes the file."""
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        inflater = zlib.decompressobj(31)
        content = inflater.decompress(data[at:])
        assert inflater.eof
        length = len(data) - at - len(inflater.unused_data)
        line, _, rest = content.partition(b"\n")
        found.append(ArcRecord(at, length, data[at : at + length], line.decode().rsplit(" ", 4), rest))
        at += length
    return found


SEQUENCEFILE_HEAD = (
    b"SEQ\x06"
    b"\x19org.apache.hadoop.io.Text\x19org.apache.hadoop.io.Text"
    b"\x01\x01"
    b"\x27org.apache.hadoop.io.compress.GzipCodec"
    b"\0\0\0\0"
)


def read_sequencefile(path: Path) -> list[tuple[str, str]]:
    """The records of a file of version 6, Text to Text, blocks, GzipCodec."""
    data = path.read_bytes()
    assert data.startswith(SEQUENCEFILE_HEAD)
    at = len(SEQUENCEFILE_HEAD) + 16
    assert at == 118
    escape, records = b"\xff\xff\xff\xff" + data[at - 16 : at], []
    while at < len(data):
        assert data[at : at + 20] == escape
        count, at = _vint(data, at + 20)
        buffers = []
        for _ in range(4):
            size, at = _vint(data, at)
            buffers.append(gzip.decompress(data[at : at + size]))
            at += size
        keys, values = (_texts(lengths, texts, count) for lengths, texts in (buffers[:2], buffers[2:]))
        records += zip(keys, values, strict=True)
    return records


def _texts(lengths: bytes, content: bytes, count: int) -> list[str]:
    found, at, start = [], 0, 0
    for _ in range(count):
        size, at = _vint(lengths, at)
        text = content[start : start + size]
        length, begin = _vint(text, 0)
        assert length == size - begin
        found.append(text[begin:].decode())
        start += size
    assert (at, start) == (len(lengths), len(content))
    return found


def _vint(data: bytes, at: int) -> tuple[int, int]:
    (first,) = struct.unpack_from("b", data, at)
    if first >= -112:
        return first, at + 1
    assert first >= -120, "negative"
    size = -112 - first
    return int.from_bytes(data[at + 1 : at + 1 + size], "big"), at + 1 + size


def plain_simhash(text: str) -> int:
    """Majority of the Rabin fingerprints of all distinct windows of four UTF-16 units, bit by bit."""
    units = text.encode("utf-16-be", "surrogatepass")
    windows = {units[at : at + 8] for at in range(0, len(units) - 6, 2)}
    prints = [_fingerprint(window) for window in windows]
    number = sum(1 << bit for bit in range(64) if sum(1 if p >> bit & 1 else -1 for p in prints) > 0)
    return number - (1 << 64) if number >> 63 else number


_POLYNOMIAL = 0xD74307D3FD3382DB


def _fingerprint(window: bytes) -> int:
    state = _POLYNOMIAL
    for byte in window:
        state ^= byte
        for _ in range(8):  # lowest powers stand in the highest bits: to divide is to shift right
            state = state >> 1 ^ (_POLYNOMIAL if state & 1 else 0)
    return state
