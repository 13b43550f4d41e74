"""The lines of published results: of a plain, gzip or bzip2 file, or of the parts of an output folder."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from posixpath import basename
from typing import Any, Final

from crawlmill.errors import SourceError
from crawlmill.storage import Storage

__all__ = ["published_lines"]

_OPENERS: Final[dict[bytes, Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}


def published_lines(location: str, storage: Storage) -> Iterator[bytes]:
    """Yield the lines of a file, or of the parts of an output folder.

    Raises:
        SourceError: It cannot be read.
        OSError, EOFError: The compressed data is damaged.
    """
    for name in _files(location, storage):
        with storage.open_stream(name, 0, 2) as stream:
            start = stream.read(2)
        with storage.open_stream(name) as stream:
            file: Any = _OPENERS[start](stream) if start in _OPENERS else stream
            rest = b""
            while piece := file.read(1 << 20):
                *lines, rest = (rest + piece).split(b"\n")
                yield from lines
            if rest:
                yield rest


def _files(location: str, storage: Storage) -> list[str]:
    try:
        with storage.open_stream(location, 0, 1):
            return [location]
    except SourceError as error:
        names = [name for name in _listed(location, storage) if basename(name).startswith("part-")]
        if not names:
            raise error from None
        return [f"{location.rstrip('/')}/{name}" for name in names]


def _listed(location: str, storage: Storage) -> list[str]:
    try:
        return sorted(storage.list(location))
    except (SourceError, NotImplementedError):
        return []
