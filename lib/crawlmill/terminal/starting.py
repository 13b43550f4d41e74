"""The first moments of a program, while Python imports: an old Python or Ctrl-C must not end in a traceback.

It must compile on every Python 3 with annotations, and be quick: it imports only what Python has loaded already.
"""

from __future__ import annotations

import gc
import sys

__all__ = ["Lasting", "begin", "wrong_python"]


class Lasting:
    """Pauses garbage collection while many lasting objects are imported or made, where it would be wasted time.

    Args:
        freeze: Whether to exempt the objects from later collections too; some extensions complain at exit if theirs
        are.
    """

    def __init__(self, *, freeze: bool = True) -> None:
        self._freeze = freeze

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._freeze:
            gc.freeze()
        if self._was_on:
            gc.enable()


def begin() -> None:
    """Until something else handles Ctrl-C, let it end the program silently with exit code 130."""
    before = sys.excepthook

    def hook(kind, error, trace):  # type: ignore[no-untyped-def]
        if issubclass(kind, KeyboardInterrupt):
            raise SystemExit(130)
        before(kind, error, trace)

    sys.excepthook = hook


def wrong_python() -> str | None:
    """One line if this Python is too old, else None."""
    if sys.version_info >= (3, 11):  # noqa: UP036 - users of an older Python get a message
        return None
    return f"crawlmill needs Python 3.11 or later; this is {sys.version.split()[0]} ({sys.executable})"
