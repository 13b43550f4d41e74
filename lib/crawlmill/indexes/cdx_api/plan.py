"""The plan of a query to a CDX API: the pages to read.

A part belongs to one query (`file` is its label): `offset` is the number of its first page, and `lengths` are the
numbers of blocks of each page. A page without blocks stands for the server's whole response, in any number of requests.
"""

from __future__ import annotations

from crawlmill.indexes.cdx_api.answer import Count
from crawlmill.indexes.plan import Part, Plan

__all__ = ["PagePlan", "all_of", "pages_of"]


class PagePlan(Plan):
    """The pages to read."""

    def totals(self) -> dict[str, int]:
        """See `Plan.totals`."""
        return {"pages": self.blocks, "blocks": self.bytes, "requests": self.requests}

    @property
    def requests(self) -> int:
        """One request per page."""
        return self.blocks


def all_of(label: str) -> Part:
    """The part for a whole query."""
    return Part(label, 0, (0,))


def pages_of(label: str, count: Count) -> tuple[Part, ...]:
    """The parts of a query with this number of pages."""
    if count.pages is None or count.wayback:
        return (all_of(label),)
    size = count.page_size or 1
    blocks = max(count.blocks or 0, count.pages)
    lengths = [size] * count.pages
    if lengths and blocks <= size * count.pages:
        lengths[-1] = max(blocks - size * (count.pages - 1), 1)
    return (Part(label, 0, tuple(lengths)),) if lengths else ()
