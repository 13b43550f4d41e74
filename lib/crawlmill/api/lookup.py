"""`crawlmill.lookup`: the captures of URLs, for programs and notebooks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from crawlmill.errors import FormatError, LossWarning, SourceError, UsageError
from crawlmill.indexes.arrange import lines_of
from crawlmill.indexes.capture import disk_name, parse_capture
from crawlmill.indexes.lookup import look_up
from crawlmill.indexes.query import Query, parse_filter
from crawlmill.inputs.indexes import find_indexes, open_indexes
from crawlmill.storage import Storage, StorageOptions
from crawlmill.urls.patterns import parse_pattern

__all__ = ["lookup"]


def lookup(
    *patterns: str,
    index: str | Sequence[str],
    match: str | None = None,
    key: bool = False,
    from_: str | None = None,
    to: str | None = None,
    filter: str | Sequence[str] = (),  # noqa: A002 - the name of the option
    fields: str | Sequence[str] | None = None,
    newest: bool = False,
    distinct: str | None = None,
    sort: str = "key",
    closest: str | None = None,
    limit: int | None = None,
    base_url: str | None = None,
    index_url: str | None = None,
    storage: StorageOptions | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the captures of URLs, as `crawlmill lookup --output json` prints them.

    >>> for capture in crawlmill.lookup("*.example.com", index="captures.cdxj", filter="=status:200"):
    ...     print(capture["timestamp"], capture["url"])
    20240102030405 http://example.com/
    20240102030405 http://example.com/a

    Memory does not grow with the number of captures. Arguments work like the command-line options of the same name.

    Args:
        patterns: URLs, with or without wildcards; answered in this order.
        index: A file, a cluster or a crawl; several are merged.
        match: `exact`, `prefix`, `host` or `domain`; None: according to the wildcards, else exact.
        key: Whether patterns are urlkeys.
        from_: Captures from this time on, 1 to 14 digits.
        to: Captures up to this time, inclusive.
        filter: One or several `[!][=|~]FIELD:VALUE`.
        fields: Return only these fields, named as on disk or in an API; absent ones are left out. A sequence, or one
            text with commas between the names.
        newest: Only the newest capture of each key.
        distinct: Only the first capture of each value of this field, per key.
        sort: `key`, `reverse` or `closest`.
        closest: The time for `closest`.
        limit: At most this many captures of each pattern.
        base_url: Where to find the clusters of crawls; None: at Common Crawl.
        index_url: Where to find the catalogue of crawls; None: at Common Crawl.
        storage: How locations are opened.

    Yields:
        Objects with `urlkey`, `timestamp`, `url` and so on; values are strings.

    Raises:
        UsageError: A pattern, an option or an index is invalid. Raised by the call.

    Warns:
        LossWarning: Something could not be read; the rest is still yielded.
    """
    filters = tuple(map(parse_filter, [filter] if isinstance(filter, str) else filter))
    queries = [
        Query(parse_pattern(pattern, match, is_key=key), from_, to, filters, newest, distinct, sort, closest, limit)
        for pattern in patterns
    ]
    wanted = [name.strip() for name in fields.split(",")] if isinstance(fields, str) else fields
    names = [index] if isinstance(index, str) else list(index)
    if not names:
        raise UsageError("no index given: name one, such as a file, a folder or a crawl")
    opened = Storage(storage)

    def lose(error: FormatError | SourceError) -> None:
        warnings.warn(f"{error.reason}: {error}", LossWarning, stacklevel=2)

    indexes = open_indexes(find_indexes(names, opened, base_url=base_url, index_url=index_url), opened, lose)

    def captures() -> Iterator[dict[str, Any]]:
        with opened:
            for _, chunks in look_up(indexes, queries, lose):
                for line in lines_of(chunks):
                    try:
                        flat = parse_capture(line).to_json()
                    except FormatError as error:
                        lose(error)
                        continue
                    if wanted is not None:
                        flat = {name: flat[disk_name(name)] for name in wanted if disk_name(name) in flat}
                    yield flat

    return captures()
