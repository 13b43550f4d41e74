"""The ledger of a run: what became of each input. Rows, their JSON, their summary, and the lists that come out of them.

Every input of a run has exactly one row. Its outcome follows from what the row holds:

    ok        nothing was lost
    partial   something was read and something lost
    failed    nothing of it could be read
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final
from unicodedata import unidata_version

from crawlmill.errors import CrawlmillError, FormatError, Problem
from crawlmill.inputs.list_lines import as_line, hint_for, may_be_location
from crawlmill.inputs.lists import Input
from crawlmill.storage.locations import redact
from crawlmill.terminal.text import visible
from crawlmill.units import size

__all__ = ["LedgerRow", "Summary", "complete", "failed_lines", "merged", "read_ledger"]

_MAX_PROBLEMS: Final = 100
_MAX_SHOWN: Final = 10
_MAX_NAME: Final = 160


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
    core: str | None = field(default=None, compare=False)
    """The core (`crawlmill.core`) by which it was read: known to the run, no part of the ledger."""

    @classmethod
    def of(cls, item: Input) -> LedgerRow:
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


@dataclass(slots=True)
class Summary:
    """What a run's rows come to, gathered row by row."""

    outcomes: Counter[str] = field(default_factory=Counter)
    records: int = 0
    bytes: int = 0
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
        """Rows added."""
        return self.outcomes.total()

    @property
    def not_ok(self) -> int:
        """Inputs that are partial or failed."""
        return self.inputs - self.outcomes["ok"]

    def add(self, row: LedgerRow) -> None:
        """Take in one row."""
        outcome = row.outcome
        self.outcomes[outcome] += 1
        self.records += row.records
        self.bytes += row.bytes
        self.unaccounted += row.lost["unaccounted"]
        if row.lost["not-found"] and outcome == "failed":
            self._strange += not may_be_location(row.input)
            if hint := hint_for(row.input):
                self.hints.setdefault(hint, row.input[:_MAX_NAME])
        if row.unicode is not None:
            self.unicodes.add(row.unicode)
        if row.core is not None:
            self.cores.add(row.core)
        shown = self._unread if row.lost["unaccounted"] else self.bad
        if outcome != "ok" and len(shown) < _MAX_SHOWN:
            shown.append(visible(f"{outcome:7} {_name_of(row)}: {_losses(row)}"))

    def counts(self) -> str:
        """`12 inputs: 10 ok, 1 partial, 1 failed; 9,812 records, 41.2 MB`; outcomes that did not occur are left out."""
        outcomes = ", ".join(
            f"{self.outcomes[kind]:,} {kind}" for kind in ("ok", "partial", "failed") if self.outcomes[kind]
        )
        outcomes += f" ({self.unaccounted:,} unaccounted)" if self.unaccounted else ""
        return f"{_plural(self.inputs, 'input')}: {outcomes}; {_plural(self.records, 'record')}, {size(self.bytes)}"

    def lines(self, seconds: float | None = None) -> list[str]:
        """The lines that end a run: the counts, and the first ten inputs that are not ok."""
        took = "" if seconds is None else f" in {seconds:,.1f} s"
        bad = [*self.bad, *self._unread][:_MAX_SHOWN]
        more = self.not_ok - len(bad)
        hints = [visible(f"hint: {line}: {hint}") for hint, line in self.hints.items()]
        if not hints and self.inputs == self._strange > 0:
            hints = ["hint: is this an input list? No line of it looks like a location"]
        return [f"{self.counts()} read{took}", *bad, *([f"and {more:,} more"] if more else []), *hints]


