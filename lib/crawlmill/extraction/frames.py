"""Extracts records from Zstandard frames, to be copied into gzip members, which every reader of WARC files supports."""

from __future__ import annotations

import tempfile
from typing import BinaryIO, Final, cast

from crawlmill.codecs.zstd import ZstdReader
from crawlmill.errors import FormatError
from crawlmill.extraction.held import HeldRange
from crawlmill.inputs.lists import Input
from crawlmill.inputs.opened import Opened

__all__ = ["inflate_frames"]

_PIECE: Final = 1 << 18


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
        with held.open_stream(item.location, *item.span) as stream:
            opened = Opened(item, held, stream)
            frames = ZstdReader(
                opened.from_start(),
                start=opened.start,
                first_of_file=opened.first_of_file,
                on_unproven=lambda: None,  # already reported in the row of the range
                on_problem=_fail,
                plausible=bool,
            )
            for frame in frames:
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


def _fail(problem: FormatError) -> None:
    raise problem
