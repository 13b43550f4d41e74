"""The ledger row of an input: its outcome, its JSON, and merging the rows of a run.

Every input of a run has exactly one row. The outcome follows from the row's content:

    ok        nothing was lost
    partial   something was read and something was lost
    failed    nothing of it could be read
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from unicodedata import unidata_version

from crawlmill.errors import CrawlmillError, FormatError, Problem
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import visible

if TYPE_CHECKING:  # unused at run time, and every task would pay for them
    from typing import Protocol

    class Numbered(Protocol):
        """One of several units of an input."""

        @property
        def number(self) -> int:
            """Its number, from 0."""

        @property
        def count(self) -> int:
            """The number of units."""

    class Accountable(Protocol):
        """What a row is about; `crawlmill.inputs.lists.Input` is one."""

        @property
        def shown(self) -> str:
            """The line that names it, without secrets."""

        @property
        def location(self) -> str:
            """Where it is."""

        @property
        def offset(self) -> int | None:
            """Where its bytes begin; None for a whole file."""

        @property
        def length(self) -> int | None:
            """The number of its bytes; None for a whole file."""

        @property
        def unit(self) -> Numbered | None:
            """The unit of the input, if this is only part of it; else None."""


__all__ = ["LedgerRow", "WrittenRows", "complete", "merged"]

_MAX_PROBLEMS: Final = 100
_SHOWN: Final = 80
_CALLED: Final = {str: "a string", int: "a whole number", dict: "an object"}
_TWICE: Final = "the ledger has two rows for one input"


@dataclass(slots=True)
class LedgerRow:
    """The outcome of one input. `bytes`: bytes of the input covered; `records`: whole records in it, wanted or not."""

    input: str
    location: str
    offset: int | None = None
    length: int | None = None
    format: str | None = None
    records: int = 0
    bytes: int = 0
    verified: bool = True
    lost: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    unicode: str | None = field(default=None, compare=False)
    """The version of Unicode by which it was read: known to the run, no part of the ledger."""
    unit: tuple[int, int] | None = field(default=None, compare=False)
    """Number and count of the unit that this row is of, if it is not of the whole input: no part of the ledger."""
    skipped: Counter[str] = field(default_factory=Counter, compare=False)
    """Parts of whole records that a job could not take, by its own reasons: known to the run, no part of the ledger."""
    deselected: int = field(default=0, compare=False)
    """Records that the user's selectors have left out: known to the run, no part of the ledger."""
    truncated: int = field(default=0, compare=False)
    """Records taken whose payload the crawler has cut: known to the run, no part of the ledger."""
    core: str | None = field(default=None, compare=False)
    """The core (`crawlmill.core`) by which it was read: known to the run, no part of the ledger."""
    count: ClassVar[int] = 1

    @classmethod
    def of(cls, item: Accountable) -> LedgerRow:
        """A new row for an input of which nothing has been read."""
        unit = None if item.unit is None else (item.unit.number, item.unit.count)
        return cls(item.shown, item.location, item.offset, item.length, unit=unit)

    @property
    def outcome(self) -> str:
        """`ok`, `partial` or `failed`."""
        if not self.lost:
            return "ok"
        return "partial" if self.records else "failed"

    def lose(self, problem: Problem) -> None:
        """Count a loss under its reason; the first hundred problems are kept in full."""
        self.lost[problem.reason] += 1
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object, without secrets. Offset and length are present for ranges only."""
        location = redact(self.location)
        span = {} if self.length is None else {"offset": self.offset, "length": self.length}
        problems = [problem.to_json() for problem in self.problems]
        if location != self.location:
            for problem in problems:
                for raw, shown in ((self.location, location), (visible(self.location), visible(location))):
                    problem["message"] = problem["message"].replace(raw, shown)
        return {
            "input": self.input,
            "location": location,
            **span,
            "format": self.format,
            "outcome": self.outcome,
            "records": self.records,
            "bytes": self.bytes,
            "verified": self.verified,
            "lost": dict(self.lost),
            "problems": problems,
        }

    @classmethod
    def from_json(cls, row: Any) -> LedgerRow:
        """Parse the object written by `to_json`.

        Raises:
            FormatError: `bad-json`: it is not a ledger row.
        """
        try:
            _check_types(row)
            return cls(
                row["input"],
                row["location"],
                row.get("offset"),
                row.get("length"),
                row["format"],
                row["records"],
                row["bytes"],
                row["verified"],
                Counter(row["lost"]),
                [Problem(**each) for each in row["problems"]],
            )
        except (KeyError, TypeError, ValueError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else error
            raise FormatError(f"not a row of a ledger: {why}", reason="bad-json") from error


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of `count` neighbouring inputs, whole and without losses, still encoded: their lines of the ledger.

    The other fields are those that a run adds up, so that the rows of very many inputs need not be parsed.
    """

    lines: bytes
    records: int
    bytes: int
    unicode: str | None
    core: str | None
    count: int = 1
    unit: ClassVar[None] = None

    @property
    def input(self) -> str:
        """The line of the first input, as in the ledger."""
        return self.input_at(0)

    def input_at(self, number: int) -> str:
        """The line of one of the inputs, as in the ledger."""
        return str(json.loads(self.lines.split(b"\n")[number])["input"])


