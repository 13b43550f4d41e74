"""Chooses the implementation of the hot loops: the native core (the package `crawlmill_native`) or Python.

Both return the same results. The native one is used if it is installed and of the right version; `CRAWLMILL_CORE`
chooses one explicitly. Code that has both versions asks `native()` each time.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Final

from crawlmill.errors import UsageError

__all__ = ["VARIABLE", "name", "native"]

VARIABLE: Final = "CRAWLMILL_CORE"
"""The environment variable that names the core; the launcher hands it on to tasks on other machines."""

_API_VERSION: Final = 10
"""What is called of the native core, and what it does, changes with this number; it must have the same."""


@cache
def native() -> Any | None:
    """The module `crawlmill_native`, or None if the Python implementation is to be used.

    Raises:
        UsageError: `CRAWLMILL_CORE` asks for a core that is not installed.
    """
    wanted = os.environ.get(VARIABLE) or None
    if wanted not in (None, "native", "python"):
        raise UsageError(f"{VARIABLE}={wanted}: expected native or python")
    if wanted == "python":
        return None
    try:
        import crawlmill_native  # noqa: PLC0415 - it is optional
    except ImportError as error:
        if wanted is None:
            return None
        raise UsageError(f"{VARIABLE}=native: {error}; install it with `pip install ./native`") from error
    found = getattr(crawlmill_native, "API_VERSION", None)
    if found == _API_VERSION:
        return crawlmill_native
    if wanted is None:
        return None
    raise UsageError(
        f"{VARIABLE}=native: the native core that is installed is of another version; install it again",
        expected=_API_VERSION,
        actual=str(found),
    )


def name() -> str:
    """`native` or `python`.

    Raises:
        UsageError: As for `native`.
    """
    return "python" if native() is None else "native"
