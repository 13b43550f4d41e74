"""The common part of the arguments of all commands."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from crawlmill.mr.run.options import add_s3, add_storage, storage_options
from crawlmill.storage import Storage
from crawlmill.terminal.text import tell

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ["Parser", "add_storage_options", "make_storage"]


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations; mistakes end in one line on stderr and exit code 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; unlike argparse's own, raises an error if that fails."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """End with one line."""
        tell(f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)")
        sys.exit(1)


def add_storage_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for opening locations."""
    group = parser.add_argument_group("reading from the network")
    add_storage(group.add_argument)
    add_s3(group.add_argument)


def make_storage(options: argparse.Namespace) -> Storage:
    """The storage for the parsed options.

    Raises:
        UsageError: A value is not valid.
    """
    return Storage(storage_options(options))
