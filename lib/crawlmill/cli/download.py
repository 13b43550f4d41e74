"""Download the files of an input list into a folder, under the paths of their keys.

What is there already is not fetched again, half a file is gone on with, and sizes are verified; with --check every
member and record is read. The ledger says what became of each file; the exit code is 2 if one is missing or damaged.

Examples:
  crawlmill paths CC-MAIN-2024-22 wet --sample 5 | crawlmill download - wet-files
  crawlmill download --connections 4 --check input_lists/cc-main-2024-22.warc.paths /data
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.inputs.download import download, plan_downloads
from crawlmill.inputs.ledger import LedgerRow, Summary, size
from crawlmill.inputs.lists import read_lists
from crawlmill.mr.options import add_base_url, whole_number
from crawlmill.mr.progress import Console

__all__ = ["add_arguments", "run"]

_LINE_EVERY_S = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("list", metavar="LIST", help="an input list; - is stdin")
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the files go")
    parser.add_argument(
        "--connections", type=whole_number(1), default=2, metavar="N", help="files at a time (default 2)"
    )
    parser.add_argument("--check", action="store_true", help="read every member and record of each file")
    parser.add_argument("--ledger", metavar="FILE", help="where the ledger goes (default: DIR/_ledger.jsonl)")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, default=True,
                        help="show how far it is (default: yes)")  # fmt: skip
    add_base_url(parser.add_argument)


class _Watch:
    """How far the download is; told from all threads."""

    def __init__(self, files: int, *, shown: bool) -> None:
        self._console, self._shown, self._files = Console(sys.stderr.buffer), shown, files
        self._lock = threading.Lock()
        self._bytes = self._done = 0
        self._began = self._shown_at = time.monotonic()

    def bytes(self, count: int) -> None:
        """So many bytes came."""
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
        """One file is done."""
        with self._lock:
            self._done += 1

    def end(self) -> None:
        """Take away what is drawn."""
        self._console.clear()


def run(options: argparse.Namespace) -> int:
    """Download."""
    storage = make_storage(options)
    inputs = read_lists([options.list], storage, base_url=options.base_url, stdin=sys.stdin.buffer)
    plan = plan_downloads(inputs, options.folder)
    ledger = options.ledger or str(options.folder / "_ledger.jsonl")
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot make the folder: {os.strerror(error.errno or 0)}", source=str(options.folder)
        ) from error
    watch = _Watch(len(plan), shown=options.progress)
    summary = Summary()
    rows: list[LedgerRow] = []
    began = time.monotonic()
    for row in download(plan, storage, connections=options.connections, check=options.check, on_bytes=watch.bytes):
        rows.append(row)
        watch.file()
    watch.end()
    with storage.write(ledger) as file:
        for row in sorted(rows, key=lambda row: row.input):
            file.write(json.dumps(row.to_json(), ensure_ascii=False).encode() + b"\n")
            summary.add(row)
    sys.stderr.write("".join(f"{line}\n" for line in summary.lines(time.monotonic() - began)))
    sys.stderr.write(f"ledger: {ledger}\n")
    return 2 if summary.not_ok else 0
