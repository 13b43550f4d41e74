"""The index lines of records that are copied: what the records say, and where they are in the output.

A line is that of `crawlmill index` on the output file. What the index of the source knew beyond that is kept: charset
and languages, which were said by the metadata record beside the listed one, and fields that no record says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.extraction.listed import Listed
from crawlmill.formats.record import Record
from crawlmill.indexes.capture import Capture
from crawlmill.indexes.cdx.archive import ALL_TYPES, IndexOptions, archive_captures
from crawlmill.indexes.cdx.lines import cdxj_line
from crawlmill.indexes.cdx.quick import QuickLine, place_fields, quick_start
from crawlmill.urls.surt import urlkey

__all__ = ["EVERY_TYPE", "CaptureLine", "QuickCapture", "line_of"]

EVERY_TYPE: Final = IndexOptions(ALL_TYPES)
"""A record that is listed is indexed, whatever its type is."""

_AFTER: Final = ("truncated", "redirect")


class QuickCapture:
    """The line of a usual record, by the native core."""

    __slots__ = ("_back", "_front", "_key", "timestamp", "url")

    def __init__(self, key: str, timestamp: str, front: str, back: str, url: str) -> None:
        self.url, self.timestamp = url, timestamp
        self._key, self._front, self._back = key, front, back

    def text(self, listed: Listed, filename: str, offset: int, length: int) -> str:
        """The line, without its end."""
        back = self._back
        if listed.more:
            back += "".join(f", {json.dumps(name)}: {json.dumps(value)}" for name, value in listed.more.items())
        front = self._front + place_fields(length, offset, json.dumps(filename))
        return QuickLine(self._key, self.timestamp, front, back).text(listed.detected)


class CaptureLine:
    """The line of any record."""

    __slots__ = ("_capture",)

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    @property
    def url(self) -> str:
        """The URL of the record."""
        return str(self._capture.fields["url"])

    @property
    def timestamp(self) -> str:
        """The 14 digits of the record's date."""
        return self._capture.timestamp

    def text(self, listed: Listed, filename: str, offset: int, length: int) -> str:
        """The line, without its end."""
        capture = self._capture
        fields = {**capture.fields, "length": str(length), "offset": str(offset), "filename": filename}
        after = {name: fields.pop(name) for name in _AFTER if name in fields}
        if listed.detected is not None:
            charset, languages = listed.detected
            if charset:
                fields.setdefault("charset", charset)
            if languages:
                fields.setdefault("languages", ",".join(languages))
        for more in (after, listed.more):
            for name, value in more.items():
                fields.setdefault(name, value)
        return cdxj_line(capture.urlkey, capture.timestamp, fields)


def line_of(record: Record) -> QuickCapture | CaptureLine | None:
    """The line of a record that is held whole; None of one that has none, as a warcinfo.

    Raises:
        FormatError: It cannot be indexed: it has no URL, or no date.
    """
    native = core.native()
    found = quick_start(record, native.capture_start) if native is not None else None
    if found is not None:
        key, timestamp, front, back, url, *_ = found
        return QuickCapture(urlkey(url) if key is None else key, timestamp, front, back, url)
    capture = next(archive_captures(_Single(record), "", EVERY_TYPE), None)
    return None if capture is None else CaptureLine(capture)


class _Single:
    """One record as the records of an archive."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __iter__(self) -> Iterator[Record]:
        yield self._record

    def is_whole(self, record: Record) -> bool:
        """As it was proven before."""
        record.block.drain()
        return True

    def lose(self, error: FormatError, record: Any) -> None:
        """Report to the caller. Raises: FormatError."""
        raise error.located(offset=record.offset)
