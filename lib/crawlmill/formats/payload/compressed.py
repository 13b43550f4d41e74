"""One compressed stream within bytes, decoded as far as it can be, and never to more than a limit.

zlib in all its wrappings (RFC 1950, 1951, 1952), Brotli (RFC 7932), one Zstandard frame (RFC 8878). Each library is
wrapped so that it takes a step of input and gives pieces of output; `read_stream` drives them alike.
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
    """What a stream holds, and the byte after it: None if it is cut or, with an `error`, damaged."""

    data: bytes
    end: int | None
    error: str | None = None


class ZlibDecoder:
    """Inflates one stream. Short steps: what is left of one is copied at the end of each of many short members."""

    step = 16 << 10

    def __init__(self, wbits: int) -> None:
        self.error: type[Exception] = zlib.error
        self._inflater = zlib.decompressobj(wbits)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces of output that a step of input gives."""
        inflater = self._inflater
        while True:
            piece = inflater.decompress(data, _PIECE)
            yield piece
            data = inflater.unconsumed_tail
            if inflater.eof or not (data or len(piece) == _PIECE):
                return

    @property
    def unused(self) -> int | None:
        """Bytes of the last step that are after the end of the stream; None before its end."""
        return len(self._inflater.unused_data) if self._inflater.eof else None


class BrotliDecoder:
    """Decodes one stream. To the library, bytes of the same step past its end are an error."""

    step = 16 << 10

    def __init__(self) -> None:
        brotli = _package("brotli", "br")
        if not hasattr(brotli.Decompressor, "can_accept_more_data"):  # 1.2 was the first that can bound its output
            raise MissingDependency("a body is coded with br: the package brotli is too old", expected="1.2 or later")
        self.error: type[Exception] = brotli.error
        self._decoder = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces of output that a step of input gives."""
        # The library may hold back output while it says that it takes more input: ask until nothing comes.
        piece = self._decoder.process(data, output_buffer_limit=_PIECE)
        while piece:
            yield piece
            piece = self._decoder.process(b"", output_buffer_limit=_PIECE)

    @property
    def unused(self) -> int | None:
        """0 at the end of the stream; None before it."""
        return 0 if self._decoder.is_finished() else None


class ZstdDecoder:
    """Decodes one frame, whose window may be 8 MiB (RFC 9659), or up to `limit` bytes; of others nothing is decoded.

    The library gives at once all that a step holds, and 4 bytes can hold 128 KiB: so steps are very short.
    """

    step = 256

    def __init__(self, limit: int) -> None:
        zstandard = _package("zstandard", "zstd")
        self.error: type[Exception] = zstandard.ZstdError
        self._limit, self._window, self._begun = limit, max(limit, 8 << 20), False
        self._parameters = zstandard.get_frame_parameters
        self._decoder = zstandard.ZstdDecompressor(max_window_size=self._window).decompressobj()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The piece of output that a step of input gives. Raises: FormatError: `too-large`, for its window."""
        if not self._begun:  # the first step holds the frame's header, of 18 bytes at most
            self._begun = True
            with suppress(self.error):  # a cut header, of which the decoder makes nothing either
                if self._parameters(data).window_size > self._window:
                    raise too_large(self._limit)
        yield self._decoder.decompress(data)

    @property
    def unused(self) -> int | None:
        """Bytes of the last step that are after the end of the frame; None before its end."""
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
        decoder: Makes a decoder.
        data: The stream, and whatever is around it.
        start: Where it begins.
        limit: Bytes that the result may have, together with `before`.
        before: Bytes that were decoded before this stream.
        slowly_from: Go byte by byte from here, which gives all that is before an error.

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
    """The error for a body of more than `limit` bytes."""
    return FormatError("body too large", reason="too-large", expected=f"at most {limit} bytes", actual="more")


def _package(name: str, coding: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependency(f"a body is coded with {coding}: install the package {name}") from error
