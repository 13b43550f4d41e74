"""What the arguments of all commands have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from crawlmill.mr.options import add_s3, add_storage, storage_options
from crawlmill.storage import Storage
from crawlmill.storage.base import Stream

__all__ = ["Parser", "add_storage_options", "lines_of", "make_storage"]


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations; a mistake is one line on stderr and exit code 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """End with one line."""
        sys.stderr.write(f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")
        sys.exit(1)


def add_storage_options(parser: argparse.ArgumentParser) -> None:
    """The options that say how locations are opened."""
    group = parser.add_argument_group("reading from the network")
    add_storage(group.add_argument)
    add_s3(group.add_argument)


def make_storage(options: argparse.Namespace) -> Storage:
    """The storage that the options describe.

    Raises:
        UsageError: A value that cannot be.
    """
    return Storage(storage_options(options))


def lines_of(stream: Stream) -> Iterator[bytes]:
    """The lines of a text file that is read as a stream."""
    rest = b""
    while piece := stream.read(1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest
