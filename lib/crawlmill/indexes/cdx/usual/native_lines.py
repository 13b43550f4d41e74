"""CDXJ lines made by the native core, for responses and revisits in the usual form only.

They are the same lines as those of `fields` and `formats.exchange`, without parsing the record in Python. If the native
core also reads the archive, such records do not even become Python objects: `NativeLines.counter` processes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

from crawlmill.formats.exchange import Detected, detected, ids_of, references_of
from crawlmill.formats.record import Record
from crawlmill.indexes.cdx.fields import stored_length
from crawlmill.indexes.cdx.lines import detected_json
from crawlmill.urls.surt import urlkey_bytes

__all__ = ["NativeLines"]

_PEEKED: Final = 4 << 10  # contains the HTTP header of an ordinary response
_MAX_METADATA: Final = 64 << 10

T = TypeVar("T")


class NativeLines(Generic[T]):
    """Makes the lines of one archive, and keeps the items of other records in order among them.

    Args:
        native: The native core.
        filename: The name of the archive in the lines.
        types: The types of records to index.
        extra: Fields from `EXTRA_FIELDS` that the lines also have.
    """

    def __init__(self, native: Any, filename: str, types: frozenset[str], extra: tuple[str, ...] = ()) -> None:
        self.counter = native.CaptureLines(json.dumps(filename).encode(), list(types), list(extra))
        """What may count records: it makes lines of them."""

        self._kept: dict[int, T] = {}
        self._number = 0

    def take(self, record: Record) -> bool:
        """Add a record to index; returns False, and does nothing, if its form is unusual."""
        kind = record.type
        if kind not in ("response", "revisit") or record.format != "warc" or record.block.streamed:
            return False
        length = stored_length(record)
        if not length:
            return False
        start = (record.head, record.block.peek(_PEEKED), kind == "revisit", (int(length), record.offset))
        taken = self.counter.take(*start)
        if isinstance(taken, bytes):  # an unusual URL
            taken = self.counter.take(*start, urlkey_bytes(taken))
        return bool(taken)

    def add(self, record: Record, item: T) -> None:
        """Add the item of a record that metadata may follow."""
        self._keep(item, record.uri, ids_of(record))

    def pass_by(self, item: T) -> None:
        """Add the item of a record that has no metadata."""
        self._keep(item, None, None)

    def describe(self, record: Record) -> None:
        """Add a metadata record."""
        block = record.block
        usual = record.format == "warc" and not block.streamed and block.length <= _MAX_METADATA
        if usual and self.counter.describe(record.head, block.tail(0, _MAX_METADATA)):
            return
        found = detected(record)
        if found is not None:
            named = [_bytes(each) for each in references_of(record)]
            uri = record.uri
            self.counter.tell(detected_json(found).encode(), named, None if uri is None else _bytes(uri))

    def ready(self) -> Iterator[bytes | tuple[T, Detected | None]]:
        """Yield what does not have to wait any longer: lines, and items with what was detected for their pages."""
        return self._given(self.counter.ready())

    def rest(self) -> Iterator[bytes | tuple[T, Detected | None]]:
        """Yield everything else, after the last record."""
        return self._given(self.counter.rest())

    def _keep(self, item: T, uri: str | None, ids: list[str] | None) -> None:
        self._kept[self._number] = item
        known = None if ids is None else [_bytes(each) for each in ids]
        self.counter.keep(self._number, None if uri is None else _bytes(uri), known)
        self._number += 1

    def _given(self, ready: Iterable[Any]) -> Iterator[bytes | tuple[T, Detected | None]]:
        for each in ready:
            if isinstance(each, bytes):
                yield each
            else:
                number, found = each
                yield self._kept.pop(number), None if found is None else _of_json(found)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _of_json(text: bytes) -> Detected:
    fields = json.loads(b"{%s}" % text[2:])
    return Detected(fields.get("charset"), tuple(filter(None, fields.get("languages", "").split(","))))
