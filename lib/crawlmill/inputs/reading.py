"""Reads one input to its end and accounts for it: opens it, finds its format, gives its records, fills its ledger row.

Nothing that is wrong with an input is raised here. It becomes a problem of the row, reading goes on where it can, and
the row is complete when the iteration has ended. A record is given only once it is proven whole; of one that is
larger than `max_body`, the block's first 64 KiB are kept; its digests are checked all the same.

A range of a SequenceFile is a split of it, by Hadoop's rule: what it owns begins and ends at the file's own marks. To
find out, the first bytes of the file are read, but only where those of the range begin no other archive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from crawlmill.codecs.source import Replay
from crawlmill.errors import FormatError, Problem, SourceError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.digests import check_digests
from crawlmill.formats.record import HEAD_BYTES, MAX_BODY, Record
from crawlmill.formats.sequencefile.records import is_sequencefile, read_key_values
from crawlmill.inputs.ledger import LedgerRow
from crawlmill.inputs.lists import Input
from crawlmill.storage.interface import Opener, Stream
from crawlmill.storage.locations import redact

__all__ = ["ReadOptions", "Reading", "Span", "is_in_sequencefile"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How inputs are read.

    Args:
        heads_only: Prove boundaries and lengths only, and inflate bodies only when they are asked for.
        verify: Check the digests that records hold, besides the checksums of their gzip members.
        max_body: Bytes, after decoding, that are taken of one body.
    """

    heads_only: bool = False
    verify: bool = False
    max_body: int = MAX_BODY


_HELD_RECORDS: Final = 10_000
_HELD_BYTES: Final = 64 << 20


class _UnsupportedError(Exception):
    """The input is of a format that the job cannot count."""


