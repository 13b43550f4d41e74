"""Show what became of the inputs of a run, or list those that were not ok, ready to be the next run's list.

Examples:
  crawlmill ledger out/_ledger.jsonl
  crawlmill ledger out/_ledger.jsonl --failed > again.paths
"""

from __future__ import annotations

import argparse
import sys

from crawlmill.cli.arguments import lines_of, make_storage
from crawlmill.errors import UsageError
from crawlmill.inputs.ledger import Summary, failed_lines, read_ledger
from crawlmill.inputs.lists import read_lists

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("file", metavar="FILE", help="a ledger, at any location")
    parser.add_argument("--failed", action="store_true", help="print the inputs that were not ok, as an input list")
    parser.add_argument("--list", action="append", default=[], metavar="LIST",
                        help="with --failed: the run's list, from which locations with secrets come")  # fmt: skip
    parser.add_argument("--base-url", metavar="LOCATION", help="where relative lines of --list resolve")


def run(options: argparse.Namespace) -> int:
    """Show or list."""
    if options.list and not options.failed:
        raise UsageError("--list goes with --failed")
    storage = make_storage(options)
    originals = read_lists(options.list, storage, base_url=options.base_url).items if options.list else ()
    with storage.open_stream(options.file) as stream:
        rows = read_ledger(lines_of(stream), options.file)
        if options.failed:
            for line in failed_lines(rows, originals):
                sys.stdout.write(f"{line}\n")
            return 0
        summary = Summary()
        for row in rows:
            summary.add(row)
    sys.stdout.write("".join(f"{line}\n" for line in summary.lines()))
    return 0
