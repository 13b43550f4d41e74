"""All readers, and how one is chosen for an input: by its first bytes, never by its name.

To add a format, add a `Reader` (see `crawlmill.formats.reader`) to `READERS`. A script with a format of its own calls
`register` where it defines the reader. What a row names is imported when an input may be of its format.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.formats.reader import Reader
from crawlmill.formats.record import Record
from crawlmill.formats.starts import begins_archive, is_parquet, is_sequencefile
from crawlmill.indexes.cdx.block import Block
from crawlmill.inputs.opened import Opened
from crawlmill.later import later

__all__ = ["READERS", "either", "find_reader", "readers_of", "register"]

READERS: Final[list[Reader]] = [
    Reader(
        names=("WARC", "ARC"),
        formats=("warc", "arc", "wat", "wet"),
        gives=Record,
        begins=begins_archive,
        read=later("crawlmill.formats.archive:read"),
        listed=later("crawlmill.formats.archive:listed"),
        recovers=later("crawlmill.formats.archive:recovers"),
    ),
    Reader(
        names=("a SequenceFile",),
        formats=("sequencefile", "metadata", "text_data"),
        gives=Record,
        begins=is_sequencefile,
        listed=later("crawlmill.formats.sequencefile.records:listed"),
        bytes_of_file=4,
        read=later("crawlmill.formats.sequencefile.records:read"),
        units=later("crawlmill.formats.sequencefile.records:units"),
    ),
    Reader(
        names=("CDXJ", "CDX"),
        formats=("cdxj", "cdx"),
        gives=Block,
        begins=later("crawlmill.indexes.cdx.reader:begins"),
        read=later("crawlmill.indexes.cdx.reader:read"),
        recovers=later("crawlmill.indexes.cdx.reader:recovers"),
    ),
    Reader(
        names=("captures as JSON",),
        formats=("captures",),
        gives=Block,
        begins=later("crawlmill.indexes.cdx.json_lines:begins_json_captures"),
        read=later("crawlmill.indexes.cdx.json_lines:read"),
    ),
    Reader(
        names=("Parquet",),
        formats=("parquet",),
        gives=Block,
        begins=is_parquet,
        read=later("crawlmill.indexes.columnar.reader:read"),
    ),
]
"""All readers. Where the first bytes could be of several, the first one stands."""


def register(reader: Reader) -> None:
    """Add a reader, for this process. A job's script calls it at import, so that its tasks do too."""
    if reader not in READERS:
        READERS.append(reader)


def readers_of(gives: type[Any]) -> list[Reader]:
    """The readers that yield items of a class."""
    return [reader for reader in READERS if issubclass(reader.gives, gives)]


def either(readers: Iterable[Reader]) -> str:
    """The names of formats for a message: "WARC, ARC or a SequenceFile"."""
    *first, last = dict.fromkeys(name for reader in readers for name in reader.names)
    return f"{', '.join(first)} or {last}" if first else last


def find_reader(opened: Opened, gives: type[Any]) -> Reader:
    """Choose the reader for an input.

    Readers of the wanted items are tried first. A reader of other items is returned only if none of them matches.

    Raises:
        FormatError: `unknown-format`: the input is empty, or no reader accepts its first bytes.
        SourceError: The first bytes cannot be read.
    """
    data = opened.data
    if not data:
        what = "the file ends before this offset" if opened.start else "empty file"
        raise FormatError(
            "the range has a length of 0" if opened.length == 0 else what,
            reason="unknown-format",
            offset=opened.start,
            expected="an archive",
            actual="0 bytes",
        )
    wanted = readers_of(gives)
    others = [reader for reader in READERS if reader not in wanted]
    for readers in (wanted, others):
        for reader in readers:
            if (not opened.start or not reader.bytes_of_file) and reader.begins(data):
                return reader
    if opened.start:
        of_file = opened.first_of_file(max(reader.bytes_of_file for reader in READERS))
        for readers in (wanted, others):
            for reader in readers:
                if reader.bytes_of_file and reader.begins(of_file):
                    return reader
    data = opened.more()
    for reader in wanted:
        if reader.recovers(data):
            return reader
    raise FormatError(
        "not an archive",
        reason="unknown-format",
        offset=opened.start,
        expected=either(wanted),
        actual=repr(data[:24])[2:-1],
    )
