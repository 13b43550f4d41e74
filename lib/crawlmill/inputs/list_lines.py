"""Parses the text of an input list into entries. Does not open anything.

A list is UTF-8 text, plain or gzip (detected by its bytes; several members are one list). Blank lines and lines that
begin with `#` are ignored; CR LF and a byte order mark are accepted. Each other line names one input, as

    LOCATION                                      a path or URI: the whole file
    LOCATION<TAB>OFFSET<TAB>LENGTH                bytes of it, as they are in the compressed file
    {"filename": …, "offset": …, "length": …}     the same, as CDX APIs return it; numbers may be strings
    URLKEY TIMESTAMP {…}                          a CDXJ line, which contains such an object
    URLKEY TIMESTAMP URL MIME …                   a CDX line with the length of its record; a header may name columns
    CSV rows                                      after a first line that names the columns, in any order, including
                                                  `warc_filename`, `warc_record_offset` and `warc_record_length`
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crawlmill import core
from crawlmill.errors import FormatError, UsageError
from crawlmill.formats.starts import is_crawl_data
from crawlmill.inputs.text_lines import whole_lines
from crawlmill.later import later
from crawlmill.ledger.input_lines import CDXJ, COLUMNS, json_of
from crawlmill.storage.locations import redact

if TYPE_CHECKING:
    from crawlmill.indexes.capture import Capture
    from crawlmill.indexes.cdx.header import Columns

__all__ = ["Entry", "parse_cdx", "parse_line", "place_of", "read_entries"]

_HEAD_BYTES: Final = 1024
_MAX_LINE: Final = 1 << 20
_NO_CHARACTER: Final = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")  # \udc80 to \udcff: bytes that are not UTF-8
_CDX: Final = re.compile(r"\S+ [0-9]{14} [^\s{]\S*(?: \S+){4,11}")
_PLACE: Final = ("filename", "offset", "length")
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


# Most lists hold no CDX.
_parse_capture: Callable[[bytes], Capture] = later("crawlmill.indexes.capture:parse_capture")
_is_header: Callable[[bytes], bool] = later("crawlmill.indexes.lines:is_header")
_parse_header: Callable[[bytes], Columns | None] = later("crawlmill.indexes.cdx.header:parse_header")


class Entry(NamedTuple):
    """The content of one line. `line` counts from 1; offset and length are in bytes, None for a whole file."""

    line: int
    given: str
    location: str
    offset: int | None
    length: int | None


def read_entries(chunks: Iterable[bytes], name: str) -> Iterator[Entry]:
    """Yield the entries of a list from the `chunks` of its bytes; `name` is used in messages.

    Raises:
        UsageError: The bytes are a crawl file or not text, the gzip is damaged, or a line is invalid.
    """
    lines = _Lines(_guarded(_inflated(chunks, name), name), name)
    begun, native = False, core.native()
    usual: Callable[[str], str] | None = None
    for line in lines:
        given = line.strip()
        if not given or given.startswith("#"):
            continue
        try:
            if line[0] in " !" and _is_header(line.encode("utf-8", "replace")):
                usual = _usual_columns(line)
                continue
            if usual is not None:
                given = usual(given)
            columns = None if begun else _columns(given)
            begun = True
            if columns is not None:
                yield from _csv_entries(lines, columns)
                return
            location, offset, length = parse_line(given)
        except (ValueError, csv.Error, FormatError) as error:
            raise UsageError(f"{name}, line {lines.number}: {error}") from None
        yield Entry(lines.number, given, location, offset, length)
        if native is not None:
            yield from lines.take_usual(native)


def parse_line(line: str) -> tuple[str, int | None, int | None]:
    """Location, offset and length of a line that is neither blank nor a comment.

    Raises:
        ValueError: The range is not two whole numbers, or the JSON is invalid or names no file.
    """
    if line.startswith("{"):
        return _of_json(line)
    if cdxj := CDXJ.fullmatch(line):
        return _of_json(cdxj[1])
    if (cdx := parse_cdx(line)) is not None:
        return _place_of_cdx(cdx)
    location, *span = line.split("\t")
    if not span:
        return location, None, None
    if len(span) != 2:
        raise ValueError(f"expected LOCATION or LOCATION<TAB>OFFSET<TAB>LENGTH, got {len(span) + 1} fields")
    return location, _number("offset", span[0]), _number("length", span[1])


def parse_cdx(line: str) -> Capture | None:
    """The capture of a line that is CDX; else None."""
    if not _CDX.fullmatch(line):
        return None
    try:
        return _parse_capture(line.encode("utf-8", "surrogateescape"))
    except FormatError:
        return None


def _usual_columns(header: str) -> Callable[[str], str] | None:
    """A function that puts CDX lines after this header into the usual columns; None if they are in these already."""
    columns = _parse_header(header.encode("utf-8", "surrogateescape"))
    if columns is None:
        return None
    return lambda line: columns.usual(line.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _place_of_cdx(capture: Capture) -> tuple[str, int | None, int | None]:
    place = {name: value for name in _PLACE if (value := capture.fields.get(name)) not in (None, "-")}
    if missing := [name for name in _PLACE if name not in place]:
        raise ValueError(f"the CDX line does not say where its record is: it has no {' and no '.join(missing)}")
    return place_of(place)


class _Lines:
    """Iterates over the lines of a list in UTF-8; `number` is the number of the last one, from 1."""

    def __init__(self, chunks: Iterable[bytes], name: str) -> None:
        self._text, self._at = b"", 0
        self._lines = self._read(chunks, name)
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def take_usual(self, native: Any) -> Iterator[Entry]:
        """The entries of the next lines as far as the native core parses them: ranges, CDXJ as nearly all of it is."""
        found, self._at = native.listed_lines(self._text, self._at)
        for entry in found:
            self.number += 1
            yield Entry(self.number, *entry)

    def _read(self, chunks: Iterable[bytes], name: str) -> Iterator[str]:
        try:
            for text in whole_lines(chunks, longest=_MAX_LINE):
                self._text, self._at = text, 0
                while (at := self._at) < len(text):
                    end = text.find(b"\n", at)
                    line = text[at:end] if end >= 0 else text[at:]
                    self._at = at + len(line) + 1
                    self.number += 1
                    # File names are bytes: those that are not UTF-8 become surrogates, as in Python's file functions.
                    found = line.decode("utf-8", "surrogateescape").removesuffix("\r")
                    yield found if self.number > 1 else found.removeprefix("\ufeff")
        except FormatError:
            raise UsageError(f"{name} is not an input list: it holds a line of more than {_MAX_LINE} bytes") from None


def _of_json(text: str) -> tuple[str, int | None, int | None]:
    try:
        entry = json_of(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    return place_of(entry)


def place_of(entry: Mapping[str, object]) -> tuple[str, int | None, int | None]:
    """Location, offset and length from an object with `filename`, `offset` and `length`.

    Raises:
        ValueError: It names no file, or the range is not two whole numbers.
    """
    location = entry.get("filename")
    if not isinstance(location, str) or not location:
        raise ValueError("the JSON object names no file: expected a `filename`")
    if _NO_CHARACTER.search(location):
        raise ValueError("the `filename` holds half a surrogate pair")
    offset, length = entry.get("offset"), entry.get("length")
    if offset is None and length is None:
        return location, None, None
    return location, _number("offset", offset), _number("length", length)


def _number(what: str, value: object) -> int:
    if type(value) is str and len(value) < 19 and value.isdecimal() and value.isascii():
        return int(value)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _NUMBER.fullmatch(text.strip()):
        said = "nothing" if value is None else repr(redact(value) if isinstance(value, str) else value)
        raise ValueError(f"expected a number of bytes as {what}, got {said[:100]}")
    return int(text)


def _columns(line: str) -> list[int] | None:
    """The positions of the three columns, if this line is a CSV header; else None."""
    if COLUMNS[0] not in line or line.startswith("{"):
        return None
    names = [name.strip() for name in next(csv.reader([line]))]
    if COLUMNS[0] not in names:
        return None
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(f"the CSV header lacks {' and '.join(missing)}")
    return [names.index(name) for name in COLUMNS]


def _csv_entries(lines: _Lines, columns: list[int]) -> Iterator[Entry]:
    taken: list[str] = []  # a quoted field may contain line ends, so the input's line is everything read for its row

    def recorded() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    for row in csv.reader(recorded(), strict=True):
        given = "\n".join(taken).strip()
        taken.clear()
        if not any(field.strip() for field in row) or given.startswith("#"):
            continue
        if len(row) <= max(columns):
            raise ValueError(f"expected at least {max(columns) + 1} fields, got {len(row)}")
        location, offset, length = (row[column].strip() for column in columns)
        yield Entry(lines.number, given, location, _number("offset", offset), _number("length", length))


def _inflated(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The bytes of the list, decompressed if they begin as gzip."""
    head, chunks = _headed(chunks, 2)
    if head != b"\x1f\x8b":
        yield from chunks
        return
    inflater = zlib.decompressobj(31)
    for chunk in chunks:
        while chunk:
            if inflater.eof:
                chunk = chunk.lstrip(b"\0")  # padding after a member, which gzip accepts
                inflater = zlib.decompressobj(31) if chunk else inflater
                continue
            try:
                yield inflater.decompress(chunk, 1 << 20)
            except zlib.error as error:
                raise UsageError(f"{name}: the gzip of this list is damaged: {error}") from None
            chunk = inflater.unconsumed_tail or inflater.unused_data
    if not inflater.eof:
        raise UsageError(f"{name}: the gzip of this list is cut short")


def _guarded(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The same bytes, unless they are a crawl file, given in place of a list: the most common mistake."""
    head, chunks = _headed(chunks, _HEAD_BYTES)
    if is_crawl_data(head):
        raise UsageError(
            f"{name} is a crawl file (WARC, WAT, WET, ARC, SequenceFile), not an input list: put its path into a list, "
            f"e.g. `echo {name} | python jobs/tag_count.py -`"
        )
    if b"\0" in head or head.lstrip().startswith(b"<"):
        raise UsageError(f"{name} is not an input list: expected text with one location per line")
    return iter(chunks)


def _headed(chunks: Iterable[bytes], n: int) -> tuple[bytes, Iterable[bytes]]:
    """The first `n` bytes (or all, if there are fewer), and an iterable of all chunks."""
    chunks, held, size = iter(chunks), [], 0
    while size < n and (chunk := next(chunks, None)) is not None:
        held.append(chunk)
        size += len(chunk)
    return b"".join(held)[:n], chain(held, chunks)
