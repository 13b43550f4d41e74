"""The standard streams of jobs and commands: UTF-8 in every locale, as in lists and ledgers, and open even if closed.

* A name that is not UTF-8 is printed as its original bytes, so that a printed list names the right files.
* A closed stdin reads as empty, messages to a closed stderr are dropped, and writing to a closed stdout is an error, as
  on a full disk. Files opened later never get one of the three descriptors: code that writes to the stream would
  write to that file.
"""

from __future__ import annotations

import codecs
import io
import os
import sys

__all__ = ["drop_output", "open_closed_streams", "prepare_streams"]

_HANDLER = "crawlmill.bytes"


def _as_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return codecs.lookup_error("backslashreplace")(error)


codecs.register_error(_HANDLER, _as_bytes)


def open_closed_streams() -> None:
    """Open those of the three streams that are closed."""
    # In the order of their numbers: each is the smallest free one. Stdout is opened read-only, so that writes fail.
    if sys.stdin is None:
        sys.stdin = open(_null(0, os.O_RDONLY), encoding="utf-8")  # noqa: SIM115 - for the life of the process
    if sys.stdout is None:
        sys.stdout = open(_null(1, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_null(2, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115


def prepare_streams() -> None:
    """Make the three streams usable for a command, which prints text."""
    open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors=_HANDLER)


def drop_output() -> None:
    """Discard output that cannot be written: the interpreter would try again at exit, complain, and change the code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _null(number: int, flags: int) -> int:
    """Open the null device under this free descriptor number; child processes inherit it."""
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)
    return number
