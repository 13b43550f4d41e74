"""The index lines of copied records: what the records say, and their places in the output.

A line is the same as from `crawlmill index` for the output file. Values that only the index of the source has are kept:
charset and languages, from the metadata record next to the listed one, and fields that are not from records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from crawlmill import core
from crawlmill.errors import FormatError
from crawlmill.extraction.listed import Listed
from crawlmill.formats.record import Record
from crawlmill.indexes.capture import Capture
from crawlmill.indexes.cdx.archive import ALL_TYPES, IndexOptions, archive_captures
from crawlmill.indexes.cdx.lines import cdxj_line
from crawlmill.indexes.cdx.usual.quick import QuickLine, place_fields, quick_start
from crawlmill.urls.surt import urlkey

__all__ = ["EVERY_TYPE", "CaptureLine", "QuickCapture", "line_of", "quick_capture"]

EVERY_TYPE: Final = IndexOptions(ALL_TYPES)
"""A record that is listed is indexed, whatever its type is."""

_AFTER: Final = ("truncated", "redirect")


_json: Final = lru_cache(maxsize=16)(json.dumps)  # of the names of output files, of which there are few at a time


class QuickCapture:
    """The line of an ordinary record, made by the native core."""

    __slots__ = ("_back", "_front", "_key", "timestamp", "url")

    def __init__(self, key: str, timestamp: str, front: str, back: str, url: str) -> None:
        self.url, self.timestamp = url, timestamp
        self._key, self._front, self._back = key, front, back

    def text(self, listed: Listed, filename: str, offset: int, length: int) -> str:
        """The line, without its line end."""
        back = self._back
        if listed.more:
            back += "".join(f", {json.dumps(name)}: {json.dumps(value)}" for name, value in listed.more.items())
        front = self._front + place_fields(length, offset, _json(filename))
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
        """The line, without its line end."""
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


def quick_capture(key: str | None, timestamp: str, front: str, back: str, url: str) -> QuickCapture:
    """The line of an ordinary record, of which the native core has made the beginning."""
    return QuickCapture(urlkey(url) if key is None else key, timestamp, front, back, url)


def line_of(record: Record) -> QuickCapture | CaptureLine | None:
    """The line of a record that is in memory; None if it has none, like a warcinfo.

    Raises:
        FormatError: It cannot be indexed, since it has no URL or no date.
    """
    native = core.native()
    found = quick_start(record, native.capture_start) if native is not None else None
    if found is not None:
        return quick_capture(*found[:5])
    capture = next(archive_captures(_Single(record), "", EVERY_TYPE), None)
    return None if capture is None else CaptureLine(capture)


class _Single:
    """A single record in the form of an archive's records."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __iter__(self) -> Iterator[Record]:
        yield self._record

    def is_whole(self, record: Record) -> bool:
        """Return True: it was verified before."""
        record.block.drain()
        return True

    def lose(self, error: FormatError, record: Any) -> None:
        """Raise the error for the caller. Raises: FormatError."""
        raise error.located(offset=record.offset)
