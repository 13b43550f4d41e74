"""The first moments of a program, while Python imports: too old a Python, and Ctrl-C, are no tracebacks even then.

Readable for every Python 3 that knows annotations, and quick: nothing is imported here that Python has not at hand.
"""

from __future__ import annotations

import gc
import sys

__all__ = ["Lasting", "begin", "wrong_python"]


class Lasting:
    """While much is imported or made that stays: to look for garbage in it, now or later, takes time for nothing.

    Args:
        freeze: False lets later collections look at it: some extensions complain at exit if none ever did.
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
    """From now on end in silence, with exit code 130, if Ctrl-C comes while nothing else heeds it yet."""
    before = sys.excepthook

    def hook(kind, error, trace):  # type: ignore[no-untyped-def]
        if issubclass(kind, KeyboardInterrupt):
            raise SystemExit(130)
        before(kind, error, trace)

    sys.excepthook = hook


def wrong_python() -> str | None:
    """One line if this Python is too old, else None."""
    if sys.version_info >= (3, 11):  # noqa: UP036 - whoever runs another one shall be told
        return None
    return f"crawlmill needs Python 3.11 or later; this is {sys.version.split()[0]} ({sys.executable})"
