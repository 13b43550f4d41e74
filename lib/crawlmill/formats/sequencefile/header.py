"""The header of a Hadoop SequenceFile, versions 1 to 6.

    "SEQ", 1 byte version
    key class, value class     version >= 4: vint length and UTF-8; before: uint16 BE length and bytes
    compressed                 1 byte, 0 or 1; version > 2
    block-compressed           1 byte, 0 or 1; version >= 4
    codec class                as the key class; if compressed and version >= 5 (before: DefaultCodec)
    metadata                   int32 BE count, then count x (Text, Text); version >= 6
    sync marker                16 bytes; version > 1

Deviations from Hadoop: a flag that is neither 0 nor 1 and a header of more than a MiB are damage; metadata that is not
UTF-8 is shown with its bytes escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from crawlmill.codecs.source import Window
from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.writables import parse_vint, vint_size

__all__ = ["Compression", "SequenceFileHeader", "read_header", "read_vint"]

Compression = Literal["none", "record", "block"]

MAX_HEADER: Final = 1 << 20
"""Bytes of the longest header that is read."""


@dataclass(frozen=True, slots=True)
class SequenceFileHeader:
    """The parsed header. `codec` is a class name or None, `sync` 16 bytes (none in version 1), `length` in bytes."""

    version: int
    key_class: str
    value_class: str
    compression: Compression
    codec: str | None
    metadata: Mapping[str, str]
    sync: bytes
    length: int


def read_header(window: Window) -> SequenceFileHeader:
    """Read the header at the beginning of a file; the window is then after it.

    Raises:
        FormatError: `unknown-format`: not a SequenceFile; `unsupported-format`: an unknown version;
            `truncated`, `bad-header`.
    """
    window.hold(4)
    magic = window.data[:4]
    if magic[:3] != b"SEQ":
        raise FormatError(
            "not a SequenceFile",
            reason="unknown-format",
            offset=0,
            expected="SEQ",
            actual=repr(magic[:3])[2:-1] or "0 bytes",
        )
    version = _take(window, 4, "version")[3]
    if not 1 <= version <= 6:
        raise FormatError(
            "SequenceFile version", reason="unsupported-format", offset=3, expected="1 to 6", actual=version
        )
    key_class = _class_name(window, version, "key class")
    value_class = _class_name(window, version, "value class")
    compressed = version > 2 and _flag(window, "compression")
    blocks = version >= 4 and _flag(window, "block compression")
    if blocks and not compressed:
        raise FormatError("block compression without compression", reason="bad-header", offset=window.offset - 1)
    codec = None
    if compressed:
        default = "org.apache.hadoop.io.compress.DefaultCodec"
        codec = _class_name(window, version, "codec class") if version >= 5 else default
    metadata = _metadata(window) if version >= 6 else {}
    sync = _take(window, 16, "sync marker") if version > 1 else b""
    compression: Compression = "block" if blocks else "record" if compressed else "none"
    return SequenceFileHeader(version, key_class, value_class, compression, codec, metadata, sync, length=window.offset)


def read_vint(window: Window, what: str) -> int:
    """Read the next vint.

    Raises:
        FormatError: `truncated`.
    """
    if window.hold(1) and window.hold(vint_size(window.data[window.at])):
        number, window.at = parse_vint(window.data, window.at)
        return number
    raise FormatError(
        f"the file ends before the {what}", reason="truncated", expected="a vint", actual=f"{window.held} bytes"
    )


def _take(window: Window, size: int, what: str) -> bytes:
    if not 0 <= size <= MAX_HEADER - window.offset:
        raise FormatError(
            f"length of the {what} in a SequenceFile header",
            reason="bad-header",
            offset=window.offset,
            expected=f"0 to {MAX_HEADER - window.offset}",
            actual=size,
        )
    if not window.hold(size):
        raise FormatError(
            f"the file ends within its header, before the end of the {what}",
            reason="truncated",
            offset=window.offset,
            expected=f"{size} bytes",
            actual=window.held,
        )
    window.at += size
    return window.data[window.at - size : window.at]


def _class_name(window: Window, version: int, what: str) -> str:
    offset = window.offset
    size = read_vint(window, what) if version >= 4 else int.from_bytes(_take(window, 2, what), "big")
    name = _take(window, size, what)
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{what} of a SequenceFile",
            reason="bad-header",
            offset=offset,
            expected="UTF-8",
            actual=repr(name[:40])[2:-1],
        ) from error


def _flag(window: Window, what: str) -> bool:
    flag = _take(window, 1, what)[0]
    if flag > 1:
        raise FormatError(
            f"{what} flag of a SequenceFile",
            reason="bad-header",
            offset=window.offset - 1,
            expected="0 or 1",
            actual=flag,
        )
    return flag == 1


def _metadata(window: Window) -> dict[str, str]:
    count = int.from_bytes(_take(window, 4, "metadata"), "big", signed=True)
    if count < 0:
        raise FormatError(
            "metadata entries of a SequenceFile",
            reason="bad-header",
            offset=window.offset - 4,
            expected="0 or more",
            actual=count,
        )
    found = {}
    for _ in range(count):
        key, value = (
            _take(window, read_vint(window, what), what).decode(errors="backslashreplace")
            for what in ("metadata key", "metadata value")
        )
        found[key] = value
    return found
