"""Reads the files of a run's output folder; what cannot be read becomes a problem and does not end the report."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crawlmill.errors import CrawlmillError, FormatError, MissingDependency, SourceError, UsageError
from crawlmill.inputs.text_lines import cut_lines
from crawlmill.results.columns import FORMATS
from crawlmill.results.folder import ResultFolder
from crawlmill.results.pairs import from_json
from crawlmill.results.parts import Part, find_parts, missing_parts
from crawlmill.storage import Storage, absolute, redact
from crawlmill.storage.locations import join, without_slashes

__all__ = ["Problems", "RunFolder"]

_ENDINGS: Final = ("", ".gz", ".bz2", *(f".{name}" for name in FORMATS))
_MARKS: Final = ("_SUCCESS", "_run.json", "_ledger.jsonl", *(f"part-00000{ending}" for ending in _ENDINGS))
_OPENERS: Final[dict[str, Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_MAX_LINE: Final = 128 << 20
_MAX_RUN: Final = 16 << 20
_MAX_PROBLEMS: Final = 100


class Problems:
    """What could not be read, one line each; if there are very many, the first hundred and the number of others."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._more = 0

    def add(self, name: str, what: str) -> None:
        """Add a problem with a file."""
        if len(self._lines) < _MAX_PROBLEMS:
            self._lines.append(f"{name}: {what}")
        else:
            self._more += 1

    def lines(self) -> list[str]:
        """All problems."""
        return [*self._lines, f"and {self._more:,} more"] if self._more else list(self._lines)


class RunFolder:
    """The output folder of a run, at any location.

    `label` precedes the names of its files in problems, if there are several folders.

    Raises:
        UsageError: This is not the output folder of a run.
    """

    def __init__(self, location: str, storage: Storage, problems: Problems, label: str = "") -> None:
        self._location = absolute(without_slashes(location), os.getcwd())  # noqa: PTH109
        self._storage, self._problems, self._label = storage, problems, label
        shown = redact(location)
        try:
            if not any(storage.exists(join(self._location, name)) for name in _MARKS):
                there = storage.exists(self._location)
                why = "no _run.json, _ledger.jsonl or part-00000 in it" if there else "it does not exist"
                raise UsageError(f"not the output folder of a run: {shown} ({why})")
            self.names = list(storage.list(self._location))
        except SourceError as error:
            raise UsageError(f"the output folder cannot be read: {shown}: {error}") from error
        self.finished = "_SUCCESS" in self.names

    @property
    def parts(self) -> list[Part]:
        """The files with results, in order."""
        return find_parts(self.names)

    def rows(self, part: Part) -> Iterator[tuple[Any, Any]]:
        """Yield key and value of each result in a part that is a table, up to any damage."""
        try:
            yield from ResultFolder(self._location, self._storage).read(part)
        except (SourceError, FormatError, MissingDependency) as error:
            self.problem(part.name, f"cannot be read to its end: {error}")

    def run(self) -> dict[str, Any] | None:
        """The content of `_run.json`; None if there is none or it cannot be read."""
        if "_run.json" not in self.names:
            return None
        try:
            text = self._storage.read_all(join(self._location, "_run.json"), limit=_MAX_RUN)
            found = from_json(text.decode())
        except (CrawlmillError, ValueError, RecursionError) as error:
            self.problem("_run.json", f"cannot be read: {error}")
            return None
        if not isinstance(found, dict):
            self.problem("_run.json", "not a JSON object")
            return None
        return found

    def look_for_parts(self, run: Mapping[str, Any] | None) -> None:
        """Record that parts are missing, if `_run.json` counts more of them."""
        if (missing := missing_parts(run, len(self.parts))) is not None:
            self.problem("results", missing)

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file, without line ends, decompressed according to its name, up to any damage.

        The name may be a location outside of the folder.
        """
        try:
            with self._storage.open_stream(absolute(name, self._location)) as stream:
                opener = next((of for ending, of in _OPENERS.items() if name.endswith(ending)), None)
                file: Any = stream if opener is None else opener(io.BufferedReader(_Raw(stream)))
                yield from cut_lines(iter(lambda: file.read(1 << 20), b""), longest=_MAX_LINE)
        except (SourceError, FormatError) as error:
            self.problem(name, f"cannot be read to its end: {error}")
        except (OSError, EOFError, zlib.error) as error:
            self.problem(name, f"damaged compressed data: {error}")

    def problem(self, name: str, what: str) -> None:
        """Record that part of a file cannot be read."""
        self._problems.add(f"{self._label}{redact(name)}", what)


class _Raw(io.RawIOBase):
    """A stream of storage in the form that gzip needs."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, or part of it."""
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)
