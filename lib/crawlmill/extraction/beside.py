"""Finds the WAT and WET records of all pages of a WARC file, in the files next to it, reading only heads.

A WAT or WET record names the WARC record that it was made from (`WARC-Refers-To`). If it does not, a WAT record is
matched by the offset that it states, and a WET record by URL and date. The places are added to the lines of the pages:

    example,a)/ 20260101000000 {"url": …, "recordid": …, "wat": [OFFSET, LENGTH, NAME], "wet": [OFFSET, LENGTH, NAME]}

WAT records about requests, metadata and warcinfo records do not belong to a page, and are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from crawlmill.errors import Problem, SourceError
from crawlmill.extraction.siblings import described_place, sibling_of
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.indexes.cdx.fields import stored_length
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage, redact
from crawlmill.urls.surt import urlkey

__all__ = ["with_siblings"]

_TYPES: Final = {"wat": "metadata", "wet": "conversion"}
_REFERS: Final = re.compile(rb"(?im)^WARC-Refers-To:[ \t]*<?(?:urn:uuid:)?([^>\s]+)")

Watch = Callable[[Reading], Iterable[Record]]


def with_siblings(
    lines: Iterable[bytes],
    location: str,
    kinds: Iterable[str],
    storage: Storage,
    options: ReadOptions,
    *,
    name_of: Callable[[str], str],
    watch: Watch,
    complete: Callable[[], bool],
    lose: Callable[[Problem], None],
) -> Iterator[bytes]:
    """Yield the lines of a WARC file's pages, with the places of their WAT and WET records.

    Args:
        lines: Lines of CDXJ with `recordid`, in chunks; all of them are held in memory.
        location: The WARC file.
        kinds: `wat`, `wet` or both.
        storage: Opens the files.
        options: How to read them.
        name_of: Returns the name, in the lines, of the file at a location.
        watch: Wraps the records of a reading, to watch the progress.
        complete: Whether the lines are all pages of the file; called after they have been read.
        lose: Called with each loss in the files next to it, which has the name of the file.
    """
    pages = [_Page(line) for piece in lines for line in piece.split(b"\n") if line]
    for kind in kinds if pages else ():
        beside = sibling_of(location, kind)
        if beside is None:
            lose(_not_found(f"the name of this file does not say where its {kind.upper()} file is"))
            continue
        reading = Reading(
            Input(beside, beside), storage, options, Selection(frozenset({kind}), frozenset({_TYPES[kind]}))
        )
        strays = _find(kind, watch(reading), reading, pages, location, name_of(beside))
        shown = redact(beside)
        for problem in reading.row.problems:
            known = shown in problem.message
            lose(problem if known else replace(problem, message=f"{shown}: {problem.message}"))
        if strays and complete():
            lose(_not_found(f"{shown}: {strays} records are of no page of the WARC file"))
    return (page.line() for page in pages)


def _find(kind: str, records: Iterable[Record], reading: Reading, pages: list[_Page], location: str, name: str) -> int:
    """Add the places of a file's records to their pages; returns how many records should have a page but have none."""
    by_id = {page.id: page for page in pages if page.id}
    by_place: dict[str, _Page] | None = None
    by_url: dict[tuple[str, str], list[_Page]] | None = None
    strays = 0
    for record in records:
        if not reading.is_whole(record):
            continue
        refers = _REFERS.search(record.head) if isinstance(record, WarcRecord) else None
        page = by_id.get(refers[1].decode("latin-1")) if refers else None
        if page is None and (refers is None or not by_id):
            if kind == "wat":
                by_place = by_place or {page.offset: page for page in pages}
                place = described_place(record, location.partition("?")[0].rpartition("/")[2])
                page = by_place.get(str(place)) if place is not None else None
            else:
                by_url = by_url or _by_url(pages)
                same = by_url.get((urlkey(record.uri or ""), timestamp_of(record.date) or ""), [])
                page = next((each for each in same if kind not in each.found), None)
        if page is not None and kind not in page.found:
            page.found[kind] = (record.offset, int(stored_length(record)), name)
        elif kind == "wet":
            strays += 1
    return strays


def _by_url(pages: list[_Page]) -> dict[tuple[str, str], list[_Page]]:
    found: dict[tuple[str, str], list[_Page]] = {}
    for page in pages:
        found.setdefault((page.key, page.timestamp), []).append(page)
    return found


class _Page:
    """A capture of the WARC file, and the places of its records in other files."""

    __slots__ = ("_fields", "found", "id", "key", "offset", "timestamp")

    def __init__(self, line: bytes) -> None:
        key, timestamp, text = line.split(b" ", 2)
        self.key, self.timestamp, self._fields = key.decode(), timestamp.decode(), text
        fields: dict[str, Any] = json.loads(text)
        self.id, self.offset = fields.get("recordid"), fields.get("offset", "")
        self.found: dict[str, tuple[int, int, str]] = {}

    def line(self) -> bytes:
        more = "".join(f', "{kind}": {json.dumps(place)}' for kind, place in self.found.items()).encode()
        return b"%b %b %b%b}\n" % (self.key.encode(), self.timestamp.encode(), self._fields[:-1], more)


def _not_found(message: str) -> Problem:
    return Problem.of(SourceError(message, reason="not-found"))
