"""Extracts the WAT or WET records of listed pages from the files next to the listed ones, each of which is read once.

`…/warc/NAME.warc.gz` belongs to `…/wat/NAME.warc.wat.gz` and `…/wet/NAME.warc.wet.gz`; without a folder `warc`, all
three are in the same folder. The record about a listed one is found

* in a WAT file by the offset that it states, if it names the listed file; otherwise by URL and date, if it describes a
  page (a response, a revisit or a resource);
* in a WET file by URL and date, as a conversion record.

URLs are compared by urlkey; a date that is not in the list is not compared.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Final

from crawlmill.errors import FormatError, Problem, SourceError
from crawlmill.extraction.lines import line_of
from crawlmill.extraction.listed import Listed, listed_of
from crawlmill.extraction.members import Member, Proven, Seen, prove
from crawlmill.extraction.output import OutputFile
from crawlmill.extraction.ranges import fetch_ranges
from crawlmill.extraction.tee import Tee
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.indexes.cdx.archive import DEFAULT_TYPES
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import Storage, redact
from crawlmill.urls.surt import urlkey

__all__ = ["described_place", "extract_siblings", "sibling_of"]

_TYPES: Final = {"wat": "metadata", "wet": "conversion"}
_NAME: Final = re.compile(r"(?P<folder>.*/)?(?P<name>[^/?]*)\.warc(?P<gz>\.gz)?(?P<query>\?.*)?", re.DOTALL)
_FOLDER: Final = re.compile(r"(.*/)?warc/", re.DOTALL)


def sibling_of(location: str, kind: str) -> str | None:
    """The location of the WAT or WET file for a WARC file; None if its name is not that of a WARC file."""
    found = _NAME.fullmatch(location)
    if found is None:
        return None
    folder, gz, query = found["folder"] or "", found["gz"] or "", found["query"] or ""
    if inside := _FOLDER.fullmatch(folder):
        folder = f"{inside[1] or ''}{kind}/"
    return f"{folder}{found['name']}.warc.{kind}{gz}{query}"


def extract_siblings(
    task: list[tuple[int, Input]], storage: Storage, options: ReadOptions, kind: str, output: OutputFile
) -> Iterator[tuple[int, LedgerRow]]:
    """Copy the records for the pages of a task's captures.

    Args:
        task: The captures with their ranks; those of a file are consecutive.
        storage: Opens the files.
        options: How to read them.
        kind: `wat` or `wet`.
        output: The file for the records.

    Returns:
        The ledger rows; that of a capture without such a record has 0 records.
    """
    for location, group in groupby(task, key=lambda pair: pair[1].location):
        captures = list(group)
        sibling = sibling_of(location, kind)
        if sibling is None:
            error = SourceError(
                f"the name of this file does not say where its {kind.upper()} file is",
                reason="not-found",
                expected="NAME.warc.gz",
                source=redact(location),
            )
            yield from ((rank, _lost(item, [Problem.of(error)])) for rank, item in captures)
            continue
        wanted, rows = _Wanted(kind, location), []
        for rank, item, pages, failed in _known(captures, storage, options, by_place=kind == "wat"):
            if failed is not None:
                rows.append((rank, item, failed))
                continue
            row = LedgerRow.of(item)
            row.format = kind
            rows.append((rank, item, row))
            for listed in pages:
                wanted.add(item, listed, row)
        problems = _copy(sibling, storage, options, wanted, output) if wanted else []
        for rank, item, row in rows:
            missing = problems and not row.records and not row.lost
            yield rank, _lost(item, problems) if missing else row


def _known(
    captures: list[tuple[int, Input]], storage: Storage, options: ReadOptions, *, by_place: bool
) -> Iterator[tuple[int, Input, list[Listed], LedgerRow | None]]:
    """The pages of each capture; if the list does not name its page, it is taken from its own records.

    The row is set for a capture whose page cannot be determined.
    """
    asked: list[tuple[int, Input]] = []
    for rank, item in captures:
        listed = listed_of(item)
        if listed.names_page or by_place:
            yield rank, item, [listed], None
        else:
            asked.append((rank, item))
    for rank, item, fetched in fetch_ranges(asked, storage):
        with closing(prove(item, Listed(), fetched, storage, options)) as proven:
            first = proven.first
            if first is None or not proven.members:
                yield rank, item, [], proven.row
                continue
            # A range may contain several pages, and several records of one: its request, response and metadata.
            said = {(line.url, line.timestamp) for member in proven.members for line in member.lines}
            pages = [Listed(url=url, timestamp=timestamp) for url, timestamp in sorted(said)]
            yield rank, item, pages or [Listed(url=first.uri, timestamp=timestamp_of(first.date))], None


@dataclass(slots=True)
class _Page:
    """A page of a capture, or all pages of its range, whose records are wanted."""

    item: Input
    listed: Listed
    row: LedgerRow
    _taken: set[int | None] = field(default_factory=set)

    @property
    def end(self) -> int:
        """The offset after the range."""
        return (self.item.offset or 0) + (self.item.length or 0)

    def takes(self, offset: int | None = None) -> bool:
        """Whether a record is its first: of the page, or for an offset in a range that names no page."""
        place = None if self.listed.names_page else offset
        if place in self._taken:
            return False
        self._taken.add(place)
        return True


class _Wanted:
    """The captures of one file whose records have not been found yet."""

    def __init__(self, kind: str, location: str) -> None:
        self.kind, self._name = kind, location.partition("?")[0].rpartition("/")[2]
        self._by_key: dict[str, list[_Page]] = {}
        self._pages: list[_Page] = []

    def __bool__(self) -> bool:
        return bool(self._pages)

    def add(self, item: Input, listed: Listed, row: LedgerRow) -> None:
        """Add the record for a page of a capture."""
        page = _Page(item, listed, row)
        self._pages.append(page)
        if (key := listed.urlkey) is not None:
            self._by_key.setdefault(key, []).append(page)

    @cached_property
    def _starts(self) -> list[int]:
        """The offsets of the ranges, once all are known."""
        self._pages.sort(key=lambda page: page.item.offset or 0)
        return [page.item.offset or 0 for page in self._pages]

    def _at(self, offset: int) -> _Page | None:
        """The capture whose range contains a record; a range may contain several, and each is used once."""
        number = bisect_right(self._starts, offset)
        while number and offset < (page := self._pages[number - 1]).end:
            if page.takes(offset):
                return page
            number -= 1
        return None

    def take(self, record: Record) -> _Page | None:
        """The capture that a record is for; it is then no longer wanted."""
        uri = record.uri
        same_page = self._by_key.get(urlkey(uri)) if uri else None
        date = record.date
        if self.kind == "wat":
            if not same_page and len(self._by_key) == len(self._pages):
                return None  # all have their pages: no need to parse the JSON of other records
            described = _described(record, self._name)
            if described is None:
                return None
            offset, date = described
            if offset is not None:
                return self._at(offset)
        stamp = timestamp_of(date)
        return next((page for page in same_page or () if page.listed.timestamp in (None, stamp) and page.takes()), None)


def _described(record: Record, name: str) -> tuple[int | None, str | None] | None:
    """Offset and date of the record that a WAT record describes; None if it cannot be a wanted one.

    The offset is None if the WAT record names another file than `name`, or has no offset.
    """
    try:
        said = json.loads(record.block.tail(0, record.max_body))
        container = said.get("Container") or {}
        envelope = said["Envelope"]
        header = envelope.get("WARC-Header-Metadata") or envelope.get("ARC-Header-Metadata") or {}
        kind, date = header.get("WARC-Type", "response"), header.get("WARC-Date", header.get("Date"))
        offset, of_file = container.get("Offset"), str(container.get("Filename", "")).rpartition("/")[2]
    except (FormatError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if of_file == name and isinstance(offset, str) and offset.isdecimal():
        return int(offset), None
    return (None, date if isinstance(date, str) else None) if kind in DEFAULT_TYPES else None


def described_place(record: Record, name: str) -> int | None:
    """The offset, in the file `name`, of the record that a WAT record describes; None if it does not state it."""
    found = _described(record, name)
    return None if found is None else found[0]


def _copy(sibling: str, storage: Storage, options: ReadOptions, wanted: _Wanted, output: OutputFile) -> list[Problem]:
    """Copy the wanted records of a file; returns the losses in it."""
    tee = Tee(storage, sibling)
    item = Input(sibling, sibling)
    selection = Selection(None, frozenset({_TYPES[wanted.kind]}))
    reading = Reading(item, tee, options, selection)
    for record in reading:
        found = wanted.take(record)
        if found is None:
            tee.forget(record.offset)
            continue
        row = found.row
        length = record.length or 0
        try:
            data = tee.bytes_at(record.offset, length)
            line = line_of(record)
        except (FormatError, SourceError) as error:
            row.lose(Problem.of(error.located(source=redact(sibling))))
            continue
        member = Member(
            0, length, is_arc=False, closing=record.closing if record.is_plain else None, lines=[line] if line else []
        )
        proven = Proven(row, [member], Seen.of(record), data)
        output.index(output.add(Input(sibling, sibling, record.offset, length), Listed(), proven))
        row.records, row.bytes = row.records + 1, row.bytes + length
        tee.forget(record.offset + length)
    return reading.row.problems


def _lost(item: Input, problems: list[Problem]) -> LedgerRow:
    row = LedgerRow.of(item)
    for problem in problems:
        row.lose(problem)
    return row
