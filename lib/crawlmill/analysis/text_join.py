"""Joins the metadata records and the texts of a URL: the reduce side of a join by key.

In 2012 a URL may have been fetched several times, through several redirects, and only some attempts left a text: so
records and texts of a URL do not correspond one to one, nor in order. Each record gets all distinct texts of its URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

__all__ = ["METADATA", "TEXT", "with_texts"]

METADATA: Final = "metadata"
TEXT: Final = "text"


def with_texts(values: Iterable[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each record of a URL as `{"metadata": {…}, "texts": ["…"]}`, in an order independent of that of `values`.

    `values` are (METADATA, record) and (TEXT, text). Texts without any record are yielded once, under the record None.
    All values of the URL are held in memory.
    """
    records: list[Any] = []
    texts: set[str] = set()
    for kind, value in values:
        if kind == METADATA:
            records.append(value)
        else:
            texts.add(value)
    if len(records) > 1:
        records.sort(key=json.dumps)
    for record in records or [None]:
        yield {"metadata": record, "texts": sorted(texts)}
