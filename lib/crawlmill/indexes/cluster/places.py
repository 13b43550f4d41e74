"""Finds the shards of a cluster: through `cluster.loc`, else by their names, next to `cluster.idx`.

    <shard> TAB <path> [TAB <path> …]

The first of these that exists is used: the paths in `cluster.loc`, the shard's name, its name with `.gz`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from crawlmill.codecs.gzip_member import MAGIC, inflated_start
from crawlmill.codecs.source import read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.source import Files, OpenSource, Source

__all__ = ["Shards", "read_places"]

_LOC_BYTES: Final = 16 << 20
_MAX_PLACES: Final = 8
_HEAD_BYTES: Final = 4 << 10
_DIGITS: Final = re.compile(r"[0-9]+")


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

    def size(self, name: str) -> int | None:
        """The size of a shard in bytes; None if it is not known. Raises: as `open`."""
        if name not in self._found:
            with self.open(name, 0, 1):
                pass
        return self._found[name].size()

    def open(self, name: str, offset: int, length: int | None) -> OpenSource:
        """Open a part of a shard.

        Raises:
            SourceError: None of its places exists, or that cannot be determined.
            FormatError: `cluster.loc` is too large.
        """
        if name in self._found:
            return self._found[name].open(offset, length)
        candidates = list(dict.fromkeys([*self.places().get(name, ()), name, f"{name}.gz"]))
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

    def unlisted(self, listed: Collection[str], names: Iterable[str] = ()) -> Iterator[str]:
        """Shards in `cluster.loc`, or among the names of files next to it, that `cluster.idx` does not list.

        Their names differ from that of a listed shard in a number: other files may be there too. If none is listed,
        these are all in `cluster.loc`. Some may be empty.

        Raises:
            SourceError, FormatError: `cluster.loc` cannot be read.
        """
        places = self.places()
        if not listed:
            yield from sorted(places)
        paths = [path for name in listed for path in (name, *places.get(name, ()))]
        known = {path.rpartition("/")[2].removesuffix(".gz") for path in paths}
        shapes = {_shape(name) for name in listed}
        for name in sorted({*places, *names}):
            if _shape(name) in shapes and name.removesuffix(".gz") not in known:
                yield name

    def may_hold_lines(self, name: str) -> bool:
        """Whether a shard is not empty, or cannot be read. Raises: FormatError: `cluster.loc` is too large."""
        try:
            with self.open(name, 0, _HEAD_BYTES) as stream:
                head = read_up_to(stream, _HEAD_BYTES)
        except SourceError:
            return True
        return bool(inflated_start(head, 1) if head.startswith(MAGIC) else head)

    def places(self) -> dict[str, list[str]]:
        """What `read_places` returns for `cluster.loc`, which is read once. Raises: as `read_places`."""
        if self._places is None:
            self._places = read_places(self._files.source(self._loc)) if self._loc else {}
        return self._places


def _shape(name: str) -> str:
    """The name of a shard whatever its number."""
    return _DIGITS.sub("0", name.removesuffix(".gz"))
