"""Write a synthetic crawl whose true answers are known, to try the jobs on and to check an installation.

DIR gets crawl-data/CC-SAMPLE-2026-01/ with WARC, WAT and WET files of the same pages and their path lists, and
answers.json: the tags, servers and words that the jobs must count. The same seed gives the same crawl.

Examples:
  crawlmill sample sample-crawl
  crawlmill sample --pages 40000 --files 16 --formats warc /data/big-sample
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crawlmill.mr.options import whole_number
from crawlmill.sample import FORMATS, write_sample

__all__ = ["READS", "add_arguments", "run"]

READS = False
"""Nothing is read from a location, so there are no options for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is empty or does not exist")
    parser.add_argument("--pages", type=whole_number(0), default=300, metavar="N", help="pages (default 300)")
    parser.add_argument("--files", type=whole_number(1), default=3, metavar="N", help="files per format (default 3)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, another crawl (default 1)")
    parser.add_argument("--formats", type=_formats, default=FORMATS, metavar="A,B",
                        help=f"what is written (default {','.join(FORMATS)})")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the crawl."""
    answers = write_sample(
        options.folder, pages=options.pages, files=options.files, seed=options.seed, formats=options.formats
    )
    for name, table in (("tags", answers.tags), ("servers", answers.servers), ("words", answers.words)):
        total = sum(count for _, count in table)
        sys.stdout.write(f"{name}\t{len(table)} different\t{total} in all\n")
    sys.stderr.write(f"the crawl is in {options.folder}, the true answers in {options.folder / 'answers.json'}\n")
    return 0


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(FORMATS):
        raise argparse.ArgumentTypeError(f"no format {', '.join(sorted(unknown))}: expected {', '.join(FORMATS)}")
    return names
