"""`CapturesJob`: the base class of jobs over captures, from archives or indexes.

Archives are indexed while they are read; lines of index files are used as they are. A CDX or CDXJ file given as a list
is itself the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Final

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.sequencefile.records import KeyValueRecord
from crawlmill.indexes.cdx.archive import ArchiveLines, IndexOptions
from crawlmill.indexes.cdx.attempts import attempt_lines
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.cdx.names import file_name
from crawlmill.indexes.cdx.options import add_index_options
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.inputs.reading import ReadOptions
from crawlmill.mr.job.base import CrawlJob
from crawlmill.mr.job.described_pages import described_lines
from crawlmill.mr.job.selected_lines import SelectedLines
from crawlmill.storage import Storage

__all__ = ["CapturesJob"]

_BLOCK_BYTES: Final = 1 << 18


class CapturesJob(CrawlJob):
    """The base class of jobs over captures."""

    items: ClassVar[type[Any]] = object
    formats: tuple[str, ...] = ("warc", "arc", "wat", "wet", "cdxj", "cdx")
    heads_suffice = True
    streamed = True
    selects_lines = True

    takes_described: ClassVar[bool] = False
    """Whether a WAT file stands for the pages that it describes, and not for its own records."""

    def configure_args(self) -> None:
        """Declare the options for indexing archives."""
        super().configure_args()
        self._passthru_arg_dests.update(add_index_options(self.arg_parser.add_argument_group("captures of archives")))

    def captures(self, reading: Any) -> Iterator[bytes]:
        """Yield the lines of an input's captures: chunks of whole lines, each line with its LF."""
        return (block.data for block in self.blocks(reading))

    def blocks(self, reading: Any) -> Iterator[Block]:
        """Yield the selected captures of an input in blocks; those of archives are numbered in reading order."""
        criteria = reading.selection.criteria
        if not criteria:
            yield from self._all_blocks(reading)
            return
        lines = SelectedLines(criteria)
        for block in self._all_blocks(reading):
            if chosen := lines.chosen(block):
                yield chosen
            reading.row.deselected += lines.taken_left_out()

    def _all_blocks(self, reading: Any) -> Iterator[Block]:
        lines = ArchiveLines(self._name_of(reading.item), self.index_options)
        reading.counter = lines.counter
        items = iter(self.watched(reading))
        first = next(items, None)  # None: the input is empty, or the counter consumed all of its records
        if isinstance(first, Block):
            yield first
            yield from items
            return
        held: list[bytes] = []
        size, number = 0, 1
        records = _Rest(reading, items if first is None else chain([first], items))
        if isinstance(first, KeyValueRecord):
            pieces = attempt_lines(records)
        elif self.takes_described and reading.row.format == "wat":
            pieces = described_lines(records)
        else:
            pieces = lines.of(records)
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= _BLOCK_BYTES:
                yield (block := _block(held, number))
                number += block.lines
                held, size = [], 0
        if held:
            yield _block(held, number)

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:
        """Read the lists, which may name index files and clusters."""
        from crawlmill.mr.run.index_inputs import read_index_lists  # noqa: PLC0415 - tasks do not need it

        return read_index_lists(lists, storage, read)

    @cached_property
    def index_options(self) -> IndexOptions:
        """How archives are indexed."""
        return IndexOptions(self.options.records, "cdxj", self.options.fields)

    def selection(self) -> Selection:
        """What to read of inputs: of archives, the records that are indexed."""
        wanted = self.index_options.selection
        return Selection(frozenset(self.formats), wanted.types, wanted.selectors)

    @property
    def survey_options(self) -> ReadOptions:
        """Read options for the survey, which needs no bodies."""
        return replace(self.read_options, heads_only=True, verify=False)

    def _name_of(self, item: Input) -> str:
        whole = item.offset is None and item.length is None
        given = item.given if whole else item.location
        return file_name(given, root=self.options.dir_root, prefix=self.options.filename_prefix)


class _Rest:
    """The rest of a reading whose first record has already been consumed."""

    def __init__(self, reading: Any, records: Iterator[Record]) -> None:
        self._reading, self._records = reading, records

    def __iter__(self) -> Iterator[Record]:
        return self._records

    def is_whole(self, record: Record) -> bool:
        return bool(self._reading.is_whole(record))

    def lose(self, error: FormatError, record: Record) -> None:
        self._reading.lose(error, record)


def _block(pieces: list[bytes], number: int) -> Block:
    data = b"".join(pieces)
    return Block(None, data, data.count(b"\n"), number)
