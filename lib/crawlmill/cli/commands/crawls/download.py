"""Download the files of an input list into a folder, under the paths of their keys. A list with ranges is refused.

Files that you already have are not fetched again, a partial file is resumed if the source is unchanged, and sizes are
verified; with --check every member and record is read too. The ledger says what became of each file; the exit code is
2 if one is missing or damaged.

Files that a proxy has re-encoded are not kept: a `.gz` that is not gzip, or gzip within gzip, is `failed`
(`unknown-format`), and the next run fetches it again.

Examples:
  crawlmill paths CC-MAIN-2024-22 wet --sample 5 | crawlmill download - wet-files
  crawlmill download --connections 4 --check input_lists/cc-main-2024-22.warc.paths /data
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path, PurePosixPath

from crawlmill.cli.arguments import local_folder, make_storage
from crawlmill.errors import CrawlmillError, SourceError, UsageError
from crawlmill.inputs.download import Download, download, plan_downloads
from crawlmill.inputs.lists import Inputs, read_lists
from crawlmill.ledger.file import check_ledger_place, keep_ledger
from crawlmill.ledger.row import LedgerRow, complete
from crawlmill.ledger.summary import Summary
from crawlmill.mr.run.options import add_base_url, whole_number
from crawlmill.mr.run.progress import Console
from crawlmill.mr.run.signals import stoppable
from crawlmill.mr.task.failures import Stopped
from crawlmill.mr.task.pairs import encode_value
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import local_path
from crawlmill.storage.shares import most_tasks
from crawlmill.terminal.text import tell
from crawlmill.units import size

__all__ = ["add_arguments", "run"]

_LINE_EVERY_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("list", metavar="LIST", help="an input list; - is stdin")
    parser.add_argument("folder", type=local_folder, metavar="DIR", help="where to put the files, on this machine")
    parser.add_argument(
        "--connections", type=whole_number(1), default=2, metavar="N", help="files to fetch at a time (default 2)"
    )
    parser.add_argument("--check", action="store_true", help="also read every member and record of each file")
    parser.add_argument("--ledger", metavar="FILE", help="where to write the ledger (default: DIR/_ledger.jsonl)")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=True, help="show progress (default: yes)"
    )
    add_base_url(parser.add_argument)


class _Watch:
    """Shows the progress of the download; called from all threads."""

    def __init__(self, console: Console, files: int, *, shown: bool) -> None:
        self._console, self._shown, self._files = console, shown, files
        self._lock = threading.Lock()
        self._bytes = self._done = 0
        self._began = self._shown_at = time.monotonic()

    def bytes(self, count: int) -> None:
        """Add received bytes."""
        with self._lock:
            self._bytes += count
            now = time.monotonic()
            if self._shown and now - self._shown_at >= (0.2 if self._console.is_terminal else _LINE_EVERY_S):
                self._shown_at = now
                rate = self._bytes / max(now - self._began, 0.001)
                left = (now - self._began) * (self._files - self._done) / self._done if self._done else None
                text = f"{self._done:,}/{self._files:,} files, {size(self._bytes)}, {size(int(rate))}/s"
                text += f", {left:,.0f} s left" if left is not None else ""
                (self._console.draw if self._console.is_terminal else self._console.say)(text)

    def file(self) -> None:
        """Add a finished file."""
        with self._lock:
            self._done += 1

    def close(self) -> None:
        """Remove the status line for good: threads may still be working."""
        with self._lock:
            self._shown = False
            self._console.clear()


class _Account:
    """The rows of finished files, and the ledger made from them."""

    def __init__(self, inputs: Inputs, storage: Storage, console: Console) -> None:
        self._order, self._storage, self._console = inputs.ledger_order(), storage, console
        self._rows: dict[str, LedgerRow] = {}
        self._began = time.monotonic()

    def add(self, row: LedgerRow) -> None:
        """Add the row of a finished file; called from all threads."""
        self._rows[row.location] = row

    def close(self, ledger: str) -> int:
        """Print the summary, and write a row for each input; returns the exit code."""
        ranked = enumerate(self._rows.get(item.location) for item in self._order)
        why = "the download ended before this file was there"
        rows = list(complete(((rank, row) for rank, row in ranked if row is not None), self._order, why))
        summary = Summary()
        for row in rows:
            summary.add(row)
        for line in summary.lines(time.monotonic() - self._began):
            self._console.say(line)
        return 1 if not self._keep(rows, ledger, "ledger") else 2 if summary.not_ok else 0

    def close_so_far(self, ledger: str) -> None:
        """Write the rows of the finished files."""
        rows = [self._rows[item.location] for item in self._order if item.location in self._rows]
        self._keep(rows, ledger, "the ledger so far")

    def _keep(self, rows: list[LedgerRow], ledger: str, what: str) -> bool:
        """Write the rows to a place, or else to a temporary folder; returns whether the wanted place worked."""

        def write(place: str) -> None:
            with self._storage.write(place) as file:
                file.writelines(encode_value(row.to_json()) + b"\n" for row in rows)

        place = keep_ledger(ledger, write, self._console.say)
        if place is not None:
            self._console.say(f"{what}: {redact(place)}")
        return place == ledger


def run(options: argparse.Namespace) -> int:
    """Download the files."""
    storage = make_storage(options)
    inputs = read_lists([options.list], storage, base_url=options.base_url, local_keys=False, stdin=sys.stdin.buffer)
    folder: Path = options.folder
    ledger = options.ledger or str(folder / "_ledger.jsonl")
    plan = plan_downloads(inputs, folder, taken=_places_below(folder, ledger, _interrupted(folder)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder: {os.strerror(error.errno or 0)}", source=str(folder)) from error
    check_ledger_place(ledger, storage.options)
    console = Console(sys.stderr.buffer)
    account = _Account(inputs, storage, console)
    try:
        with stoppable():
            try:
                return _to_the_end(plan, storage, options, account, ledger, console)
            except Stopped as stopped:
                console.say(f"crawlmill: stopped by {signal.Signals(stopped.signal_number).name}")
                account.close_so_far(_interrupted(folder))
                raise
    except Stopped as stopped:
        return 128 + stopped.signal_number


def _to_the_end(
    plan: list[Download],
    storage: Storage,
    options: argparse.Namespace,
    account: _Account,
    ledger: str,
    console: Console,
) -> int:
    watch = _Watch(console, len(plan), shown=options.progress)
    most, host = most_tasks((each.item.location for each in plan), options.connections, storage.options)
    if host is not None:
        tell(f"{most} files at a time, for {host} allows no more connections")

    def end(row: LedgerRow) -> None:
        account.add(row)
        watch.file()

    try:
        with closing(watch):
            download(plan, storage, connections=most or 1, check=options.check, on_row=end, on_bytes=watch.bytes)
    except (OSError, CrawlmillError):  # a full disk, a missing package: reported by `main`
        account.close(ledger)
        raise
    return account.close(ledger)


def _places_below(folder: Path, *ledgers: str) -> list[PurePosixPath]:
    """The paths of those ledgers that are inside the folder."""
    root = Path(os.path.realpath(folder))
    try:
        paths = [Path(os.path.realpath(local_path(ledger))) for ledger in ledgers if not is_remote(ledger)]
    except SourceError as error:
        raise UsageError(str(error)) from error
    return [PurePosixPath(path.relative_to(root)) for path in paths if path.is_relative_to(root)]


def _interrupted(folder: Path) -> str:
    """The place for the ledger so far: next to the folder, as for jobs, or inside it if that is not writable."""
    folder = folder.absolute()
    beside = folder if os.access(folder.parent, os.W_OK) else folder / "_ledger"
    return f"{beside}.interrupted.jsonl"
