"""A job as a program: its script and name, how it reports mistakes, and a stdout protected from user code."""

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

if TYPE_CHECKING:  # unused at run time, and every task would pay for it
    from typing import Protocol

    class Program(Protocol):
        """A class that can be run as a program; `CrawlJob` is one."""

        @classmethod
        def name(cls) -> str:
            """The name of the program, which is the name of its file."""

        def execute(self) -> Any:
            """Run what the options ask for."""


__all__ = ["door_of", "guarded_stdout", "run_program"]


def run_program(job: type[Program]) -> None:
    """Run the job or the task that the command line asks for. A mistake ends in one line on stderr and exit code 1."""
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
    """The path of the running script, if it defines or imports the class; else None."""
    main = sys.modules.get("__main__")
    script = getattr(main, "__file__", None)
    return str(script) if script and getattr(main, job.__name__, None) is job else None


@contextmanager
def guarded_stdout() -> Iterator[BinaryIO]:
    """Yield a file for pairs in place of stdout; meanwhile what user code prints goes to stderr."""
    with os.fdopen(os.dup(1), "wb", 1 << 16) as pairs:
        os.dup2(2, 1)
        try:
            yield pairs
        finally:
            pairs.flush()
            os.dup2(pairs.fileno(), 1)
