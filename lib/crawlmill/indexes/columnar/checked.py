"""Checks which lines of captures can become rows of a table, and in which partition; the work of a map task.

A line that can become a row is returned unchanged or, if it is CDX or unusual JSON, as the equivalent CDXJ line; `rows`
makes rows from them without checking again. A line cannot become a row if it has no URL, no file name, no offset or
length from 0 to 2,147,483,647, no valid date; or if its key contains control characters, or text that is not UTF-8. A
status that is `-` or not a 16-bit number counts as absent.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from crawlmill.errors import FormatError
from crawlmill.indexes.capture import Capture, parse_capture
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.columnar.layout import Partition, columns, partition_of

__all__ = ["FIELDS", "LineChecker"]

FIELDS: Final = tuple(column.field for column in columns(record_ids=True) if column.field is not None)
"""The fields of a line that become values of its row, in the order of the columns."""

_TEXT: Final = rb'(?!-")[^"\\\x00-\x1f\x7f-\xff]*+"'
_PLAIN: Final = rb'(?!-")[^"\\\x00-\x1f\x7f-\xff]++"'
_DAY: Final = (
    rb"(?:19[6-9][0-9]|20[0-9]{2})"
    rb"(?:(?:0[1-9]|1[0-2])(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])(?:29|30)|(?:0[13578]|1[02])31)"
)
_TIME: Final = rb"(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]"
_USUAL: Final = re.compile(
    rb"(?m)^[!-~]++ "
    + _DAY
    + _TIME
    + rb' \{"url": "'
    + _PLAIN
    + rb'(?:, "mime": "'
    + _TEXT
    + rb')?(?:, "mime-detected": "'
    + _TEXT
    + rb')?(?:, "status": "[0-9]{3}")?'
    + rb'(?:, "digest": "'
    + _TEXT
    + rb')?, "length": "[0-9]{1,9}", "offset": "[0-9]{1,9}", "filename": "('
    + _PLAIN[:-1]
    + rb')"(?:, "charset": "'
    + _TEXT
    + rb')?(?:, "languages": "'
    + _TEXT
    + rb')?(?:, "truncated": "'
    + _TEXT
    + rb')?(?:, "redirect": "'
    + _TEXT
    + rb")?\}\r?$"
)
"""A line as Common Crawl writes it, whose fields need no look; found is the name of its file."""

_NUMBER: Final = re.compile(r"\+?0*([0-9]{1,10})")
_STAMP: Final = re.compile(r"(....)(..)(..)(..)(..)(..)")
_STATUS: Final = re.compile(r"[0-9]{1,5}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MAX_INT32: Final = 0x7FFFFFFF
_MAX_INT16: Final = 0x7FFF


class LineChecker:
    """Turns blocks of captures into lines for rows, by partition.

    Args:
        crawl, subset: For captures in files whose names are not in Common Crawl's layout.
    """

    def __init__(self, crawl: str, subset: str) -> None:
        self._default = Partition(crawl, subset)

    def folder_of(self, filename: str) -> bytes:
        """The folder of the partition of a file's captures: `crawl=…/subset=…`."""
        found = partition_of(filename) or self._default
        return f"crawl={found.crawl}/subset={found.subset}".encode()

    def check(self, block: Block, lose: Callable[[FormatError], None]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the lines of a block that can become rows, by the folders of their partitions.

        Args:
            block: Captures.
            lose: Called with `bad-header` for each line that cannot become a row.
        """
        data = block.data
        names: list[bytes] = _USUAL.findall(data)
        if len(names) == block.lines:
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n")
            yield from self._by_partition(names, data)
            return
        lines = defaultdict[bytes, list[bytes]](list)
        for index, line in enumerate(data.split(b"\n")[:-1]):
            usual = _USUAL.match(line)
            if usual is not None:
                lines[self.folder_of(usual[1].decode("ascii"))].append(line.rstrip(b"\r"))
                continue
            try:
                name, line = _mended(line)
            except FormatError as error:
                number = block.number_of(index)
                error.what = f"line {number} cannot be a row: {error.what}"
                lose(error.located(offset=block.offset))
            else:
                lines[self.folder_of(name)].append(line)
        for folder, some in lines.items():
            yield folder, b"\n".join(some) + b"\n"

    def _by_partition(self, names: list[bytes], data: bytes) -> Iterator[tuple[bytes, bytes]]:
        folders = {name: self.folder_of(name.decode("utf-8", "replace")) for name in set(names)}
        if len(set(folders.values())) == 1:
            yield folders[names[0]], data
            return
        lines = defaultdict[bytes, list[bytes]](list)
        for name, line in zip(names, data.split(b"\n"), strict=False):
            lines[folders[name]].append(line)
        for folder, some in lines.items():
            yield folder, b"\n".join(some) + b"\n"


def _mended(line: bytes) -> tuple[str, bytes]:
    """The name of a capture's file, and the equivalent CDXJ line whose fields are texts.

    Raises:
        FormatError: `bad-header`: it cannot become a row.
    """
    try:
        capture = parse_capture(line)
    except FormatError as error:
        raise FormatError(error.what, reason="bad-header", expected=error.expected, actual=error.actual) from None
    if _CONTROL.search(capture.urlkey):
        raise _bad("urlkey", "no control characters", capture.urlkey)
    _check_date(capture.timestamp)
    fields: dict[str, str] = {}
    for name in FIELDS:
        value = capture.get(name)
        if value is not None and value != "-":
            fields[name] = value
    for name in ("url", "filename"):
        if not fields.get(name):
            raise _bad(name, "one", None)
    for name in ("offset", "length"):
        fields[name] = _int32(name, fields.get(name))
    status = fields.get("status", "")
    if not _STATUS.fullmatch(status) or int(status) > _MAX_INT16:
        fields.pop("status", None)
    return fields["filename"], _encoded(capture, fields)


def _encoded(capture: Capture, fields: dict[str, str]) -> bytes:
    try:
        for text in (capture.urlkey, *fields.values()):
            text.encode()
        return f"{capture.urlkey} {capture.timestamp} {json.dumps(fields)}".encode()
    except UnicodeEncodeError:
        raise _bad("text", "characters of Unicode", None) from None


def _check_date(stamp: str) -> None:
    year, month, day, hour, minute, second = map(int, _STAMP.fullmatch(stamp).groups())  # type: ignore[union-attr]
    try:
        datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise _bad("timestamp", "a date that exists", stamp) from None


def _int32(name: str, value: str | None) -> str:
    found = _NUMBER.fullmatch(value.strip()) if value is not None else None
    if found is None or int(found[1]) > _MAX_INT32:
        raise _bad(name, f"a number of bytes up to {_MAX_INT32}", value)
    return found[1]


def _bad(name: str, expected: str, actual: str | None) -> FormatError:
    shown = "nothing" if actual is None else repr(actual[:60])
    return FormatError(name, reason="bad-header", expected=expected, actual=shown)
