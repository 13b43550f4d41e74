"""`Job`: what tasks, engines and the launcher need of a job, and all that they know of it."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.inputs.lists import Inputs
from crawlmill.mr.task.files import TaskFiles
from crawlmill.mr.task.monitor import Monitor
from crawlmill.results.columns import Columns
from crawlmill.storage import Storage

__all__ = ["Job"]


class Job(Protocol):
    """A job, from which tasks and launches are made; `CrawlJob` is one."""

    options: Any
    monitor: Monitor
    task_files: TaskFiles | None
    stdin: Any
    stdout: Any
    stderr: Any

    def __init__(self, args: list[str] | None = None) -> None: ...

    @property
    def storage(self) -> Storage:
        """Opens inputs."""

    @classmethod
    def name(cls) -> str:
        """The name of the job, which is the name of its file."""

    @classmethod
    def mr_job_script(cls) -> str | None:
        """The path of the job's script."""

    columns: Columns | None
    writes_files: ClassVar[bool]
    publishes_pairs: ClassVar[bool]
    most_reducers: ClassVar[int | None]
    surveys: ClassVar[bool]
    searches: ClassVar[bool]
    selects_lists: ClassVar[bool]
    lost: int

    @property
    def part_format(self) -> Any:
        """How to write the parts of the results (`results.writers.PartFormat`); None: as pairs."""

    @property
    def criteria(self) -> Criteria:
        """The user's selection of pages."""

    def output_protocol(self) -> Any:
        """The protocol of the last step's lines."""

    def needs_output_dir(self) -> bool:
        """Whether the job needs an output folder."""

    def finish(self, results: Any) -> None:
        """Add files to the output; `results` are `run.results.Results`."""

    @classmethod
    def ends_with(cls) -> str | None:
        """MODULE:CLASS of a job that is needed to finish its run; None if it is not."""

    def read_lists(self, lists: list[str], storage: Storage, read: Any) -> Inputs:
        """Read the lists that the user gave."""

    def cut_tasks(self, ranked: Any, storage: Storage, say: Any) -> list[bytes] | None:
        """Return the lines of the task list, if the job cuts its own tasks."""

    def preview(self, tasks: int) -> str | None:
        """What to print instead of running the job."""

    def sandbox(self, stdin: Any = None, stdout: Any = None, stderr: Any = None) -> Any:
        """Use these streams instead of those of the process."""

    def make_runner(self, **settings: Any) -> Any:
        """Make the runner that the options name, with these settings instead of those of the options."""
