"""CDXJ lines in pieces, for responses and revisits in the usual form, made without parsing records into objects.

They are the same lines as those of `fields` and `formats.exchange`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from crawlmill.formats.exchange import Detected
from crawlmill.formats.record import Record
from crawlmill.indexes.cdx.lines import detected_json

__all__ = ["QuickLine", "place_fields", "quick_start"]

_PEEKED: Final = 4 << 10  # contains the HTTP header of an ordinary response


class QuickLine(NamedTuple):
    """A line without what was detected for its page; `front` and `back` are parts of its JSON."""

    urlkey: str
    timestamp: str
    front: str
    back: str

    def text(self, found: Detected | None) -> str:
        """The line."""
        between = detected_json(found) if found is not None else ""
        return f"{self.urlkey} {self.timestamp} {self.front}{between}{self.back}}}"


def quick_start(record: Record, start: Any) -> tuple[Any, ...] | None:
    """The result of `start`, the native core's `capture_start`, for a record; None if its form is unusual."""
    kind = record.type
    if kind not in ("response", "revisit") or record.format != "warc" or record.block.streamed:
        return None
    found: tuple[Any, ...] | None = start(record.head, record.block.peek(_PEEKED), kind == "revisit")
    return found


def place_fields(length: str | int, offset: str | int, filename: str) -> str:
    """The fields of a line with the place of its record, between `front` and `back`; `filename` is JSON."""
    return f', "length": "{length}", "offset": "{offset}", "filename": {filename}'