_Row = TypeVar("_Row", bound="LedgerRow | WrittenRows")


def merged(rows: Iterable[tuple[int, _Row]]) -> Iterator[tuple[int, _Row | LedgerRow]]:
    """Merge rows into one row per input; an input that lacks the row of a unit is left out.

    `rows` are pairs of (position of the input, row), by ascending position.

    Raises:
        CrawlmillError: An input or a unit has two rows, so the run counted something twice.
    """
    done = 0
    rows = iter(rows)
    coming = next(rows, None)
    while coming is not None:
        position, first = coming
        if isinstance(first, WrittenRows) and position >= done:
            done, coming = position + first.count, next(rows, None)
            if coming is not None and position <= coming[0] < done:
                raise CrawlmillError(_TWICE, source=first.input_at(coming[0] - position))
            yield position, first
            continue
        found: list[LedgerRow | WrittenRows] = [first]
        while (coming := next(rows, None)) is not None and coming[0] == position:
            found.append(coming[1])
        count = 1 if first.unit is None else first.unit[1]
        parts = {row.unit: row for row in found if isinstance(row, LedgerRow) and row.unit is not None}
        whole = first.unit is None and len(found) == 1
        if position < done or not (whole or len(parts) == len(found)) or any(unit[1] != count for unit in parts):
            raise CrawlmillError(_TWICE, source=first.input)
        done = position + 1
        if whole:
            yield position, first
        elif len(parts) == count:
            yield position, _of_units([parts[number, count] for number in range(count)])


def _of_units(units: list[LedgerRow]) -> LedgerRow:
    """Merge the rows of an input's units, given in order.

    Problems that several units share, such as a missing file, become one problem of the input.
    """
    whole = replace(units[0], lost=Counter(), problems=[], unit=None, skipped=Counter())
    whole.format = next((row.format for row in units if row.format is not None), None)
    whole.records, whole.bytes = sum(row.records for row in units), sum(row.bytes for row in units)
    whole.deselected, whole.truncated = sum(row.deselected for row in units), sum(row.truncated for row in units)
    whole.verified = all(row.verified for row in units)
    whole.unicode = next((row.unicode for row in units if row.unicode != unidata_version), unidata_version)
    whole.core = next((row.core for row in units if row.core == "python"), units[0].core)  # the one to warn about
    for row in units:
        whole.skipped += row.skipped
        told_before = [problem for problem in row.problems if problem in whole.problems]
        whole.lost += row.lost - Counter(problem.reason for problem in told_before)
        whole.problems += [problem for problem in row.problems if problem not in told_before]
    del whole.problems[_MAX_PROBLEMS:]
    return whole


def complete(rows: Iterable[tuple[int, _Row]], inputs: Sequence[Accountable], why: str) -> Iterator[_Row | LedgerRow]:
    """Yield a row of each input, in the order of `inputs`; one without fails as `unaccounted`, because of `why`.

    `rows` are pairs of (position in `inputs`, row), by ascending position. An input in units is unaccounted for unless
    each unit has a row.

    Raises:
        CrawlmillError: As for `merged`.
    """
    done = 0
    for position, row in merged(rows):
        yield from (_unaccounted(item, why) for item in inputs[done:position])
        yield row
        done = position + row.count
    yield from (_unaccounted(item, why) for item in inputs[done:])


def _check_types(row: Any) -> None:
    if not isinstance(row, dict):
        raise TypeError(f"expected an object, got {repr(row)[:_SHOWN]}")
    for kind, names in ((str, ("input", "location")), (int, ("records", "bytes")), (dict, ("lost",))):
        for name in names:
            if not isinstance(row[name], kind):
                raise TypeError(f"expected {_CALLED[kind]} as {name}, got {repr(row[name])[:_SHOWN]}")
            if kind is int and row[name] < 0:
                raise ValueError(f"expected 0 or more as {name}, got {row[name]}")


def _unaccounted(item: Accountable, why: str) -> LedgerRow:
    row = LedgerRow.of(item)
    row.verified = False
    row.lose(Problem("unaccounted", None, "a row in the ledger", None, why))
    return row
