"""Show what became of a run's inputs, or list those that were not ok, as an input list for the next run.

Examples:
  crawlmill ledger out
  crawlmill ledger out/_ledger.jsonl --failed > again.paths
  crawlmill ledger --collect s3://bucket/out
"""

from __future__ import annotations

import argparse
import os
import sys

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.inputs.lists import read_lists
from crawlmill.inputs.text_lines import cut_lines
from crawlmill.ledger.file import failed_lines, read_ledger
from crawlmill.ledger.summary import Summary
from crawlmill.mr.run.options import add_base_url
from crawlmill.report.inputs import LEDGER
from crawlmill.storage import Storage, absolute, is_remote, redact
from crawlmill.storage.locations import join, local_path, without_slashes

__all__ = ["add_arguments", "run"]

_MAX_ROW = 64 << 20  # a row may have a hundred problems, each with a name of its input


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a ledger, at any location, or a local output folder that holds one; with --collect, an output folder, or "
        "that of the run itself if it has none",
    )
    parser.add_argument("--failed", action="store_true", help="print the inputs that were not ok, as an input list")
    parser.add_argument(
        "--list",
        action="append",
        default=[],
        metavar="LIST",
        help="with --failed: the run's list, for locations with secrets",
    )
    parser.add_argument(
        "--collect",
        action="store_true",
        help="finish a run on EMR or Hadoop whose launcher died: merge its ledger, publish its output "
        "to folder FILE (or print its results), and exit as the run would have",
    )
    parser.add_argument("--wait", action="store_true", help="with --collect: wait until the run has ended")
    add_base_url(parser.add_argument, "base for relative lines of --list")


def run(options: argparse.Namespace) -> int:
    """Print the summary or the list."""
    if options.list and not options.failed:
        raise UsageError("--list goes with --failed")
    if options.base_url is not None and not options.list:
        raise UsageError("--base-url goes with --list")
    if options.wait and not options.collect:
        raise UsageError("--wait goes with --collect")
    storage = make_storage(options)
    if options.collect:
        if options.failed:
            raise UsageError("--collect and --failed exclude each other")
        return _collect(options, storage)
    originals = read_lists(options.list, storage, base_url=options.base_url).items if options.list else ()
    file = options.file
    if not is_remote(file) and os.path.isdir(local_path(file)):  # noqa: PTH112 - the method raises errors
        file = join(file, LEDGER)
    with storage.open_stream(file) as stream:
        name = redact(file)
        lines = cut_lines(iter(lambda: stream.read(1 << 20), b""), longest=_MAX_ROW, source=name)
        rows = read_ledger(lines, name)
        if options.failed:
            for line in failed_lines(rows, originals):
                sys.stdout.write(f"{line}\n")
            return 0
        summary = Summary()
        for row in rows:
            summary.add(row)
    sys.stdout.write("".join(f"{line}\n" for line in summary.lines()))
    return 0


def _collect(options: argparse.Namespace, storage: Storage) -> int:
    from crawlmill.mr.engines.collect import collect  # noqa: PLC0415 - rarely needed

    place = absolute(without_slashes(options.file), os.getcwd())  # noqa: PTH109
    return collect(place, storage, sys.stderr.buffer, sys.stdout.buffer, wait=options.wait)
