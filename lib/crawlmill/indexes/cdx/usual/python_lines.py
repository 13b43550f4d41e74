"""CDXJ lines of usual responses and revisits, made in Python from the first bytes of their records.

A record is usual if

* its header is usual (see `formats.warc.layouts`);
* what a line needs is there once: URL, date, an HTTP message, the SHA-1 of its payload; and the payload was not cut;
* its HTTP header ends within the bytes that are there, its lines end in CR LF, and it begins with a version and a
  status; its media type, and for a redirect the Location, which is absolute, are ASCII and not folded.

For all others nothing is done: `indexes.cdx.archive` takes them, and makes the same lines of usual ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from json.encoder import encode_basestring_ascii as _encode
from typing import Final, Generic, TypeVar, cast

from crawlmill.formats.exchange import Detected, Exchanges, detected_in, ids_of
from crawlmill.formats.record import Record
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.formats.warc.heads import HeadCounter
from crawlmill.formats.warc.layouts import Layouts, UsualHead
from crawlmill.indexes.cdx.fields import stored_length
from crawlmill.indexes.cdx.usual.quick import QuickLine, place_fields
from crawlmill.urls.surt import urlkey

__all__ = ["PythonLines"]

_STATUS: Final = re.compile(rb"HTTP/[0-9.]+ ([0-9]{3})(?:[ \r]|\Z)")
_MEDIA_TYPE: Final = re.compile(rb"\ncontent-type[ \t]*:[ \t]*(?:([!-:<-~]+)(?:[; \t\r]|\Z))?", re.IGNORECASE)
_LOCATION: Final = re.compile(
    rb"\nlocation[ \t]*:[ \t]*(?:([a-z][a-z0-9+.-]*:[!-Z\\^-~]*)(?:\r\n(?![ \t])|\Z))?", re.IGNORECASE
)
"""The first field of that name; without its value if that is not ASCII, folded, relative or has brackets."""

_FIELDS: Final = (
    "warc-target-uri",
    "warc-date",
    "content-type",
    "warc-truncated",
    "warc-concurrent-to",
    "warc-record-id",
    "warc-payload-digest",
    "warc-identified-payload-type",
    "warc-refers-to",
)
_PEEKED: Final = 4 << 10  # contains the HTTP header of an ordinary response

T = TypeVar("T")


class PythonLines(Generic[T]):
    """Makes the lines of one archive, and keeps the items of other records in order among them.

    Args:
        filename: The name of the archive in the lines.
        types: The types of records to index.
    """

    def __init__(self, filename: str, types: frozenset[str]) -> None:
        self._filename, self._types = _encode(filename), types
        self._exchanges: Exchanges[QuickLine | T] = Exchanges()
        self._released: list[str | tuple[T, Detected | None]] = []
        self.layouts = Layouts(_FIELDS)
        self.counter: HeadCounter = self
        """What may count records of which only heads are read."""

    def count(self, head: UsualHead, data: bytes, place: tuple[int, int]) -> bool:
        """See `HeadCounter.count`."""
        kind, start, length, values = head
        if values is None:
            return False
        block = data[start : start + length]
        if kind == "metadata":
            return kind not in self._types and len(block) == length and self._describe(values, block)
        is_page = kind in ("response", "revisit") and kind in self._types
        return is_page and self._take(kind, values, block, *place)

    def take(self, record: Record) -> bool:
        """Add a record to index; returns False, and does nothing, if its form is unusual."""
        kind = record.type
        if kind not in ("response", "revisit") or record.format != "warc" or record.block.streamed:
            return False
        head = self.layouts.read(record.head)
        if head is None or head[3] is None:
            return False
        return self._take(kind, head[3], record.block.peek(_PEEKED), stored_length(record), record.offset)

    def add(self, record: Record, item: T) -> None:
        """Add the item of a record that metadata may follow."""
        self._exchanges.wait(item, record.uri, ids_of(record))

    def pass_by(self, item: T) -> None:
        """Add the item of a record that has no metadata."""
        self._exchanges.pass_by(item)

    def describe(self, record: Record) -> None:
        """Add a metadata record."""
        self._exchanges.describe(record)

    def ready(self) -> Iterator[bytes | tuple[T, Detected | None]]:
        """Yield what does not have to wait any longer: lines, and items with what was detected for their pages."""
        self._release(self._exchanges.take())
        return self._given()

    def rest(self) -> Iterator[bytes | tuple[T, Detected | None]]:
        """Yield everything else, after the last record."""
        self._release(self._exchanges.rest())
        return self._given()

    def _take(self, kind: str, values: tuple[str, ...], block: bytes, length: int | str, offset: int) -> bool:
        url, date, content_type, cut, concurrent, own, digest, identified, _ = values
        timestamp, end = timestamp_of(date), block.find(b"\r\n\r\n")
        if not url or url[0] == "<" or timestamp is None or not content_type.startswith("application/http") or end < 0:
            return False
        if not digest.startswith("sha1:") or digest[5:6] in ("", " ") or cut:
            return False
        http = block[:end]
        status = _STATUS.match(http)
        mime = "warc/revisit" if kind == "revisit" else _value(_MEDIA_TYPE, http, "unk")
        if status is None or mime is None or not http.count(b"\r\n") == http.count(b"\n") == http.count(b"\r"):
            return False
        code, back = status[1].decode("ascii"), ""
        if code[0] == "3" and code != "304":
            location = _value(_LOCATION, http, "")
            if location is None:
                return False
            back = location and f', "redirect": {_encode(location)}'
        named = f', "mime-detected": {_encode(identified)}' if identified and kind != "revisit" else ""
        front = (
            f'{{"url": {_encode(url)}, "mime": {_encode(mime)}{named}, "status": "{code}", '
            f'"digest": {_encode(digest[5:])}{place_fields(length, offset, self._filename)}'
        )
        line = QuickLine(urlkey(url), timestamp, front, back)
        self._exchanges.wait(line, url, [each for each in (own, concurrent) if each])
        if self._exchanges.is_ready:
            self._release(self._exchanges.take())
        return True

    def _describe(self, values: tuple[str, ...], block: bytes) -> bool:
        url, _, content_type, cut, concurrent, _, _, _, referred = values
        if url[:1] == "<" or content_type != "application/warc-fields" or cut:
            return False
        if (said := detected_in(block)) is not None:
            self._exchanges.tell(said, {each for each in (referred, concurrent) if each}, url or None)
            self._release(self._exchanges.take())
        return True

    def _release(self, items: Iterable[tuple[QuickLine | T, Detected | None]]) -> None:
        for item, found in items:
            self._released.append(f"{item.text(found)}\n" if isinstance(item, QuickLine) else (item, found))

    def _given(self) -> Iterator[bytes | tuple[T, Detected | None]]:
        released, self._released = self._released, []
        for kind, items in groupby(released, type):
            if kind is str:
                yield "".join(cast(Iterable[str], items)).encode("ascii")
            else:
                yield from cast(Iterable[tuple[T, Detected | None]], items)


def _value(field: re.Pattern[bytes], http: bytes, absent: str) -> str | None:
    """The value of a field of an HTTP header; None if it is unusual."""
    found = field.search(http)
    if found is None:
        return absent
    return None if found[1] is None else found[1].decode("ascii")
