"""The captures of one archive, in the order of its records: what `crawlmill index` prints and index jobs sort.

A response waits for the crawler's `metadata` record after it, which says charset and languages; otherwise each record
is let go of when its capture is known. A record that cannot be indexed (damaged, without a URL, without a date) is
accounted for by the reader that gave it, and costs no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from crawlmill import core
from crawlmill.errors import FormatError, SourceError
from crawlmill.formats.exchange import Detected, Exchanges
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.indexes.capture import Capture
from crawlmill.indexes.cdx.described import described
from crawlmill.indexes.cdx.fields import capture_fields, extra_fields, stored_length, timestamp_of
from crawlmill.indexes.cdx.lines import FORMATS
from crawlmill.indexes.cdx.quick import QuickLine, QuickLines
from crawlmill.urls.surt import urlkey

__all__ = ["ALL_TYPES", "DEFAULT_TYPES", "IndexOptions", "Records", "archive_captures", "archive_lines"]

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
    """What is indexed, and how.

    Args:
        types: The types of records.
        format: The format of lines: `cdxj`, `cdx11`, `cdx9`.
        extra: Fields of `EXTRA_FIELDS` that CDXJ lines have besides the usual ones.
    """

    types: frozenset[str] = DEFAULT_TYPES
    format: str = "cdxj"
    extra: tuple[str, ...] = ()

    @property
    def selection(self) -> Selection:
        """The archives and records that must be read for that."""
        return Selection(_ARCHIVES, self.types | {"metadata"} if self.types & DEFAULT_TYPES else self.types)


class Records(Protocol):
    """The records of an archive, as `inputs.reading.Reading` gives them."""

    def __iter__(self) -> Iterator[Record]:
        """The records, once."""
        ...

    def is_whole(self, record: Record, /) -> bool:
        """Read a streamed record to its end; False if it is not whole, which is accounted for."""
        ...

    def lose(self, error: FormatError, record: Record, /) -> None:
        """Account for a record that cannot be taken."""
        ...


def archive_lines(records: Records, filename: str, options: IndexOptions = IndexOptions()) -> Iterator[str]:
    """The lines of an archive's captures, without line ends."""
    line = FORMATS[options.format]
    native = core.native() if options.format == "cdxj" and not options.extra else None
    quick = QuickLines(native, filename) if native is not None else None
    for found, facts in _joined(records, filename, options, quick):
        if isinstance(found, QuickLine):
            yield found.text(facts)
        else:
            capture = _completed(*found, facts)
            yield line(capture.urlkey, capture.timestamp, capture.fields)


def archive_captures(records: Records, filename: str, options: IndexOptions = IndexOptions()) -> Iterator[Capture]:
    """The captures of an archive.

    Args:
        records: Its records, at least those of `options.selection`.
        filename: What the captures call the archive.
        options: What is indexed.
    """
    for found, facts in _joined(records, filename, options, None):
        if not isinstance(found, QuickLine):
            yield _completed(*found, facts)


def _joined(
    records: Records, filename: str, options: IndexOptions, quick: QuickLines | None
) -> Iterator[tuple[_Found | QuickLine, Detected | None]]:
    """What was found of each record, and what was detected of its page."""
    exchanges: Exchanges[_Found | QuickLine] = Exchanges()
    for record in records:
        kind = record.type
        wanted = kind in options.types
        if kind == "metadata" and not (quick and quick.describe(record, exchanges)):
            exchanges.describe(record)
        if wanted and not (quick and quick.take(record, exchanges)):
            if isinstance(record, WarcRecord):
                record.named_fields  # noqa: B018 - nearly all of them are asked for: cut the header once
            if found := _found(records, record, filename, options):
                if kind in DEFAULT_TYPES:
                    exchanges.add(record, found)
                else:
                    exchanges.pass_by(found)
        yield from exchanges.take()
    yield from exchanges.rest()


def _found(records: Records, record: Record, filename: str, options: IndexOptions) -> _Found | None:
    """The capture of a record, and the fields that stand behind all others; None if it has none."""
    uri, date = record.uri, record.date
    if record.type == "metadata":
        about = described(record)
        if not uri or (about is not None and about.type in _OF_FILES):
            records.is_whole(record)
            return None  # it is about a file, not a page
        date = about.date if about is not None and about.date else date
    timestamp = timestamp_of(date)
    try:
        fields = capture_fields(record, filename)
        extra = extra_fields(record, options.extra) if options.extra else {}
    except (FormatError, SourceError) as error:
        # What the block met is raised again where the reading goes on, and reported there.
        if records.is_whole(record) and isinstance(error, FormatError):
            records.lose(error, record)
        return None
    if not records.is_whole(record):
        return None
    if not uri or timestamp is None:
        what, actual = ("date", date or "none") if uri else ("WARC-Target-URI", "none")
        wrong = FormatError(f"a record without a {what} cannot be indexed", reason="bad-header", expected="one",
                            actual=actual[:40])  # fmt: skip
        records.lose(wrong, record)
        return None
    fields["length"] = stored_length(record)
    return Capture(urlkey(uri), timestamp, fields), extra


def _completed(capture: Capture, extra: dict[str, str], facts: Detected | None) -> Capture:
    """The capture with what was detected of its page, before what a line ends with."""
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
