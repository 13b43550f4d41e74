"""Takes records out of Zstandard frames, to be copied into gzip members, which every reader of WARC files knows."""

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
    """The contents of the frames of a range that was proven, one after another.

    Returns:
        A file, which is closed by whoever took it, and for the offset of each frame where in it the content begins and
        how long it is.

    Raises:
        FormatError, SourceError: The range, or the dictionary of its file, is not what it was.
    """
    file = tempfile.SpooledTemporaryFile(_PIECE)  # noqa: SIM115 - whoever takes it closes it
    places: dict[int, tuple[int, int]] = {}
    try:
        with held.open_stream(item.location, *item.span) as stream:
            opened = Opened(item, held, stream)
            frames = ZstdReader(
                opened.from_start(),
                start=opened.start,
                first_of_file=opened.first_of_file,
                on_unproven=lambda: None,  # as the row of the range says
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