def merged(rows: Iterable[tuple[int, LedgerRow]]) -> Iterator[tuple[int, LedgerRow]]:
    """One row per input; rows of units become one, or none where a unit lacks its row.

    `rows` are pairs of (position of the input, row), rising by position.

    Raises:
        CrawlmillError: An input, or a unit, has two rows: the run counted something twice.
    """
    done = 0
    for position, group in groupby(rows, key=itemgetter(0)):
        found = list(group)
        parts = {row.unit: row for _, row in found}
        first = found[0][1]
        count = 1 if first.unit is None else first.unit[1]
        if position < done or len(parts) < len(found) or any((unit or (0, 1))[1] != count for unit in parts):
            raise CrawlmillError("the ledger has two rows for one input", source=first.input)
        done = position + 1
        if first.unit is None:
            yield position, first
        elif len(parts) == count:
            yield position, _of_units([parts[number, count] for number in range(count)])


def _of_units(units: list[LedgerRow]) -> LedgerRow:
    """The row of an input of its units' rows, which come in order.

    What several units say alike, such as that the file is not there, is one problem of the input.
    """
    whole = replace(units[0], lost=Counter(), problems=[], unit=None)
    whole.format = next((row.format for row in units if row.format is not None), None)
    whole.records, whole.bytes = sum(row.records for row in units), sum(row.bytes for row in units)
    whole.verified = all(row.verified for row in units)
    whole.unicode = next((row.unicode for row in units if row.unicode != unidata_version), unidata_version)
    whole.core = next((row.core for row in units if row.core == "python"), units[0].core)  # what is warned of
    for row in units:
        told_before = [problem for problem in row.problems if problem in whole.problems]
        whole.lost += row.lost - Counter(problem.reason for problem in told_before)
        whole.problems += [problem for problem in row.problems if problem not in told_before]
    del whole.problems[_MAX_PROBLEMS:]
    return whole


def complete(rows: Iterable[tuple[int, LedgerRow]], inputs: list[Input], why: str) -> Iterator[LedgerRow]:
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


def read_ledger(lines: Iterable[bytes], name: str) -> Iterator[LedgerRow]:
    """The rows of a ledger file, line by line.

    Raises:
        FormatError: `bad-json`: a line is no row of a ledger; the message has the number of the line.
    """
    for number, line in enumerate(lines, 1):
        where = f"{name}, line {number}"
        try:
            row = LedgerRow.from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"no JSON: {error}", reason="bad-json", source=where) from error
        except FormatError as error:
            raise error.located(source=where) from error
        yield row


def failed_lines(rows: Iterable[LedgerRow], originals: Iterable[Input] = ()) -> Iterator[str]:
    """An input list of what was not ok: absolute locations, with their ranges.

    `originals` are the inputs as the user's own list names them: from there come locations that hold secrets, which
    the ledger does not know.
    """
    known = {(redact(item.location), item.offset, item.length): item.location for item in originals}
    for row in rows:
        if row.outcome != "ok":
            location = known.get((row.location, row.offset, row.length), row.location)
            yield as_line(location, row.offset, row.length)


def _check_types(row: Any) -> None:
    for kind, names in ((str, ("input", "location")), (int, ("records", "bytes")), (dict, ("lost",))):
        for name in names:
            if not isinstance(row[name], kind):
                raise TypeError(f"expected {kind.__name__} as {name}, got {row[name]!r}")


def _unaccounted(item: Input, why: str) -> LedgerRow:
    row = LedgerRow.of(item)
    row.verified = False
    row.lose(Problem("unaccounted", None, "a row in the ledger", None, why))
    return row


def _name_of(row: LedgerRow) -> str:
    name = row.input if len(row.input) <= _MAX_NAME else redact(row.location)
    return " ".join(name.split()) if row.length is None or name == row.input else f"{name} at {row.offset}"


def _losses(row: LedgerRow) -> str:
    """The first problem's reason and message, and what else was lost."""
    if not row.problems:
        return ", ".join(f"{count:,} {reason}" for reason, count in row.lost.items())
    first = row.problems[0]
    more = row.lost.total() - 1
    return " ".join(f"{first.reason}: {first.message}".split()) + (f" (and {more:,} more)" if more else "")


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
