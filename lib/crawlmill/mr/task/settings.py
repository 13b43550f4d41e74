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
    """How tasks reach locations, and in which folder tasks of Hadoop streaming leave their files (None: in none)."""

    storage: StorageOptions
    files_folder: str | None = None

    def argument(self) -> str:
        """The argument of a task's command line that `parse` takes, with its option."""
        return f"{OPTION}={json.dumps({'storage': self.storage.to_json(), 'files_folder': self.files_folder})}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The settings in the value of the option."""
        given = json.loads(text)
        return cls(StorageOptions.from_json(given["storage"]), given["files_folder"])
