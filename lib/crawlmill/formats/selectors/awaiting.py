"""Holds records back until the crawler's metadata about their page is read, with its languages and charset.

The metadata record comes after the record that it is about (`formats.exchange`). Records of pages that are not selected
take part too, so that their metadata is not attributed to others, but their content is not held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from crawlmill.errors import FormatError
from crawlmill.formats.exchange import Detected, Exchanges
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.selectors.facts import Facts, facts_of

__all__ = ["Awaiting"]

_NOTHING: Final = Detected(None, ())
_MAX_HELD_BYTES: Final = 128 << 20  # beyond this, the oldest go without: their metadata is not where crawlers put it


class Awaiting:
    """Decides on the records of one input, in order.

    Args:
        selection: The selection to apply.
        leave_out: Called with 1 for each record of a wanted type that is not selected.
    """

    def __init__(self, selection: Selection, leave_out: Callable[[int], None]) -> None:
        self._selection, self._leave_out = selection, leave_out
        self._exchanges: Exchanges[tuple[Record, int | None] | None] = Exchanges()
        self._held = 0
        self.described = False
        """Whether a metadata record of the crawler was there."""
        self.waited = False
        """Whether a record had to wait for one."""

    def chosen(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records that are selected."""
        for record in records:
            if self._held + record.content_length > _MAX_HELD_BYTES:
                yield from self._settled(self._exchanges.rest())
            self._take(record)
            yield from self._settled(self._exchanges.take())
        yield from self._settled(self._exchanges.rest())

    def lacking(self) -> FormatError | None:
        """The error if nothing could be decided: records had to wait, but there was no metadata at all."""
        if self.described or not self.waited:
            return None
        return FormatError(
            f"{self._selection.criteria.awaited}: the crawler's metadata record, which answers it, is not in the range",
            reason="unsupported-format",
        )

    def _take(self, record: Record) -> None:
        if record.format != "warc":
            self._pass_by(record)
            return
        facts = facts_of(record)
        if facts.describes:
            self.described = True
            self._exchanges.tell(facts.found or _NOTHING, set(facts.references), facts.url)
        if not facts.awaits_metadata or record.type == "conversion":
            self._pass_by(record)
            return
        given = record if self._may_be_given(record, facts) else None
        self.waited = self.waited or given is not None
        self._held += 0 if given is None else given.content_length
        item = None if given is None else (given, given.content_length)
        self._exchanges.wait(item, facts.url, list(facts.ids))

    def _may_be_given(self, record: Record, facts: Facts) -> bool:
        selection = self._selection
        if not selection.wants(record):
            return False
        if selection.criteria.meets_before(facts) and all(each.takes(record) for each in selection.selectors):
            return True
        self._leave_out(1)
        return False

    def _pass_by(self, record: Record) -> None:
        """Add a record that can be decided at once; it keeps its place among those that wait."""
        if not self._selection.wants(record):
            return
        if self._selection.chooses(record):
            self._exchanges.pass_by((record, None))
        elif record.type not in ("warcinfo", "filedesc"):
            self._leave_out(1)

    def _settled(self, pairs: Iterable[tuple[tuple[Record, int | None] | None, Detected | None]]) -> Iterator[Record]:
        for item, found in pairs:
            if item is None:
                continue
            record, held = item
            self._held -= held or 0
            if held is None or self._selection.criteria.meets_detected(found):
                yield record
            else:
                self._leave_out(1)
