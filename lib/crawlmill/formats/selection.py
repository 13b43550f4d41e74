"""What a job gets of its inputs: which formats it can take, and which of their records, decided on their heads.

A selection says what reaches a job, never what is proven: deselected records are read and checked like all others.
Everything is decided here, in one place, for every format. What users ask for are `criteria`; a condition that a
script has of its own is a `Selector`. `native_types` and `native_criteria` are what the native core decides of a
selection by itself (its twin of this module is `native/src/selection.rs`).

    Selection(formats=frozenset({"warc", "arc"}), types=frozenset({"response"}))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.formats.selectors.criteria import NO_CRITERIA, Criteria, native_criteria

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
        criteria: What the user asks of pages.
        of_lines: The criteria are asked of the lines that captures make, and not of records.
    """

    formats: frozenset[str] | None = None
    types: frozenset[str] | None = None
    selectors: tuple[Selector, ...] = ()
    criteria: Criteria = NO_CRITERIA
    of_lines: bool = False

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
        return self.criteria.refuse(names)

    @property
    def is_choosy(self) -> bool:
        """Whether some records of the wanted types may not be given."""
        return bool(self.selectors) or (bool(self.criteria) and not self.of_lines)

    @property
    def awaits_metadata(self) -> bool:
        """Whether records have to wait for what the crawler's metadata record says of their page."""
        return self.criteria.awaits_metadata and not self.of_lines

    def wants(self, record: Record) -> bool:
        """Whether a record is of a wanted type."""
        return self.types is None or record.type in self.types

    def chooses(self, record: Record) -> bool:
        """Whether a record of a wanted type meets all conditions, by what it says itself."""
        if not all(selector.takes(record) for selector in self.selectors):
            return False
        return self.of_lines or not self.criteria or self.criteria.takes(record)

    def takes(self, record: Record) -> bool:
        """Whether a record is given."""
        return self.wants(record) and self.chooses(record)

    @property
    def native_types(self) -> frozenset[str] | None:
        """The types of records that the native core has to give; it may leave out all others. None for all."""
        return self.types | {"metadata"} if self.types is not None and self.awaits_metadata else self.types

    @property
    def native_criteria(self) -> dict[str, Any] | None:
        """What the native core decides of the criteria: it may leave out, and count, what does not meet them."""
        return None if self.of_lines else native_criteria(self.criteria)

    @property
    def is_native(self) -> bool:
        """Whether what the native core takes by its own conditions may be counted there and then."""
        return not self.selectors and not self.awaits_metadata


EVERYTHING: Final = Selection()
"""All records of all formats."""
