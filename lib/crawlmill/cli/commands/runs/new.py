"""Write a job of your own to begin with, and a test for it, into the current folder: NAME.py and test_NAME.py.

The job counts pages by media type, on every runner and with all options that jobs have; change its `process` into what
you want to know. Nothing is overwritten. NAME must be a lower-case identifier, and not the name of a module that jobs
need.

Examples:
  crawlmill new link_counts
  python -m unittest test_link_counts
  python link_counts.py --top 10 crawl.paths
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from crawlmill.cli.new_job import write_job
from crawlmill.terminal.text import tell

__all__ = ["READS", "add_arguments", "run"]

READS: Final = False
"""Nothing is read from a location."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("name", metavar="NAME", help="the name of the job, such as link_counts")


def run(options: argparse.Namespace) -> int:
    """Write the two files, and print their names."""
    for path in write_job(options.name, Path()):
        sys.stdout.write(f"{path}\n")
    tell(f"next: python -m unittest test_{options.name}; then python {options.name}.py --top 10 LIST")
    return 0
