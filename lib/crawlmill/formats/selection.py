"""What a job gets of its inputs: the formats it can process and the records it wants, decided on their headers.

A selection decides what reaches a job, not what is verified: deselected records are read and checked like all others.
All decisions are made here, for every format. `criteria` are the user's selection; a `Selector` is a condition of a
script's own. `native_types` and `native_criteria` are the part of a selection that the native core decides by itself
(its twin of this module is `native/src/selection.rs`).

    Selection(formats=frozenset({"warc", "arc"}), types=frozenset({"response"}))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from crawlmill.errors import FormatError
from crawlmill.formats.record import Record
from crawlmill.formats.selectors.criteria import NO_CRITERIA, Criteria, native_criteria

__all__ = ["EVERYTHING", "Selection", "Selector"]


_JOINED: Final = frozenset({"response", "revisit", "resource", "metadata"})
"""Records that metadata may be about, and metadata."""


class Selector(Protocol):
    """One condition on records. A record without the property in question does not meet it."""

    @property
    def name(self) -> str:
        """Its name for users, such as the name of an option."""

    @property
    def formats(self) -> frozenset[str] | None:
        """The formats whose records have the property; None: all."""

    def takes(self, record: Record) -> bool:
        """Whether a record meets it. Reads only a record's header and HTTP header."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The formats and records wanted; all conditions must be met.

    Args:
        formats: The formats that can be processed; others are `unsupported-format`. None for all. SequenceFiles are
            `metadata` or `text_data` here, while a ledger row calls them all `sequencefile`.
        types: The types of records to yield. None for all.
        selectors: Further conditions.
        criteria: The user's selection of pages.
        of_lines: Apply the criteria to the lines made from captures, not to records.
    """

    formats: frozenset[str] | None = None
    types: frozenset[str] | None = None
    selectors: tuple[Selector, ...] = ()
    criteria: Criteria = NO_CRITERIA
    of_lines: bool = False

    def refuse(self, name: str, kinds: frozenset[str] = frozenset()) -> FormatError | None:
        """The reason why an input of this format and these kinds of records cannot be processed; None if it can."""
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
        """Whether some records of the wanted types may be excluded."""
        return bool(self.selectors) or (bool(self.criteria) and not self.of_lines)

    @property
    def awaits_metadata(self) -> bool:
        """Whether records must wait for the crawler's metadata record about their page."""
        return self.criteria.awaits_metadata and not self.of_lines

    def wants(self, record: Record) -> bool:
        """Whether a record is of a wanted type."""
        return self.types is None or record.type in self.types

    def chooses(self, record: Record) -> bool:
        """Whether a record of a wanted type meets all conditions, according to its own properties."""
        if not all(selector.takes(record) for selector in self.selectors):
            return False
        return self.of_lines or not self.criteria or self.criteria.takes(record)

    def takes(self, record: Record) -> bool:
        """Whether a record is yielded."""
        return self.wants(record) and self.chooses(record)

    @property
    def native_types(self) -> frozenset[str] | None:
        """The types of records that the native core must return; it may leave out all others. None for all."""
        return self.types | _JOINED if self.types is not None and self.awaits_metadata else self.types

    @property
    def native_criteria(self) -> dict[str, Any] | None:
        """The criteria that the native core may decide: it may leave out, and count, records that do not meet them.

        Of records that wait for metadata: it may leave out responses together with the metadata right after them.
        """
        if self.of_lines or (self.awaits_metadata and not self._leaves_out_pairs):
            return None
        return native_criteria(self.criteria)

    @property
    def _leaves_out_pairs(self) -> bool:
        return self.types is not None and "response" in self.types and "metadata" not in self.types

    @property
    def is_native(self) -> bool:
        """Whether the native core may count the records that meet its conditions at once."""
        return not self.selectors and not self.awaits_metadata


EVERYTHING: Final = Selection()
"""All records of all formats."""
