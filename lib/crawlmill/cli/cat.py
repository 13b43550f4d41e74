"""Print one record of an archive, or a part of it, byte by byte.

Parts: raw, the compressed member as it is; record, the same inflated; headers, its header and its HTTP header; payload,
the HTTP body without transfer and content codings; text, the payload as UTF-8.

Examples:
  crawlmill cat crawl.warc.gz --offset 1023 --part payload > page.html
  crawlmill cat https://data.commoncrawl.org/crawl-data/... --offset 1023 --length 17351 --part text
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import FormatError, UsageError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.record import Record
from crawlmill.inputs.reading import Span
from crawlmill.storage import Storage

__all__ = ["add_arguments", "run"]

_PIECE = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("location", metavar="LOCATION", help="the archive")
    parser.add_argument("--offset", type=int, required=True, metavar="N", help="the byte at which the member begins")
    parser.add_argument("--length", type=int, metavar="N", help="bytes of the member: no others are read")
    parser.add_argument("--index", type=int, default=0, metavar="N", help="which record of the member (default 0)")
    parser.add_argument("--part", choices=("raw", "record", "headers", "payload", "text"), default="record",
                        help="what is printed (default record)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print the part."""
    for name in ("offset", "length", "index"):
        if (getattr(options, name) or 0) < 0:
            raise UsageError(f"--{name}", expected="0 or more", actual=getattr(options, name))
    storage = make_storage(options)
    out = sys.stdout.buffer
    try:
        for piece in _pieces(storage, options):
            out.write(piece)
    except FormatError as error:
        raise error.located(source=options.location, offset=options.offset) from None
    out.flush()
    return 0


def _pieces(storage: Storage, options: argparse.Namespace) -> Iterator[bytes]:
    with storage.open_stream(options.location, options.offset, options.length) as stream:
        records = read_archive(
            Span(stream, options.offset), start=options.offset, part=True, on_problem=_fail, on_format=lambda _: None
        )
        record = next((record for number, record in enumerate(records) if number == options.index), None)
        if record is None or record.offset != options.offset or record.index != options.index:
            raise FormatError(
                "no record begins here", reason="bad-header", expected=f"record {options.index} of a member",
                actual="none" if record is None else f"the next one at {record.offset}",
            )  # fmt: skip
        if options.part != "raw":
            yield from _parts(record, options.part)
            return
        record.block.drain()
        while record.length is None and next(records, None) is not None:
            pass
        length = record.length
    if length is None:
        raise FormatError("a member of unknown length", reason="truncated")
    for at in range(0, length, _PIECE):
        yield storage.read_range(options.location, options.offset + at, min(_PIECE, length - at))


def _parts(record: Record, part: str) -> Iterator[bytes]:
    if part == "record":
        yield record.head
        yield from record.block.pieces()
        yield record.closing
    elif part == "headers":
        yield record.head
        if record.holds_http:
            yield record.block.head(record.http.body_offset)
    elif part == "payload":
        yield record.body()
    else:
        yield record.text().encode("utf-8", "replace")


def _fail(error: FormatError) -> None:
    raise error
