"""Joins the records of one fetch in a WARC: a response, and the crawler's `metadata` record about it.

Common Crawl writes three records for a page: `request`, `response`, and then `metadata`, which names the charset and
the languages detected by its crawler (`application/warc-fields`: `charset-detected`, `languages-cld2`). A metadata
record belongs to the record

* that it names: its `WARC-Refers-To` or `WARC-Concurrent-To` is that record's id, or an id that the record is
concurrent to (the request is named by both);
* or, if it names none, with the same target URI: the last one before it that has no metadata yet.

Records are joined as they are read, and only a limited number is remembered: in real files the two are close together.

    exchanges = Exchanges()
    for record in records:
        if record.type == "metadata":
            exchanges.describe(record)
        else:
            exchanges.add(record, page_of(record))
        yield from exchanges.take()
    yield from exchanges.rest()

Spec: WARC 1.1, sections 5.5, 5.7 and 6.6.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.record import Record
from crawlmill.formats.warc.record import WarcRecord

__all__ = ["DEPTH", "Detected", "Exchanges", "detected", "detected_in", "detected_of", "ids_of", "references_of"]

DEPTH: Final = 32
"""Records that wait for their metadata at a time, and metadata records that wait for theirs."""

_MAX_METADATA: Final = 1 << 20
_MAX_LANGUAGES: Final = 3
_REFERENCES: Final = ("WARC-Refers-To", "WARC-Concurrent-To")

_read_json: Final = json.JSONDecoder().raw_decode  # `json.loads` takes twice as long, as it guesses the encoding
_SAID: Final = re.compile(rb"[\r\n](charset-detected|languages-cld2):([^\r\n]*)")
_BLANKS: Final = " \t\r\n"

T = TypeVar("T")


class Detected(NamedTuple):
    """What the crawler detected for a page: its charset, and up to three languages (ISO 639-3), the main one first."""

    charset: str | None
    languages: tuple[str, ...]


def detected(record: Record) -> Detected | None:
    """Parse a metadata record of Common Crawl's crawler; None for other records, or if it has neither value.

    Values that do not parse are ignored. A streamed record must still be verified by the caller.
    """
    if not (record.content_type or "").lower().startswith("application/warc-fields"):
        return None
    try:
        block = record.block.tail(0, _MAX_METADATA)
    except (FormatError, SourceError):  # too large; or lost, which is reported when reading continues
        return None
    return detected_in(block)


def detected_in(block: bytes) -> Detected | None:
    """Parse the block of a metadata record of Common Crawl's crawler; None if it has neither value."""
    said = dict(_SAID.findall(b"\n" + block))
    return detected_of(
        said.get(b"charset-detected", b"").strip().decode("utf-8", "replace"), said.get(b"languages-cld2")
    )


def detected_of(charset: str | None, languages: str | bytes | None) -> Detected | None:
    """Parse the values of `charset-detected` and `languages-cld2`; None if both are empty."""
    codes = _codes(languages) if languages else ()
    return Detected(charset or None, codes) if charset or codes else None


def _codes(text: str | bytes) -> tuple[str, ...]:
    try:
        json_text = (text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")).strip(_BLANKS)
        found, end = _read_json(json_text)
        if end < len(json_text):
            return ()
        codes = [language["code-iso-639-3"] for language in found["languages"][:_MAX_LANGUAGES]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(code for code in codes if isinstance(code, str) and code)


class _Waiting(Generic[T]):
    """An item and the ids of its record; `open` while metadata for it may still come."""

    __slots__ = ("found", "ids", "item", "open", "uri")

    def __init__(self, item: T, uri: str | None = None, ids: list[str] | None = None) -> None:
        self.item, self.uri, self.ids, self.open = item, uri, ids or (), ids is not None
        self.found: Detected | None = None

    def close(self, found: Detected) -> None:
        self.found, self.open = found, False


class Exchanges(Generic[T]):
    """Joins items, each for one response record, with what was detected for the page; returns them in order.

    Args:
        depth: The largest number of items held back; if metadata is further away than this, an item is returned
        without.
    """

    def __init__(self, depth: int = DEPTH) -> None:
        self._depth = depth
        self._waiting: deque[_Waiting[T]] = deque()
        self._early: OrderedDict[str, Detected] = OrderedDict()  # detections that precede their record, by its id

    def add(self, record: Record, item: T) -> None:
        """Add the item of a record that metadata may follow."""
        self.wait(item, record.uri, ids_of(record))

    def wait(self, item: T, uri: str | None, ids: list[str]) -> None:
        """Add an item by its record's URI and ids: its own id, and those that the record is concurrent to."""
        waiting = _Waiting(item, uri, ids)
        if self._early:
            for each in waiting.ids:
                if each in self._early:
                    waiting.close(self._early.pop(each))
                    break
        self._waiting.append(waiting)

    def pass_by(self, item: T) -> None:
        """Add an item that has no metadata; it keeps its place in the order."""
        self._waiting.append(_Waiting(item))

    def describe(self, record: Record) -> None:
        """Add a metadata record."""
        found = detected(record)
        if found is not None:
            self.tell(found, references_of(record), record.uri)

    def tell(self, found: Detected, named: set[str], uri: str | None) -> None:
        """Add a detection, with the ids of the records that it is about, and the URI of its own record."""
        for waiting in reversed(self._waiting):
            if waiting.open and (
                not named.isdisjoint(waiting.ids) if named else waiting.uri is not None and waiting.uri == uri
            ):
                waiting.close(found)
                return
        for each in named:
            self._early[each] = found
        while len(self._early) > self._depth:
            self._early.popitem(last=False)

    @property
    def is_ready(self) -> bool:
        """Whether there is an item that does not have to wait any longer."""
        waiting = self._waiting
        return bool(waiting) and (not waiting[0].open or len(waiting) > self._depth)

    def take(self) -> Iterator[tuple[T, Detected | None]]:
        """Yield the items that do not have to wait any longer."""
        while self.is_ready:
            first = self._waiting.popleft()
            yield first.item, first.found

    def rest(self) -> Iterator[tuple[T, Detected | None]]:
        """Yield all remaining items, after the last record."""
        while self._waiting:
            first = self._waiting.popleft()
            yield first.item, first.found


def ids_of(record: Record) -> list[str]:
    """The ids of the record and of the records that it is concurrent to."""
    if not isinstance(record, WarcRecord):
        return []
    own = record.get("WARC-Record-ID")
    return [*([own] if own else ()), *record.get_all("WARC-Concurrent-To")]


def references_of(record: Record) -> set[str]:
    """The ids of the records that a metadata record names."""
    return {each for name in _REFERENCES for each in record.get_all(name)} if isinstance(record, WarcRecord) else set()
