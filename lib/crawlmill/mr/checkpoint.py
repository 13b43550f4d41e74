"""`--checkpoint DIR`: finished map tasks, kept so that a later run need not read their inputs again.

What is kept of a task lies in a folder that is named by all that its output depends on: the job's script, the
package, the options, the number of partitions, the task's inputs, and of local inputs size and time of change. So
nothing has to be compared, and runs of any kind can share one DIR. Only tasks whose inputs are all ok are kept; the
others are done again, and the reduce always is. Inputs on remote storage are taken to be what they were.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import crawlmill
from crawlmill.inputs.lists import Input
from crawlmill.mr.attempt import Attempt, Result
from crawlmill.mr.rows import decode_row, encode_rows, row_pair
from crawlmill.mr.tasks import decode_task
from crawlmill.storage import is_remote
from crawlmill.storage.locations import local_path

__all__ = ["Checkpoint"]


class Checkpoint:
    """The kept tasks of runs with this script and these arguments of its tasks."""

    def __init__(self, folder: Path, script: Path, arguments: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._run = [_digest([script]), _digest(sorted(Path(crawlmill.__file__).parent.rglob("*.py"))), *arguments]

    def keep(self, attempt: Attempt, home: Path, result: Result) -> None:
        """Keep a map task whose output lies in `home`, if nothing of its inputs was lost."""
        target = self._place(attempt)
        if result.totals.bad or target.exists():
            return
        making = self._folder / f".{secrets.token_hex(8)}"
        making.mkdir()
        for path in home.iterdir():
            if path.name == "_rows":
                self._copy_rows(path, making / "_rows", attempt, to_places=True)
            else:
                _link(path, making / path.name)
        (making / "result").write_text(json.dumps(result.to_json()))
        try:
            making.rename(target)
        except OSError:  # another run was quicker
            shutil.rmtree(making)

    def restore(self, attempt: Attempt) -> Result | None:
        """Put what is kept of a map task where the attempt would have written it; None if nothing is."""
        source = self._place(attempt)
        try:
            result = Result.from_json(json.loads((source / "result").read_text()))
        except FileNotFoundError:
            return None
        folder = Path(attempt.folder)
        folder.mkdir()
        for path in source.iterdir():
            if path.name == "_rows":
                self._copy_rows(path, folder / "_rows", attempt, to_places=False)
            elif path.name != "result":
                _link(path, folder / path.name)
        return result

    def _place(self, attempt: Attempt) -> Path:
        inputs = [_identity(item) for _, item in decode_task(attempt.line or "")]
        name = json.dumps([self._run, attempt.step, attempt.partitions, inputs]).encode()
        return self._folder / hashlib.sha256(name).hexdigest()

    def _copy_rows(self, source: Path, target: Path, attempt: Attempt, *, to_places: bool) -> None:
        """Rows are kept under their inputs' places in the task: ranks are those of one run."""
        ranks = [rank for rank, _ in decode_task(attempt.line or "")]
        places = {rank: place for place, rank in enumerate(ranks)}
        with source.open("rb") as lines, target.open("wb") as file:
            rows = (decode_row(line) for line in lines)
            encode_rows((row_pair(places[n] if to_places else ranks[n], row) for n, row in rows), file)


def _identity(item: Input) -> list[Any]:
    identity: list[Any] = [item.given, item.location, item.offset, item.length]
    if not is_remote(item.location):
        try:
            state = local_path(item.location).stat()
        except OSError:
            return identity
        identity += [state.st_size, state.st_mtime_ns]
    return identity


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
