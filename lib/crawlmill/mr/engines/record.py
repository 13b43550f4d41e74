"""The record of a run on a cluster: what is needed to follow the run and to finish it without its launcher.

    RUN/run.json           the record, next to the task list
    OUTPUT.running.json    the marker, next to the output folder, which points to the record

RUN is the run's own folder, on S3 or HDFS, which is removed when the run has ended. `crawlmill ledger --collect OUTPUT`
finds the record through the marker; a run without an output folder is collected by RUN. Arguments are recorded without
their secrets; the task list has locations in the form that tasks need.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.mr.run.ending import RunInfo
from crawlmill.mr.task.task_list import decode_task
from crawlmill.storage import Storage, redact

__all__ = ["Found", "RunRecord", "find_record", "marker_of", "refuse_second_run"]

_VERSION: Final = 1
_RECORD: Final = "run.json"
_MAX_RECORD_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class RunRecord:
    """What every engine records: the run's name `key`, its `folder`, the location of its task list."""

    info: RunInfo
    key: str
    folder: str
    tasks: str
    inputs: int = field(default=0, kw_only=True)

    def at(self, name: str) -> str:
        """The location of a name in the run's folder."""
        return f"{self.folder.rstrip('/')}/{name}"

    def save(self, storage: Storage, marker: str | None) -> None:
        """Write the record, and the marker that points to it. Raises: SourceError."""
        record = {"v": _VERSION, **asdict(self), "info": self.info.to_json()}
        _write(storage, self.at(_RECORD), record)
        if marker is not None:
            _write(storage, marker, {"v": _VERSION, "runner": self.info.runner, "record": self.at(_RECORD)})

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """Parse the fields of a record, as in `Found`. Raises: FormatError."""
        try:
            return cls(**cls._fields({**record, "info": RunInfo.from_json(record["info"])}))
        except (TypeError, KeyError) as error:
            raise FormatError(f"the record of a run by another version: {error}", reason="bad-json") from error

    @classmethod
    def _fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        """Convert the fields of a record to those of the class."""
        return record

    def ledger_order(self, storage: Storage, scratch: Path) -> list[Input]:
        """The run's inputs in the order of the ledger, read from the task list. Raises: SourceError, FormatError."""
        found: dict[int, Input] = {}
        with storage.open_stream(self.tasks) as stream, (scratch / "tasks.jsonl").open("wb") as file:
            while piece := stream.read(1 << 20):
                file.write(piece)
        with (scratch / "tasks.jsonl").open(encoding="ascii") as lines:
            for line in lines:
                found.update((rank, item._replace(unit=None)) for rank, item in decode_task(line))
        return [found[rank] for rank in sorted(found)]

    def remove(self, storage: Storage, marker: str | None) -> None:
        """Remove the run's folder and the marker. Raises: SourceError."""
        if marker is not None:
            storage.remove(marker)
        storage.remove(self.folder)


@dataclass(frozen=True)
class Found:
    """A record that was found: the run's engine, and the record's fields."""

    runner: str
    record: dict[str, Any]


def find_record(storage: Storage, place: str) -> Found | None:
    """The record of the run with this output folder, or with this folder of its own; None if there is none.

    Raises:
        UsageError: There is a marker, but the record is gone.
        SourceError: Storage does not respond.
        FormatError: The record is damaged, or of another version.
    """
    marker = _read(storage, marker_of(place))
    if marker is None:
        record = _read(storage, f"{place.rstrip('/')}/{_RECORD}")
    else:
        record = _read(storage, marker["record"])
        if record is None:
            raise UsageError(f"the files of this run are gone: {redact(marker['record'])}")
    if record is None:
        return None
    del record["v"]
    return Found(record["info"]["runner"], record)


def marker_of(output_dir: str) -> str:
    """The location of the marker of the run with this output folder."""
    return f"{output_dir.rstrip('/')}.running.json"


def refuse_second_run(runner: str, storage: Storage, marker: str) -> None:
    """Refuse an output folder that belongs to another run. Raises: UsageError, SourceError."""
    if storage.exists(marker):
        raise UsageError(
            f"-r {runner}: an earlier run into this output folder has not ended ({redact(marker)}): "
            "end it with crawlmill ledger --collect, or remove that file"
        )


def _write(storage: Storage, location: str, content: dict[str, Any]) -> None:
    with storage.write(location) as file:
        file.write(json.dumps(content, indent=1).encode("utf-8", "backslashreplace") + b"\n")


def _read(storage: Storage, location: str) -> dict[str, Any] | None:
    """Read a record or a marker; None if it does not exist."""
    try:
        content = storage.read_all(location, limit=_MAX_RECORD_BYTES)
    except SourceError as error:
        if error.reason != "not-found":
            raise
        return None
    try:
        found = json.loads(content)
    except ValueError as error:
        raise FormatError("not a record of a run", reason="bad-json", source=redact(location)) from error
    if not isinstance(found, dict) or found.get("v") != _VERSION:
        raise FormatError("the record of a run by another version", reason="bad-json", source=redact(location))
    return found
