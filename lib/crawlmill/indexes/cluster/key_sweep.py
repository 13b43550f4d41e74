"""Extracts the lines of single keys from sorted chunks, without creating objects for each of very many keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from crawlmill import core
from crawlmill.indexes.lines import Chunk
from crawlmill.indexes.shares import LinesOfKeys
from crawlmill.indexes.sweep import Sweep
from crawlmill.urls.patterns import KeyRange

__all__ = ["KeySweep"]

_BLANK: Final = re.compile(rb"(?:\A|(?<=\n))\n+")


class KeySweep:
    """The keys whose lines may still come. Lines of a key that is given twice are returned twice."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        native = core.native()
        self._native = None if native is None else native.KeySweep(list(keys))
        ranges = [] if self._native else [(KeyRange(key + b" ", key + b"!"), number) for number, key in enumerate(keys)]
        self._python = Sweep(ranges)

    def cut(self, chunk: Chunk) -> LinesOfKeys:
        """The lines of these keys in the next chunk, which must be tidy and sorted."""
        if self._native is None:
            parts = list(self._python.cut(_BLANK.sub(b"", chunk) if b"\n\n" in chunk else chunk))
            return b"".join(part for _, part in parts), [(key, part.count(b"\n"), len(part)) for key, part in parts]
        cut: LinesOfKeys | None = self._native.cut(bytes(chunk))
        return self._native.cut(_BLANK.sub(b"", chunk)) if cut is None else cut
