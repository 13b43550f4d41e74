"""Print the captures of archives: a URL index of WARC and ARC files, a line per record.

A line is the URL's key, the time, and the record's fields as JSON, as in Common Crawl's index: url, mime,
mime-detected, status, digest, length, offset, filename, charset, languages, truncated, redirect. Lines are in the order
of the files; --sort puts them in the order of an index. Damage is reported on stderr, records after it are still
indexed, and the exit code is 2.

Examples:
  crawlmill index --sort crawl.warc.gz > crawl.cdxj
  crawlmill index --heads-only --fields +recordid s3://bucket/a.warc.gz s3://bucket/b.warc.gz
  crawlmill index --records conversion crawl.warc.wet.gz
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.indexes.cdx.archive import ArchiveLines, IndexOptions
from crawlmill.indexes.cdx.lines import FORMATS, HEADERS
from crawlmill.indexes.cdx.names import file_name
from crawlmill.indexes.cdx.options import add_index_options
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.sorting import sort_lines
from crawlmill.storage import Storage
from crawlmill.terminal.text import tell

__all__ = ["add_arguments", "run"]


_SORTED_IN_MEMORY: Final = 256 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a WARC, WAT, WET or ARC file at any location")
    parser.add_argument("--sort", action="store_true", help="sort the lines by their bytes, in bounded memory")
    parser.add_argument("--format", choices=FORMATS, default="cdxj", help="the format of lines (default cdxj)")
    parser.add_argument(
        "--heads-only",
        action="store_true",
        help="verify only boundaries and lengths, which is several times faster; a body is read if "
        "its record has no digest",
    )
    add_index_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print the lines."""
    if options.fields and options.format != "cdxj":
        raise UsageError("only CDXJ lines can have more fields", expected="--format cdxj", actual=options.format)
    root, prefix = options.dir_root, options.filename_prefix
    named = [(each, file_name(each, root=root, prefix=prefix)) for each in options.files]
    index = _Index(make_storage(options), options)
    lines = (piece for location, name in named for piece in index.lines(location, name))
    out = sys.stdout.buffer
    if options.format in HEADERS:
        out.write(f"{HEADERS[options.format]}\n".encode())
    out.writelines(_sorted(lines) if options.sort else lines)
    return 2 if index.bad else 0


def _sorted(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Texts of many lines, sorted by bytes."""
    with sort_lines(lines, Path(tempfile.gettempdir()), _SORTED_IN_MEMORY) as ordered:
        yield from ordered.chunks()


class _Index:
    """Indexes files, and remembers whether one was not whole."""

    def __init__(self, storage: Storage, options: argparse.Namespace) -> None:
        self._storage, self._read = storage, ReadOptions(heads_only=options.heads_only)
        self._options = IndexOptions(options.records, options.format, options.fields)
        self.bad = False

    def lines(self, location: str, name: str) -> Iterator[bytes]:
        """The lines of a file; afterwards its problems are printed to stderr."""
        item, selection = Input(location, location), self._options.selection
        reading = Reading(item, self._storage, self._read, selection, streamed=True)
        lines = ArchiveLines(name, self._options)
        reading.counter = lines.counter
        yield from lines.of(reading)
        for problem in reading.row.problems:
            tell(f"{problem.reason}: {problem.message}")
        self.bad = self.bad or reading.row.outcome != "ok"
