"""The lines of text that comes in chunks of bytes, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawlmill.errors import FormatError

__all__ = ["cut_lines", "whole_lines"]


def whole_lines(chunks: Iterable[bytes], *, longest: int, source: str | None = None) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines; only the last one may lack its line feed.

    Raises:
        FormatError: `too-large`: a line has more than `longest` bytes.
    """
    rest = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
        rest = chunk[end:] if end else rest + chunk
        if len(rest) > longest:
            raise FormatError(
                "a line of text", reason="too-large", source=source, expected=f"at most {longest} bytes", actual="more"
            )
    if rest:
        yield rest


def cut_lines(chunks: Iterable[bytes], *, longest: int, source: str | None = None) -> Iterator[bytes]:
    """Yield the lines, cut at line feeds only: str.splitlines() has ten more line ends, which file names may contain.

    Raises: as `whole_lines`.
    """
    for text in whole_lines(chunks, longest=longest, source=source):
        yield from text.removesuffix(b"\n").split(b"\n")
