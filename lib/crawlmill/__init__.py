"""Crawlmill: MapReduce extraction jobs for the whole history of Common Crawl."""

from __future__ import annotations

TYPE_CHECKING = False  # set by type checkers; importing typing would run before Ctrl-C is handled
if TYPE_CHECKING:
    from typing import Any

    from crawlmill.api.archive import Archive, open_archive
    from crawlmill.api.lookup import lookup
    from crawlmill.api.results import RunResults, read_results
    from crawlmill.errors import CrawlmillError, FormatError, LossWarning, Problem, SourceError, UsageError
    from crawlmill.formats.record import Record
    from crawlmill.storage import StorageOptions

__all__ = [
    "Archive",
    "CrawlmillError",
    "FormatError",
    "LossWarning",
    "Problem",
    "Record",
    "RunResults",
    "SourceError",
    "StorageOptions",
    "UsageError",
    "__version__",
    "lookup",
    "open_archive",
    "read_results",
]

__version__ = "0.1.0"

_HOMES = {
    "crawlmill.api.archive": ("Archive", "open_archive"),
    "crawlmill.api.lookup": ("lookup",),
    "crawlmill.api.results": ("RunResults", "read_results"),
    "crawlmill.errors": ("CrawlmillError", "FormatError", "LossWarning", "Problem", "SourceError", "UsageError"),
    "crawlmill.formats.record": ("Record",),
    "crawlmill.storage": ("StorageOptions",),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: tasks need none of them."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
