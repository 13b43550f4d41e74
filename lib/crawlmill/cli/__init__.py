"""The `crawlmill` command: parses arguments, calls the layers below, prints data to stdout and all else to stderr."""

import sys

from crawlmill.terminal.starting import Lasting, begin, wrong_python

begin()  # before any slow import
_WRONG = wrong_python()
if _WRONG is not None:
    sys.exit(_WRONG)

with Lasting():
    from crawlmill.cli.main import main

__all__ = ["main"]
