"""The `crawlmill` command: parse arguments, call the layers below, print: data to stdout, all else to stderr."""

import sys

from crawlmill.terminal.starting import Lasting, begin, wrong_python

begin()  # before anything that takes time is imported
_WRONG = wrong_python()
if _WRONG is not None:
    sys.exit(_WRONG)

with Lasting():
    from crawlmill.cli.main import main

__all__ = ["main"]
