"""Hadoop's Writables in SequenceFiles: the serialized bytes, the payload in them, and its value.

| class (`org.apache.hadoop.io.`) | serialized | payload | value |
|---|---|---|---|
| Text | vint length, bytes | the bytes | str (UTF-8) |
| BytesWritable | int32 BE length, bytes | the bytes | bytes |
| IntWritable, LongWritable | 4, 8 bytes BE | the same | int |
| VIntWritable, VLongWritable | vint, vlong | the same | int |
| FloatWritable, DoubleWritable | IEEE 754, 4, 8 bytes BE | the same | float |
| BooleanWritable | 1 byte | the same | bool |
| NullWritable | nothing | the same | None |
| any other | | the same | bytes |

A vint (Hadoop's WritableUtils) is one signed byte of at least -112, which is the number; or a byte that says how many
bytes of a big-endian number follow: -113 to -120 one to eight of it, -121 to -128 one to eight of its bitwise NOT.

Deviations from Hadoop: Text must be UTF-8 to be read as a str (Hadoop substitutes U+FFFD); numbers that are not written
in the shortest form are read, as in Hadoop, but never written.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct

from crawlmill.errors import FormatError

__all__ = ["Value", "Writable", "encode_vint", "parse_vint", "parse_vints", "vint_size", "writable_named"]

Value = str | bytes | int | float | bool | None


def encode_vint(number: int) -> bytes:
    """Encode a number of at most 64 bits as vint."""
    if -112 <= number <= 127:
        return struct.pack("b", number)
    first, magnitude = (-112, number) if number >= 0 else (-120, ~number)
    size = (magnitude.bit_length() + 7) // 8
    return struct.pack("b", first - size) + magnitude.to_bytes(size, "big")


def vint_size(first: int) -> int:
    """The size in bytes of a vint that begins with this byte (0 to 255)."""
    if first < 128 or first >= 144:
        return 1
    return 145 - first if first >= 136 else 137 - first


def parse_vint(data: bytes, at: int = 0) -> tuple[int, int]:
    """Parse the vint at a position; returns it and the position after it.

    Raises:
        FormatError: `bad-length`: the data ends within it.
    """
    end = at + vint_size(data[at]) if at < len(data) else at + 1
    if end > len(data):
        raise FormatError("vint", reason="bad-length", expected=f"{end - at} bytes", actual=max(len(data) - at, 0))
    first = data[at]
    if end == at + 1:
        return (first if first < 128 else first - 256), end
    number = int.from_bytes(data[at + 1 : end], "big")
    return (number if first >= 136 else ~number), end


def parse_vints(data: bytes, count: int) -> Sequence[int]:
    """Parse `count` lengths as vints that must fill these bytes; none may be negative.

    Raises:
        FormatError: `bad-length`.
    """
    if data.isascii():  # each byte is one number
        lengths: Sequence[int] = data
    else:
        try:
            lengths = _parse_mixed(data)
        except StopIteration as error:
            raise FormatError("lengths end within a number", reason="bad-length") from error
    if len(lengths) != count:
        raise FormatError("lengths", reason="bad-length", expected=count, actual=len(lengths))
    return lengths


def _parse_mixed(data: bytes) -> list[int]:
    lengths: list[int] = []
    add, following = lengths.append, iter(data)
    for first in following:
        if first < 128:
            add(first)
        elif first == 0x8F:
            add(next(following))
        elif first == 0x8E:
            add(next(following) << 8 | next(following))
        elif 0x8C <= first < 0x8E:
            add(int.from_bytes([next(following) for _ in range(0x90 - first)], "big"))
        else:
            raise FormatError("length", reason="bad-length", expected="0 to 2147483647", actual=f"vint {first:02x}…")
    return lengths


@dataclass(frozen=True, slots=True)
class Writable:
    """How values of a Java class are stored.

    Attributes:
        class_name: The full name of the class.
        payload: Returns the payload of one serialized value; FormatError `bad-length` if it does not fill it exactly.
        payloads: The same for a buffer of consecutive values of the given lengths, and nothing else.
        value: Returns the value of a payload; FormatError `bad-encoding` for a Text that is not UTF-8.
        serialize: Returns the serialized value of a payload.
    """

    class_name: str
    payload: Callable[[bytes], bytes]
    payloads: Callable[[bytes, Sequence[int]], list[bytes]]
    value: Callable[[bytes], Value]
    serialize: Callable[[bytes], bytes]


def writable_named(class_name: str) -> Writable:
    """How values of a Java class are stored; values of unknown classes are taken as they are."""
    payload, value, serialize = _KNOWN.get(class_name, (bytes, bytes, bytes))
    payloads = _texts if payload is _text else _each(payload)
    return Writable(class_name, payload, payloads, value, serialize)


def _each(payload: Callable[[bytes], bytes]) -> Callable[[bytes, Sequence[int]], list[bytes]]:
    def payloads(buffer: bytes, lengths: Sequence[int]) -> list[bytes]:
        found, at = [], 0
        for length in lengths:
            found.append(payload(buffer[at : at + length]))
            at += length
        return found

    return payloads


def _texts(buffer: bytes, lengths: Sequence[int]) -> list[bytes]:
    """`_text` for a whole buffer, cut and compared by C code, since most of the reading time is spent here."""
    found: list[bytes] = []
    at = 0
    for first in range(0, len(lengths), _AT_ONCE):
        sizes = lengths[first : first + _AT_ONCE]
        layout = Struct("".join(map(_layouts.__getitem__, sizes)))
        parts = layout.unpack_from(buffer, at)
        if b"".join(parts[::2]) == b"".join(map(_prefixes.__getitem__, sizes)):
            found += parts[1::2]
        else:  # one is damaged, or its length is not in the shortest form
            found += _each(_text)(buffer[at : at + layout.size], sizes)
        at += layout.size
    return found


_AT_ONCE = 4096
_REMEMBERED = 1 << 14


def _prefix_size(length: int) -> int:
    """The size of the vint in a serialized Text of this length; 0 if no Text has this length (129, for example)."""
    return next((size for size in range(1, min(length, 5) + 1) if len(encode_vint(length - size)) == size), 0)


class _Prefixes(dict[int, bytes]):
    """The vint at the beginning of a Text, by the serialized length."""

    def __missing__(self, length: int) -> bytes:
        size = _prefix_size(length)
        prefix = encode_vint(length - size) if size else b"none"  # longer than the slice of the layout, so never equal
        if length < _REMEMBERED:
            self[length] = prefix
        return prefix


class _Layouts(dict[int, str]):
    """The struct format that splits a Text into vint and payload, by the serialized length."""

    def __missing__(self, length: int) -> str:
        size = _prefix_size(length)
        layout = f"{size}s{length - size}s"
        if length < _REMEMBERED:
            self[length] = layout
        return layout


_prefixes, _layouts = _Prefixes(), _Layouts()


def _text(serialized: bytes) -> bytes:
    if serialized and serialized[0] == len(serialized) - 1 < 128:
        return serialized[1:]
    size, begin = parse_vint(serialized)
    if size < 0 or begin + size != len(serialized):
        raise _unfitting("Text", serialized)
    return serialized[begin:]


def _sized_bytes(serialized: bytes) -> bytes:
    if len(serialized) < 4 or int.from_bytes(serialized[:4], "big", signed=True) != len(serialized) - 4:
        raise _unfitting("BytesWritable", serialized)
    return serialized[4:]


def _vint_alone(serialized: bytes) -> bytes:
    if parse_vint(serialized)[1] != len(serialized):
        raise _unfitting("vint", serialized)
    return serialized


def _fixed(name: str, size: int) -> Callable[[bytes], bytes]:
    def payload(serialized: bytes) -> bytes:
        if len(serialized) != size:
            raise FormatError(name, reason="bad-length", expected=f"{size} bytes", actual=len(serialized))
        return serialized

    return payload


def _unfitting(name: str, serialized: bytes) -> FormatError:
    return FormatError(
        f"{name} whose own length does not fit",
        reason="bad-length",
        expected=f"a value of {len(serialized)} bytes",
        actual=repr(serialized[:6])[2:-1],
    )


def _decoded(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError as error:
        raise FormatError("Text", reason="bad-encoding", expected="UTF-8", actual=str(error)) from error


def _number(form: str) -> Callable[[bytes], Value]:
    read = struct.Struct(form).unpack

    def value(payload: bytes) -> Value:
        number: int | float | bool = read(payload)[0]
        return number

    return value


def _nothing(_: bytes) -> None:
    return None


_IO = "org.apache.hadoop.io."
_KNOWN: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], Value], Callable[[bytes], bytes]]] = {
    _IO + "Text": (_text, _decoded, lambda payload: encode_vint(len(payload)) + payload),
    _IO + "BytesWritable": (_sized_bytes, bytes, lambda payload: struct.pack(">i", len(payload)) + payload),
    _IO + "IntWritable": (_fixed("IntWritable", 4), _number(">i"), bytes),
    _IO + "LongWritable": (_fixed("LongWritable", 8), _number(">q"), bytes),
    _IO + "VIntWritable": (_vint_alone, lambda payload: parse_vint(payload)[0], bytes),
    _IO + "VLongWritable": (_vint_alone, lambda payload: parse_vint(payload)[0], bytes),
    _IO + "FloatWritable": (_fixed("FloatWritable", 4), _number(">f"), bytes),
    _IO + "DoubleWritable": (_fixed("DoubleWritable", 8), _number(">d"), bytes),
    _IO + "BooleanWritable": (_fixed("BooleanWritable", 1), _number(">?"), bytes),
    _IO + "NullWritable": (_fixed("NullWritable", 0), _nothing, bytes),
}
