"""Brings together what a WARC holds of one fetch: a response, and the crawler's `metadata` record about it.

Common Crawl writes three records for a page: `request`, `response`, and `metadata` after it, which names the charset
and the languages that its crawler detected (`application/warc-fields`: `charset-detected`, `languages-cld2`). A
metadata record belongs to a record

* that it names: a `WARC-Refers-To` or `WARC-Concurrent-To` of it is the record's id, or one of the ids that the record
  is concurrent to (the request of both);
* or, if it names none, that has the same target URI: the last one before it that has no metadata yet.

Records are joined as they are read, and only so many are remembered: the two stand next to each other in real files.

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
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.record import Record
from crawlmill.formats.warc.record import WarcRecord

__all__ = ["DEPTH", "Detected", "Exchanges", "detected", "detected_of", "ids_of", "references_of"]

DEPTH: Final = 32
"""Records that wait for their metadata at a time, and metadata records that wait for theirs."""

_MAX_METADATA: Final = 1 << 20
_MAX_LANGUAGES: Final = 3
_REFERENCES: Final = ("warc-refers-to", "warc-concurrent-to")

T = TypeVar("T")


class Detected(NamedTuple):
    """What the crawler detected of a page: its charset, and up to three languages (ISO 639-3), the main one first."""

    charset: str | None
    languages: tuple[str, ...]


def detected(record: Record) -> Detected | None:
    """What a metadata record of Common Crawl's crawler says; None of any other record, or if it says nothing of this.

    What does not parse says nothing. A streamed record must still be proven.
    """
    if not (record.content_type or "").lower().startswith("application/warc-fields"):
        return None
    try:
        block = record.block.tail(0, _MAX_METADATA)
    except (FormatError, SourceError):  # it is too large; or lost, and reported by whoever reads on
        return None
    charset: str | None = None
    languages: bytes | None = None
    for line in block.splitlines():
        name, _, value = line.partition(b":")
        if name == b"charset-detected":
            charset = value.strip().decode("utf-8", "replace") or None
        elif name == b"languages-cld2":
            languages = value
    return detected_of(charset, languages)


def detected_of(charset: str | None, languages: str | bytes | None) -> Detected | None:
    """What the values of `charset-detected` and `languages-cld2` say; None if that is nothing."""
    codes = _codes(languages) if languages else ()
    return Detected(charset or None, codes) if charset or codes else None


def _codes(text: str | bytes) -> tuple[str, ...]:
    try:
        found = json.loads(text)
        codes = [language["code-iso-639-3"] for language in found["languages"][:_MAX_LANGUAGES]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    return tuple(code for code in codes if isinstance(code, str) and code)


class _Waiting(Generic[T]):
    """An item, and all that its record is known by; `open` while metadata of it may come."""

    __slots__ = ("found", "ids", "item", "open", "uri")

    def __init__(self, item: T, uri: str | None = None, ids: list[str] | None = None) -> None:
        self.item, self.uri, self.ids, self.open = item, uri, ids or (), ids is not None
        self.found: Detected | None = None

    def close(self, found: Detected) -> None:
        self.found, self.open = found, False


class Exchanges(Generic[T]):
    """Joins items, one for each record of a response, with what was detected of its page; returns them in their order.

    Args:
        depth: Items that are held back at most; a record whose metadata is further away is given without.
    """

    def __init__(self, depth: int = DEPTH) -> None:
        self._depth = depth
        self._waiting: deque[_Waiting[T]] = deque()
        self._early: OrderedDict[str, Detected] = OrderedDict()  # of metadata before its record, by the id named there

    def add(self, record: Record, item: T) -> None:
        """Take in a record that metadata may follow."""
        self.wait(item, record.uri, ids_of(record))

    def wait(self, item: T, uri: str | None, ids: list[str]) -> None:
        """Take in an item by the URI and ids that its record is known by: its own, and those it is concurrent to."""
        waiting = _Waiting(item, uri, ids)
        if self._early:
            for each in waiting.ids:
                if each in self._early:
                    waiting.close(self._early.pop(each))
                    break
        self._waiting.append(waiting)

    def pass_by(self, item: T) -> None:
        """Take in the item of a record that no metadata is about; it keeps its place."""
        self._waiting.append(_Waiting(item))

    def describe(self, record: Record) -> None:
        """Take in a metadata record."""
        found = detected(record)
        if found is not None:
            self.tell(found, references_of(record), record.uri)

    def tell(self, found: Detected, named: set[str], uri: str | None) -> None:
        """Take in what was detected, the ids of the records it is said of, and the URI of who says it."""
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

    def take(self) -> Iterator[tuple[T, Detected | None]]:
        """The items that need not wait any longer."""
        waiting = self._waiting
        while waiting and (not waiting[0].open or len(waiting) > self._depth):
            first = waiting.popleft()
            yield first.item, first.found

    def rest(self) -> Iterator[tuple[T, Detected | None]]:
        """All other items, once the last record was read."""
        while self._waiting:
            first = self._waiting.popleft()
            yield first.item, first.found


def ids_of(record: Record) -> list[str]:
    """The record's own id, and those of the records that it was made together with."""
    if not isinstance(record, WarcRecord):
        return []
    own = record.get("WARC-Record-ID")
    return [*([own] if own else ()), *_all(record, "warc-concurrent-to")]


def references_of(record: Record) -> set[str]:
    """The ids of the records that a metadata record names."""
    return {each for name in _REFERENCES for each in _all(record, name)} if isinstance(record, WarcRecord) else set()


def _all(record: WarcRecord, name: str) -> list[str]:
    """All values of a field, which may be repeated; mostly it is not there."""
    if record.get(name) is None:
        return []
    return [value for given, value in record.named_fields if given.lower() == name]
