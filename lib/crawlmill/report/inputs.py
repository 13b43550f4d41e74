"""Summarises the ledger of a run: the outcomes of inputs, what was lost, and the rows that matter most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from crawlmill.errors import FormatError
from crawlmill.ledger.file import read_ledger
from crawlmill.ledger.row import LedgerRow
from crawlmill.report.folder import RunFolder

__all__ = ["LEDGER", "MAX_SHOWN", "MIN_SHOWN", "Inputs", "read_inputs"]

LEDGER: Final = "_ledger.jsonl"
MAX_SHOWN: Final = 500
MIN_SHOWN: Final = 200
_ORDER: Final = {"failed": 0, "partial": 1, "ok": 2}
_MAX_MESSAGE: Final = 300


@dataclass
class Inputs:
    """The sums of the ledger, and its first rows: failed, partial, ok, each ordered by input."""

    outcomes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    bytes: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    shown: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """The number of inputs."""
        return self.outcomes.total()

    def counts(self) -> dict[str, int]:
        """The number of inputs by outcome."""
        return {"all": self.rows, **{outcome: self.outcomes[outcome] for outcome in ("ok", "partial", "failed")}}

    def add(self, row: LedgerRow) -> None:
        """Add a row."""
        self.outcomes[row.outcome] += 1
        self.records += row.records
        self.bytes += row.bytes
        self.lost.update(row.lost)
        self.shown.append(_shown(row))
        if len(self.shown) > 4 * MAX_SHOWN:
            self.cut()

    def cut(self) -> None:
        """Sort the rows and keep only the first."""
        self.shown.sort(key=lambda row: (_ORDER[row["outcome"]], row["input"], row.get("offset") or 0))
        del self.shown[MAX_SHOWN:]


def read_inputs(folder: RunFolder, ledger: str | None = None) -> Inputs | None:
    """Summarise the ledger in a folder, or at a location; None if there is none in the folder.

    A damaged line is a problem; the others count.
    """
    if ledger is None and LEDGER not in folder.names:
        folder.problem(
            LEDGER, "not there, so what became of the inputs is not known; if it is elsewhere, give --ledger"
        )
        return None
    name = ledger or LEDGER
    inputs, bad, first = Inputs(), 0, ""
    for number, line in enumerate(folder.lines(name), 1):
        try:
            for row in read_ledger([line], name):
                inputs.add(row)
        except FormatError as error:
            bad, first = bad + 1, first or f"line {number}: {error.what}"
    if bad:
        folder.problem(name, first if bad == 1 else f"{bad:,} lines are not rows of a ledger; {first}")
    inputs.cut()
    return inputs


def _shown(row: LedgerRow) -> dict[str, Any]:
    span = {} if row.length is None else {"offset": row.offset, "length": row.length}
    why = {"problem": row.problems[0].message[:_MAX_MESSAGE]} if row.problems else {}
    return {
        "input": row.input,
        **span,
        "outcome": row.outcome,
        "format": row.format,
        "records": row.records,
        "bytes": row.bytes,
        "lost": dict(row.lost),
        **why,
    }
