"""Sums over the rows of a run, and the lines printed at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from crawlmill.ledger.input_lines import hint_for, may_be_location
from crawlmill.ledger.row import LedgerRow, WrittenRows
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import visible
from crawlmill.units import size

__all__ = ["Summary"]

_MAX_SHOWN: Final = 10
_MAX_NAME: Final = 160


@dataclass(slots=True)
class Summary:
    """Sums over the rows of a run, as they are added."""

    outcomes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """Parts of whole records that a job could not take, by its own reasons."""
    deselected: int = 0
    """Records, and captures, that the user's selectors have left out."""
    truncated: int = 0
    """Records taken whose payload the crawler has cut."""
    unaccounted: int = 0
    bad: list[str] = field(default_factory=list)
    """A line for each of the first inputs that something was lost of; those that nobody has read come after them."""
    _unread: list[str] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)
    """What is probably wrong with lines that name nothing: the first line of each kind."""
    _strange: int = 0
    unicodes: set[str] = field(default_factory=set)
    cores: set[str] = field(default_factory=set)

    @property
    def inputs(self) -> int:
        """The number of rows added."""
        return self.outcomes.total()

    @property
    def not_ok(self) -> int:
        """The number of inputs that are partial or failed."""
        return self.inputs - self.outcomes["ok"]

    def add(self, row: LedgerRow | WrittenRows) -> None:
        """Add a row, or several that are still encoded."""
        self.records += row.records
        self.bytes += row.bytes
        if row.unicode is not None:
            self.unicodes.add(row.unicode)
        if row.core is not None:
            self.cores.add(row.core)
        if isinstance(row, WrittenRows):
            self.outcomes["ok"] += row.count
            return
        self.deselected += row.deselected
        self.truncated += row.truncated
        outcome = row.outcome
        self.outcomes[outcome] += 1
        self.skipped += row.skipped
        self.unaccounted += row.lost["unaccounted"]
        if row.lost["not-found"] and outcome == "failed" and row.format is None:  # a pattern has its index's format
            self._strange += not may_be_location(row.input)
            if hint := hint_for(row.input):
                self.hints.setdefault(hint, row.input[:_MAX_NAME])
        shown = self._unread if row.lost["unaccounted"] else self.bad
        if outcome != "ok" and len(shown) < _MAX_SHOWN:
            shown.append(visible(f"{outcome:7} {_name_of(row)}: {_losses(row)}"))

    def counts(self) -> str:
        """`12 inputs: 10 ok, 1 partial, 1 failed; 9,812 records, 41.2 MB`; outcomes that did not occur are left out."""
        outcomes = ", ".join(
            f"{self.outcomes[kind]:,} {kind}" for kind in ("ok", "partial", "failed") if self.outcomes[kind]
        )
        outcomes += f" ({self.unaccounted:,} unaccounted)" if self.unaccounted else ""
        outcomes = f": {outcomes}" if outcomes else ""
        return f"{_plural(self.inputs, 'input')}{outcomes}; {_plural(self.records, 'record')}, {size(self.bytes)}"

    def _noted(self) -> list[str]:
        """What is not a loss but must not go unnoticed: records left out on request, payloads the crawler truncated."""
        cut = f"of the records taken, the crawler has cut the payload of {self.truncated:,}"
        left_out = f"{self.deselected:,} left out by the selectors"
        return [line for line, number in ((left_out, self.deselected), (cut, self.truncated)) if number]

    def lines(self, seconds: float | None = None) -> list[str]:
        """The lines printed at the end of a run: the counts, and the first ten inputs that are not ok."""
        took = "" if seconds is None else f" in {seconds:,.1f} s"
        bad = [*self.bad, *self._unread][:_MAX_SHOWN]
        more = self.not_ok - len(bad)
        hints = [visible(f"hint: {line}: {hint}") for hint, line in self.hints.items()]
        if not hints and self.inputs == self._strange > 0:
            hints = ["hint: is this an input list? No line of it looks like a location"]
        return [f"{self.counts()} read{took}", *self._noted(), *bad, *([f"and {more:,} more"] if more else []), *hints]


def _name_of(row: LedgerRow) -> str:
    name = row.input if len(row.input) <= _MAX_NAME else redact(row.location)
    return " ".join(name.split()) if row.length is None or name == row.input else f"{name} at {row.offset}"


def _losses(row: LedgerRow) -> str:
    """The first problem's reason and message, and counts of the other losses."""
    if not row.problems:
        return ", ".join(f"{count:,} {reason}" for reason, count in row.lost.items())
    first = row.problems[0]
    more = row.lost.total() - 1
    return " ".join(f"{first.reason}: {first.message}".split()) + (f" (and {more:,} more)" if more else "")


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
