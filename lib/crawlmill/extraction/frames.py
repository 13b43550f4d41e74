"""Inflates Zstandard frames: their records are copied into gzip members, which every reader of WARC files supports."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import closing
from typing import BinaryIO, Final, cast

from crawlmill.codecs.members import Member
from crawlmill.codecs.zstd import ZstdReader
from crawlmill.errors import FormatError, SourceError
from crawlmill.extraction.held import HeldRange
from crawlmill.inputs.lists import Input
from crawlmill.inputs.opened import Opened

__all__ = ["inflate_frame", "inflate_frames"]

_PIECE: Final = 1 << 18


def inflate_frame(item: Input, held: HeldRange, on_unproven: Callable[[], None]) -> bytes | None:
    """The content of a range that is one whole frame and is held in memory; None for any other range.

    `on_unproven` is called if the frame has no checksum.
    """
    try:
        with closing(_frames(item, held, on_unproven)) as frames:
            content = next(frames).content
            return None if content is None or next(frames, None) is not None else bytes(content)
    except (FormatError, SourceError, StopIteration):
        return None  # the reader of the range reports why


def inflate_frames(item: Input, held: HeldRange) -> tuple[BinaryIO, dict[int, tuple[int, int]]]:
    """The contents of the frames of a verified range, one after another.

    Returns:
        A file, which the caller must close, and for the offset of each frame the offset and the length of its content
        in the file.

    Raises:
        FormatError, SourceError: The range, or the dictionary of its file, has changed.
    """
    file = tempfile.SpooledTemporaryFile(_PIECE)  # noqa: SIM115 - the caller closes it
    places: dict[int, tuple[int, int]] = {}
    try:
        for frame in _frames(item, held, lambda: None):  # what is unproven is in the row of the range already
            begin = file.tell()
            if frame.content is not None:
                file.write(frame.content)
            else:
                while piece := frame.read(_PIECE):
                    file.write(piece)
            places[frame.offset] = begin, file.tell() - begin
    except BaseException:
        file.close()
        raise
    return cast("BinaryIO", file), places


def _frames(item: Input, held: HeldRange, on_unproven: Callable[[], None]) -> Generator[Member]:
    with held.open_stream(item.location, *item.span) as stream:
        opened = Opened(item, held, stream)
        yield from ZstdReader(
            opened.from_start(),
            start=opened.start,
            first_of_file=opened.first_of_file,
            on_unproven=on_unproven,
            on_problem=_fail,
            plausible=bool,
        )


def _fail(problem: FormatError) -> None:
    raise problem
