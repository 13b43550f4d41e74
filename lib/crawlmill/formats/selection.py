"""What a job gets of its inputs: which formats it can take, and which of their records, decided on their heads.

A selection says what reaches a job, never what is proven: deselected records are read and checked like all others.
Everything is decided here, in one place, for every format. A condition on records is a `Selector`; `native_types` is
what the native core decides of a selection by itself (its twin of this module is `native/src/selection.rs`).

    Selection(formats=frozenset({"warc", "arc"}), types=frozenset({"response"}))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record

__all__ = ["EVERYTHING", "Selection", "Selector"]


class Selector(Protocol):
    """One condition on records. A record without the property that it asks for does not meet it."""

    @property
    def name(self) -> str:
        """What users call it, such as the name of an option."""

    @property
    def formats(self) -> frozenset[str] | None:
        """The formats whose records can answer it; None: all."""

    def takes(self, record: Record) -> bool:
        """Whether a record meets it. Reads no more of a record than its head and its HTTP header."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The formats and records that are wanted; all conditions must be met.

    Args:
        formats: The formats that can be taken; any other is `unsupported-format`. None takes all. SequenceFiles are
            `metadata` or `text_data` here, while a ledger row calls them all `sequencefile`.
        types: The types of records to be given. None gives all.
        selectors: Further conditions.
    """

    formats: frozenset[str] | None = None
    types: frozenset[str] | None = None
    selectors: tuple[Selector, ...] = ()

    def refuse(self, name: str, kinds: frozenset[str] = frozenset()) -> FormatError | None:
        """Why an input of this format, which may hold these kinds of records, cannot be taken; None if it can."""
        names = {name, *kinds}
        if self.formats is not None and self.formats.isdisjoint(names):
            return FormatError(
                "a format that this job does not count",
                reason="unsupported-format",
                expected=" or ".join(sorted(self.formats)),
                actual=" or ".join(sorted(kinds)) or name,
            )
        for selector in self.selectors:
            if selector.formats is not None and selector.formats.isdisjoint(names):
                return FormatError(
                    f"{selector.name}: records of this format cannot answer it",
                    reason="unsupported-format",
                    expected=" or ".join(sorted(selector.formats)),
                    actual=name,
                )
        return None

    def takes(self, record: Record) -> bool:
        """Whether a record is given."""
        if self.types is not None and record.type not in self.types:
            return False
        return all(selector.takes(record) for selector in self.selectors)

    @property
    def native_types(self) -> frozenset[str] | None:
        """The types of records that the native core has to give; it may leave out all others. None for all."""
        return self.types

    @property
    def is_native(self) -> bool:
        """Whether the native core decides all of it, so that what it gives may be counted there and then."""
        return not self.selectors


EVERYTHING: Final = Selection()
"""All records of all formats."""
