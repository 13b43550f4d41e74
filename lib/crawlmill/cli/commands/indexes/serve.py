"""Serve the pages and the index of a crawl on this machine: replay in a browser, and a CDX API.

DIR is a folder of WARC and ARC files, or the folder of a cluster, with or without its archives. CRAWL is a crawl such
as CC-MAIN-2024-10: only the second level of its index is downloaded at the start; blocks and records are read from
--base-url when they are requested. Nothing is written to DIR. The server is pywb, a separate program that `make`
installs. Press Ctrl-C to stop it.

Examples:
  crawlmill serve pages
  crawlmill serve sample-crawl --port 9090
  crawlmill serve CC-MAIN-2024-10
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from crawlmill.cli.arguments import make_storage
from crawlmill.errors import UsageError
from crawlmill.mr.run.options import add_base_url, whole_number
from crawlmill.mr.run.signals import stoppable
from crawlmill.mr.task.failures import Stopped
from crawlmill.serving.collection import COLLECTION, prepare
from crawlmill.serving.program import address, check_port, find_pywb, serving
from crawlmill.terminal.text import tell

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("target", metavar="DIR|CRAWL", help="a folder of archives or of a cluster, or a crawl")
    parser.add_argument(
        "--port", type=whole_number(1), default=8080, metavar="N", help="where to listen (default 8080)"
    )
    parser.add_argument(
        "--bind",
        default="127.0.0.1",
        metavar="HOST",
        help="the address to listen on (default 127.0.0.1: this machine alone)",
    )
    add_base_url(parser.add_argument)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal arrives."""
    try:
        with stoppable(), tempfile.TemporaryDirectory(prefix="crawlmill-serve-") as folder:
            python = find_pywb()
            check_port(options.bind, options.port)
            found = prepare(options.target, Path(folder), make_storage(options), base_url=options.base_url, say=tell)
            if found.archives:
                tell(
                    f"{found.captures:,} captures in {found.archives:,} archive{'s' * (found.archives != 1)}"
                    + (f", {found.damaged:,} of them damaged" if found.damaged else "")
                )
            with serving(python, Path(folder), options.bind, options.port) as process:
                root = f"{address(options.bind, options.port)}/{COLLECTION}"
                sys.stdout.write(f"CDX API: {root}/cdx\nreplay: {root}/*/URL\n")
                sys.stdout.flush()
                process.wait()
            raise UsageError("pywb has ended by itself")
    except Stopped as stopped:
        return 128 + stopped.signal_number
