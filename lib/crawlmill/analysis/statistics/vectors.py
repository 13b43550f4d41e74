"""The numbers of an item: [pages, URLs, hosts, domains], as far as they are needed, and in published form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["ITEMS", "PLACES", "SUMMED", "histograms_of", "summed", "trimmed"]

PLACES: Final = ("page", "url", "host", "domain")
"""What the numbers of a vector count."""

SUMMED: Final = frozenset(
    {
        "tld",
        "surt_domain",
        "scheme",
        "mimetype",
        "mimetype_detected",
        "http_status",
        "charset",
        "languages",
        "primary_language",
        "robotstxt_status",
    }
)
"""Metrics whose vectors have to be summed before they are results."""

ITEMS: Final = SUMMED | {"host", "domain"}
"""Metrics that have a line for each of their items."""


def trimmed(vector: list[int]) -> int | list[int]:
    """The vector without equal numbers at its end; a single number instead of a list of one."""
    size = len(vector)
    while size > 1 and vector[size - 1] == vector[size - 2]:
        size -= 1
    return vector[:size] if size > 1 else vector[0]


def summed(vectors: Iterable[list[int]]) -> list[int]:
    """The sum of vectors of equal length."""
    return [sum(column) for column in zip(*vectors, strict=True)]


def histograms_of(metric: str, crawl: str, vector: list[int]) -> list[list[str | int]]:
    """The keys that an item counts for: the histograms of its numbers, and the size of its metric."""
    keys: list[list[str | int]] = [
        ["histogram", metric, crawl, place, number] for place, number in zip(PLACES, vector, strict=False)
    ]
    return [*keys, ["size", metric, crawl]]
