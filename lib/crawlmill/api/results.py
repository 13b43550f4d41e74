"""`crawlmill.read_results`: the results of a run, for programs and notebooks."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from crawlmill.errors import LossWarning
from crawlmill.results.folder import ResultFolder
from crawlmill.results.parts import missing_parts
from crawlmill.storage import Storage, StorageOptions, redact

__all__ = ["RunResults", "read_results"]


class RunResults:
    """The output folder of a run, as returned by `read_results`; each iteration reads the results from the beginning.

    `location` is the folder's location, without secrets.
    """

    def __init__(self, folder: ResultFolder, storage: Storage) -> None:
        self._folder, self._storage = folder, storage
        self.location = redact(folder.location)

    @property
    def run(self) -> dict[str, Any] | None:
        """The content of `_run.json`: `job`, `arguments`, `began`, `versions` and more; None if there is no such file.

        Raises:
            FormatError, SourceError: It cannot be read.
        """
        return self._folder.run

    @cached_property
    def ledger(self) -> list[dict[str, Any]]:
        """A row for each input: `input`, `outcome`, `records`, `lost` and more; empty if there is no ledger.

        Raises:
            FormatError, SourceError: It cannot be read.
        """
        return [row.to_json() for row in self._folder.ledger()]

    @property
    def finished(self) -> bool:
        """Whether the run has published all of its output."""
        return self._folder.finished

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield from self._folder.pairs()
        self._storage.close()  # closes idle connections; it can be used again

    def losses(self) -> str | None:
        """How many inputs were partial or failed, as a sentence; None if all were read whole."""
        ends: Counter[str] = Counter()
        if self._folder.has_ledger:
            ends.update(row.outcome for row in self._folder.ledger())
        else:  # the results went elsewhere
            ends.update({name: int(n) for name, n in (self.run or {}).get("inputs", {}).items() if name != "all"})
        lost = [f"{ends[outcome]:,} {outcome}" for outcome in ("partial", "failed") if ends[outcome]]
        return f"{', '.join(lost)} of {ends.total():,} inputs" if lost else None

    def missing(self) -> str | None:
        """How many parts of the results are missing, as a sentence; None if all that `_run.json` counts are there."""
        return missing_parts(self.run, len(self._folder.parts))


def read_results(out: str | os.PathLike[str], *, storage: StorageOptions | None = None) -> RunResults:
    """Return the results of a run as pairs of key and value, from its output folder, in whatever format they are.

    >>> results = crawlmill.read_results("out")
    >>> sorted(results)
    [('a', 1), ('p', 2)]
    >>> results.run["job"], [row["outcome"] for row in results.ledger]
    ('tag_count', ['ok'])

    Keys and values are what the job yielded: strings, numbers, None, lists, dictionaries. Lists that a format stores in
    several columns are put together again. Results are streamed.

    Args:
        out: The output folder, at any location that can be listed: local, s3, hdfs.
        storage: How the location is opened.

    Returns:
        An iterable of pairs, with `run` and `ledger`.

    Raises:
        SourceError: The folder cannot be read; `not-found` if it does not exist or is not the folder of a run.
        FormatError: A part is damaged; the message names the file and the line. Raised while reading, but by the call
            for the ledger and `_run.json`.
        MissingDependency: The results are Parquet files and pyarrow is not installed.

    Warns:
        LossWarning: Inputs of the run were partial or failed, it has not finished, or parts of its results are missing.
    """
    opened = Storage(storage)
    results = RunResults(ResultFolder(os.fspath(out), opened), opened)
    if (lost := results.losses()) is not None:
        warnings.warn(f"{results.location}: {lost}", LossWarning, stacklevel=2)
    if (missing := results.missing()) is not None:
        warnings.warn(f"{results.location}: {missing}", LossWarning, stacklevel=2)
    if not results.finished:
        warnings.warn(f"{results.location}: the run is not finished: there is no _SUCCESS", LossWarning, stacklevel=2)
    return results
