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

from crawlmill import core
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
_ID: Final = re.compile(rb', "recordid": "([^"\\]*)"')

Watch = Callable[[Reading], Iterable[Record]]

_Place = tuple[int, int]


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
    pages = [line for piece in lines for line in piece.split(b"\n") if line]
    ids = [_id_of(line) for line in pages]
    columns: list[Iterable[bytes]] = []
    for kind in kinds if pages else ():
        beside = sibling_of(location, kind)
        if beside is None:
            lose(_not_found(f"the name of this file does not say where its {kind.upper()} file is"))
            continue
        reading = Reading(
            Input(beside, beside), storage, options, Selection(frozenset({kind}), frozenset({_TYPES[kind]}))
        )
        places, strays = _find(kind, watch, reading, pages, ids, location)
        columns.append(_texts(kind, places, name_of(beside)))
        shown = redact(beside)
        for problem in reading.row.problems:
            known = shown in problem.message
            lose(problem if known else replace(problem, message=f"{shown}: {problem.message}"))
        if strays and complete():
            lose(_not_found(f"{shown}: {strays} records are of no page of the WARC file"))
    if not columns:
        return (b"%b\n" % line for line in pages)
    return (b"%b%b}\n" % (line[:-1], b"".join(texts)) for line, *texts in zip(pages, *columns, strict=True))


def _find(
    kind: str, watch: Watch, reading: Reading, pages: list[bytes], ids: list[bytes], location: str
) -> tuple[Iterable[_Place | None], int]:
    """The place of each page's record in a file; and how many records should have a page but have none."""
    native = core.native()
    places = _Places(ids) if native is None else native.SiblingPlaces(ids)
    reading.counter = None if native is None else places
    known = any(ids)
    by_place: dict[str, int] | None = None
    by_url: dict[tuple[str, str], list[int]] | None = None
    strays = 0
    for record in watch(reading):
        if not reading.is_whole(record):
            continue
        refers = _REFERS.search(record.head) if isinstance(record, WarcRecord) else None
        number: int | None = None
        if refers and known:
            number = places.number_of(_encoded(refers[1].decode("latin-1")))
        elif kind == "wat":
            by_place = by_place or {_fields_of(line).get("offset", ""): at for at, line in enumerate(pages)}
            place = described_place(record, location.partition("?")[0].rpartition("/")[2])
            number = by_place.get(str(place)) if place is not None else None
        else:
            by_url = by_url or _by_url(pages)
            same = by_url.get((urlkey(record.uri or ""), timestamp_of(record.date) or ""), [])
            number = next((each for each in same if not places.has(each)), None)
        if number is None or not places.put(number, record.offset, int(stored_length(record))):
            strays += 1
    return places.found(), (strays + places.strays) if kind == "wet" else 0


class _Places:
    """Where the records of pages are, by the numbers of the pages: the native core has its own, which reads them too.

    Args:
        ids: The ids of the pages, which may be empty; of two with the same id, the last one has it.
    """

    strays = 0
    """Records that were not passed on, and are of no page."""

    def __init__(self, ids: list[bytes]) -> None:
        numbers = {name: number for number, name in enumerate(ids) if name}
        self.number_of, self._count = numbers.get, len(ids)
        self._found: dict[int, _Place] = {}
        self.has = self._found.__contains__

    def put(self, number: int, offset: int, length: int) -> bool:
        """Add the place of a page's record; returns False if it has one already."""
        place = offset, length
        return self._found.setdefault(number, place) is place

    def found(self) -> Iterable[_Place | None]:
        """For each page the place of its record, or None."""
        return map(self._found.get, range(self._count))


def _texts(kind: str, places: Iterable[_Place | None], name: str) -> Iterator[bytes]:
    """What the places add to the lines of the pages."""
    text = f', "{kind}": [%d, %d, {json.dumps(name).replace("%", "%%")}]'.encode()
    return (b"" if place is None else text % place for place in places)


def _by_url(pages: list[bytes]) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(pages):
        key, timestamp, _ = line.split(b" ", 2)
        found.setdefault((key.decode(), timestamp.decode()), []).append(number)
    return found


def _id_of(line: bytes) -> bytes:
    """The record id in a line, empty without one; quotes in JSON text are escaped, so what is found is the field."""
    found = _ID.search(line)
    return found[1] if found else _encoded(_fields_of(line).get("recordid", "")) if b'"recordid"' in line else b""


def _fields_of(line: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(line.split(b" ", 2)[2])
    return fields


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _not_found(message: str) -> Problem:
    return Problem.of(SourceError(message, reason="not-found"))
