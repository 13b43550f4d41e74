"""`--checkpoint DIR`: keeps the results of finished map tasks, so that a later run does not read their inputs again.

The results of a task are kept in a folder named by everything that its output depends on: all files shipped to tasks
(the job's script, uploads, the package), their options, properties and environment as given by the user, the Unicode
version, the number of partitions, the task's inputs, and the size and modification time of local inputs. So nothing has
to be compared, and runs of any kind can share one DIR. Only tasks whose inputs are all ok are kept; the others run
again, and so do reduce tasks and tasks whose kept files are incomplete.

Changes are not detected in inputs on remote storage, and in what tasks use without its being shipped: installed
packages, and modules next to the script, which `inline` can import. The core and the decoders do not affect results.
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
from crawlmill.mr.task.rows import decode_row, encode_row
from crawlmill.mr.task.survey import SURVEY
from crawlmill.mr.task.task_list import Task, decode_task
from crawlmill.storage import is_remote
from crawlmill.storage.locations import local_path

__all__ = ["Checkpoint"]

_RESULT = "result"


class Checkpoint:
    """The kept tasks of runs with the same shipped files and folders (by their names in tasks) and the same settings.

    `numbered`: file names in the output contain the task's number, so results can only be reused for the same number.
    """

    def __init__(
        self, folder: Path, shipped: Mapping[str, Path], settings: Mapping[str, Any], *, numbered: bool = False
    ) -> None:
        """Raises: UsageError: The folder cannot be created."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--checkpoint: cannot make the folder: {error.strerror}", source=str(folder)) from error
        self._folder, self._numbered = folder, numbered
        digests = {name: _digest(path) for name, path in shipped.items()}
        package = {name: _digest(Path(path)) for name, path in package_files()}
        self._run = json.dumps([digests, package, unidata_version, settings], sort_keys=True, default=str)

    def place_of(self, attempt: Attempt) -> Path:
        """The folder for a map task's results, according to the present state of its inputs."""
        inputs = [_identity(item) for _, item in _inputs_of(attempt)]
        survey = attempt.environment.get(SURVEY)
        found = _digest(Path(survey)) if survey else None
        named = [self._run, attempt.step, attempt.partitions, inputs, found]
        if self._numbered and not attempt.partitions:
            named.append(attempt.number)
        name = json.dumps(named).encode()
        return self._folder / hashlib.sha256(name).hexdigest()

    def keep(self, attempt: Attempt, place: Path, result: Result) -> None:
        """Keep a finished map task, in the folder determined before it started.

        Does nothing if some of its input was lost, or if an input has changed since.

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
        except OSError:  # another run was faster
            shutil.rmtree(making)

    def restore(self, attempt: Attempt, place: Path) -> Result | None:
        """Put kept results of a map task where the attempt would have written them; None if they are incomplete."""
        folder = Path(attempt.folder)
        try:
            result = _kept(place)
            folder.mkdir()
            for path in place.iterdir():
                if path.name == "_rows":
                    self._copy_rows(path, folder / "_rows", attempt, to_places=False)
                elif path.name != _RESULT:
                    _put(path, folder / path.name)
        except (OSError, ValueError, TypeError, LookupError):  # nothing is kept, or it is not valid
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
        """Copy rows, replacing ranks, which are those of one run, by the inputs' places in the task, or back."""
        ranks = [rank for rank, _ in _inputs_of(attempt)]
        places = {rank: place for place, rank in enumerate(ranks)}
        with source.open("rb") as lines, target.open("wb") as file:
            rows = (decode_row(line) for line in lines)
            file.writelines(encode_row(places[n] if to_places else ranks[n], row) for n, row in rows)


def _inputs_of(attempt: Attempt) -> Task:
    return decode_task((attempt.task_line() or b"").decode())


def _has_lost(attempt: Attempt) -> bool:
    """Whether part of a task's inputs was lost; for most units the totals do not show this."""
    path = Path(attempt.folder) / "_rows"
    if not any(item.unit for _, item in _inputs_of(attempt)) or not path.exists():
        return False
    with path.open("rb") as lines:
        return any(row.lost for _, row in map(decode_row, lines))


def _kept(place: Path) -> Result:
    """The result of a kept task. Raises: OSError, ValueError, TypeError, LookupError: it is missing or incomplete."""
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
    """The digest of a file; for a folder, the digests of its files by name."""
    if path.is_dir():
        return {str(each.relative_to(path)): _digest(each) for each in path.rglob("*") if each.is_file()}
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put(source: Path, target: Path) -> None:
    """Copy a file; a spill, which is never published or changed, is hard-linked."""
    if source.name.startswith("spill-"):
        try:
            os.link(source, target)
        except OSError:  # another file system, or one without links
            pass
        else:
            return
    shutil.copyfile(source, target)
