"""Cuts large inputs into units, which different tasks read; their ledger rows are merged into one (see `ledger`).

The format decides whether and where a file can be cut (`Reader.units`). Finding the format takes the first bytes, so
only local files are cut: remote ones would cost requests before launch. The cuts depend on the file alone, so they are
the same on every runner.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.inputs.lists import Input, Unit
from crawlmill.inputs.opened import Opened
from crawlmill.inputs.readers import READERS
from crawlmill.storage.interface import Opener
from crawlmill.storage.locations import is_remote, local_path

__all__ = ["UNIT_BYTES", "units_of"]

UNIT_BYTES: Final = 256 << 20
"""Bytes of a unit, at least: as much as a batch of ranges has at most."""


def units_of(item: Input, storage: Opener, unit_bytes: int | None = None) -> Iterator[Input]:
    """Yield the units of an input in order, as copies of it with a `unit`; usually just the input itself."""
    spans = _spans(item, storage, unit_bytes or UNIT_BYTES)
    if len(spans) < 2:
        yield item
        return
    for number, (start, length) in enumerate(spans):
        yield item._replace(unit=Unit(number, len(spans), start, length))


def _spans(item: Input, storage: Opener, unit_bytes: int) -> list[tuple[int, int]]:
    if item.length is not None or is_remote(item.location):
        return []
    try:
        path = local_path(item.location)
        size = path.stat().st_size if path.is_file() else 0
        if size < 2 * unit_bytes:
            return []
        with storage.open_stream(item.location) as stream:
            opened = Opened(item, storage, stream)
            reader = next((reader for reader in READERS if reader.begins(opened.data)), None)
            if reader is None or reader.units is None:
                return []
            return reader.units(opened.from_start(), size, unit_bytes)
    except (OSError, FormatError, SourceError):
        return []  # the task that reads it reports the error