class Reading:
    """One input, read to its end by iterating over it once.

    `counter` may be set before that, to one of the native core: what it can count of the records that would be given it
    counts, and they are not given.

    Args:
        item: The input.
        storage: Opens it.
        options: How it is read.
        formats: What the job can count; anything else is `unsupported-format`. None takes everything. SequenceFiles
            are `metadata` or `text_data` here; the row calls them all `sequencefile`.
        types: The types of records to be given; all are read and counted. None gives all.
        streamed: Give large records before they are read to their end, for those who take them in pieces; `prove` them.
    """

    def __init__(
        self,
        item: Input,
        storage: Opener,
        options: ReadOptions = ReadOptions(),
        *,
        formats: frozenset[str] | None = None,
        types: frozenset[str] | None = None,
        streamed: bool = False,
    ) -> None:
        self.item, self.row = item, LedgerRow.of(item)
        self.counter: Any | None = None
        self._source: Span | None = None
        self.row.verified = not options.heads_only
        self._storage, self._options = storage, options
        self._formats, self._types, self._streamed = formats, types, streamed

    def __iter__(self) -> Iterator[Record]:
        item, row = self.item, self.row
        start = item.offset or 0
        try:
            with self._storage.open_stream(item.location, start, item.length) as stream:
                self._source = source = Span(stream, start)
                try:
                    yield from self._records(source, stream.size, start)
                finally:
                    row.bytes = source.reached
                if item.length is not None and row.bytes < item.length and not row.lost:
                    short = {"expected": f"{item.length} bytes", "actual": f"{row.bytes} bytes"}
                    self._lose(FormatError("the file ends before the range does", reason="truncated",
                                           offset=start + row.bytes, **short))  # fmt: skip
        except (FormatError, SourceError) as error:
            self._lose(error)
        except _UnsupportedError as found:
            wanted = " or ".join(sorted(self._formats or ()))
            row.records, row.bytes = 0, 0
            self._lose(FormatError("a format that this job does not count", reason="unsupported-format",
                                   expected=wanted, actual=str(found)))  # fmt: skip

    @property
    def reached(self) -> int:
        """Bytes of the input that were seen so far; may be asked by another thread."""
        return self._source.reached if self._source is not None else 0

    def lose(self, error: FormatError, record: Record) -> None:
        """Account for a record that was given and could not be taken."""
        self._lose(error.located(offset=record.offset))

    def prove(self, record: Record) -> bool:
        """Read a streamed record to its end; False if it is not whole.

        That is accounted for by itself. If its source is lost, this is the last record, whoever met that first.
        """
        try:
            record.block.drain()
        except (FormatError, SourceError):  # the block raises it again where the iteration goes on, which reports it
            self.row.records -= 1
            return False
        return True

    def _records(self, source: Span, size: int | None, start: int) -> Iterator[Record]:
        options, types = self._options, self._types
        records = read_archive(
            source,
            start=start,
            part=self.item.length is not None,
            heads_only=options.heads_only and not options.verify,
            types=types if not options.verify else None,
            counter=self.counter if not options.verify else None,
            max_body=options.max_body,
            on_left_out=self._count,
            on_problem=self._lose,
            on_format=self._found_format,
            other=partial(self._key_values, source, size),
        )
        yield from self._once_known(self._proven(records))

    def _proven(self, records: Iterator[Record]) -> Iterator[Record]:
        """The records of the wanted types that are whole, counted."""
        options, row, types = self._options, self.row, self._types
        for record in records:
            record.max_body = options.max_body
            given = types is None or record.type in types
            taken = record.block.streamed and not (self._streamed and given)
            wrong: list[FormatError] = []
            try:
                if taken:
                    self._hold(record)
                if options.verify:
                    wrong += check_digests(record)
                if taken:
                    record.block.drain()
            except FormatError:
                continue  # it is not whole, which is accounted for by itself
            row.records += 1  # until `prove` says otherwise
            for error in wrong:
                self.lose(error, record)
            if given:
                yield record

    def _once_known(self, records: Iterator[Record]) -> Iterator[Record]:
        """The records, held back while the format is not known: none of a format that the job cannot count is given.

        Those are the warcinfos at the beginning of a WARC, WAT or WET.
        """
        held: list[Record] = []
        size = 0
        if self._formats is not None:
            try:
                for record in records:
                    held.append(record)
                    if self.row.format is None:
                        size += len(record.head) + record.content_length
                        if len(held) < _HELD_RECORDS and size < _HELD_BYTES:
                            continue
                        self._found_format("warc")  # what has so many of them is none that Common Crawl has written
                    break
            except (FormatError, SourceError):
                yield from held  # they are counted, and no other format will be found
                raise
        yield from held
        held.clear()
        yield from records

    def _count(self, records: int) -> None:
        self.row.records += records

    def _key_values(self, source: Span, size: int | None, data: bytes) -> Iterator[Record] | None:
        """The records of the SequenceFile, or split of one, that begins with these bytes; None if it is none."""
        item = self.item
        if item.length is not None:
            source.pause()  # while the file is looked at from its beginning
        if not is_in_sequencefile(self._storage, item.location, item.offset or 0, data):
            return None
        if item.length is None:
            again = Replay(source, data)
            return read_key_values(again, size, on_problem=self._lose, on_format=self._found_format)
        return self._split(source, item.offset or 0, item.length)

    def _split(self, source: Span, start: int, length: int) -> Iterator[Record]:
        """The records of a split; its bytes count as covered, wherever its records lie."""
        with self._storage.open_stream(self.item.location) as stream:
            whole, known = Span(stream, 0), None
            try:
                yield from read_key_values(whole, stream.size, start=start, end=start + length, on_problem=self._lose,
                                           on_format=self._found_format)  # fmt: skip
                known = stream.size
            finally:
                reached = whole.reached if known is None else known
                source.reached = max(min(reached - start, length), 0)

    def _hold(self, record: Record) -> None:
        """Hold of a streamed record what a job may ask for; what it declares may be less than it has."""
        most = self._options.max_body + HEAD_BYTES
        record.block.hold(most + 1 if record.content_length <= most else HEAD_BYTES)

    def _found_format(self, name: str, kinds: frozenset[str] = frozenset()) -> None:
        self.row.format = name
        if self._formats is not None and self._formats.isdisjoint({name, *kinds}):
            raise _UnsupportedError(" or ".join(kinds) or name)

    def _lose(self, error: FormatError | SourceError) -> None:
        self.row.lose(Problem.of(error.located(source=redact(self.item.location))))


def is_in_sequencefile(storage: Opener, location: str, offset: int, data: bytes) -> bool:
    """Whether the bytes at an offset, which begin no other archive, are of a SequenceFile.

    Raises:
        SourceError: The first bytes of the file cannot be read.
    """
    if offset:
        with storage.open_stream(location, 0, 4) as stream:
            data = stream.read()
    return is_sequencefile(data)


class Span:
    """A stream over a part of a file, by the offsets of the file; `reached` says how many of its bytes were seen."""

    def __init__(self, stream: Stream, start: int) -> None:
        self._stream, self._start = stream, start
        self._read: Callable[[int], bytes] = stream.read
        self._at = self.reached = 0

    def read(self, n: int, /) -> bytes:
        """Read up to `n` bytes."""
        piece = self._read(n)
        self._at += len(piece)
        if self._at > self.reached:
            self.reached = self._at
        return piece

    def pause(self) -> None:
        """Let go of the connection until the next read."""
        self._stream.pause()

    def seek(self, offset: int, /) -> int:
        """Continue at an offset of the file."""
        self._at = self._stream.seek(offset - self._start)
        return offset
