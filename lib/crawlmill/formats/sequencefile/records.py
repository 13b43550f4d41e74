"""The records of Hadoop SequenceFiles in the form of all other archives' records, and which file of 2012 they are from.

    for record in read_key_values(stream, size, on_problem=problems.append, on_format=print):
        print(record.offset, record.key, record.text())

A range of a SequenceFile is a split by Hadoop's rule: the records it owns begin and end at the file's sync markers.

A record has no header but its key; its block is the payload of its value, without a length prefix. The kind of a file
can only be determined from its content:

| kind | keys, values | of |
|---|---|---|
| `metadata` | Text, JSON objects with an `attempt_time` | `metadata-NNNNN` of 2012 |
| `text_data` | any other Text | `textData-NNNNN` of 2012 |

The first records decide (16, or a MiB of them): a single metadata record among them, whole or broken, is enough. A file
or split without records may be of either kind; one with classes other than Text is of neither.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, ClassVar, Final

from crawlmill.codecs.source import ByteSource, Window
from crawlmill.errors import FormatError
from crawlmill.formats.proven import proven
from crawlmill.formats.reader import Account, OpenInput, Request
from crawlmill.formats.record import Block, Record
from crawlmill.formats.selectors.facts import truncated_of
from crawlmill.formats.sequencefile.header import read_header
from crawlmill.formats.sequencefile.reader import SequenceFileReader, SequenceRecord, read_sequencefile
from crawlmill.formats.sequencefile.writables import Value, Writable, writable_named

__all__ = ["KINDS", "KeyValueRecord", "listed", "read", "read_key_values", "units"]

KINDS: Final = frozenset({"metadata", "text_data"})
"""The kinds of SequenceFiles that jobs know."""

_LOOKED_AT: Final = 16
_LOOKED_AT_BYTES: Final = 1 << 20
_BLANKS_AND_MARK: Final = b" \t\r\n\xef\xbb\xbf"
_TEXT: Final = writable_named("org.apache.hadoop.io.Text")


class KeyValueRecord(Record):
    """One record of a SequenceFile.

    `type` is the kind of its file, or `record`; `head` is the key's payload; `offset` that of the block's escape, or in
    a file without blocks that of the record itself; `index` its number in the file or split. `length` is None, since
    records of a block share their bytes.
    """

    __slots__ = ("_keys",)

    format = "sequencefile"
    holds_http = False
    date = content_type = None
    closing = b""

    def __init__(self, kind: str, keys: Writable, record: SequenceRecord) -> None:
        offset, index, key, value = record
        super().__init__(kind, key, Block(len(value), value, 0), offset=offset, length=None, index=index)
        self._keys = keys

    @property
    def key(self) -> Value:
        """The key: str, bytes, int, float, bool or None, depending on its class.

        Raises:
            FormatError: `bad-encoding`: a Text that is not UTF-8.
        """
        return self._keys.value(self.head)

    @property
    def uri(self) -> str | None:
        """The key, if it is a Text; in the files of 2012 it is the URL, after redirects.

        Raises:
            FormatError: `bad-encoding`: it is not UTF-8.
        """
        key = self.key
        return key if isinstance(key, str) else None

    def text(self) -> str:
        """The value as text.

        Raises:
            FormatError: `bad-encoding`: it is not UTF-8; `too-large`.
        """
        return str(_TEXT.value(self.body()))

    listed: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "offset": attrgetter("offset"),
        "index": attrgetter("index"),
        "key": lambda record: record._shown_key(),  # noqa: SLF001
        "value_length": attrgetter("block.length"),
        "truncated": truncated_of,
    }

    def _shown_key(self) -> Any:
        try:
            key = self.key
        except FormatError:
            return {"base64": _base64(self.head)}
        if isinstance(key, bytes):
            return _base64(key)
        return str(key) if isinstance(key, float) and not math.isfinite(key) else key


def read_key_values(
    stream: ByteSource,
    size: int | None,
    *,
    start: int = 0,
    end: int | None = None,
    kinds: frozenset[str] | None = None,
    on_problem: Callable[[FormatError], None],
    on_format: Callable[[str, frozenset[str]], None],
) -> Iterator[KeyValueRecord]:
    """Yield the records of a SequenceFile, or of the split [start, end) of one by Hadoop's rule.

    Args:
        stream: The whole file.
        size: Size of the whole file, in bytes; None if unknown.
        start: Offset at which the split begins.
        end: Offset at which it ends; None: at the end of the file.
        kinds: The possible kinds of the file, if known; else the first records of the file or split decide.
        on_problem: Called for each loss; reading continues after it.
        on_format: Called with `sequencefile` and its possible kinds before the first record is yielded.

    Raises:
        FormatError, MissingDependency: As for `read_sequencefile`.
    """
    reader = read_sequencefile(stream, size, start=start, end=end, on_problem=on_problem)
    records: Iterator[SequenceRecord] = iter(reader)
    if kinds is None:
        records, kinds = _first_of(reader)
    on_format("sequencefile", kinds)
    kind = next(iter(kinds)) if len(kinds) == 1 else "record"
    for record in records:
        yield KeyValueRecord(kind, reader.key, record)


def _first_of(reader: SequenceFileReader) -> tuple[Iterator[SequenceRecord], frozenset[str]]:
    """The records, and the possible kinds of the file according to the first of them."""
    records = iter(reader)
    if not reader.key.class_name == reader.value.class_name == _TEXT.class_name:
        return records, frozenset()
    ahead = _first(records)
    return chain(ahead, records), frozenset({_kind(ahead)}) if ahead else KINDS


def read(opened: OpenInput, request: Request, account: Account) -> Iterator[Record]:
    """The records of an input; see `Reader`."""
    return proven(_of_file(opened, account) if opened.length is None else _of_split(opened, account), request, account)


def _of_file(opened: OpenInput, account: Account) -> Iterator[KeyValueRecord]:
    return read_key_values(opened.from_start(), opened.size, on_problem=account.lose, on_format=account.found)


def _of_split(opened: OpenInput, account: Account) -> Iterator[KeyValueRecord]:
    start = opened.start
    end = None if opened.length is None else start + opened.length
    kinds = None
    if opened.is_unit:
        with opened.whole_file() as (source, size):
            _, kinds = _first_of(read_sequencefile(source, size, on_problem=lambda _: None))
    with opened.whole_file() as (source, size):
        yield from read_key_values(
            source, size, start=start, end=end, kinds=kinds, on_problem=account.lose, on_format=account.found
        )


def listed() -> set[str]:
    """The names of the fields of a record; see `Reader`."""
    return set(KeyValueRecord.listed)


def units(source: ByteSource, size: int, unit_bytes: int) -> list[tuple[int, int]]:
    """Splits of equal size; none for version 1, which has no sync markers. Raises: FormatError."""
    if not read_header(Window(source)).sync:
        return []
    length = -(-size // max(size // unit_bytes, 1))
    return [(start, min(length, size - start)) for start in range(0, size, length)]


def _first(records: Iterator[SequenceRecord]) -> list[SequenceRecord]:
    """The first records, up to and including the one that decides."""
    found: list[SequenceRecord] = []
    left = _LOOKED_AT_BYTES
    for record in records:
        found.append(record)
        left -= len(record.value)
        if len(found) == _LOOKED_AT or left <= 0 or _is_metadata(record.value):
            break
    return found


def _kind(records: list[SequenceRecord]) -> str:
    return "metadata" if _is_metadata(records[-1].value) else "text_data"


def _is_metadata(value: bytes) -> bool:
    """Whether a value is, or was meant to be, a metadata record: all have `attempt_time`, as their first key."""
    return value[:64].lstrip(_BLANKS_AND_MARK).startswith(b"{") and b'"attempt_time"' in value


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
