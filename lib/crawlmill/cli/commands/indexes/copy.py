"""Copy the records of captures into WARC and ARC files, or show what that would cost.

LIST is an input list of captures: lines of CDXJ, as `crawlmill lookup` prints them, or LOCATION, OFFSET and LENGTH.
With --index, the arguments are URL patterns instead; the captures that `crawlmill lookup` would find are copied, and
its options apply.

The output files are those of jobs/extract_records.py, written one after another to a folder at any location. To resume
a copy that was stopped, run the same command again: it does not fetch again what it already has, and retries what could
not be read. The ledger shows what became of each capture; the exit code is 2 if any was not copied.

Examples:
  crawlmill copy captures.cdxj --check
  crawlmill copy '*.example.com' --index CC-MAIN-2024-10 --filter =status:200 --output-dir pages
  crawlmill lookup '*.example.com' --index DIR | crawlmill copy - --output-dir s3://bucket/pages/
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.extraction.copying import Copy
from crawlmill.extraction.options import add_output_files
from crawlmill.extraction.plan import plan_files
from crawlmill.extraction.ranges import requests_of
from crawlmill.inputs.cache import cache_folder
from crawlmill.inputs.lists import COMMON_CRAWL, Inputs, read_lists
from crawlmill.ledger.row import LedgerRow
from crawlmill.ledger.summary import Summary
from crawlmill.mr.run.lookup import read_captures_of
from crawlmill.mr.run.options import add_base_url, add_lookup
from crawlmill.mr.run.progress import Console
from crawlmill.mr.run.signals import stoppable
from crawlmill.mr.task.failures import Stopped
from crawlmill.mr.task.pairs import encode_value
from crawlmill.storage import Storage, absolute, redact
from crawlmill.storage.locations import join
from crawlmill.terminal.text import tell
from crawlmill.units import size

__all__ = ["add_arguments", "run"]

_SHOWN_EVERY_S = 0.2
_LINE_EVERY_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "lists", nargs="*", metavar="LIST", help="a list of captures, or with --index a URL pattern; - is stdin"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="print captures, files, bytes and requests; fetch none")
    what.add_argument(
        "--output-dir", metavar="LOCATION", help="the folder to copy to; one of an earlier run is resumed"
    )
    add_output_files(parser.add_argument)
    parser.add_argument("--ledger", metavar="FILE", help="where to write the ledger (default: in the folder)")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=True, help="show progress (default: yes)"
    )
    add_lookup(parser.add_argument)
    add_base_url(parser.add_argument)
    parser.set_defaults(on_bad_input="skip")


def run(options: argparse.Namespace) -> int:
    """Copy the records, or print the costs."""
    if options.check and options.ledger:
        raise UsageError("--ledger: nothing is copied with --check, so there is no ledger")
    storage = make_storage(options)
    inputs, lost = _inputs(options, storage)
    if options.check:
        _print_costs(inputs, options)
        return 2 if lost else 0
    try:
        with stoppable():
            return _copy(inputs, storage, options) or (2 if lost else 0)
    except Stopped as stopped:
        tell(f"crawlmill: stopped by {signal.Signals(stopped.signal_number).name}; the same command resumes")
        return 128 + stopped.signal_number


def _inputs(options: argparse.Namespace, storage: Storage) -> tuple[Inputs, int]:
    if not options.index:
        if not options.lists:
            raise UsageError("no list given: name one, or `-` for stdin")
        return read_lists(options.lists, storage, base_url=options.base_url, stdin=sys.stdin.buffer), 0
    return read_captures_of(
        options,
        options.lists,
        storage,
        tell,
        stdin=sys.stdin.buffer,
        base_url=options.base_url,
        default_base=COMMON_CRAWL,
        local_keys=True,
    )


def _print_costs(inputs: Inputs, options: argparse.Namespace) -> None:
    files = plan_files(enumerate(inputs), options.max_size, notes=options.provenance)
    costs = {
        "captures": len(inputs),
        "files": len({item.location for item in inputs}),
        "bytes": sum(item.length or 0 for item in inputs),
        "requests": sum(1 for file in files for _ in requests_of(file.inputs)),
    }
    sys.stdout.write("".join(f"{name} {number}\n" for name, number in costs.items()))


def _copy(inputs: Inputs, storage: Storage, options: argparse.Namespace) -> int:
    folder = absolute(options.output_dir, os.getcwd())  # noqa: PTH109
    named = [f"{name} in {' '.join(options.index)}" for name in options.lists] if options.index else options.lists
    ordered = inputs.ledger_order()
    console = Console(sys.stderr.buffer)
    began = time.monotonic()
    copy = Copy(
        ordered,
        folder,
        storage,
        prefix=options.prefix,
        max_size=options.max_size,
        notes=options.provenance,
        sources=[redact(name) for name in named],
        cache=cache_folder() or Path(tempfile.gettempdir()),
    )
    rows: list[LedgerRow | None] = [None] * len(ordered)
    with closing(copy):
        for position, row in _watched(copy, console, len(ordered), shown=options.progress):
            rows[position] = row
        ledger = options.ledger or join(options.output_dir, "_ledger.jsonl")
        summary = Summary()
        with storage.write(absolute(ledger, os.getcwd())) as file:  # noqa: PTH109
            for each in rows:
                if each is not None:
                    summary.add(each)
                    file.write(encode_value(each.to_json()) + b"\n")
    for line in summary.lines(time.monotonic() - began):
        console.say(line)
    console.say(f"ledger: {redact(ledger)}")
    return 2 if summary.not_ok else 0


def _watched(copy: Copy, console: Console, total: int, *, shown: bool) -> Iterator[tuple[int, LedgerRow]]:
    """The rows of a copy, while showing the progress."""
    done = read = 0
    began = at = time.monotonic()
    try:
        for position, row in copy.rows():
            yield position, row
            done, read = done + 1, read + row.bytes
            now = time.monotonic()
            if shown and now - at >= (_SHOWN_EVERY_S if console.is_terminal else _LINE_EVERY_S):
                at = now
                rate = read / max(now - began, 0.001)
                text = f"{done:,}/{total:,} captures, {size(read)}, {size(int(rate))}/s"
                (console.draw if console.is_terminal else console.say)(text)
    finally:
        console.clear()
