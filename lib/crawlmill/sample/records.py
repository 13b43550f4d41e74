"""WARC records, and the gzip members that contain them.

Spec: WARC 1.0 (ISO 28500), one record per gzip member (annex D); gzip: RFC 1952.

`warcio` writes the headers. Its gzip writer is not used: it compresses at level 9 only, its gzip header depends on the
platform of zlib, and it reports neither the place of a member nor its CRC, which a WAT record must state.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import uuid
import zlib
from dataclasses import dataclass
from typing import BinaryIO

from warcio.statusandheaders import StatusAndHeaders

__all__ = ["Fields", "Member", "MemberWriter", "Record", "digest", "record_id"]

Fields = tuple[tuple[str, str], ...]

_LEVEL = 6
# No name, no time, no flags, system "Unix": the same bytes on every platform.
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its header fields in order, and its block."""

    fields: Fields
    block: bytes

    def header(self) -> bytes:
        """The version line, the fields and the blank line after them."""
        header: bytes = StatusAndHeaders("", list(self.fields), protocol="WARC/1.0").to_bytes(encoding="utf-8")
        return header

    def __getitem__(self, name: str) -> str:
        return dict(self.fields)[name]


@dataclass(frozen=True, slots=True)
class Member:
    """The place and the size of a gzip member in its file, and the CRC-32 of its inflated content."""

    offset: int
    length: int
    inflated_length: int
    crc: int


class MemberWriter:
    """Writes consecutive gzip members; without a stream it only computes their places."""

    def __init__(self, stream: BinaryIO | None) -> None:
        self.offset = 0
        self._stream = stream

    def write(self, content: bytes, header: bytes = _GZIP_HEADER) -> Member:
        """Write one member with this gzip header."""
        crc = zlib.crc32(content)
        trailer = struct.pack("<II", crc, len(content) & 0xFFFFFFFF)
        packed = b"".join((header, zlib.compress(content, _LEVEL, -15), trailer))
        if self._stream is not None:
            self._stream.write(packed)
        member = Member(self.offset, len(packed), len(content), crc)
        self.offset += len(packed)
        return member

    def write_record(self, record: Record) -> Member:
        """Write a record as one member."""
        return self.write(b"".join((record.header(), record.block, b"\r\n\r\n")))


def digest(data: bytes) -> str:
    """The SHA-1 of the data, in the form of WARC headers."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def record_id(*name: int | str) -> str:
    """The record ID derived from a name."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, '/'.join(map(str, ('crawlmill-sample', *name))))}>"
