"""Zstandard frames, verified as far as possible: RFC 8878, and the WARC specification for it.

A `.warc.zst` file is a series of frames with one record each (Zstandard Compression for WARC files 1.0, in the IIPC's
warc-specifications). `codecs.members` describes how a series of members is read. For Zstandard:

* A frame declares the length of each of its blocks, so its end is known without inflating anything.
* A frame is verified by the checksum of its content, by its declared size, and by its blocks; checksum and size are
  optional. `on_unproven` is called for a frame without a checksum, in which a changed byte may go unnoticed.
* Skippable frames have no content. The first frame of a file may be the skippable frame 0x184D2A5D: it contains the
  dictionary of all other frames, plain or itself compressed by Zstandard.
* A window of more than 128 MiB, which `zstd` refuses by default too, is `too-large`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from crawlmill.codecs.inflate import MAX_WHOLE, Content
from crawlmill.codecs.members import REACH, ContentError, Member, MemberReader
from crawlmill.codecs.source import ByteSource, Window
from crawlmill.errors import FormatError, MissingDependency

__all__ = ["MAGIC", "ZstdReader", "begins_zstd", "dictionary_of"]

MAGIC: Final = b"\x28\xb5\x2f\xfd"
_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_SKIPPABLE: Final = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_MAX_DICTIONARY: Final = 16 << 20
_MAX_WINDOW: Final = 1 << 27
_MAX_HEADER: Final = 18
_MAX_BLOCK: Final = 1 << 17
_RESERVED, _RUN = 3, 1  # types of blocks
_UNKNOWN: Final = (1 << 64) - 1  # the library's value for a frame without a declared size
_PIECE: Final = 1 << 18

FirstBytes = Callable[[int], bytes]
"""The first bytes of a file, so many of them."""


def begins_zstd(data: bytes) -> bool:
    """Whether a file with these first bytes consists of Zstandard frames."""
    return data.startswith(MAGIC) or _SKIPPABLE.match(data) is not None


def dictionary_of(first_of_file: FirstBytes) -> bytes:
    """The dictionary at the beginning of a file; empty if there is none.

    Raises:
        FormatError: The dictionary cannot be read.
    """
    head = first_of_file(8)
    if not head.startswith(_DICTIONARY):
        return b""
    size = int.from_bytes(head[4:8], "little")
    if size > _MAX_DICTIONARY:
        raise _of_dictionary("too large", "too-large", f"at most {_MAX_DICTIONARY} bytes", f"{size} bytes")
    data = first_of_file(8 + size)[8:]
    if len(head) < 8 or len(data) < size:
        raise _of_dictionary("truncated", "truncated", f"{size} bytes", f"{len(data)} bytes")
    if not data.startswith(MAGIC):
        return data
    zstandard = _zstandard()
    try:
        with zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(data) as reader:
            dictionary: bytes = reader.read(_MAX_DICTIONARY + 1)
    except zstandard.ZstdError as error:
        raise _of_dictionary("damaged", "bad-compression", None, str(error)) from None
    if len(dictionary) > _MAX_DICTIONARY:
        raise _of_dictionary("too large", "too-large", f"at most {_MAX_DICTIONARY} bytes", "more")
    return dictionary


class ZstdReader(MemberReader):
    """The frames of a file, in order; a skippable frame is a member without content. See `MemberReader`.

    Args:
        source: The file, at offset `start`.
        first_of_file: Returns the file's first bytes; called if a frame needs a dictionary and `start` is after it.
        on_unproven: Called for each frame without a checksum of its content.
        more: See `MemberReader`.
    """

    what = "Zstandard frame"
    magic = MAGIC
    begins = "28b52ffd"
    candidate = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)

    def __init__(
        self, source: ByteSource, *, first_of_file: FirstBytes, on_unproven: Callable[[], None], **more: Any
    ) -> None:
        super().__init__(source, **more)
        self._library = _zstandard()
        self._first_of_file, self._on_unproven = first_of_file, on_unproven
        self._begins_file = not self._window.start
        self._plain = self._library.ZstdDecompressor(max_window_size=_MAX_WINDOW)
        self._with_dictionary: Any | None = None
        self.dictionary = b""
        """The dictionary of the file, once a frame has asked for it."""

    def head_only(self, compressed: bytes, offset: int, head: bytes) -> Member:
        """The member that these bytes seem to be, of which only the first bytes, `head`, were inflated."""
        size = self._library.get_frame_parameters(compressed).content_size

        def inflate() -> Content:
            content = self._whole(compressed)
            if content is None:
                raise FormatError("damaged Zstandard frame", reason="bad-compression", offset=offset)
            return content

        declared = None if size == _UNKNOWN else size
        return Member(offset, len(compressed), head=head, size=declared, inflate=inflate)

    def _length(self) -> int | None:
        window = self._window
        try:
            blocks = _Blocks(window)
            at = blocks.header
            while (size := blocks.next_at(at)) is not None:
                at += size
                if at > REACH:
                    return None
                if not window.hold(at):
                    return None
        except FormatError:
            return None
        return at

    def _whole(self, compressed: bytes) -> Content | None:
        if not compressed.startswith(MAGIC):
            return None
        try:
            parameters = self._library.get_frame_parameters(compressed)
            size = parameters.content_size
            if parameters.window_size > _MAX_WINDOW or MAX_WHOLE < size != _UNKNOWN:
                return None
            decompressor = self._decompressor(needed=parameters.dict_id != 0)
            if size == _UNKNOWN:
                with decompressor.stream_reader(compressed) as reader:
                    content: bytes = reader.read(MAX_WHOLE + 1)
            else:
                content = decompressor.decompress(compressed)
        except (self._library.ZstdError, FormatError):
            return None
        if len(content) > MAX_WHOLE:
            return None
        if not parameters.has_checksum:
            self._on_unproven()
        return content

    def _pieces(self) -> Iterator[bytes]:
        window, offset = self._window, self._window.offset
        blocks = _Blocks(window)
        if blocks.is_skippable:
            blocks.skip()
            return
        head = window.data[window.at : window.at + blocks.header]
        parameters = self._library.get_frame_parameters(head)
        if parameters.window_size > _MAX_WINDOW:
            blocks.skip()
            raise ContentError(
                "Zstandard frame with too large a window",
                reason="too-large",
                offset=offset,
                expected=f"at most {_MAX_WINDOW} bytes",
                actual=f"{parameters.window_size} bytes",
            )
        if not parameters.has_checksum:
            self._on_unproven()
        try:
            decompressor = self._decompressor(needed=True)
            with decompressor.stream_reader(blocks, read_size=_MAX_BLOCK + 3, closefd=False) as reader:
                while piece := reader.read(_PIECE):
                    yield piece
            blocks.skip()
        except self._library.ZstdError as error:
            blocks.skip()
            is_sum = "checksum" in str(error)
            raise ContentError(
                "wrong checksum of a Zstandard frame" if is_sum else "damaged Zstandard frame",
                offset=offset,
                reason="bad-checksum" if is_sum else "bad-compression",
                actual=str(error).rpartition(": ")[2],
            ) from None
        except FormatError as error:
            raise error.located(offset=offset) from None

    def _head_of(self, compressed: bytes, offset: int) -> Member | None:
        if not compressed.startswith(MAGIC):
            return None
        try:
            parameters = self._library.get_frame_parameters(compressed)
            with self._decompressor(needed=parameters.dict_id != 0).stream_reader(compressed) as reader:
                head = reader.read(self._heads)
        except (self._library.ZstdError, FormatError):
            return None
        return self.head_only(compressed, offset, head)

    def _begins_well(self) -> bool:
        window = self._window
        window.hold(_MAX_BLOCK)
        data = window.data[window.at : window.at + _MAX_BLOCK]
        if not data.startswith(MAGIC):
            return False
        try:
            with self._decompressor(needed=True).stream_reader(data) as reader:
                return self._plausible(reader.read(512))
        except (self._library.ZstdError, FormatError):
            return False

    def _decompressor(self, *, needed: bool) -> Any:
        """A decompressor with the file's dictionary, if it has one; for a range it is fetched only if `needed`.

        A frame may not name the dictionary that it was compressed with, so frames that cannot be read without one are
        tried with it.

        Raises:
            FormatError: The file's dictionary cannot be read.
        """
        if self._with_dictionary is None and (needed or self._begins_file):
            self.dictionary = dictionary_of(self._first_of_file)
            self._with_dictionary = self._plain
            if self.dictionary:
                made = self._library.ZstdCompressionDict(self.dictionary)
                self._with_dictionary = self._library.ZstdDecompressor(made, max_window_size=_MAX_WINDOW)
        return self._with_dictionary or self._plain


class _Blocks:
    """The current frame as a stream of its blocks, which ends with the frame; moves the window along.

    Raises:
        FormatError: `truncated` or `bad-compression`: it is not a frame, or it is truncated.

    Spec: RFC 8878 sections 3.1.1 and 3.1.2.
    """

    def __init__(self, window: Window) -> None:
        self._window, self._offset = window, window.offset
        window.hold(_MAX_HEADER)
        data = window.data[window.at : window.at + _MAX_HEADER]
        self.is_skippable = not data.startswith(MAGIC)
        if len(data) < (8 if self.is_skippable else 6):
            raise self._cut("a whole header", f"{len(data)} bytes")
        if self.is_skippable:
            self.header, self._skipped, self._sum = 8, int.from_bytes(data[4:8], "little"), 0
        else:
            flags = data[4]
            single = flags >> 5 & 1
            self.header = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
            if flags & 8:
                raise self._damaged("reserved bit of the header", 0, 1)
            self._skipped, self._sum = 0, 4 if flags & 4 else 0
            if len(data) < self.header:
                raise self._cut("a whole header", f"{len(data)} bytes")
        self._left: int | None = self.header
        self._last = self.is_skippable

    def next_at(self, at: int) -> int | None:
        """The size of the item at this distance from the frame's start: a block or the checksum; None after the end."""
        if self._last:
            size, self._skipped, self._sum = self._skipped + self._sum, 0, 0
            return size or None
        window = self._window
        begin = self._offset + at - window.start
        if not window.hold(begin - window.at + 3):
            raise self._cut("another block", f"the end of the data at {window.start + len(window.data)}")
        begin = self._offset + at - window.start
        head = int.from_bytes(window.data[begin : begin + 3], "little")
        self._last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
        if kind == _RESERVED or size > _MAX_BLOCK:
            raise self._damaged("block", f"at most {_MAX_BLOCK} bytes", f"{size} bytes of type {kind}")
        return 3 + (1 if kind == _RUN else size)

    def read(self, _: int, /) -> bytes:
        """Return the header, then each block, then the checksum; b"" after the end."""
        window = self._window
        if self._left is None:
            return b""
        if not window.hold(self._left):
            raise self._cut("more compressed data", f"the end of the data at {window.start + len(window.data)}")
        piece = window.data[window.at : window.at + self._left]
        window.at += self._left
        self._left = self.next_at(window.offset - self._offset)
        return piece

    def skip(self) -> None:
        """Move to the end of the frame."""
        while self._left is not None:
            size = min(self._left, _PIECE)  # a skippable frame may have any size
            if not self._window.hold(size):
                raise self._cut("more compressed data", f"the end of the data at {self._window.offset}")
            if size < self._left:
                self._window.at += size
                self._left -= size
            else:
                self._left = size
                self.read(size)

    def _cut(self, expected: str, actual: str) -> FormatError:
        return FormatError(
            "truncated Zstandard frame", reason="truncated", offset=self._offset, expected=expected, actual=actual
        )

    def _damaged(self, what: str, expected: object, actual: object) -> FormatError:
        return FormatError(
            f"Zstandard frame with a broken {what}",
            reason="bad-compression",
            offset=self._offset,
            expected=expected,
            actual=actual,
        )


@cache
def _zstandard() -> Any:
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise MissingDependency("an archive is compressed by Zstandard: install the package zstandard") from error


def _of_dictionary(how: str, reason: str, expected: str | None, actual: str) -> FormatError:
    return FormatError(
        f"{how} dictionary of a Zstandard file", reason=reason, offset=0, expected=expected, actual=actual
    )
