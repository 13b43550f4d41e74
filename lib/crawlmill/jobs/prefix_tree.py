"""Build the URL index of 2012: a prefix B-tree of captures."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from crawlmill.errors import FormatError
from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.prefix_tree.index_blocks import MAX_BLOCK
from crawlmill.indexes.prefix_tree.items import LONG, SHORT, Item, pack, parse_place
from crawlmill.indexes.prefix_tree.keys import tree_key
from crawlmill.indexes.prefix_tree.sort_lines import item_of, sort_line
from crawlmill.indexes.prefix_tree.writer import TreeWriter, check_fits
from crawlmill.mr.job.sorting.sharded import SortingJob
from crawlmill.mr.run.options import whole_number
from crawlmill.mr.run.results import Results
from crawlmill.mr.task.pairs import ENCODED
from crawlmill.mr.task.rows import Pair

__all__ = ["PrefixTree"]

_NAME: Final = "url-index.pbtree"
_MIN_BLOCK: Final = 64
_LABEL: Final = b"00000\t"  # one label, so that one reducer writes the one file


class PrefixTree(SortingJob):
    """Build the URL index of 2012, a prefix B-tree, in --output-dir: url-index.pbtree.

    Reads metadata files and ARC files of the 2012 crawl, and CDX, CDXJ and clusters of captures in such ARC files.
    Writes what Common Crawl's program of 2012 wrote: keys as com.example.www/path:http with the segment, date and
    partition of the ARC file, the record's offset and its compressed size. `crawlmill lookup` reads it.

    A capture that is in no file of that crawl, or whose key does not fit into a block, is reported and left out.
    """

    formats = ("metadata", "arc", "cdxj", "cdx")
    JOBCONF: ClassVar[dict[str, Any]] = {**SortingJob.JOBCONF, "mapreduce.job.reduces": 1}

    def configure_args(self) -> None:
        """Declare the options of the tree."""
        super().configure_args()
        add = self.add_passthru_arg
        add("--block-size", type=_block_size, default=65536, metavar="BYTES", help="bytes of a block (default 65536)")
        add(
            "--values",
            type=int,
            choices=(32, 28),
            default=32,
            help="bytes of a value; 28, as in the older format: without compressed sizes (default 32)",
        )

    def read(self, reading: Any) -> Iterator[Pair]:
        """Yield the items of an input as lines that sort in the order of the tree."""
        values = self._values
        for block in self.blocks(reading):
            lines: list[bytes] = []
            for index, line in enumerate(block.data.split(b"\n")[:-1]):
                try:
                    item = _item(line, needs_length=values is LONG)
                    check_fits(item.key, values.size, self.options.block_size)
                except FormatError as error:
                    error.what = f"line {block.number_of(index)} cannot be in this index: {error.what}"
                    reading.drop(error.located(offset=block.offset))
                else:
                    lines += _LABEL, sort_line(item, values), b"\n"
            if lines:
                yield ENCODED, b"".join(lines)

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Write the tree in the one reduce task that has items; yields no pairs."""
        first = next(chunks, None)
        if first is not None:
            lines = (line[len(_LABEL) :] for chunk in chain([first], chunks) for line in chunk.split(b"\n")[:-1])
            with self.write_file(_NAME) as file:
                self._write(map(item_of, lines), file)
        yield from ()

    def finish(self, results: Results) -> None:
        """Write an empty tree, if no task has written one."""
        if _NAME not in results.files:
            with results.write(_NAME) as file:
                self._write((), file)

    def _write(self, items: Iterable[Item], file: BinaryIO) -> None:
        with tempfile.TemporaryDirectory() as folder, TreeWriter(self.options.block_size, Path(folder)) as tree:
            for item in items:
                tree.add(item.key, pack(item.place, self._values))
            tree.write(file)

    @property
    def _values(self) -> struct.Struct:
        return SHORT if self.options.values == SHORT.size else LONG


def _item(line: bytes, *, needs_length: bool) -> Item:
    capture = parse_capture(line)
    url, filename, offset, length = map(capture.get, ("url", "filename", "offset", "length"))
    if not url or not filename or not offset or (needs_length and not length):
        raise FormatError("a capture without a place", reason="bad-header", expected="url, filename, offset and length")
    try:
        place = parse_place(filename, int(offset), int(length) if length and length != "-" else None)
    except ValueError:
        raise FormatError(
            "offset and length are not numbers", reason="bad-header", actual=f"{offset} {length}"
        ) from None
    return Item(tree_key(url.encode("utf-8", "surrogateescape")), place)


def _block_size(text: str) -> int:
    size = whole_number(_MIN_BLOCK)(text)
    if size > MAX_BLOCK:
        raise ValueError(text)
    return size


if __name__ == "__main__":
    PrefixTree.run()
