"""Print one record of an archive, or part of it, as exact bytes.

Parts: raw, the compressed member as it is; record, the same inflated; headers, its header and its HTTP header; payload,
the HTTP body with transfer and content codings removed; text, the payload as UTF-8.

For a SequenceFile, take --offset and --index from `records`; the file is read from its beginning. Parts: record, key
and value separated by a tab and followed by a line feed, as Hadoop prints them; headers, the key; payload, the value.
There is no raw, since records share their bytes.

Examples:
  crawlmill cat crawl.warc.gz --offset 1023 --part payload > page.html
  crawlmill cat https://data.commoncrawl.org/crawl-data/... --offset 1023 --length 17351 --part text
  crawlmill cat textData-00000 --offset 118 --index 3 --part text
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import NoReturn

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import CrawlmillError, FormatError, UsageError
from crawlmill.formats.reader import Request
from crawlmill.formats.record import Record
from crawlmill.formats.sequencefile.records import KeyValueRecord
from crawlmill.inputs.lists import Input
from crawlmill.inputs.opened import Opened
from crawlmill.inputs.readers import find_reader
from crawlmill.inputs.reading import Reading
from crawlmill.mr.run.options import whole_number
from crawlmill.storage import Storage, redact

__all__ = ["add_arguments", "run"]

_PIECE = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("location", metavar="LOCATION", help="the archive")
    add, number = parser.add_argument, whole_number(0)
    add("--offset", type=number, required=True, metavar="N", help="the byte where the member begins")
    add("--length", type=number, metavar="N", help="length of the member in bytes; nothing else is read")
    add("--index", type=number, metavar="N", help="which record of the member or block (default: the first)")
    parser.add_argument(
        "--part",
        choices=("raw", "record", "headers", "payload", "text"),
        default="record",
        help="what to print (default record)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the part."""
    storage = make_storage(options)
    out = sys.stdout.buffer
    try:
        for piece in _pieces(storage, options):
            out.write(piece)
    except FormatError as error:
        raise error.located(source=redact(options.location), offset=options.offset) from None
    out.flush()
    return 0


def _pieces(storage: Storage, options: argparse.Namespace) -> Iterator[bytes]:
    with storage.open_stream(options.location, options.offset, options.length) as stream:
        location = options.location
        opened = Opened(Input(location, location, options.offset, options.length), storage, stream, is_part=True)
        reader = find_reader(opened, Record)
        if reader.bytes_of_file:  # its records have the indexes shown in a listing only if read from the beginning
            opened.pause()
            records = _up_to(options.offset, Reading(Input(location, location), storage))
        else:
            records = reader.read(opened, Request(streamed=True), _Strict())
        record = _chosen(records, options.offset, options.index)
        if options.part != "raw":
            yield from _parts(record, options.part)
            return
        if isinstance(record, KeyValueRecord):
            raise UsageError("--part raw: a record of a SequenceFile has no bytes of its own")
        record.block.drain()
        length = record.length
        while length is None and (later := next(records, None)) is not None and later.offset == options.offset:
            length = later.length  # that of their member, known once it has ended
    if length is None:
        raise FormatError("a member of unknown length", reason="truncated")
    for at in range(0, length, _PIECE):
        yield storage.read_range(options.location, options.offset + at, min(_PIECE, length - at))


def _chosen(records: Iterator[Record], offset: int, index: int | None) -> Record:
    """The record with this offset and, if given, index."""
    record = None
    for record in records:
        if record.offset > offset:
            break
        if record.offset == offset and index in (None, record.index):
            return record
    raise FormatError(
        "no record begins here",
        reason="bad-header",
        expected=f"record {index or 0} of a member or block",
        actual="none" if record is None or record.offset <= offset else f"the next one at {record.offset}",
    )


def _up_to(offset: int, reading: Reading) -> Iterator[Record]:
    """The records up to an offset, despite damage before it; raises an error for damage at it."""
    behind = None
    for record in reading:
        if record.offset > offset:
            behind = record
            break
        yield record
    for problem in reading.row.problems:
        if problem.offset is None or problem.offset == offset:
            raise CrawlmillError(problem.message)
    if behind is not None:
        yield behind


def _parts(record: Record, part: str) -> Iterator[bytes]:
    if part == "record":
        yield record.head + (b"\t" if isinstance(record, KeyValueRecord) else b"")
        yield from record.block.pieces()
        yield b"\n" if isinstance(record, KeyValueRecord) else record.closing  # known once the block has been read
    elif part == "headers":
        yield record.head
        if record.holds_http:
            yield record.block.head(record.http.body_offset)
    elif part == "payload":
        yield record.body()
    else:
        yield record.text().encode("utf-8", "replace")


class _Strict:
    """An account that accepts no losses."""

    format: str | None = None

    def found(self, name: str, kinds: frozenset[str] = frozenset()) -> None:  # noqa: ARG002
        """Accept any format."""
        self.format = name

    def count(self, items: int) -> None:
        """Ignore the number."""

    def leave_unproven(self) -> None:
        """Ignore it."""

    def leave_out(self, items: int) -> None:
        """Never called with a number: nothing is left out."""

    def cut(self, items: int) -> None:
        """Ignore the number."""

    def lose(self, error: FormatError) -> None:
        """Raise the error."""
        raise error

    def refuse(self, error: FormatError) -> NoReturn:
        """Raise the error."""
        raise error
