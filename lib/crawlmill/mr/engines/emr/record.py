"""The record of a run on EMR: all that is needed to follow it and to end it, on S3 beside the run's files.

    RUN/run.json          the record
    RUN/files/…           what tasks need; among it the task list
    RUN/left/TASK/…       files that tasks have written, rows of the ledger among them (`AttemptFiles`)
    RUN/reports/attempt_… why an attempt failed, in its own words (`task_report`)
    RUN/output/part-N     what the last step has written

RUN is a folder on S3 that is gone when the run has ended. `OUTPUT.running.json`, beside the output folder, says where
it is, so that `crawlmill ledger --collect OUTPUT` can end a run whose launcher died; of a run without an output folder,
`crawlmill ledger --collect RUN`. Arguments are recorded without
their secrets; the task list holds locations as tasks need them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.mr.run.ending import RunInfo
from crawlmill.mr.task.task_list import decode_task
from crawlmill.storage import Storage, redact

__all__ = ["EmrRun", "Step", "marker_of"]

_VERSION: Final = 1
_RECORD: Final = "run.json"
_MAX_RECORD_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Step:
    """A step that EMR has taken; `name` as people say it."""

    id: str
    name: str


@dataclass(frozen=True)
class EmrRun:
    """A run. `cluster` None: not submitted yet, as far as is known."""

    info: RunInfo
    key: str
    folder: str
    tasks: str
    region: str
    endpoint: str | None
    logs: str
    own_cluster: bool
    inputs: int = 0
    cluster: str | None = None
    steps: tuple[Step, ...] = ()

    def at(self, name: str) -> str:
        """The location of something in the run's folder."""
        return f"{self.folder.rstrip('/')}/{name}"

    def save(self, storage: Storage, marker: str | None) -> None:
        """Write the record, and the marker that leads to it. Raises: SourceError."""
        record = {"v": _VERSION, **asdict(self), "info": self.info.to_json()}
        _write(storage, self.at(_RECORD), record)
        if marker is not None:
            _write(storage, marker, {"v": _VERSION, "runner": "emr", "record": self.at(_RECORD)})

    @classmethod
    def load(cls, storage: Storage, marker: str) -> Self:
        """The run that a marker leads to. Raises: UsageError, SourceError, FormatError."""
        found = _read(storage, marker)
        try:
            return cls._load(storage, found["record"])
        except SourceError as error:
            if error.reason != "not-found":
                raise
            raise UsageError(f"the files of this run are gone: {redact(found['record'])}") from error

    @classmethod
    def load_from(cls, storage: Storage, folder: str) -> Self:
        """The run whose own folder this is. Raises: SourceError, FormatError."""
        return cls._load(storage, f"{folder.rstrip('/')}/{_RECORD}")

    @classmethod
    def _load(cls, storage: Storage, location: str) -> Self:
        record = _read(storage, location)
        try:
            del record["v"]
            steps = tuple(Step(**step) for step in record["steps"])
            return cls(**{**record, "steps": steps, "info": RunInfo.from_json(record["info"])})
        except (TypeError, KeyError) as error:
            raise FormatError(f"the record of a run by another version: {error}", reason="bad-json") from error

    def ledger_order(self, storage: Storage, scratch: Path) -> list[Input]:
        """The run's inputs in the order of the ledger, out of the task list. Raises: SourceError, FormatError."""
        found: dict[int, Input] = {}
        with storage.open_stream(self.tasks) as stream, (scratch / "tasks.jsonl").open("wb") as file:
            while piece := stream.read(1 << 20):
                file.write(piece)
        with (scratch / "tasks.jsonl").open(encoding="ascii") as lines:
            for line in lines:
                found.update((rank, replace(item, unit=None)) for rank, item in decode_task(line))
        return [found[rank] for rank in sorted(found)]

    def remove(self, storage: Storage, marker: str | None) -> None:
        """Remove the run's folder and the marker. Raises: SourceError."""
        if marker is not None:
            storage.remove(marker)
        storage.remove(self.folder)


def marker_of(output_dir: str) -> str:
    """Where the marker of a run lies that is to fill this folder."""
    return f"{output_dir.rstrip('/')}.running.json"


def _write(storage: Storage, location: str, content: dict[str, Any]) -> None:
    with storage.write(location) as file:
        file.write(json.dumps(content, indent=1).encode("utf-8", "backslashreplace") + b"\n")


def _read(storage: Storage, location: str) -> dict[str, Any]:
    content = storage.read_all(location, limit=_MAX_RECORD_BYTES)
    try:
        found = json.loads(content)
    except ValueError as error:
        raise FormatError("no record of a run", reason="bad-json", source=redact(location)) from error
    if not isinstance(found, dict) or found.get("v") != _VERSION:
        raise FormatError("the record of a run by another version", reason="bad-json", source=redact(location))
    return found
