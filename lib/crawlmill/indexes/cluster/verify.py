"""Checks that a cluster is whole and in order: `cluster.idx` against its shards, every member, every line.

It checks what a look-up assumes: that rows are in order, that the members of a shard follow each other from its first
byte to its last, that no shard is without rows, that each member begins with the key and time of its row, and that no
line is less than the one before it, across members and shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawlmill.codecs.source import read_up_to
from crawlmill.errors import FormatError, SourceError
from crawlmill.indexes.cluster.members import MAX_MEMBER, member_lines
from crawlmill.indexes.cluster.places import Shards
from crawlmill.indexes.cluster.rows import Row, parse_row, parse_rows
from crawlmill.indexes.index import Losses, OnProblem
from crawlmill.indexes.lines import (
    Chunk,
    Order,
    first_line,
    is_header,
    key_and_time,
    sound_lines,
)
from crawlmill.indexes.source import Files, OpenSource, Source

__all__ = ["ClusterCheck"]

_PIECE = 1 << 18


class ClusterCheck:
    """Reads a cluster to its end. After `run`, `lines` and `bytes` (of shards) are what was found whole.

    `names` are those of the files next to its `cluster.idx`, as far as they are known.
    """

    def __init__(self, idx: Source, files: Files, loc: str | None, names: Sequence[str], on_problem: OnProblem) -> None:
        self._idx, self._shards, self._names = idx, Shards(files, loc), names
        self._losses = Losses.of(on_problem)
        self.lines = self.bytes = 0
        self._name, self._at, self._furthest = "", 0, 0
        self._stream: OpenSource | None = None
        self._start, self._order = b"", Order()

    def run(self) -> None:
        """Run the check. Raises: SourceError, FormatError: `cluster.idx` cannot be read."""
        listed: set[str] = set()
        for row in self._rows():
            listed.add(row.shard)
            if row.start < self._start:
                self._lose(
                    "the rows of cluster.idx are out of order",
                    row,
                    expected=f">= {_shown(self._start)}",
                    actual=_shown(row.start),
                )
            self._start = max(row.start, self._start)
            try:
                self._check_row(row)
            except (FormatError, SourceError) as error:
                self._losses.add(error, row.shard)
        self._end_shard()
        for name in self._shards.unlisted(listed, self._names):
            if self._shards.may_hold_lines(name):
                self._losses.add(FormatError("cluster.idx has no row of a shard", reason="bad-header"), name)

    def _rows(self) -> Iterator[Row]:
        with self._idx.open() as stream:
            lines = parse_rows(iter(lambda: stream.read(_PIECE), b""))
            number = 0
            for line in lines:
                number += 1
                try:
                    row = parse_row(line)
                    if row.number not in (None, number):
                        self._lose(
                            "a row of cluster.idx has another number than it should",
                            row,
                            expected=number,
                            actual=str(row.number),
                        )
                        number = row.number or 0  # the rows after it are not to blame
                    yield row
                except FormatError as error:
                    self._losses.add(error, self._idx.name)

    def _check_row(self, row: Row) -> None:
        if row.shard != self._name:
            self._end_shard()
            self._name, self._stream, self._at, self._furthest = row.shard, None, 0, 0
            self._stream = self._shards.open(row.shard, 0, None)
        if self._stream is None:  # the shard does not exist, which is reported
            return
        if row.offset != self._at:
            self._lose(
                "the members of a shard do not follow each other in cluster.idx",
                row,
                reason="bad-length",
                expected=f"offset {self._at}",
                actual=row.offset,
            )
            self._stream.__exit__(None, None, None)
            self._stream = self._shards.open(row.shard, row.offset, None)
            self._at = row.offset
        if row.length > MAX_MEMBER:
            raise FormatError(
                "cluster.idx names a member that is too large to be one",
                reason="too-large",
                offset=row.offset,
                expected=f"<= {MAX_MEMBER} bytes",
                actual=row.length,
            )
        packed = read_up_to(self._stream, row.length)
        self._at += len(packed)
        self._furthest = max(self._furthest, self._at)
        if len(packed) < row.length:
            raise FormatError(
                "a member is cut off by the end of its shard",
                reason="truncated",
                offset=row.offset,
                expected=f"{row.length} bytes",
                actual=len(packed),
            )
        try:
            self._check_member(row, member_lines(packed))
        except FormatError as error:
            error.offset = row.offset
            raise
        self.bytes += len(packed)

    def _check_member(self, row: Row, chunks: Iterator[Chunk]) -> None:
        begun = False
        for chunk in chunks:
            if not chunk:
                continue
            first = first_line(chunk)
            if not begun and key_and_time(first) != row.start and not is_header(first):
                self._lose(
                    "a member begins with another line than cluster.idx says",
                    row,
                    expected=_shown(row.start),
                    actual=_shown(key_and_time(first)),
                )
            begun = True
            if found := self._order.take(chunk):
                self._lose(
                    "lines of a cluster are out of order",
                    row,
                    expected=f">= {_shown(found[1])}",
                    actual=_shown(found[0]),
                )
            if sound_lines(chunk) != len(chunk):
                self._check_lines(row, chunk)
            self.lines += chunk.count(b"\n")

    def _check_lines(self, row: Row, chunk: Chunk) -> None:
        for line in bytes(chunk).split(b"\n"):
            if line and sound_lines(line + b"\n") != len(line) + 1:
                self.lines -= 1
                if not is_header(line):
                    self._lose(
                        "a line of a cluster is malformed",
                        row,
                        expected="a urlkey, 14 digits, JSON or columns",
                        actual=_shown(line),
                    )

    def _end_shard(self) -> None:
        """Check for bytes after the last member of a shard."""
        if self._stream is None:
            return
        try:
            with self._stream as stream:
                left = 0
                while piece := stream.read(_PIECE):
                    left += len(piece)
        except SourceError as error:
            self._losses.add(error, self._name)
        else:
            left += self._at - self._furthest
            if left > 0:
                what = FormatError(
                    "a shard goes on after the last member of cluster.idx",
                    offset=self._furthest,
                    reason="trailing-bytes",
                    actual=f"{left} bytes",
                )
                self._losses.add(what, self._name)

    def _lose(self, what: str, row: Row, *, expected: str | int, actual: str | int, reason: str = "bad-header") -> None:
        error = FormatError(what, reason=reason, offset=row.offset, expected=expected, actual=actual)
        self._losses.add(error, row.shard)


def _shown(text: bytes) -> str:
    return repr(text[:80].decode("utf-8", "backslashreplace"))
