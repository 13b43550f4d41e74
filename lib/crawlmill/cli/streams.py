"""The standard streams of a command: UTF-8 in every locale, as input lists and ledgers are, and there even if closed.

* A name of bytes that are no UTF-8 is printed as these bytes, so that a list which is printed names what was meant; in
  JSON, which has no such bytes, as JSON's escape of a surrogate.
* Input that is closed is empty, messages on a closed stderr go nowhere, and what is written to a closed stdout is an
  error, as on a full disk.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from typing import Any

__all__ = ["drop_output", "json_line", "prepare_streams"]

_HANDLER = "crawlmill.bytes"


def _as_bytes(error: UnicodeError) -> tuple[str | bytes, int]:
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeEncodeError:  # half a character, of which no byte is known
        return codecs.lookup_error("backslashreplace")(error)


codecs.register_error(_HANDLER, _as_bytes)


def prepare_streams() -> None:
    """Make the three streams usable."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors=_HANDLER)


def drop_output() -> None:
    """Drop what could not be written to stdout: the interpreter would try again at its end, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_line(value: Any) -> str:
    """The line of a JSON value."""
    text = json.dumps(value, ensure_ascii=False)
    # The escape that this error handler writes is, for surrogates, the very one of JSON.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"
