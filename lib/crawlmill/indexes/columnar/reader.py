"""Parquet files of the columnar index as inputs: their items are blocks of CDXJ lines, one row group after another.

Lines are made from some of the columns; the others are only read to prove them, and not at all with `--heads-only`.
Checksums are optional in these files: without them, a changed byte may go unnoticed. A row group with damage in a
column that lines need is lost as a whole; the others are still read.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

from crawlmill.codecs.source import ByteSource, read_up_to
from crawlmill.errors import FormatError
from crawlmill.formats.reader import Account, OpenInput, Request
from crawlmill.indexes.cdx.block import Block

__all__ = ["read"]


class _FileInput:
    """An input as a `Source`; requests for ranges, which may come from several threads, are sent one by one."""

    name = "the file"
    remote = True

    def __init__(self, source: ByteSource, size: int | None) -> None:
        self._source, self._size, self._lock = source, size, threading.Lock()

    def size(self) -> int | None:
        """See `Source.size`."""
        return self._size

    def open(self, offset: int = 0, length: int | None = None) -> io.BytesIO:
        """See `Source.open`."""
        with self._lock:
            self._source.seek(offset)
            return io.BytesIO(read_up_to(self._source, -1 if length is None else length))

    def store(self) -> None:
        """See `Source.store`; nothing is stored."""


def read(opened: OpenInput, request: Request, account: Account) -> Iterator[Block]:
    """The captures of an input, in blocks; see `Reader`."""
    account.found("parquet")
    account.leave_unproven()
    if opened.is_part:
        account.refuse(FormatError("a range of a Parquet file", reason="unsupported-format", expected="a whole file"))
    try:
        from crawlmill.indexes.columnar.part_lines import PartLines  # noqa: PLC0415 - other inputs do not need pyarrow
    except ImportError as error:
        text = f"a table needs the package {error.name}: pip install 'crawlmill[columnar]'"
        account.refuse(FormatError(text, reason="unsupported-format"))
    with opened.whole_file() as (source, size):
        part = PartLines(_FileInput(source, size))
        number = 1
        for group in range(part.number_of_groups):
            offset = part.offset_of(group)
            try:
                for lines in part.every_line(group):
                    account.count(len(lines))
                    yield Block(offset, b"".join(lines), len(lines), number)
                    number += len(lines)
                if not request.options.heads_only:
                    part.prove_rest(group)
            except FormatError as error:
                account.lose(error.located(offset=offset))
