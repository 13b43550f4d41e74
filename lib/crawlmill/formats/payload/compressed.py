"""Decodes one compressed stream within bytes, as far as possible and never beyond a limit.

Supports zlib in all its formats (RFC 1950, 1951, 1952), Brotli (RFC 7932) and one Zstandard frame (RFC 8878). Each
library is wrapped to take a step of input and yield pieces of output; `read_stream` drives them all.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from crawlmill.errors import FormatError, MissingDependency

__all__ = ["BrotliDecoder", "Decoder", "Stream", "ZlibDecoder", "ZstdDecoder", "read_stream", "too_large"]

_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Stream:
    """The content of a stream, and the offset after it: None if it is truncated or, with an `error`, damaged."""

    data: bytes
    end: int | None
    error: str | None = None


class ZlibDecoder:
    """Inflates one stream. Steps are short: the rest of one is copied at the end of each of many short members."""

    step = 16 << 10

    def __init__(self, wbits: int) -> None:
        self.error: type[Exception] = zlib.error
        self._inflater = zlib.decompressobj(wbits)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the output for a step of input."""
        inflater = self._inflater
        while True:
            piece = inflater.decompress(data, _PIECE)
            yield piece
            data = inflater.unconsumed_tail
            if inflater.eof or not (data or len(piece) == _PIECE):
                return

    @property
    def unused(self) -> int | None:
        """Bytes of the last step after the end of the stream; None before the end."""
        return len(self._inflater.unused_data) if self._inflater.eof else None


class BrotliDecoder:
    """Decodes one stream. The library treats bytes after the end, in the same step, as an error."""

    step = 16 << 10

    def __init__(self) -> None:
        brotli = _package("brotli", "br")
        if not hasattr(brotli.Decompressor, "can_accept_more_data"):  # 1.2 is the first that can limit its output
            raise MissingDependency("a body is coded with br: the package brotli is too old", expected="1.2 or later")
        self.error: type[Exception] = brotli.error
        self._decoder = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the output for a step of input."""
        # The library may hold back output while it accepts more input: ask until nothing comes.
        piece = self._decoder.process(data, output_buffer_limit=_PIECE)
        while piece:
            yield piece
            piece = self._decoder.process(b"", output_buffer_limit=_PIECE)

    @property
    def unused(self) -> int | None:
        """0 at the end of the stream; None before it."""
        return 0 if self._decoder.is_finished() else None


class ZstdDecoder:
    """Decodes one frame whose window is at most 8 MiB (RFC 9659) or `limit` bytes; other frames are refused.

    The library returns all output of a step at once, and 4 bytes may expand to 128 KiB, so steps are very short.
    """

    step = 256

    def __init__(self, limit: int) -> None:
        zstandard = _package("zstandard", "zstd")
        self.error: type[Exception] = zstandard.ZstdError
        self._limit, self._window, self._begun = limit, max(limit, 8 << 20), False
        self._parameters = zstandard.get_frame_parameters
        self._decoder = zstandard.ZstdDecompressor(max_window_size=self._window).decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the output for a step of input. Raises: FormatError: `too-large`: the window."""
        if not self._begun:  # the first step contains the frame header, of at most 18 bytes
            self._begun = True
            with suppress(self.error):  # an incomplete header, which the decoder rejects too
                if self._parameters(data).window_size > self._window:
                    raise too_large(self._limit)
        yield self._decoder.decompress(data)

    @property
    def unused(self) -> int | None:
        """Bytes of the last step after the end of the frame; None before the end."""
        return len(self._decoder.unused_data) if self._decoder.eof else None


Decoder = ZlibDecoder | BrotliDecoder | ZstdDecoder


def read_stream(
    decoder: Callable[[], Decoder],
    data: bytes,
    start: int,
    limit: int,
    *,
    before: int = 0,
    slowly_from: int | None = None,
) -> Stream:
    """Decode the stream that begins at byte `start` of `data`.

    Args:
        decoder: Creates a decoder.
        data: The stream, with bytes around it.
        start: The offset of the stream.
        limit: Maximum size of the result together with `before`, in bytes.
        before: Bytes that were decoded before this stream.
        slowly_from: From this offset, decode byte by byte, to get all output before an error.

    Raises:
        FormatError: `too-large`.
    """
    stream = decoder()
    pieces: list[bytes] = []
    at, size = start, before
    while at < len(data) and stream.unused is None:
        step = stream.step if slowly_from is None or at < slowly_from else 1
        try:
            for piece in stream.feed(data[at : at + step]):
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    raise too_large(limit)
        except stream.error as error:
            if step > 1:
                return read_stream(decoder, data, start, limit, before=before, slowly_from=at)
            return Stream(b"".join(pieces), None, str(error))
        at += step
    unused = stream.unused
    return Stream(b"".join(pieces), None if unused is None else min(at, len(data)) - unused)


def too_large(limit: int) -> FormatError:
    """The error for a body with more than `limit` bytes."""
    return FormatError("body too large", reason="too-large", expected=f"at most {limit} bytes", actual="more")


def _package(name: str, coding: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependency(f"a body is coded with {coding}: install the package {name}") from error
