"""Verifies the bytes of a range and finds what to copy: members as they are, plain records, contents of frames.

Nearly every range is one gzip member with one WARC record, which is handled here. Everything else is read by `Reading`,
as in a job, which reports the errors. A range with any loss is not copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from crawlmill.codecs.gzip_member import MAGIC
from crawlmill.codecs.inflate import inflate_whole, native_inflater
from crawlmill.codecs.zstd import begins_zstd
from crawlmill.errors import FormatError, Problem, SourceError
from crawlmill.extraction.frames import inflate_frame, inflate_frames
from crawlmill.extraction.held import HeldRange
from crawlmill.extraction.lines import EVERY_TYPE, CaptureLine, QuickCapture, line_of, quick_capture
from crawlmill.extraction.listed import Listed
from crawlmill.extraction.ranges import Fetched
from crawlmill.formats.record import Block, Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.warc.record import WarcRecord, classify, quick_head
from crawlmill.indexes.capture import Capture
from crawlmill.indexes.cdx.archive import archive_captures
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.ledger.row import LedgerRow
from crawlmill.storage import redact
from crawlmill.storage.interface import Opener

__all__ = ["FORMATS", "Member", "Proven", "Seen", "prove"]

FORMATS: Final = ("warc", "arc", "wat", "wet")
_END: Final = b"\r\n\r\n"
_EVERYTHING: Final = Selection(frozenset(FORMATS))


@dataclass(frozen=True, slots=True)
class Seen:
    """The facts about a record for its provenance record: target URI, date as written, and id."""

    uri: str | None
    date: str | None
    id: str | None

    @classmethod
    def of(cls, record: Record) -> Seen:
        """The facts that a record states."""
        name = record.get("WARC-Record-ID") if isinstance(record, WarcRecord) else None
        return cls(record.uri, record.date, name)


@dataclass(slots=True)
class Member:
    """What to copy: `length` bytes of the range from `start`, a gzip member as it is or a plain record.

    `closing` are line ends to append to a plain record if the range lacks them. The content of a Zstandard frame is
    copied like a plain record: then these are the bytes of the content.
    """

    start: int
    length: int
    is_arc: bool
    closing: bytes | None = None
    lines: list[QuickCapture | CaptureLine] = field(default_factory=list)

    @property
    def is_plain(self) -> bool:
        """Whether it must be compressed."""
        return self.closing is not None


@dataclass(slots=True)
class Proven:
    """The result for a range: its ledger row, and what to copy from it.

    `data` contains the bytes of the members. `_first` is its first record, or the head of that.
    """

    row: LedgerRow
    members: list[Member] = field(default_factory=list)
    _first: Seen | Record | bytes | None = None
    data: bytes | BinaryIO = b""

    @property
    def first(self) -> Seen | None:
        """The facts about its first record."""
        if isinstance(self._first, bytes):
            self._first = WarcRecord("", self._first, Block(0, b"", 0), offset=0, length=0)
        if isinstance(self._first, Record):
            self._first = Seen.of(self._first)
        return self._first

    @property
    def url(self) -> str | None:
        """The target URI of its first record."""
        if self.members and (lines := self.members[0].lines):
            return lines[0].url
        return None if self.first is None else self.first.uri

    def hold(self, contents: BinaryIO, places: dict[int, tuple[int, int]]) -> None:
        """Copy these contents instead of the bytes of members; `places` are by the offsets of members."""
        start = self.row.offset or 0
        for member in self.members:
            member.start, member.length = places[start + member.start]
            member.closing = b""
        self.close()
        self.data = contents

    def lose(self, error: FormatError | SourceError) -> None:
        """Copy nothing of it, because of this error."""
        self.row.lose(Problem.of(error))
        self.row.records, self.members = 0, []

    def close(self) -> None:
        """Release the bytes."""
        if not isinstance(self.data, bytes):
            self.data.close()


def prove(item: Input, listed: Listed, fetched: Fetched, storage: Opener, options: ReadOptions) -> Proven:
    """Verify a range and find what to copy.

    Args:
        item: The range.
        listed: What its line says about it.
        fetched: Its bytes.
        storage: Opens its file again, if the range is not enough.
        options: How to read it.
    """
    row = LedgerRow.of(item)
    if isinstance(fetched, SourceError):
        unread = Proven(row)
        unread.lose(fetched.located(source=redact(item.location)))
        return unread
    proven: Proven | None = None
    if isinstance(fetched, bytes) and len(fetched) == item.length and not options.verify:
        proven = _usual(row, item, fetched, storage)
    if proven is None:
        proven = _read(item, fetched, storage, options)
        proven.data = fetched
        if proven.members and begins_zstd(_first_bytes(fetched)):
            proven.hold(*inflate_frames(item, HeldRange(item, fetched, storage)))
    if proven.members and not listed.is_of(proven.url):
        error = SourceError(
            "the record here is of another URL than the listed one",
            reason="not-found",
            expected=listed.url or listed.key,
            actual=proven.url,
            offset=item.offset,
            source=redact(item.location),
        )
        proven.lose(error)
    return proven


def _first_bytes(fetched: bytes | BinaryIO) -> bytes:
    if isinstance(fetched, bytes):
        return fetched[:4]
    fetched.seek(0)
    return fetched.read(4)


def _usual(row: LedgerRow, item: Input, data: bytes, storage: Opener) -> Proven | None:
    """The result for a range that is one member or frame with one WARC record and nothing else; None for any other."""
    native = native_inflater()
    found = None if native is None else native.member_capture(data)
    if found is not None:  # the same as below, for responses and revisits, without a copy of their content
        row.format, row.records, row.bytes = "warc", 1, len(data)
        return Proven(row, [Member(0, len(data), is_arc=False, lines=[quick_capture(*found[2:])])], found[1], data)
    member = Member(0, len(data), is_arc=False)
    if data.startswith(MAGIC):
        content = inflate_whole(data)
    elif begins_zstd(data):
        content = inflate_frame(item, HeldRange(item, data, storage), lambda: setattr(row, "verified", False))
        member.closing = b""
    else:
        content = None
    head = quick_head(content) if content is not None else None
    if content is None or head is None:
        return None
    kind, start, length = head
    if start + length + 4 != len(content) or not content.endswith(_END) or kind == "warcinfo":
        return None
    block = Block(length, content, start)
    record = WarcRecord(kind, bytes(content[:start]), block, offset=item.offset or 0, length=len(data))
    try:
        line = line_of(record)
    except FormatError:
        return None  # read again in the usual way, which reports it
    row.format, row.records, row.bytes = classify(record), 1, len(data)
    member.lines = [line] if line else []
    if member.is_plain:
        member.length, data = len(content), bytes(content)
    return Proven(row, [member], record, data)


def _read(item: Input, fetched: bytes | BinaryIO, storage: Opener, options: ReadOptions) -> Proven:
    reading = Reading(item, HeldRange(item, fetched, storage), options, _EVERYTHING, streamed=True)
    passing = _Passing(reading)
    captures: dict[str, list[Capture]] = {}
    for capture in archive_captures(passing, "", EVERY_TYPE):
        captures.setdefault(capture.fields["offset"], []).append(capture)
    row, start = reading.row, item.offset or 0
    proven = Proven(row, [], passing.first)
    if row.lost:
        row.records = 0
        return proven
    for member in passing.members:
        member.lines += [CaptureLine(capture) for capture in captures.get(str(member.start), [])]
        member.start -= start
        proven.members.append(member)
    return proven


class _Passing:
    """The records of a reading, whose places it notes; they are not kept in memory."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.members: list[Member] = []
        self.first: Seen | None = None

    def __iter__(self) -> Iterator[Record]:
        for record in self._reading:
            self.first = self.first or Seen.of(record)
            yield record
            closing = record.closing if record.is_plain else None
            if closing is not None or not self.members or self.members[-1].start != record.offset:
                is_arc = not isinstance(record, WarcRecord)
                self.members.append(Member(record.offset, -1, is_arc, closing))
            # The length of a streamed record is known once it has been read.
            if record.length is not None:
                self.members[-1].length = record.length
            else:
                self._late(record)

    def _late(self, record: Record) -> None:
        if self._reading.is_whole(record) and record.length is not None:
            self.members[-1].length = record.length

    def is_whole(self, record: Record) -> bool:
        """See `Reading.is_whole`."""
        return self._reading.is_whole(record)

    def lose(self, error: FormatError, record: Record) -> None:
        """See `Reading.lose`."""
        self._reading.lose(error, record)
