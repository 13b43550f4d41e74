"""The settings that a launcher passes to its tasks, as one hidden option in JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Self

from crawlmill.storage import StorageOptions

__all__ = ["OPTION", "TaskSettings"]

OPTION: Final = "--task-settings"


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How tasks open locations, and the folder for the files of tasks of Hadoop streaming (None: no folder)."""

    storage: StorageOptions
    files_folder: str | None = None

    def argument(self) -> str:
        """The settings as an argument of a task's command line: the option with its value, for `parse`."""
        return f"{OPTION}={json.dumps({'storage': self.storage.to_json(), 'files_folder': self.files_folder})}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the value of the option."""
        given = json.loads(text)
        return cls(StorageOptions.from_json(given["storage"]), given["files_folder"])
