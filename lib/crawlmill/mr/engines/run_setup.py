"""The arguments of an engine for running or following a job, and what all runs on clusters share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from crawlmill.mr.run.ending import RunInfo
from crawlmill.mr.run.launch_options import LaunchOptions
from crawlmill.mr.run.progress import Progress
from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.storage import Storage

__all__ = ["ClusterWork", "CollectSetup", "RunSetup"]


@dataclass(frozen=True)
class RunSetup:
    """What an engine needs to know of a run; `scratch` is a local folder of the run, `settings` are for its tasks."""

    job: Job
    options: LaunchOptions
    scratch: Path
    storage: Storage
    watch: Progress
    info: RunInfo
    settings: TaskSettings

    @property
    def task_list(self) -> Path:
        """The path of the task list, which is written once the inputs are known."""
        return self.scratch / "tasks.jsonl"

    def make_runner(self, *py_files: Path) -> Any:
        """Make the mrjob runner that the options name; `py_files` are shipped besides the user's.

        Raises:
            UsageError: One of its settings is invalid.
        """
        settings: dict[str, Any] = {
            "input_paths": [str(self.task_list)],
            "output_dir": None,
            "local_tmp_dir": str(self.scratch),
            "conf_paths": self.options.conf_paths,
            "cmdenv": self.options.cmdenv,
            "py_files": [*(self.options.py_files or []), *map(str, py_files)],
        }
        return self.job.make_runner(**settings)


@dataclass(frozen=True)
class CollectSetup:
    """What an engine needs to follow a run that another process launched. `wait`: until the run has ended."""

    record: dict[str, Any]
    storage: Storage
    scratch: Path
    progress: Progress
    credentials: dict[str, str]
    wait: bool


class _Runner(Protocol):
    def limit_tasks(self, most: int) -> None:
        """Set the most map tasks that may run at a time."""

    def set_reducers(self, number: int) -> None:
        """Set the number of reducers where it is not set."""


class ClusterWork:
    """A run whose tasks cannot begin before its inputs are known."""

    _runner: _Runner
    _settings: TaskSettings

    def warm_up(self) -> None:
        """Do nothing: no work can begin before the inputs are known."""

    def limit_tasks(self, most: int, settings: TaskSettings) -> None:
        """Set the most map tasks that may run at a time, and pass these settings to them."""
        self._settings = settings
        self._runner.limit_tasks(most)

    def set_reducers(self, number: int) -> None:
        """Set the number of reducers of steps for which neither the job nor the user has set it."""
        self._runner.set_reducers(number)
