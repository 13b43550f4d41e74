"""Reads the output folder of a run, at any location, with parts in any format.

part-00000 …     the results; `part-00000.csv` and so on in formats other than pairs
_ledger.jsonl    the outcome of each input; missing if the user stored it elsewhere
_run.json        what ran, and the columns of its results; missing if the run is unfinished
_SUCCESS         written last
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from crawlmill.errors import FormatError, SourceError
from crawlmill.ledger.file import read_ledger
from crawlmill.ledger.row import LedgerRow
from crawlmill.results.columns import Columns
from crawlmill.results.pairs import lines_of
from crawlmill.results.parts import Part, find_parts, read_part
from crawlmill.storage import Storage, redact
from crawlmill.storage.locations import join

__all__ = ["ResultFolder"]

_LEDGER: Final = "_ledger.jsonl"
_RUN: Final = "_run.json"
_SUCCESS: Final = "_SUCCESS"
_MAX_RUN: Final = 64 << 20
_PIECE: Final = 1 << 20


class ResultFolder:
    """The output folder of a run.

    `location` is any folder that storage can list. `parts` are its parts, in order. `files` are the names of all its
    files, at any depth, relative to it.

    Raises:
        SourceError: It cannot be listed; `not-found`: it does not exist, or contains nothing of a run.
        UsageError: Its kind of storage has no listings, like web servers.
    """

    def __init__(self, location: str, storage: Storage) -> None:
        self.location, self._storage = location, storage
        self.files = list(storage.list(location))
        self.parts: list[Part] = find_parts(self.files)
        if not self.parts and not {_LEDGER, _RUN, _SUCCESS}.intersection(self.files):
            raise SourceError(
                "not the output folder of a run: no part-00000, _run.json or _ledger.jsonl in it",
                reason="not-found",
                source=redact(location),
            )

    @property
    def finished(self) -> bool:
        """Whether the run has published all of its output."""
        return _SUCCESS in self.files

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger is in the folder."""
        return _LEDGER in self.files

    @cached_property
    def run(self) -> dict[str, Any] | None:
        """The content of `_run.json`; None if there is none.

        Raises:
            FormatError: `bad-json`: it is not a JSON object.
            SourceError: It cannot be read.
        """
        if _RUN not in self.files:
            return None
        name = self._shown(_RUN)
        content = self._storage.read_all(self._place(_RUN), limit=_MAX_RUN)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not JSON: {error}", reason="bad-json", source=name) from error
        if not isinstance(found, dict):
            raise FormatError("not an object of JSON", reason="bad-json", source=name)
        return found

    @cached_property
    def columns(self) -> Columns | None:
        """The columns of the results, if `_run.json` has them.

        Otherwise they follow from the names in the parts, where `count` and `documents` are numbers; `key`, `value` and
        `record` are JSON; all others are text.

        Raises:
            FormatError, SourceError: As for `run`.
        """
        given = (self.run or {}).get("columns")
        if given is None:
            return None
        try:
            return Columns.from_json(given)
        except FormatError as error:
            raise error.located(source=self._shown(_RUN)) from error

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield key and value of each result, part by part.

        Raises:
            FormatError: A part is damaged; the message names it and, for text, the line.
            SourceError: A part cannot be read.
            MissingDependency: The parts are Parquet files and pyarrow is not installed.
        """
        for part in self.parts:
            yield from self.read(part)

    def read(self, part: Part) -> Iterator[tuple[Any, Any]]:
        """Yield key and value of each result of one part. Raises: as `pairs`."""
        columns = None if part.format == "pairs" else self.columns  # pairs need no columns
        with self._storage.open_stream(self._place(part.name)) as stream:
            yield from read_part(stream, part.format, columns, self._shown(part.name))

    def ledger(self) -> Iterator[LedgerRow]:
        """Yield the rows of the ledger; none if it is not here.

        Raises:
            FormatError: `bad-json`: a line is not a row; the message has its number.
            SourceError: It cannot be read.
        """
        if self.has_ledger:
            with self._storage.open_stream(self._place(_LEDGER)) as stream:
                yield from read_ledger(lines_of(iter(lambda: stream.read(_PIECE), b"")), self._shown(_LEDGER))

    def _place(self, name: str) -> str:
        return join(self.location, name)

    def _shown(self, name: str) -> str:
        return redact(self._place(name))
