"""Writes Hadoop SequenceFiles of version 6: none, record or block, with Hadoop's DefaultCodec or GzipCodec.

    with SequenceFileWriter(stream, compression="block", codec="org.apache.hadoop.io.compress.GzipCodec") as writer:
        writer.append(b"http://example.org/", b"text")

The layout is Hadoop's own, byte for byte; the output of deflate depends on zlib. Layout: see `sequencefile.header` and
`sequencefile.body`.

Deviations from Hadoop: a block holds at most four million records, which is the reader's limit.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Protocol, Self

from crawlmill.codecs.hadoop import codec_named
from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.header import Compression
from crawlmill.formats.sequencefile.writables import Writable, encode_vint, writable_named

__all__ = ["SequenceFileWriter"]

_TEXT: Final = "org.apache.hadoop.io.Text"
_DEFAULT_CODEC: Final = "org.apache.hadoop.io.compress.DefaultCodec"
_MAX_RECORDS = 1 << 22


class _Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


class SequenceFileWriter:
    """Appends records to a stream of bytes; does not close the stream.

    Args:
        stream: The file to write to.
        key_class: The Java class of the keys.
        value_class: The Java class of the values.
        compression: What to compress: nothing, each value, or blocks of records.
        codec: The Java class of the codec, with compression; by default Hadoop's DefaultCodec.
        metadata: The metadata in the header.
        sync: The 16 bytes of the sync marker; by default random.
        sync_interval: Bytes after which an escape is written before a record: 2,000, as in Hadoop of 2012.
        block_size: Serialized bytes of keys and values after which a block is closed.
    """

    def __init__(
        self,
        stream: _Sink,
        *,
        key_class: str = _TEXT,
        value_class: str = _TEXT,
        compression: Compression = "none",
        codec: str = _DEFAULT_CODEC,
        metadata: Mapping[str, str] | None = None,
        sync: bytes | None = None,
        sync_interval: int = 2000,
        block_size: int = 1_000_000,
    ) -> None:
        sync = os.urandom(16) if sync is None else sync
        if len(sync) != 16:
            raise ValueError(f"a sync marker has 16 bytes, not {len(sync)}")
        self._stream = stream
        self._key, self._value = writable_named(key_class), writable_named(value_class)
        self._blocks = compression == "block"
        self._codec = codec_named(codec) if compression != "none" else None
        self._escape = b"\xff\xff\xff\xff" + sync
        self._sync_interval, self._block_size = sync_interval, block_size
        self._written = self._synced = self._held = 0
        self._keys: list[bytes] = []
        self._values: list[bytes] = []
        pairs = sorted((key.encode(), value.encode()) for key, value in (metadata or {}).items())
        names = [key_class, value_class]
        self._write(
            b"SEQ\x06" + b"".join(_text(name.encode()) for name in names),
            bytes([self._codec is not None, self._blocks]),
            _text(self._codec.class_name.encode()) if self._codec is not None else b"",
            struct.pack(">i", len(pairs)),
            *(_text(key) + _text(value) for key, value in pairs),
            sync,
        )

    def append(self, key: bytes, value: bytes) -> None:
        """Write one record, given as payloads of key and value.

        Raises:
            ValueError: A payload is not valid for the class of the keys or values.
        """
        key, value = _serialized(self._key, key), _serialized(self._value, value)
        if self._blocks:
            self._keys.append(key)
            self._values.append(value)
            self._held += len(key) + len(value)
            if self._held >= self._block_size or len(self._keys) == _MAX_RECORDS:
                self._write_block()
            return
        if self._codec is not None:
            value = self._codec.encode(value)
        if self._written >= self._synced + self._sync_interval:
            self._write(self._escape)
            self._synced = self._written
        self._write(struct.pack(">ii", len(key) + len(value), len(key)), key, value)

    def close(self) -> None:
        """Write the records still in memory; the stream stays open."""
        if self._keys:
            self._write_block()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def _write_block(self) -> None:
        self._write(self._escape, encode_vint(len(self._keys)))
        for parts in (self._keys, self._values):
            for buffer in (b"".join(encode_vint(len(part)) for part in parts), b"".join(parts)):
                packed = self._codec.encode(buffer) if self._codec is not None else buffer
                self._write(encode_vint(len(packed)), packed)
            parts.clear()
        self._held = 0

    def _write(self, *parts: bytes) -> None:
        data = b"".join(parts)
        self._stream.write(data)
        self._written += len(data)


def _text(data: bytes) -> bytes:
    return encode_vint(len(data)) + data


def _serialized(kind: Writable, payload: bytes) -> bytes:
    serialized = kind.serialize(payload)
    try:
        kind.payload(serialized)
    except FormatError as error:
        raise ValueError(f"no payload of {kind.class_name}: {payload[:40]!r}") from error
    return serialized
