"""The record of a run on Hadoop (`engines/record.py`), on HDFS next to the task list."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlmill.mr.engines.record import RunRecord
from crawlmill.mr.run.owned_folders import has_owner

__all__ = ["HadoopRun"]


@dataclass(frozen=True)
class HadoopRun(RunRecord):
    """A run. `outputs`: the output folder of each step.

    `work`: the folder within the unpublished output folder that the last step writes to, if the output is on HDFS.
    `scratch`: the launcher's own local folder, on the machine `host`; `yarn`: addresses of the ResourceManagers.
    """

    outputs: tuple[str, ...]
    work: str | None
    scratch: str
    host: str
    yarn: tuple[str, ...]

    @classmethod
    def _fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, "outputs": tuple(record["outputs"]), "yarn": tuple(record["yarn"])}

    @property
    def launcher_runs(self) -> bool | None:
        """Whether the launcher is alive; None if this machine cannot tell."""
        return has_owner(Path(self.scratch)) if self.host == socket.gethostname() else None
