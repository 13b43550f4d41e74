"""The common part of the arguments of all commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from crawlmill.errors import SourceError
from crawlmill.mr.run.options import add_s3, add_storage, dropped_value, storage_options, with_near_option
from crawlmill.storage import Storage, is_remote, redact
from crawlmill.storage.locations import local_path
from crawlmill.terminal.text import tell

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

__all__ = ["Parser", "add_storage_options", "local_folder", "make_storage"]


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations; mistakes end in one line on stderr and exit code 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse as argparse does, except for values that some versions of it drop."""
        words = sys.argv[1:] if args is None else list(args)
        if dropped := dropped_value(words):
            self.error(dropped)
        return super().parse_known_args(words, namespace)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; unlike argparse's own, raises an error if that fails."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """End with one line."""
        message = with_near_option(message, self._option_string_actions)
        tell(f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)")
        sys.exit(1)


def local_folder(text: str) -> Path:
    """An argparse type: a folder of this machine."""
    try:
        if text and not is_remote(text):
            return local_path(text)
    except SourceError:
        pass  # of another machine
    raise argparse.ArgumentTypeError(f"expected a folder of this machine, got {redact(text)!r}")


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
