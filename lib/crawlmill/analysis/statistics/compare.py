"""Compares crawls by their sketches: how much two have in common, and how their union grows.

Sizes are estimates, rounded; intersections are estimated from the size of the union.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crawlmill.analysis.statistics.sketch import Sketch

__all__ = ["compared", "read_sketches"]

Sketches = dict[tuple[str, str], Sketch]
"""By item, `url` or `digest`, and crawl."""


def read_sketches(lines: Iterable[bytes]) -> Sketches:
    """The sketches in lines of published statistics; other lines are ignored.

    Raises:
        ValueError: A line is not a pair of JSON values, or a sketch is invalid.
    """
    found: Sketches = {}
    for line in lines:
        if b"size_estimate" not in line[:64]:
            continue
        key, _, value = line.partition(b"\t")
        name = json.loads(key)
        if isinstance(name, list) and len(name) == 3 and name[0] == "size_estimate" and name[1] in ("url", "digest"):
            found[name[1], str(name[2])] = Sketch.from_json(json.loads(value))
    return found


def compared(
    item: str, earlier: Mapping[str, Sketch], crawls: Mapping[str, Sketch]
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield pairs of keys and values: the overlap of each crawl with each earlier one, and the sizes of their union."""
    for before, old in sorted(earlier.items()):
        for crawl, new in sorted(crawls.items()):
            if crawl == before:
                continue
            union = round(old.union(new).card)
            common = round(old.card) + round(new.card) - union
            jaccard = common / union if union else 0.0
            yield ["overlap", item, before, crawl], {"intersection": common, "union": union, "jaccard": jaccard}
    so_far, size = Sketch(), 0
    for crawl, sketch in sorted({**earlier, **crawls}.items()):
        so_far.merge(sketch)
        grown = round(so_far.card)
        yield ["cumulative", item, crawl], {"size": grown, "new": min(grown - size, round(sketch.card))}
        size = grown
