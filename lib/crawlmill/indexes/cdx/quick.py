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

__all__ = ["QuickLine", "QuickLines"]

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
        kind = record.type
        if kind not in ("response", "revisit") or record.format != "warc" or record.block.streamed:
            return False
        found = self._start(record.head, record.block.peek(_PEEKED), kind == "revisit")
        if found is None:
            return False
        key, timestamp, front, back, url, own, other = found
        front += f', "length": "{stored_length(record)}", "offset": "{record.offset}", "filename": {self._filename}'
        line = QuickLine(urlkey(url) if key is None else key, timestamp, front, back)
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
