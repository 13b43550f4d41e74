"""The user's selectors, and which pages meet them: several values of one mean "any", several selectors mean "all".

    Criteria(hosts=frozenset({"example.com"}), statuses=(range(200, 201),)).meets(facts_of(record))

A page without the property that a selector asks for does not meet it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.later import later
from crawlmill.urls.hosts import host_kind, host_of

if TYPE_CHECKING:  # most runs select nothing
    from fractions import Fraction

    from crawlmill.formats.exchange import Detected
    from crawlmill.formats.selectors.facts import Facts

__all__ = ["NO_CRITERIA", "Criteria", "native_criteria"]

_NEITHER: Final = frozenset({"detected_mimes", "languages", "charsets"})
_TEXTS: Final = _NEITHER | {"statuses", "mimes", "start", "end", "truncated"}
_UNANSWERED: Final = {
    "wet": frozenset({"statuses", "mimes", "detected_mimes", "charsets"}),
    "arc": _NEITHER,
    "cdx": _NEITHER | {"truncated"},
    "metadata": frozenset({"detected_mimes", "languages"}),
    "text_data": _TEXTS,
    "sequencefile": _TEXTS,
}
"""What records of a format cannot answer."""

_OPTIONS: Final = {
    "hosts": "--host",
    "domains": "--domain",
    "tlds": "--tld",
    "expressions": "--url-regex",
    "statuses": "--status",
    "mimes": "--mime",
    "detected_mimes": "--detected-mime",
    "languages": "--language",
    "charsets": "--charset",
    "start": "--from",
    "end": "--to",
    "truncated": "--truncated",
    "sample": "--sample-records",
}
_HASHES: Final = 1 << 64

_facts_of: Callable[[Record], Facts] = later("crawlmill.formats.selectors.facts:facts_of")
_sha1 = later("hashlib:sha1")


@dataclass(frozen=True)
class Criteria:
    """The user's selectors; empty ones and None do not restrict. Texts are in lower case.

    Args:
        hosts: Hosts, as returned by `urls.hosts.host_of`.
        domains: Names that the host must be equal to or below.
        tlds: The same; an address is not below any.
        expressions: Regular expressions to search for in the URL as recorded.
        statuses: Ranges of HTTP statuses.
        mimes: Media types as sent, or `text/*` for a group.
        detected_mimes: The same for the types detected by the crawler.
        languages: ISO 639-3 codes.
        charsets: Charsets detected by the crawler.
        start: 1 to 14 digits: not before this time; `end`: not after, inclusive.
        truncated: Whether the crawler truncated the payload.
        sample: The share of pages, from 0 to 1; chosen by a hash of their URLs.
    """

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    tlds: frozenset[str] = frozenset()
    expressions: tuple[re.Pattern[str], ...] = ()
    statuses: tuple[range, ...] = ()
    mimes: frozenset[str] = frozenset()
    detected_mimes: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    charsets: frozenset[str] = frozenset()
    start: str | None = None
    end: str | None = None
    truncated: bool | None = None
    sample: Fraction | None = None

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The names of the selectors that are set."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) not in (None, (), frozenset()))

    def __bool__(self) -> bool:
        return bool(self.given)

    @property
    def awaits_metadata(self) -> bool:
        """Whether a selector needs the crawler's metadata record about a page."""
        return bool(self.languages or self.charsets)

    @property
    def awaited(self) -> str:
        """The options that need it."""
        return " and ".join(_OPTIONS[name] for name in self.given if name in ("languages", "charsets"))

    @property
    def sampled_hashes(self) -> int | None:
        """Exclusive upper bound for the first 8 bytes of the SHA-1 of URLs in the sample."""
        return None if self.sample is None else -(-self.sample * _HASHES // 1)

    def refuse(self, names: Iterable[str]) -> FormatError | None:
        """The error for an input of one of these formats, if a selector cannot apply to it; else None."""
        kinds = [name for name in names if name != "sequencefile"] or ["sequencefile"]
        for name in self.given:
            if all(name in _UNANSWERED.get(kind, ()) for kind in kinds):
                return FormatError(
                    f"{_OPTIONS[name]}: records of this format cannot answer it",
                    reason="unsupported-format",
                    actual=" or ".join(sorted(kinds)),
                )
        return None

    def takes(self, record: Record) -> bool:
        """Whether a record meets all of them by its own properties; an unreadable one passes: its job reports it."""
        if record.type in ("warcinfo", "filedesc"):
            return False
        facts = _facts_of(record)
        return self.meets(facts) or not facts.is_readable

    def meets(self, facts: Facts) -> bool:
        """Whether a page meets all of them."""
        return self.meets_before(facts) and self.meets_detected(facts)

    def meets_detected(self, said: Facts | Detected | None) -> bool:
        """Whether a page meets the selectors of languages and charset."""
        if self.languages and (said is None or self.languages.isdisjoint(code.lower() for code in said.languages)):
            return False
        return not self.charsets or (said is not None and (said.charset or "").lower() in self.charsets)

    def meets_before(self, facts: Facts) -> bool:
        """Whether a page meets all selectors except those of detected languages and charset."""
        return (
            (not self.statuses or (facts.status is not None and any(facts.status in each for each in self.statuses)))
            and (not (self.start or self.end) or self._in_time(facts.timestamp))
            and (self.sample is None or self._in_sample(facts.url))
            and (not (self.hosts or self.domains or self.tlds) or self._of_host(facts.url))
            and _any_found(self.expressions, facts.url)
            and (not self.mimes or _is_one_of(facts.mime, self.mimes))
            and (not self.detected_mimes or _is_one_of(facts.detected_mime, self.detected_mimes))
            and (self.truncated is None or self.truncated is (facts.truncated is not None))
        )

    def _in_time(self, timestamp: str | None) -> bool:
        if timestamp is None:
            return False
        start, end = self.start or "", self.end or ""
        return timestamp[: len(start)] >= start and timestamp[: len(end)] <= end

    def _in_sample(self, url: str | None) -> bool:
        if url is None:
            return False
        digest = _sha1(url.encode("utf-8", "surrogateescape"), usedforsecurity=False).digest()
        return int.from_bytes(digest[:8], "big") < (self._hashes or 0)

    @cached_property
    def _hashes(self) -> int | None:
        return self.sampled_hashes

    def _of_host(self, url: str | None) -> bool:
        host = host_of(url) if url else None
        if host is None or (self.hosts and host not in self.hosts):
            return False
        if self.domains and not _is_below(host, self.domains):
            return False
        return not self.tlds or (host_kind(host) == "name" and _is_below(host, self.tlds))


NO_CRITERIA: Final = Criteria()
"""All pages."""


def _any_found(expressions: tuple[re.Pattern[str], ...], url: str | None) -> bool:
    """Whether one of the expressions, if there are any, is found in a URL."""
    return not expressions or (url is not None and any(each.search(url) for each in expressions))


def _search(expressions: tuple[re.Pattern[str], ...]) -> Callable[[str], object] | None:
    """The same as a function of a URL; None without expressions."""
    if len(expressions) == 1:
        return expressions[0].search
    return partial(_any_found, expressions) if expressions else None


def _is_one_of(mime: str | None, wanted: frozenset[str]) -> bool:
    if mime is None:
        return False
    return mime in wanted or f"{mime.partition('/')[0]}/*" in wanted


def _is_below(host: str, names: frozenset[str]) -> bool:
    while host not in names:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


def native_criteria(criteria: Criteria) -> dict[str, Any] | None:
    """The part that the native core decides, in the form it takes; None: there is nothing to decide."""
    if not criteria:
        return None
    return {
        "hosts": [each.encode() for each in criteria.hosts],
        "domains": [each.encode() for each in criteria.domains],
        "tlds": [each.encode() for each in criteria.tlds],
        "statuses": [(each.start, each.stop) for each in criteria.statuses],
        "mimes": [each.encode() for each in criteria.mimes],
        "detected_mimes": [each.encode() for each in criteria.detected_mimes],
        "languages": [each.encode() for each in criteria.languages],
        "charsets": [each.encode("utf-8", "surrogateescape") for each in criteria.charsets],
        "start": (criteria.start or "").encode(),
        "end": (criteria.end or "").encode(),
        "truncated": criteria.truncated,
        "sample": criteria.sampled_hashes,
        "search": _search(criteria.expressions),
    }
