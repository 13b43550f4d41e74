"""Finds the shards of a cluster: through `cluster.loc`, else by their names, next to `cluster.idx`.

    <shard> TAB <path> [TAB <path> …]

The first of these that exists is used: the paths in `cluster.loc`, the shard's name, its name with `.gz`.
"""

from __future__ import annotations

from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.source import Files, OpenSource, Source

__all__ = ["Shards", "read_places"]

_LOC_BYTES: Final = 16 << 20
_MAX_PLACES: Final = 8


def read_places(source: Source) -> dict[str, list[str]]:
    """The paths of each shard listed in a `cluster.loc`; empty if there is no such file.

    Raises:
        FormatError: `too-large`.
        SourceError: It cannot be read.
    """
    pieces, left = [], _LOC_BYTES
    try:
        with source.open() as stream:
            while piece := stream.read(1 << 18):
                left -= len(piece)
                if left < 0:
                    raise FormatError(
                        "cluster.loc is too large",
                        reason="too-large",
                        source=source.name,
                        expected=f"<= {_LOC_BYTES} bytes",
                    )
                pieces.append(piece)
    except SourceError as error:
        if error.reason in ("not-found", "denied"):  # without the right to list, S3 reports missing files as denied
            return {}
        raise
    places: dict[str, list[str]] = {}
    for line in b"".join(pieces).decode("utf-8", "surrogateescape").splitlines():
        name, *paths = line.split("\t")
        if name and paths:
            places.setdefault(name, []).extend(path for path in paths[:_MAX_PLACES] if path)
    return places


class Shards:
    """The shards of a cluster, located when first needed."""

    def __init__(self, files: Files, loc: str | None) -> None:
        self._files, self._loc = files, loc
        self._places: dict[str, list[str]] | None = None
        self._found: dict[str, Source] = {}

    def open(self, name: str, offset: int, length: int | None) -> OpenSource:
        """Open a part of a shard.

        Raises:
            SourceError: None of its places exists, or that cannot be determined.
            FormatError: `cluster.loc` is too large.
        """
        if name in self._found:
            return self._found[name].open(offset, length)
        if self._places is None:
            self._places = read_places(self._files.source(self._loc)) if self._loc else {}
        candidates = list(dict.fromkeys([*self._places.get(name, ()), name, f"{name}.gz"]))
        lost: SourceError | None = None
        for place in candidates:
            try:
                source = self._files.source(place)
                stream = source.open(offset, length)
            except SourceError as error:
                if error.reason not in ("not-found", "denied"):
                    raise
                lost = error if lost is None or place == name else lost
                continue
            self._found[name] = source
            return stream
        denied = lost is not None and lost.reason == "denied"
        raise SourceError(
            f"the shard {name} {'cannot be read' if denied else 'does not exist'}",
            reason="denied" if denied else "not-found",
            expected=" or ".join(candidates[:3]),
            actual=lost.what if lost else None,
        )
