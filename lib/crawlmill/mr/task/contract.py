"""What tasks, engines and the launcher ask of a job: as much as they know of it."""

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
    """A job, by which a task or a launch is made; `CrawlJob` is one."""

    options: Any
    monitor: Monitor
    task_files: TaskFiles | None
    stdin: Any
    stdout: Any
    stderr: Any

    def __init__(self, args: list[str] | None = None) -> None: ...

    @property
    def storage(self) -> Storage:
        """What opens inputs."""

    @classmethod
    def name(cls) -> str:
        """The job's name: that of its file."""

    @classmethod
    def mr_job_script(cls) -> str | None:
        """The path of the job's script."""

    columns: Columns | None
    writes_files: ClassVar[bool]
    publishes_pairs: ClassVar[bool]
    surveys: ClassVar[bool]
    searches: ClassVar[bool]
    selects_lists: ClassVar[bool]
    lost: int

    @property
    def part_format(self) -> Any:
        """How the parts of the results are written (`results.writers.PartFormat`); None: as pairs."""

    @property
    def criteria(self) -> Criteria:
        """What the user asks of pages."""

    def output_protocol(self) -> Any:
        """What reads and writes the lines of the last step."""

    def needs_output_dir(self) -> bool:
        """Whether it cannot run without a folder for what it writes."""

    def finish(self, results: Any) -> None:
        """Add files to the output; `results` are `run.results.Results`."""

    @classmethod
    def ends_with(cls) -> str | None:
        """MODULE:CLASS of a job that is needed when its run ends; None if it is not."""

    def read_lists(self, lists: list[str], storage: Storage, read: Any) -> Inputs:
        """The inputs of the lists that the user gave."""

    def cut_tasks(self, ranked: Any, storage: Storage, say: Any) -> list[bytes] | None:
        """The lines of the task list, by a job that cuts its work itself."""

    def preview(self, tasks: int) -> str | None:
        """What is printed in place of a run."""

    def sandbox(self, stdin: Any = None, stdout: Any = None, stderr: Any = None) -> Any:
        """Use these in place of the process' own streams."""

    def make_runner(self, **settings: Any) -> Any:
        """The runner that the options name, made with these settings in place of theirs."""
