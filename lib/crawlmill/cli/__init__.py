"""The `crawlmill` command: parse arguments, call the layers below, print: data to stdout, all else to stderr."""

from crawlmill.cli.main import main

__all__ = ["main"]
