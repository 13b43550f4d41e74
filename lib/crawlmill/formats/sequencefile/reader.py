"""Reads Hadoop SequenceFiles, versions 1 to 6, from a stream: all damage is reported, and no wrong record yielded.

    reader = read_sequencefile(stream, size, on_problem=problems.append)
    for offset, index, key, value in reader:
        print(reader.key.value(key), len(value))

Layout: see `sequencefile.header` and `sequencefile.body`. There are no checksums except those of codecs, no record
count and no end mark; a file truncated between two records or blocks cannot be told from a whole one.

**Damage.** After a damaged record or block, reading continues at the next escape after its beginning. If only a
compressed value is damaged, with frame and key intact, only that record is lost. Version 1 has no escapes, so damage
ends the reading.

**Splits.** The split [s, e) owns the records from A(s) up to A(e). A(x) is the first record if x is in the header, the
end if at most 20 bytes follow x, else the position after the first escape at or after x. This is Hadoop's own rule.

Deviations from Hadoop: the end of the file within a block, and a length beyond it, are damage; Hadoop takes them for
the end of the file and reports nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count, repeat
from typing import NamedTuple

from crawlmill.codecs.hadoop import codec_named
from crawlmill.codecs.source import ByteSource, Window
from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.body import MAX_BUFFER, Batch, Frames, read_block, read_records
from crawlmill.formats.sequencefile.header import SequenceFileHeader, read_header
from crawlmill.formats.sequencefile.writables import writable_named

__all__ = ["SequenceFileReader", "SequenceRecord", "read_sequencefile"]

OnProblem = Callable[[FormatError], None]

_CHUNK = 1 << 18  # measured: what fits into the processor's cache is cut twice as fast as a MiB at a time


class SequenceRecord(NamedTuple):
    """One record: `key` and `value` are payloads, as described in `crawlmill.formats.sequencefile.writables`.

    `offset` is that of the block's escape; in files without blocks, that of the record itself, after an escape. `index`
    counts the yielded records from 0.
    """

    offset: int
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not needed for a record
    key: bytes
    value: bytes


def read_sequencefile(
    stream: ByteSource,
    size: int | None,
    *,
    start: int = 0,
    end: int | None = None,
    largest: int = MAX_BUFFER,
    on_problem: OnProblem,
) -> SequenceFileReader:
    """Open a SequenceFile, or the split [start, end) of one; reads the header at once.

    Args:
        stream: The whole file, at its beginning.
        size: Size of the whole file, in bytes; None if unknown.
        start: Offset at which the split begins.
        end: Offset at which it ends; None: at the end of the file.
        largest: The largest record, or buffer of a block, accepted, in bytes; a larger one is `too-large`.
        on_problem: Called for each loss, with reason and offset; reading continues after it.

    Raises:
        FormatError: `unknown-format`: not a SequenceFile; `unsupported-format`: unknown version or codec;
            `truncated` or `bad-header`: the header is damaged.
        MissingDependency: The library for its codec is not installed.
    """
    window = Window(stream, chunk=_CHUNK)
    try:
        header = read_header(window)
    except FormatError as error:
        error.located(offset=window.offset)
        raise
    return SequenceFileReader(header, window, size, start, end, largest, on_problem)


class SequenceFileReader:
    """The records of a SequenceFile or of a split; can be iterated once.

    Attributes:
        header: The file's header.
        key: The class of the keys: `reader.key.value(record.key)` is a key as str, int, ….
        value: The class of the values.
    """

    def __init__(
        self,
        header: SequenceFileHeader,
        window: Window,
        size: int | None,
        start: int,
        end: int | None,
        largest: int,
        on_problem: OnProblem,
    ) -> None:
        self.header = header
        self.key = writable_named(header.key_class)
        self.value = writable_named(header.value_class)
        self._on_problem = on_problem
        self._begin = _boundary(start, header, size)
        stop = None if end is None else _boundary(end, header, size)
        self._is_empty = self._begin is None or (stop is not None and stop <= self._begin)
        self._frames = Frames(window, header, size, stop, largest)
        codec = codec_named(header.codec) if header.codec is not None else None
        self._read: Callable[[], Batch | None]
        if codec is not None and header.compression == "block":
            self._read = partial(read_block, self._frames, codec, self.key, self.value)
        else:
            self._read = partial(read_records, self._frames, codec, self.key, self.value, on_problem)

    def __iter__(self) -> Iterator[SequenceRecord]:
        return chain.from_iterable(self._numbered())

    def _numbered(self) -> Iterator[Iterator[SequenceRecord]]:
        # Records are created without a Python call for each, which would cost as much as all other work.
        index = 0
        for offsets, keys, values in self._batches():
            fields = zip(offsets, count(index), keys, values, strict=False)
            yield map(tuple.__new__, repeat(SequenceRecord), fields)
            index += len(keys)

    def _batches(self) -> Iterator[Batch]:
        go_on = self._go_to_start()
        while go_on:
            try:
                batch = self._read()
            except FormatError as error:
                error.located(offset=self._frames.item)
                go_on = self._frames.recover(error)
                self._on_problem(error)
                continue
            if batch is None:
                return
            yield batch

    def _go_to_start(self) -> bool:
        """Move to A(start); False if the split owns no records."""
        if self._is_empty or self._begin is None:
            return False
        if self._begin == self.header.length:
            return True
        self._frames.window.go_to(self._begin)
        return self._frames.find_escape()


def _boundary(x: int, header: SequenceFileHeader, size: int | None) -> int | None:
    """Where to look for A(x): at the header's end (the first record), at the next escape from an offset, or None.

    Hadoop: an x within the last 20 bytes is after everything.
    """
    if x <= header.length:
        return header.length
    return None if size is not None and x + 20 >= size else x
