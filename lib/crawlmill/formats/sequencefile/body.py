"""The body of a Hadoop SequenceFile: records, or blocks of records, and the escapes between them.

    none, record:  {int32 record length, int32 key length, key, value}; the value is compressed in "record"
    block:         {escape, vint number of records, then four times vint length and a compressed buffer:
                   key lengths, keys, value lengths, values}
    escape:        int32 -1, the file's sync marker; before some records, and before each block

A block's four buffers are decoded and checked against each other before any record of it is yielded. No length is
trusted: memory is allocated as bytes arrive, and content is decoded up to the size that it must have.

Deviations from Hadoop: Text and BytesWritable must fill their serialized lengths in blocks too; records and buffers
above a limit (128 MiB, or the caller's), and more than `MAX_LENGTHS` lengths, are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Final, NamedTuple

from crawlmill.codecs.hadoop import Codec
from crawlmill.codecs.source import Window
from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.header import SequenceFileHeader, read_vint
from crawlmill.formats.sequencefile.writables import Writable, parse_vints

__all__ = ["MAX_BUFFER", "MAX_LENGTHS", "Batch", "Frames", "read_block", "read_records"]

MAX_BUFFER: Final = 1 << 27
"""Bytes of the largest record, or buffer of a block, that is read, compressed or not: 128 MiB."""

MAX_LENGTHS: Final = 1 << 22
"""Bytes of the largest buffer of lengths that is read, decoded: 4 MiB, so a block has at most 4,194,304 records."""

_LENGTHS = struct.Struct(">ii")


class Batch(NamedTuple):
    """The payloads of a block, or of several records, and the offset that identifies each."""

    offsets: Iterable[int]
    keys: list[bytes]
    values: list[bytes]


class Frames:
    """Finds where the parts of a body begin and end, in a file or a split of one.

    Attributes:
        window: The file, from the current position.
        largest: The largest record or buffer accepted, in bytes.
        item: The offset of the record or block being read.
        wary: Whether damage was met. Then a frame may not extend over an escape, so that a malicious file costs no more
        than reading it once. Before, it may: a value can contain the bytes of the escape.
    """

    def __init__(
        self, window: Window, header: SequenceFileHeader, size: int | None, end: int | None, largest: int
    ) -> None:
        self.window, self.largest = window, largest
        self.item = window.offset
        self.wary = False
        self._escapes = header.version > 1
        self._escape = b"\xff\xff\xff\xff" + header.sync
        self._size, self._end = size, end

    def begin_item(self) -> bool:
        """Begin a record or block at the current position; False at the end of the file."""
        self.item = self.window.offset
        self.window.keep(self.item)
        return self.window.hold(1)

    def claim(self, length: int, what: str) -> None:
        """Make a number of bytes, as stated in the file, available in memory.

        Raises:
            FormatError: `truncated`: the file has fewer; `bad-length`, `too-large`.
        """
        window = self.window
        if 0 <= length <= min(window.held, self.largest) and not self.wary:
            return
        if length < 0:
            raise FormatError(f"length of {what}", reason="bad-length", expected="0 or more", actual=length)
        if self._size is not None and length > self._size - window.offset:
            raise _past_end(what, length, self._size - window.offset)
        if length > self.largest:
            raise FormatError(what, reason="too-large", expected=f"at most {self.largest} bytes", actual=length)
        if self.wary and self._is_escape_within(length):
            raise FormatError(f"{what} of {length} bytes over the next sync escape", reason="bad-length")
        if not window.hold(length):
            raise _past_end(what, length, window.held)

    def _is_escape_within(self, length: int) -> bool:
        """Whether an escape is within the next bytes; reads at most twice the distance to it."""
        window, held, searched = self.window, 0, self.window.offset
        while held < length:
            held = min(length, max(2 * held, window.held, 1 << 16))
            if not window.hold(held):
                held = length
            if window.data.find(self._escape, searched - window.start, window.at + held) >= 0:
                return True
            searched = max(searched, window.offset + held - len(self._escape) + 1)
        return False

    def has_swallowed_escape(self) -> bool:
        """Whether an escape begins within the item that was just passed."""
        window, rest = self.window, len(self._escape) - 1
        window.hold(rest)
        return self._escapes and window.data.find(self._escape, self.item - window.start, window.at + rest) >= 0

    def take(self, length: int, what: str) -> bytes:
        """The next bytes; their length must have been claimed."""
        self.claim(length, what)
        window = self.window
        window.at += length
        return window.data[window.at - length : window.at]

    def is_escape_next(self) -> bool:
        """Whether the next int32 is -1 and marks an escape."""
        window = self.window
        return self._escapes and window.data.startswith(b"\xff\xff\xff\xff", window.at)

    def step_over_escape(self) -> bool:
        """Step over the escape that must be here; False if it begins the next split.

        Raises:
            FormatError: `truncated`, or `bad-header`: something else is here.
        """
        window, size = self.window, len(self._escape)
        if not window.hold(size):
            raise _past_end("a sync escape", size, window.held)
        found = window.data[window.at : window.at + size]
        if found != self._escape:
            raise FormatError("no sync escape", reason="bad-header", expected=self._escape.hex(), actual=found.hex())
        if self._is_behind(window.offset):
            return False
        window.at += size
        return True

    def find_escape(self, *, to_end: bool = False) -> bool:
        """Move to the next escape (`to_end`: in the whole file); False if there is none."""
        window, escape = self.window, self._escape
        while self._escapes:
            found = window.data.find(escape, window.at)
            if found >= 0:
                window.at = found
                return to_end or not self._is_behind(window.offset)
            window.at = max(window.at, len(window.data) - len(escape) + 1)
            if (self._is_behind(window.offset) and not to_end) or not window.more():
                break
        return False

    def recover(self, error: FormatError) -> bool:
        """Move to the first escape after the item's beginning; False if there is none, or it begins the next split.

        A length beyond the end of a file that continues is not a truncation: the error is then changed to `bad-length`.
        """
        self.window.keep(None)
        self.window.go_to(self.item + 1)
        self.wary = True
        found = self.find_escape(to_end=True)
        if found and error.reason == "truncated":
            error.reason = "bad-length"
        return found and not self._is_behind(self.window.offset)

    def _is_behind(self, offset: int) -> bool:
        """Whether an escape at this offset begins the next split."""
        return self._end is not None and offset >= self._end


def read_block(frames: Frames, codec: Codec, key: Writable, value: Writable) -> Batch | None:
    """Read the block at the current position; None at the end of the file or split.

    Raises:
        FormatError: The block is damaged.
    """
    if not frames.begin_item() or not frames.step_over_escape():
        return None
    records = read_vint(frames.window, "number of records in a block")
    if records < 0:
        raise FormatError("number of records in a block", reason="bad-length", expected="0 or more", actual=records)
    key_lengths, keys, value_lengths, values = (
        frames.take(read_vint(frames.window, f"length of the {what} of a block"), f"{what} of a block")
        for what in ("key lengths", "keys", "value lengths", "values")
    )
    return Batch(
        repeat(frames.item),
        _decode_buffers(codec, key, records, key_lengths, keys, frames.largest, "keys"),
        _decode_buffers(codec, value, records, value_lengths, values, frames.largest, "values"),
    )


def _decode_buffers(
    codec: Codec, kind: Writable, records: int, lengths: bytes, content: bytes, largest: int, what: str
) -> list[bytes]:
    try:
        sizes = parse_vints(codec.decode(lengths, MAX_LENGTHS), records)
        return kind.payloads(codec.decode_exactly(content, _total(sizes, largest)), sizes)
    except FormatError as error:
        error.what = f"{what} of a block: {error.what}"
        raise


def _total(sizes: Sequence[int], largest: int) -> int:
    total = sum(sizes)
    if total > largest:
        raise FormatError("bytes", reason="too-large", expected=f"at most {largest}", actual=total)
    return total


def read_records(
    frames: Frames, codec: Codec | None, key: Writable, value: Writable, on_problem: Callable[[FormatError], None]
) -> Batch | None:
    """Read the record here, after any escapes, and those after it in memory; None at the end of the file or split.

    A damaged compressed value, if frame and key seem intact, is reported to `on_problem`; the next record is read.

    Raises:
        FormatError: The first record is damaged.
    """
    window = frames.window
    while frames.begin_item():
        frames.claim(8, "a record")
        if frames.is_escape_next():
            if not frames.step_over_escape():
                break
            continue
        length, key_length = _LENGTHS.unpack_from(window.data, window.at)
        if not 0 <= key_length <= length:
            raise FormatError(
                "lengths of a record",
                reason="bad-length",
                expected="0 <= key <= record",
                actual=f"key {key_length}, record {length}",
            )
        frames.claim(8 + length, "a record")
        if codec is None:
            return _cut_records(frames, window.at + 8 + length if frames.wary else len(window.data), key, value)
        begin = window.at + 8
        window.at = begin + length
        keys = [key.payload(window.data[begin : begin + key_length])]
        try:
            values = [value.payload(codec.decode(window.data[begin + key_length : begin + length], frames.largest))]
        except FormatError as error:
            if frames.has_swallowed_escape():
                raise  # the frame is wrong, and intact records may follow the escape
            error.located(offset=frames.item)
            on_problem(error)
            continue
        return Batch(repeat(frames.item, 1), keys, values)
    return None


def _cut_records(frames: Frames, stop: int, key: Writable, value: Writable) -> Batch:
    """The uncompressed records in memory up to a position in the window; the first one's frame is known to be complete.

    Anything unusual after the first one ends the batch; it is examined when it is the first.
    """
    window, longest = frames.window, frames.largest - 8
    data, at = window.data, window.at
    offsets, keys, values = list[int](), list[bytes](), list[bytes]()
    while at + 8 <= stop:
        length, key_length = _LENGTHS.unpack_from(data, at)
        middle, end = at + 8 + key_length, at + 8 + length
        if not at + 8 <= middle <= end <= stop or length > longest:
            break
        try:
            pair = key.payload(data[at + 8 : middle]), value.payload(data[middle:end])
        except FormatError:
            if not keys:
                raise  # an inner length contradicts the frame: one of them is wrong
            break
        offsets.append(window.start + at)
        keys.append(pair[0])
        values.append(pair[1])
        at = end
    window.at = at
    return Batch(offsets, keys, values)


def _past_end(what: str, length: int, left: int) -> FormatError:
    return FormatError(f"{what} past the end of the file", reason="truncated", expected=f"{length} bytes", actual=left)
