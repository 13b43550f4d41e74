"""All engines, by the names used with `-r`. To add one, register an `Engine` here.

Engines are registered by module names and imported only when used: each imports a lot, and tasks need none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from crawlmill.errors import UsageError
from crawlmill.inputs.lists import COMMON_CRAWL
from crawlmill.later import named
from crawlmill.mr.task.task_list import MAX_TASKS_HERE, MAX_TASKS_ON_ENGINES

if TYPE_CHECKING:  # needed by the launcher, not by tasks
    from crawlmill.mr.engines.record import RunRecord
    from crawlmill.mr.engines.run_setup import CollectSetup, RunSetup
    from crawlmill.mr.run.ending import Done
    from crawlmill.mr.run.output_folder import OutputFolder
    from crawlmill.mr.task.settings import TaskSettings
    from crawlmill.storage import Storage

    class Work(Done, Protocol):
        """A run on an engine, as the launcher sees it."""

        def write_to(self, output: OutputFolder | None) -> None:
            """Have the output written within this folder, if the engine can."""

        def warm_up(self) -> None:
            """Begin work that does not need the inputs."""

        def limit_tasks(self, most: int, settings: TaskSettings) -> None:
            """Set the most map tasks that may run at a time, and pass these settings to them."""

        def set_reducers(self, number: int) -> None:
            """Set the number of reducers of steps for which neither the job nor the user has set it."""

        def run(self) -> None:
            """Run the task list to its end. Raises: TaskError, TooManyBadError, CrawlmillError."""

        def close(self) -> None:
            """End everything that runs, and clean up."""

    class Collected(Done, Protocol):
        """A run that continues, or has ended, without its launcher."""

        @property
        def run(self) -> RunRecord:
            """The record of the run."""

        @property
        def where(self) -> str:
            """The name of the run on the cluster, for messages."""

        def look(self) -> str | None:
            """Poll once: None if all steps are completed, else the progress. Raises: TaskError, CrawlmillError."""

        def wait(self) -> None:
            """Poll until all steps are completed. Raises: TaskError, CrawlmillError."""

        def fetch(self) -> None:
            """Fetch the rows, and list the output. Raises: SourceError, FormatError."""

        def output(self) -> OutputFolder | None:
            """The folder to publish, if the run has one. Raises: UsageError."""

        def end(self) -> str | None:
            """End the rest of a failed run; returns what could not be ended, if anything. Raises: CrawlmillError."""


__all__ = ["DEFAULT", "ENGINES", "Engine", "engine_of", "runner_class"]

DEFAULT: Final = "local"


@dataclass(frozen=True)
class Engine:
    """One way to run a job. `runner`, `work` and `examine` are MODULE:NAME, imported on use.

    `here`: tasks run on this machine, and share its files and limits. `default_base`: the base URL for keys of Common
    Crawl; `on_aws`: tasks read S3 with the credentials of their machines. `settings`: the mrjob.conf settings that
    `doctor` takes as options. Without `examine`, `doctor` does not support the engine. `collected`: follows a run whose
    launcher died (also MODULE:NAME).
    """

    name: str
    runner: str
    work: str
    examine: str | None = None
    here: bool = False
    default_base: str = COMMON_CRAWL
    on_aws: bool = False
    most_tasks: int = MAX_TASKS_ON_ENGINES
    settings: tuple[str, ...] = ()
    collected: str | None = None

    def runner_class(self) -> type[Any]:
        """The class that mrjob uses as runner."""
        found: type[Any] = named(self.runner)
        return found

    def make_work(self, setup: RunSetup) -> Work:
        """Create a run of a job. Raises: UsageError."""
        make: Callable[[RunSetup], Work] = named(self.work)
        return make(setup)

    def follow(self, setup: CollectSetup) -> Collected:
        """Create the object that follows a run whose launcher died. Raises: UsageError, CrawlmillError."""
        if self.collected is None:
            raise UsageError(f"a run on {self.name} ends with its launcher")
        make: Callable[[CollectSetup], Collected] = named(self.collected)
        return make(setup)

    def findings(
        self, conf_paths: list[str], storage: Storage, settings: dict[str, Any]
    ) -> Iterator[tuple[str, str | None]]:
        """Check what the engine needs: yield each finding with advice, or None if all is well."""
        if self.examine is not None:
            yield from named(self.examine)(conf_paths, storage, settings)


_HERE: Final = "crawlmill.mr.engines"

ENGINES: Final[dict[str, Engine]] = {
    engine.name: engine
    for engine in (
        Engine(
            DEFAULT,
            f"{_HERE}.machine.runner:LocalRunner",
            f"{_HERE}.machine.runner:machine_work",
            f"{_HERE}.doctor:examine_local",
            here=True,
            most_tasks=MAX_TASKS_HERE,
        ),
        Engine(
            "inline",
            f"{_HERE}.machine.runner:InlineRunner",
            f"{_HERE}.machine.runner:machine_work",
            here=True,
            most_tasks=MAX_TASKS_HERE,
        ),
        Engine(
            "hadoop",
            f"{_HERE}.hadoop.runner:HadoopRunner",
            f"{_HERE}.hadoop.work:HadoopWork",
            f"{_HERE}.doctor:examine_hadoop",
            collected=f"{_HERE}.hadoop.collect:HadoopCollected",
        ),
        Engine(
            "emr",
            f"{_HERE}.emr.runner:EmrRunner",
            f"{_HERE}.emr.work:EmrWork",
            f"{_HERE}.emr.doctor:examine_emr",
            default_base="s3://commoncrawl/",
            on_aws=True,
            settings=("region", "cloud_tmp_dir", "cluster_id"),
            collected=f"{_HERE}.emr.collect:EmrCollected",
        ),
        Engine(
            "spark",
            f"{_HERE}.spark.runner:SparkRunner",
            f"{_HERE}.spark.work:SparkWork",
            f"{_HERE}.doctor:examine_spark",
        ),
    )
}


def engine_of(name: str | None) -> Engine:
    """The engine with this name; None is the default. Raises: UsageError."""
    try:
        return ENGINES[name or DEFAULT]
    except KeyError:
        raise UsageError(f"there is no runner {name}: one of {', '.join(ENGINES)}") from None


def runner_class(name: str | None) -> type[Any]:
    """The runner class of an engine; None is the default. Raises: UsageError."""
    return engine_of(name).runner_class()
