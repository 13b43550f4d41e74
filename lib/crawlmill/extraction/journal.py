"""The journal of an output file: a line for the result of each finished input, so that a copy can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from crawlmill.errors import FormatError
from crawlmill.ledger.row import LedgerRow

__all__ = ["Done", "Journal"]


class Done(NamedTuple):
    """A finished input: its row, its index lines, and the sizes of the output's archives after it, in bytes."""

    row: LedgerRow
    lines: list[bytes]
    sizes: dict[str, int]


class Journal:
    """Appends to a journal, in a `with` block; `done` are the existing entries.

    Raises: OSError.
    """

    def __init__(self, path: Path, done: list[Done]) -> None:
        self._file = path.open("wb")
        for each in done:
            self.add(each)

    def add(self, done: Done) -> None:
        """Add a finished input, whose bytes have been written."""
        lines = [line.decode("ascii") for line in done.lines]
        self._file.write(json.dumps([done.row.to_json(), lines, done.sizes]).encode("ascii") + b"\n")
        self._file.flush()

    @staticmethod
    def read(path: Path) -> list[Done]:
        """The entries of a journal; empty if there is none. A line cut off by a kill, and all after it, is left out."""
        found: list[Done] = []
        try:
            with path.open("rb") as file:
                for line in file:
                    row, lines, sizes = json.loads(line)
                    found.append(Done(LedgerRow.from_json(row), [each.encode("ascii") for each in lines], sizes))
        except FileNotFoundError:
            return []
        except (ValueError, FormatError):
            pass
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
