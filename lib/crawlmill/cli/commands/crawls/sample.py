"""Write a synthetic crawl whose true answers are known, to try out jobs and to check an installation.

DIR gets crawl-data/CC-SAMPLE-2026-01/, with WARC, WAT and WET files of the same pages and their path lists, and
answers.json: the tags, servers and words that the jobs must count. The same seed makes the same crawl.

If index is among the formats, the crawl has a URL index of its WARC files: a cluster, like Common Crawl's.

With --formats you also get the same pages in the formats of the crawls of 2008 to 2012: arc (three kinds of ARC files,
each with its own list), metadata and text (SequenceFiles).

Examples:
  crawlmill sample sample-crawl
  crawlmill sample --formats warc,index with-index
  crawlmill sample --formats arc,metadata,text sample-2012
  crawlmill sample --pages 14000 --files 16 --formats warc --realistic /data/big-sample
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

from crawlmill.cli.arguments import local_folder
from crawlmill.errors import SourceError
from crawlmill.mr.run.options import whole_number
from crawlmill.sample import CRAWL, DEFAULT_FORMATS, FORMATS, write_sample
from crawlmill.terminal.text import tell

__all__ = ["READS", "add_arguments", "run"]

_NEXT: Final = {
    "warc": "tag_count",
    "wet": "word_count",
    "wat": "server_count",
    "arc": "tag_count",
    "text": "word_count",
    "metadata": "metadata_statistics",
}

READS = False
"""Nothing is read from a location, so there are no options for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("folder", type=local_folder, metavar="DIR", help="a folder that is empty or does not exist yet")
    parser.add_argument("--pages", type=whole_number(0), default=300, metavar="N", help="number of pages (default 300)")
    parser.add_argument("--files", type=whole_number(1), default=3, metavar="N", help="files per format (default 3)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="a different seed makes a different crawl (default 1)"
    )
    parser.add_argument(
        "--formats",
        type=_formats,
        default=DEFAULT_FORMATS,
        metavar="A,B",
        help=f"some of {', '.join(FORMATS)} (default {','.join(DEFAULT_FORMATS)})",
    )
    parser.add_argument(
        "--realistic", action="store_true", help="pages three times as large, with far more words, for benchmarks"
    )


def run(options: argparse.Namespace) -> int:
    """Write the crawl."""
    try:
        answers = write_sample(
            options.folder,
            pages=options.pages,
            files=options.files,
            seed=options.seed,
            formats=options.formats,
            realistic=options.realistic,
        )
    except SourceError as error:  # not an input that was lost, but output that cannot be written
        tell(f"crawlmill: {error}")
        return 1
    tables = [("tags", answers.tags), ("servers", answers.servers), ("words", answers.words)]
    tables.append(("triples", answers.triples))
    tables += [(f"{name} {kind}", table) for name, own in answers.legacy.items() for kind, table in own.items()]
    for name, table in tables:
        total = sum(count for _, count in table)
        sys.stdout.write(f"{name}\t{len(table)} different\t{total} in all\n")
    tell(f"the crawl is in {options.folder}, the true answers in {options.folder / 'answers.json'}")
    tell(f"next: {_next_command(options.folder, options.formats)}")
    return 0


def _next_command(folder: Path, formats: Collection[str]) -> str:
    name = next((name for name in _NEXT if name in formats), None)
    if name is None:
        return f"crawlmill lookup '*.example' --index {CRAWL} --base-url {shlex.quote(str(folder))}"
    return f"python jobs/{_NEXT[name]}.py --top 10 {shlex.quote(str(folder / f'crawl-data/{CRAWL}/{name}.paths.gz'))}"


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(FORMATS):
        raise argparse.ArgumentTypeError(f"no format {', '.join(sorted(unknown))}: expected {', '.join(FORMATS)}")
    return names
