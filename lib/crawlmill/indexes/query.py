"""A query: which captures are wanted, and in which order. Made from options, serialised for tasks; reads nothing.

The steps are, in order: times and filters; the newest capture of each key, or the first for each value of a field;
sorting; the limit.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

from crawlmill.errors import UsageError
from crawlmill.indexes.capture import Capture, disk_name
from crawlmill.urls.patterns import KeyRange, Pattern, parse_pattern, pattern_of_key

__all__ = ["SORTS", "Filter", "Queries", "Query", "parse_filter", "ranges_of"]

SORTS: Final = ("key", "reverse", "closest")

_DIGITS: Final = re.compile(r"[0-9]{1,14}")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one field or, without a field, on the whole line.

    `text` is the value as given; `how` is `=` (equals), `~` (a regular expression, matched from the start) or ""
    (contains).
    """

    text: str
    how: str
    field: str | None
    value: str
    inverted: bool
    expression: re.Pattern[str] | None = dataclasses.field(default=None, compare=False)

    def passes(self, capture: Capture, line: bytes) -> bool:
        """Whether a capture meets the condition; an absent field is an empty text."""
        if self.field is None:
            found = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
        else:
            found = capture.get(self.field) or ""
        if self.expression is not None:
            good = self.expression.match(found) is not None
        else:
            good = found == self.value if self.how == "=" else self.value in found
        return good is not self.inverted


def parse_filter(text: str) -> Filter:
    """Parse a filter `[!][=|~]FIELD:VALUE`, the form of CDX APIs.

    Raises:
        UsageError: It is empty, or not a valid regular expression.
    """
    rest = text.removeprefix("!")
    how = rest[:1] if rest[:1] in ("=", "~") else ""
    name, colon, value = rest.removeprefix(how).partition(":")
    if not colon:
        name, value = "", name
    if not name and not value:
        raise UsageError("a filter that says nothing", expected="[!][=|~]FIELD:VALUE", actual=repr(text))
    expression = None
    if how == "~":
        try:
            expression = re.compile(value)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"the filter {text} is not a regular expression: {error}") from None
    return Filter(text, how, disk_name(name) if colon else None, value, text.startswith("!"), expression)


@dataclass(frozen=True, slots=True)
class Query:
    """One look-up.

    Args:
        pattern: The URLs whose captures are wanted.
        start, end: 1 to 14 digits each: `timestamp[:len(start)] >= start`, `timestamp[:len(end)] <= end`.
        filters: Conditions, all of which must be met.
        newest: Whether to return only the newest capture of each key.
        distinct: Return only the first capture for each value of this field, per key.
        sort: One of `SORTS`: by the bytes of lines, in reverse, or by distance in time from `closest`.
        closest: 1 to 14 digits.
        limit: The largest number of captures to return.
    """

    pattern: Pattern
    start: str | None = None
    end: str | None = None
    filters: tuple[Filter, ...] = ()
    newest: bool = False
    distinct: str | None = None
    sort: str = "key"
    closest: str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        """Raises: UsageError: A value is not valid."""
        unbounded = self.start is None and self.end is None and self.limit is None
        if unbounded and self.closest is None and self.sort == "key":
            return  # true of most queries, of which there may be very many
        for name, digits in (("from", self.start), ("to", self.end), ("closest", self.closest)):
            if digits is not None and not _DIGITS.fullmatch(digits):
                raise UsageError(name, expected="a timestamp of 1 to 14 digits, such as 202401", actual=repr(digits))
        if self.sort not in SORTS:
            raise UsageError("sort", expected=", ".join(SORTS), actual=repr(self.sort))
        if self.sort == "closest" and self.closest is None:
            raise UsageError("the order `closest` needs a timestamp to be close to")
        if self.sort != "closest" and self.closest is not None:
            raise UsageError("closest", expected=f"no timestamp in the order `{self.sort}`", actual=repr(self.closest))
        if self.limit is not None and self.limit < 0:
            raise UsageError("limit", expected="a whole number of 0 or more", actual=self.limit)

    def __hash__(self) -> int:
        """The hash of the pattern's text: queries that are compared rarely differ in anything else."""
        return hash(self.pattern.text)

    @property
    def wants_all(self) -> bool:
        """Whether all captures within its ranges are wanted, in any number and order."""
        return not (self.start or self.end or self.filters or self.distinct or self.pattern.port is not None)

    @property
    def ranges(self) -> tuple[KeyRange, ...]:
        """The index lines that may be wanted; for a single key, only those in the time range."""
        if self.pattern.match != "exact" or not (self.start or self.end):
            return self.pattern.ranges
        key = self.pattern.key + b" "
        low = key + (self.start or "").encode()
        high = key + self.end.encode() + b":" if self.end else key[:-1] + b"!"
        return (KeyRange(low, high),) if low < high else ()

    def of(self, pattern: Pattern) -> Query:
        """A query for another pattern with the same options."""
        return Query(
            pattern, self.start, self.end, self.filters, self.newest, self.distinct, self.sort, self.closest, self.limit
        )

    def to_json(self) -> dict[str, Any]:
        """The query as a JSON object for `from_json`."""
        pattern = self.pattern
        return {
            "pattern": pattern.text,
            "is_key": pattern.is_key,
            "match": pattern.match,
            "key": pattern.key.decode("ascii", "surrogateescape"),
            "from": self.start,
            "to": self.end,
            "filters": [each.text for each in self.filters],
            "newest": self.newest,
            "distinct": self.distinct,
            "sort": self.sort,
            "closest": self.closest,
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Query:
        """Parse the object written by `to_json`."""
        pattern = parse_pattern(given["key"], given["match"], is_key=True)
        named = dataclasses.replace(pattern, text=given["pattern"], is_key=given["is_key"])
        filters = tuple(map(parse_filter, given["filters"]))
        return cls(
            named,
            given["from"],
            given["to"],
            filters,
            given["newest"],
            given["distinct"],
            given["sort"],
            given["closest"],
            given["limit"],
        )


class Queries(Sequence[Query]):
    """Queries with the same options, perhaps very many: those of single keys are made when they are needed.

    Args:
        like: A query with the options.
        texts: The texts of the patterns.
        patterns: The patterns; for those that select a single key, the key.
    """

    def __init__(self, like: Query, texts: Sequence[str], patterns: Sequence[Pattern | bytes]) -> None:
        self._like, self._texts, self._patterns = like, texts, patterns

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Query: ...

    @overload
    def __getitem__(self, place: slice) -> list[Query]: ...

    def __getitem__(self, place: int | slice) -> Query | list[Query]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        pattern = self._patterns[place]
        return self._like.of(pattern_of_key(self._texts[place], pattern) if isinstance(pattern, bytes) else pattern)

    def ranges(self) -> list[tuple[KeyRange, ...]]:
        """The ranges of each query."""
        if self._like.start or self._like.end:
            return [query.ranges for query in self]
        return [
            (KeyRange(pattern + b" ", pattern + b"!"),) if isinstance(pattern, bytes) else pattern.ranges
            for pattern in self._patterns
        ]


def ranges_of(queries: Sequence[Query]) -> list[tuple[KeyRange, ...]]:
    """The ranges of each query."""
    return queries.ranges() if isinstance(queries, Queries) else [query.ranges for query in queries]
