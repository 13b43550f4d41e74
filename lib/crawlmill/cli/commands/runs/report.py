"""Make a page of a run's output folder: what came out, what was lost, how fast it was. One HTML file, for any browser.

The page needs no network and works without JavaScript; the numbers are in it as JSON, too. With --compare it also says
where the results differ from those of another run. The same folder always gives the same page.

Examples:
  crawlmill report out
  crawlmill report out --open
  crawlmill report out --compare earlier -o difference.html
  crawlmill report s3://bucket/out -o - > report.html
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.mr.run.options import whole_number
from crawlmill.report.data import gather
from crawlmill.report.page.render import render
from crawlmill.storage import Storage, absolute, is_remote, redact
from crawlmill.storage.locations import join, local_path, without_slashes
from crawlmill.terminal.text import tell

__all__ = ["add_arguments", "run"]

_TOP = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("folder", metavar="OUT", help="the output folder of a run, at any location")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the page goes, - for stdout (default: OUT/_report.html)"
    )
    parser.add_argument("--ledger", metavar="FILE", help="the ledger of the run, if it is not in OUT")
    parser.add_argument("--compare", metavar="OUT2", help="compare with the results of another run, key by key")
    parser.add_argument(
        "--top",
        type=whole_number(1),
        default=_TOP,
        metavar="N",
        help=f"show the N largest results and differences (default {_TOP})",
    )
    parser.add_argument("--open", action="store_true", help="open the page in your browser")


def run(options: argparse.Namespace) -> int:
    """Write the page, and print its location."""
    target = join(without_slashes(options.folder), "_report.html") if options.output is None else options.output
    if options.open and (target == "-" or is_remote(target)):
        raise UsageError("--open: the page must be a file of this machine: give -o FILE")
    if options.output is not None:
        _check_place(target)
    with make_storage(options) as storage:
        ledger = None if options.ledger is None else absolute(options.ledger, os.getcwd())  # noqa: PTH109
        data = gather(options.folder, storage, top=options.top, other=options.compare, ledger=ledger)
        page = render(data)
        _write(page, target, storage)
    for problem in data["problems"]:
        tell(f"crawlmill: {problem}")
    if target != "-":
        sys.stdout.write(f"{redact(target)}\n")
    if options.open and not webbrowser.open(local_path(absolute(target, os.getcwd())).as_uri()):  # noqa: PTH109
        raise UsageError(f"no browser could be started: open {target}")
    return 2 if data["problems"] else 0


def _check_place(target: str) -> None:
    """Check before the work that a local page can be written; a mistyped folder must not be created."""
    if target == "-" or is_remote(target):
        return
    path = local_path(absolute(target, os.getcwd()))  # noqa: PTH109
    if path.is_dir():
        raise UsageError(f"the page cannot be written: {target} is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"the page cannot be written: there is no folder {path.parent}")


def _write(page: bytes, target: str, storage: Storage) -> None:
    if target == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(page)
        return
    try:
        with storage.write(target) as file:
            file.write(page)
    except (CrawlmillError, OSError) as error:
        raise UsageError(f"the page cannot be written: {error}") from error
