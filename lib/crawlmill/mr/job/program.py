"""A job as a program: its script and name, how it reports mistakes, and a stdout that user code cannot spoil."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentError
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from crawlmill.errors import CrawlmillError
from crawlmill.mr.task.failure_report import report
from crawlmill.terminal.streams import open_closed_streams
from crawlmill.terminal.text import visible

if TYPE_CHECKING:  # every task would make it, and none use it
    from typing import Protocol

    class Program(Protocol):
        """What can be run; `CrawlJob` is one."""

        @classmethod
        def name(cls) -> str:
            """Its name: that of its file."""

        def execute(self) -> Any:
            """Do what its options say."""


__all__ = ["door_of", "guarded_stdout", "run_program"]


def run_program(job: type[Program]) -> None:
    """Do what the command line says: launch the job, or be one of its tasks. A mistake is one line, exit code 1."""
    open_closed_streams()
    try:
        job().execute()
    except (CrawlmillError, ArgumentError) as error:
        said = visible(" ".join(str(error).split()))
        with suppress(OSError):
            sys.stderr.write(f"{job.name()}: {said}\n")
        report(said)
        sys.exit(1)


def door_of(job: type[Any]) -> str | None:
    """The path of the script that is run, if that has the class in it or imports it; None if it does not."""
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    return str(script) if script and getattr(main, job.__name__, None) is job else None


@contextmanager
def guarded_stdout() -> Iterator[BinaryIO]:
    """A file for pairs where stdout was; what user code prints goes to stderr meanwhile, and corrupts nothing."""
    with os.fdopen(os.dup(1), "wb", 1 << 16) as pairs:
        os.dup2(2, 1)
        try:
            yield pairs
        finally:
            pairs.flush()
            os.dup2(pairs.fileno(), 1)
