"""The captures of an archive, in the order of its records, for `crawlmill index` and index jobs.

A response waits for the crawler's `metadata` record after it, which has charset and languages; other records are
dropped once their capture is known. A record that cannot be indexed (damaged, without a URL, without a date) is
accounted for by the reader, and does not affect others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from crawlmill import core
from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.exchange import Detected, Exchanges
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.timestamps import timestamp_of
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.indexes.capture import Capture
from crawlmill.indexes.cdx.described import described
from crawlmill.indexes.cdx.fields import capture_fields, extra_fields, stored_length
from crawlmill.indexes.cdx.lines import FORMATS
from crawlmill.indexes.cdx.usual.native_lines import NativeLines
from crawlmill.indexes.cdx.usual.python_lines import PythonLines
from crawlmill.urls.surt import urlkey

__all__ = ["ALL_TYPES", "DEFAULT_TYPES", "ArchiveLines", "IndexOptions", "Records", "archive_captures"]

DEFAULT_TYPES: Final = frozenset({"response", "revisit", "resource"})
"""The types of records that are indexed unless others are asked for: those with metadata of the crawler, too."""

ALL_TYPES: Final = DEFAULT_TYPES | {"metadata", "request", "conversion"}
"""All types that can be indexed; a warcinfo or filedesc describes its file, not a capture."""

_ARCHIVES: Final = frozenset({"warc", "wat", "wet", "arc"})


_Found = tuple[Capture, dict[str, str]]
"""A capture, and the fields that stand behind all others of its line."""

_OF_FILES: Final = ("warcinfo", "filedesc")


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What to index, and how.

    Args:
        types: The types of records to index.
        format: The format of lines: `cdxj`, `cdx11` or `cdx9`.
        extra: Fields from `EXTRA_FIELDS` to add to CDXJ lines.
    """

    types: frozenset[str] = DEFAULT_TYPES
    format: str = "cdxj"
    extra: tuple[str, ...] = ()

    @property
    def selection(self) -> Selection:
        """The archives and records that must be read."""
        return Selection(_ARCHIVES, self.types | {"metadata"} if self.types & DEFAULT_TYPES else self.types)


class Records(Protocol):
    """The records of an archive; see `inputs.reading.Reading`."""

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records, once."""
        ...

    def is_whole(self, record: Record, /) -> bool:
        """Read a streamed record to its end; returns False if it is not whole, which has been accounted for."""
        ...

    def lose(self, error: FormatError, record: Record, /) -> None:
        """Account for a record that cannot be indexed."""
        ...


class ArchiveLines:
    """Makes the lines of an archive's captures.

    Args:
        filename: The name of the archive in the captures.
        options: What to index.

    Attributes:
        counter: The core may count with this when it reads the records (`ItemReading.counter`): it makes the lines of
        usual records, which are then not yielded.
    """

    def __init__(self, filename: str, options: IndexOptions = IndexOptions()) -> None:
        self._filename, self._options = filename, options
        self._usual: NativeLines[_Found] | PythonLines[_Found] | None = None
        if options.format == "cdxj" and (native := core.native()) is not None:
            self._usual = NativeLines(native, filename, options.types, options.extra)
        elif options.format == "cdxj" and not options.extra:
            self._usual = PythonLines(filename, options.types)
        self.counter: Any | None = None if self._usual is None else self._usual.counter

    def of(self, records: Records) -> Iterator[bytes]:
        """Yield the lines with line ends, several in each chunk. Call it once only."""
        if self._usual is not None:
            return self._joined(records, self._usual)
        captures = archive_captures(records, self._filename, self._options)
        return (self._line(capture) for capture in captures)

    def _joined(self, records: Records, lines: NativeLines[_Found] | PythonLines[_Found]) -> Iterator[bytes]:
        for record in records:
            kind = record.type
            if kind == "metadata":
                lines.describe(record)
            wanted = kind in self._options.types and not lines.take(record)
            if wanted and (found := _found(records, record, self._filename, self._options)):
                if kind in DEFAULT_TYPES:
                    lines.add(record, found)
                else:
                    lines.pass_by(found)
            yield from map(self._text, lines.ready())
        yield from map(self._text, lines.rest())

    def _text(self, ready: bytes | tuple[_Found, Detected | None]) -> bytes:
        if isinstance(ready, bytes):
            return ready
        (capture, extra), facts = ready
        return self._line(_completed(capture, extra, facts))

    def _line(self, capture: Capture) -> bytes:
        line = FORMATS[self._options.format]
        return f"{line(capture.urlkey, capture.timestamp, capture.fields)}\n".encode("ascii")


def archive_captures(records: Records, filename: str, options: IndexOptions = IndexOptions()) -> Iterator[Capture]:
    """Yield the captures of an archive.

    Args:
        records: Its records, including all of `options.selection`.
        filename: The name of the archive in the captures.
        options: What to index.
    """
    exchanges: Exchanges[_Found] = Exchanges()
    for record in records:
        kind = record.type
        if kind == "metadata":
            exchanges.describe(record)
        if kind in options.types and (found := _found(records, record, filename, options)):
            if kind in DEFAULT_TYPES:
                exchanges.add(record, found)
            else:
                exchanges.pass_by(found)
        for (capture, extra), facts in exchanges.take():
            yield _completed(capture, extra, facts)
    for (capture, extra), facts in exchanges.rest():
        yield _completed(capture, extra, facts)


def _found(records: Records, record: Record, filename: str, options: IndexOptions) -> _Found | None:
    """The capture of a record, and the extra fields that come last; None if it has no capture."""
    if isinstance(record, WarcRecord):
        record.named_fields  # noqa: B018 - parse all fields once, since most of them are needed
    uri, date = record.uri, record.date
    if record.type == "metadata":
        about = described(record)
        if not uri or (about is not None and about.type in _OF_FILES):
            records.is_whole(record)
            return None  # the record is about a file, not a page
        date = about.date if about is not None and about.date else date
    timestamp = timestamp_of(date)
    try:
        fields = capture_fields(record, filename)
        extra = extra_fields(record, options.extra) if options.extra else {}
    except (FormatError, SourceError) as error:
        # Errors of the block are raised again when reading continues, and reported there.
        if records.is_whole(record) and isinstance(error, FormatError):
            records.lose(error, record)
        return None
    if not records.is_whole(record):
        return None
    if not uri or timestamp is None:
        what, actual = ("date", date or "none") if uri else ("WARC-Target-URI", "none")
        wrong = FormatError(
            f"a record without a {what} cannot be indexed", reason="bad-header", expected="one", actual=actual[:40]
        )
        records.lose(wrong, record)
        return None
    fields["length"] = stored_length(record)
    return Capture(urlkey(uri), timestamp, fields), extra


def _completed(capture: Capture, extra: dict[str, str], facts: Detected | None) -> Capture:
    """The capture with the detected charset and languages inserted before the last fields."""
    fields = capture.fields
    if facts is not None:
        ending = [(name, fields.pop(name)) for name in ("truncated", "redirect") if name in fields]
        if facts.charset:
            fields["charset"] = facts.charset
        if facts.languages:
            fields["languages"] = ",".join(facts.languages)
        fields.update(ending)
    fields.update(extra)
    return capture
