"""The row of an input in the ledger: what became of it, its JSON, and how a run's rows come together.

Every input of a run has exactly one row. Its outcome follows from what the row holds:

    ok        nothing was lost
    partial   something was read and something lost
    failed    nothing of it could be read
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar
from unicodedata import unidata_version

from crawlmill.errors import CrawlmillError, FormatError, Problem
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import visible

if TYPE_CHECKING:  # every task would make them, and none use them
    from typing import Protocol

    class Numbered(Protocol):
        """One of several units of an input."""

        @property
        def number(self) -> int:
            """Its place among them, from 0."""

        @property
        def count(self) -> int:
            """How many there are."""

    class Accountable(Protocol):
        """What a row is of; `crawlmill.inputs.lists.Input` is one."""

        @property
        def shown(self) -> str:
            """The line that names it, without secrets."""

        @property
        def location(self) -> str:
            """Where it lies."""

        @property
        def offset(self) -> int | None:
            """Where its bytes begin there; None for a whole file."""

        @property
        def length(self) -> int | None:
            """How many bytes it has there; None for a whole file."""

        @property
        def unit(self) -> Numbered | None:
            """Which of its units this is; None if it is all of it."""


__all__ = ["LedgerRow", "WrittenRow", "complete", "merged"]

_MAX_PROBLEMS: Final = 100


@dataclass(slots=True)
class LedgerRow:
    """What became of one input. `bytes`: bytes of the input covered; `records`: whole records in it, wanted or not."""

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

    @classmethod
    def of(cls, item: Accountable) -> LedgerRow:
        """The row of an input of which nothing is read yet."""
        unit = None if item.unit is None else (item.unit.number, item.unit.count)
        return cls(item.shown, item.location, item.offset, item.length, unit=unit)

    @property
    def outcome(self) -> str:
        """`ok`, `partial` or `failed`."""
        if not self.lost:
            return "ok"
        return "partial" if self.records else "failed"

    def lose(self, problem: Problem) -> None:
        """Count something lost under its reason; the first hundred problems are kept as they are."""
        self.lost[problem.reason] += 1
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(problem)

    def to_json(self) -> dict[str, Any]:
        """The object that the ledger holds, without secrets. Offset and length are there for ranges only."""
        location = redact(self.location)
        span = {} if self.length is None else {"offset": self.offset, "length": self.length}
        problems = [problem.to_json() for problem in self.problems]
        if location != self.location:
            for problem in problems:
                for raw, shown in ((self.location, location), (visible(self.location), visible(location))):
                    problem["message"] = problem["message"].replace(raw, shown)
        return {
            "input": self.input, "location": location, **span, "format": self.format, "outcome": self.outcome,
            "records": self.records, "bytes": self.bytes, "verified": self.verified, "lost": dict(self.lost),
            "problems": problems,
        }  # fmt: skip

    @classmethod
    def from_json(cls, row: Any) -> LedgerRow:
        """The row that `to_json` gave.

        Raises:
            FormatError: `bad-json`: this is no row of a ledger.
        """
        try:
            _check_types(row)
            return cls(
                row["input"], row["location"], row.get("offset"), row.get("length"), row["format"], row["records"],
                row["bytes"], row["verified"], Counter(row["lost"]), [Problem(**each) for each in row["problems"]],
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"no row of a ledger: {error!r}", reason="bad-json") from error


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """The row of a whole input of which nothing was lost, as it was written: `line` is what the ledger gets of it.

    The others are those fields that a run adds up. So the rows of very many inputs need not be parsed.
    """

    line: bytes
    records: int
    bytes: int
    unicode: str | None
    core: str | None
    unit: ClassVar[None] = None

    @property
    def input(self) -> str:
        """The input's line, as the ledger has it."""
        return str(json.loads(self.line)["input"])


_Row = TypeVar("_Row", bound="LedgerRow | WrittenRow")


def merged(rows: Iterable[tuple[int, _Row]]) -> Iterator[tuple[int, _Row | LedgerRow]]:
    """One row per input; rows of units become one, or none where a unit lacks its row.

    `rows` are pairs of (position of the input, row), rising by position.

    Raises:
        CrawlmillError: An input, or a unit, has two rows: the run counted something twice.
    """
    done = 0
    rows = iter(rows)
    coming = next(rows, None)
    while coming is not None:
        position, first = coming
        if isinstance(first, WrittenRow) and position >= done:
            coming = next(rows, None)
            if coming is None or coming[0] != position:  # as nearly all are, of which there may be very many
                done = position + 1
                yield position, first
                continue
            rows = chain([coming], rows)
        found: list[LedgerRow | WrittenRow] = [first]
        while (coming := next(rows, None)) is not None and coming[0] == position:
            found.append(coming[1])
        count = 1 if first.unit is None else first.unit[1]
        parts = {row.unit: row for row in found if isinstance(row, LedgerRow) and row.unit is not None}
        whole = first.unit is None and len(found) == 1
        if position < done or not (whole or len(parts) == len(found)) or any(unit[1] != count for unit in parts):
            raise CrawlmillError("the ledger has two rows for one input", source=first.input)
        done = position + 1
        if whole:
            yield position, first
        elif len(parts) == count:
            yield position, _of_units([parts[number, count] for number in range(count)])


def _of_units(units: list[LedgerRow]) -> LedgerRow:
    """The row of an input of its units' rows, which come in order.

    What several units say alike, such as that the file is not there, is one problem of the input.
    """
    whole = replace(units[0], lost=Counter(), problems=[], unit=None, skipped=Counter())
    whole.format = next((row.format for row in units if row.format is not None), None)
    whole.records, whole.bytes = sum(row.records for row in units), sum(row.bytes for row in units)
    whole.deselected, whole.truncated = sum(row.deselected for row in units), sum(row.truncated for row in units)
    whole.verified = all(row.verified for row in units)
    whole.unicode = next((row.unicode for row in units if row.unicode != unidata_version), unidata_version)
    whole.core = next((row.core for row in units if row.core == "python"), units[0].core)  # what is warned of
    for row in units:
        whole.skipped += row.skipped
        told_before = [problem for problem in row.problems if problem in whole.problems]
        whole.lost += row.lost - Counter(problem.reason for problem in told_before)
        whole.problems += [problem for problem in row.problems if problem not in told_before]
    del whole.problems[_MAX_PROBLEMS:]
    return whole


def complete(rows: Iterable[tuple[int, _Row]], inputs: Sequence[Accountable], why: str) -> Iterator[_Row | LedgerRow]:
    """One row per input, in the order of `inputs`; what has none is failed as `unaccounted`, for the reason `why`.

    `rows` are pairs of (position in `inputs`, row), rising by position. An input in units is unaccounted for unless
    each unit has a row.

    Raises:
        CrawlmillError: As `merged`.
    """
    done = 0
    for position, row in merged(rows):
        yield from (_unaccounted(item, why) for item in inputs[done:position])
        yield row
        done = position + 1
    yield from (_unaccounted(item, why) for item in inputs[done:])


def _check_types(row: Any) -> None:
    for kind, names in ((str, ("input", "location")), (int, ("records", "bytes")), (dict, ("lost",))):
        for name in names:
            if not isinstance(row[name], kind):
                raise TypeError(f"expected {kind.__name__} as {name}, got {row[name]!r}")


def _unaccounted(item: Accountable, why: str) -> LedgerRow:
    row = LedgerRow.of(item)
    row.verified = False
    row.lose(Problem("unaccounted", None, "a row in the ledger", None, why))
    return row
