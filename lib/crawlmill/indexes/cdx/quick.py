"""CDXJ lines whose beginning is made by the native core, for responses and revisits in the usual form only.

They are the same lines as those of `fields` and `formats.exchange`, without parsing the record in Python.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from crawlmill.formats.exchange import Detected
from crawlmill.formats.record import Record

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
        if found is None:
            return f"{self.urlkey} {self.timestamp} {self.front}{self.back}}}"
        between = f', "charset": {json.dumps(found.charset)}' if found.charset else ""
        if found.languages:
            between += f', "languages": {json.dumps(",".join(found.languages))}'
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
