"""Lines of CDXJ by the native core, of responses and revisits that are written as nearly all are; the others get none.

What it says is what `fields` and `formats.exchange` say, without taking the record apart in Python.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from crawlmill.formats.exchange import Detected, Exchanges
from crawlmill.formats.record import Record
from crawlmill.indexes.cdx.fields import stored_length
from crawlmill.urls.surt import urlkey

__all__ = ["QuickLine", "QuickLines", "place_fields", "quick_start"]

_PEEKED: Final = 4 << 10  # in which the HTTP header of a usual response ends
_MAX_METADATA: Final = 64 << 10


class QuickLine(NamedTuple):
    """A line, but for what was detected of its page; `front` and `back` are of its JSON."""

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
    """What `start`, the native core's `capture_start`, says of a record; None of an unusual one."""
    kind = record.type
    if kind not in ("response", "revisit") or record.format != "warc" or record.block.streamed:
        return None
    found: tuple[Any, ...] | None = start(record.head, record.block.peek(_PEEKED), kind == "revisit")
    return found


def place_fields(length: str | int, offset: str | int, filename: str) -> str:
    """The fields of a line that say where its record is, between `front` and `back`; `filename` is JSON."""
    return f', "length": "{length}", "offset": "{offset}", "filename": {filename}'


class QuickLines:
    """Makes the lines of one archive.

    Args:
        native: The native core.
        filename: What the lines call the archive.
    """

    def __init__(self, native: Any, filename: str) -> None:
        self._start, self._detected = native.capture_start, native.crawler_detected
        self._filename = json.dumps(filename)

    def take(self, record: Record, exchanges: Exchanges[Any]) -> bool:
        """Hand the line of a record to those that wait for metadata; False, and nothing is done, if it is unusual."""
        found = quick_start(record, self._start)
        if found is None:
            return False
        key, timestamp, front, back, url, own, other = found
        place = place_fields(stored_length(record), record.offset, self._filename)
        line = QuickLine(urlkey(url) if key is None else key, timestamp, front + place, back)
        exchanges.wait(line, url, [each for each in (own, other) if each])
        return True

    def describe(self, record: Record, exchanges: Exchanges[Any]) -> bool:
        """Hand on what a metadata record says; False, and nothing is done, if it is unusual."""
        block = record.block
        if record.format != "warc" or block.streamed or block.length > _MAX_METADATA:
            return False
        found = self._detected(record.head, block.tail(0, _MAX_METADATA))
        if found is None:
            return False
        charset, languages, named, url = found
        if charset or languages:
            exchanges.tell(Detected(charset, tuple(languages)), set(named), url)
        return True
