"""The errors of Crawlmill, and the closed list of reasons under which losses are counted.

    CrawlmillError                  a message of one line that says what, expected, got, where
    ├── UsageError                  a mistake of the user: exit 1 before anything runs
    │   └── MissingDependency       a required package is not installed
    ├── FormatError                 damaged data: a retry cannot help
    └── SourceError                 failed access: a retry may help

The low layers raise errors without a source; a caller that knows the file adds it with `located()`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from crawlmill.terminal.text import visible

__all__ = [
    "ACCESS_REASONS",
    "DATA_REASONS",
    "CrawlmillError",
    "FormatError",
    "LossWarning",
    "MissingDependency",
    "Problem",
    "SourceError",
    "UsageError",
]

DATA_REASONS = (
    "truncated",
    "bad-checksum",
    "bad-compression",
    "bad-header",
    "bad-length",
    "bad-digest",
    "bad-json",
    "bad-encoding",
    "too-large",
    "trailing-bytes",
    "unknown-format",
    "unsupported-format",
)
ACCESS_REASONS = ("not-found", "denied", "unavailable", "changed", "unaccounted")


class CrawlmillError(Exception):
    """The base class: `reason` (or None), `offset` in bytes of the compressed file, `expected`, `actual`, `source`."""

    reasons: tuple[str, ...] = ()

    def __init__(
        self,
        what: str,
        *,
        reason: str | None = None,
        source: str | None = None,
        offset: int | None = None,
        expected: str | int | None = None,
        actual: str | int | None = None,
    ) -> None:
        if reason is not None and reason not in self.reasons:
            raise ValueError(f"{reason!r} is no reason of {type(self).__name__}")
        super().__init__(what)
        self.what, self.reason, self.source, self.offset = what, reason, source, offset
        self.expected, self.actual = expected, actual

    def located(self, *, source: str | None = None, offset: int | None = None) -> Self:
        """Add the source and offset, if the low layer did not know them, and return this error."""
        self.source = self.source if self.source is not None else source
        self.offset = self.offset if self.offset is not None else offset
        return self

    def __str__(self) -> str:
        text = self.what
        if self.expected is not None:
            text += f": expected {self.expected}"
            text += f", got {self.actual}" if self.actual is not None else ""
        elif self.actual is not None:
            text += f": got {self.actual}"
        where = f"offset {self.offset}" if self.offset is not None else ""
        where += f"{' in ' if where else ''}{self.source}" if self.source is not None else ""
        return visible(" ".join(f"{text} ({where})".split()) if where else " ".join(text.split()))


class UsageError(CrawlmillError):
    """A mistake of the user, found before anything runs."""


class MissingDependency(UsageError):  # noqa: N818 - the name says what is missing
    """A required package is not installed; the message names it and its extra."""


class FormatError(CrawlmillError):
    """Data that is damaged or not what it claims to be."""

    reasons = DATA_REASONS

    def __init__(self, what: str, *, reason: str, **more: Any) -> None:
        super().__init__(what, reason=reason, **more)


class SourceError(CrawlmillError):
    """A location that could not be read."""

    reasons = ACCESS_REASONS

    def __init__(self, what: str, *, reason: str, **more: Any) -> None:
        super().__init__(what, reason=reason, **more)


class LossWarning(UserWarning):
    """Part of what a program asked for could not be read; the rest was returned."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One loss, as in the ledger. `offset` is in bytes of the compressed file, or None."""

    reason: str
    offset: int | None
    expected: str | int | None
    actual: str | int | None
    message: str

    @classmethod
    def of(cls, error: CrawlmillError) -> Problem:
        """The problem for an error with a reason."""
        if error.reason is None:
            raise ValueError(f"{error!r} has no reason")
        return cls(error.reason, error.offset, error.expected, error.actual, str(error))

    def to_json(self) -> dict[str, Any]:
        """The object in the ledger."""
        return asdict(self)
