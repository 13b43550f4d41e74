"""`--checkpoint DIR`: keeps the results of finished map tasks, so that a later run need not read their inputs again.

What is kept of a task is in a folder that is named by what its output depends on: all that is shipped to tasks (the
job's script, what it uploads, the package), their options, properties and environment as the user gave them, the
version of Unicode, the number of partitions, the task's inputs, and of local inputs size and time of change. So
nothing has to be compared, and runs of any kind can share one DIR. Only tasks whose inputs are all ok are kept; the
others are done again, and the reduce always is. So is a task of which not all is there that was kept.

Taken to be what they were are inputs on remote storage, and what tasks find without its being shipped: installed
packages, and modules beside the script, which `inline` sees. The core and the decoders change no result.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any
from unicodedata import unidata_version

from crawlmill.errors import SourceError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.mr.engines.shipping import package_files
from crawlmill.mr.task.attempt import Attempt, Result
from crawlmill.mr.task.rows import decode_row, encode_row, write_rows
from crawlmill.mr.task.survey import SURVEY
from crawlmill.mr.task.task_list import decode_task
from crawlmill.storage import is_remote
from crawlmill.storage.locations import local_path

__all__ = ["Checkpoint"]

_RESULT = "result"


class Checkpoint:
    """The kept tasks of runs that ship these files and folders, by their names in tasks, and have these settings.

    `numbered`: a task's number is in the names of what it writes, so that it can only be taken for one of that number.
    """

    def __init__(
        self, folder: Path, shipped: Mapping[str, Path], settings: Mapping[str, Any], *, numbered: bool = False
    ) -> None:
        """Raises: UsageError if the folder cannot be made."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--checkpoint: cannot make the folder: {error.strerror}", source=str(folder)) from error
        self._folder, self._numbered = folder, numbered
        digests = {name: _digest(path) for name, path in shipped.items()}
        package = {str(name): _digest(path) for name, path in package_files()}
        self._run = json.dumps([digests, package, unidata_version, settings], sort_keys=True, default=str)

    def place_of(self, attempt: Attempt) -> Path:
        """Where a map task is kept, as its inputs are now."""
        inputs = [_identity(item) for _, item in decode_task(attempt.line or "")]
        survey = attempt.environment.get(SURVEY)
        found = _digest(Path(survey)) if survey else None
        named = [self._run, attempt.step, attempt.partitions, inputs, found]
        if self._numbered and not attempt.partitions:
            named.append(attempt.number)
        name = json.dumps(named).encode()
        return self._folder / hashlib.sha256(name).hexdigest()

    def keep(self, attempt: Attempt, place: Path, result: Result) -> None:
        """Keep a finished map task at the place that it had when it began.

        Not if something of its inputs was lost, or one has changed since.

        Raises: OSError.
        """
        if result.totals.bad or place.exists() or place != self.place_of(attempt) or _has_lost(attempt):
            return
        making = self._aside()
        try:
            making.mkdir()
            for path in Path(attempt.folder).iterdir():
                if path.name == "_rows":
                    self._copy_rows(path, making / "_rows", attempt, to_places=True)
                else:
                    _put(path, making / path.name)
            (making / _RESULT).write_text(json.dumps([_sizes(making), result.to_json()]))
        except OSError:
            shutil.rmtree(making, ignore_errors=True)
            raise
        try:
            making.rename(place)
        except OSError:  # another run was quicker
            shutil.rmtree(making)

    def restore(self, attempt: Attempt, place: Path) -> Result | None:
        """Put what is kept of a map task where the attempt would have written it; None if it is not all there."""
        folder = Path(attempt.folder)
        try:
            result = _kept(place)
            folder.mkdir()
            for path in place.iterdir():
                if path.name == "_rows":
                    self._copy_rows(path, folder / "_rows", attempt, to_places=False)
                elif path.name != _RESULT:
                    _put(path, folder / path.name)
        except (OSError, ValueError, TypeError, LookupError):  # nothing is there, or not what was kept
            shutil.rmtree(folder, ignore_errors=True)
            self._discard(place)
            return None
        return result

    def _aside(self) -> Path:
        return self._folder / f".{secrets.token_hex(8)}"

    def _discard(self, place: Path) -> None:
        aside = self._aside()
        try:
            place.rename(aside)
        except OSError:
            return
        shutil.rmtree(aside, ignore_errors=True)

    def _copy_rows(self, source: Path, target: Path, attempt: Attempt, *, to_places: bool) -> None:
        """Rows are kept under their inputs' places in the task: ranks are those of one run."""
        ranks = [rank for rank, _ in decode_task(attempt.line or "")]
        places = {rank: place for place, rank in enumerate(ranks)}
        with source.open("rb") as lines, target.open("wb") as file:
            rows = (decode_row(line) for line in lines)
            write_rows((encode_row(places[n] if to_places else ranks[n], row) for n, row in rows), file)


def _has_lost(attempt: Attempt) -> bool:
    """Whether something of a task's inputs was lost; of most units the totals do not say."""
    path = Path(attempt.folder) / "_rows"
    if not any(item.unit for _, item in decode_task(attempt.line or "")) or not path.exists():
        return False
    with path.open("rb") as lines:
        return any(row.lost for _, row in map(decode_row, lines))


def _kept(place: Path) -> Result:
    """The result of a kept task. Raises: OSError, ValueError, TypeError, LookupError if there is none, or not all."""
    sizes, result = json.loads((place / _RESULT).read_bytes())
    if sizes != _sizes(place):
        raise ValueError("something is missing")
    return Result.from_json(result)


def _sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir() if path.name != _RESULT}


def _identity(item: Input) -> list[Any]:
    identity: list[Any] = [item.given, item.location, item.offset, item.length]
    if item.unit is not None:
        identity.append(astuple(item.unit))
    if not is_remote(item.location):
        try:
            state = local_path(item.location).stat()
        except (OSError, SourceError):
            return identity
        identity += [state.st_size, state.st_mtime_ns]
    return identity


def _digest(path: Path) -> Any:
    """The digest of a file; of a folder, those of its files by their names."""
    if path.is_dir():
        return {str(each.relative_to(path)): _digest(each) for each in path.rglob("*") if each.is_file()}
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put(source: Path, target: Path) -> None:
    """Copy a file; a spill, which nobody outside of runs gets to see and change, by a link."""
    if source.name.startswith("spill-"):
        try:
            os.link(source, target)
        except OSError:  # another file system, or one without links
            pass
        else:
            return
    shutil.copyfile(source, target)
