"""The lines of text that comes in chunks of bytes, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawlmill.errors import FormatError

__all__ = ["cut_lines"]


def cut_lines(chunks: Iterable[bytes], *, longest: int, source: str | None = None) -> Iterator[bytes]:
    """Yield the lines, cut at line feeds only: str.splitlines() has ten more line ends, which file names may contain.

    Raises:
        FormatError: `too-large`: a line has more than `longest` bytes.
    """
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > longest:
            raise FormatError(
                "a line of text", reason="too-large", source=source, expected=f"at most {longest} bytes", actual="more"
            )
    if rest:
        yield rest
