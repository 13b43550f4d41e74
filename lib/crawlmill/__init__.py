"""Crawlmill: MapReduce extraction jobs for the whole history of Common Crawl."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it: importing typing would come before Ctrl-C is taken care of
if TYPE_CHECKING:
    from typing import Any

    from crawlmill.api import lookup
    from crawlmill.errors import LossWarning

__all__ = ["LossWarning", "__version__", "lookup"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: a task needs none of it."""
    if name == "lookup":
        from crawlmill.api import lookup  # noqa: PLC0415

        return lookup
    if name == "LossWarning":
        from crawlmill.errors import LossWarning  # noqa: PLC0415

        return LossWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
