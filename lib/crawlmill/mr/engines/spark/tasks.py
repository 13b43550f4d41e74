"""A task on Spark: it runs an attempt like the local runners (`attempt`), and sends its files through Spark.

    map       yields the sorted runs of its spills, as pieces of whole lines, each with the number of its partition
    reduce    writes the pieces of its partition, which come in no particular order, to a file, and sorts them again
    output    a file in the step's folder, with a name that is unique to the attempt; the driver reports which ones
    count

So neither side holds more in memory than one piece, plus what the attempt needs for sorting. Does not import pyspark.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from crawlmill.errors import CrawlmillError
from crawlmill.mr.task.attempt import Attempt, run_attempt
from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.files import ROWS, TaskFile, files_in_folder
from crawlmill.mr.task.shuffle import SortedRun
from crawlmill.storage import Storage, is_remote
from crawlmill.storage.locations import join, local_path

__all__ = ["FAILURE", "Done", "Shipped", "Source", "Step", "Task", "map_to_part", "map_to_pieces", "reduce_to_part"]

FAILURE: Final = "crawlmill-failure "
"""What the last line of a failed attempt's traceback begins with; after it, JSON: {"task", "attempt", "error"}."""

_PIECE: Final = 1 << 16
_MEMORY: Final = 64 << 20  # next to a Java VM, in a container sized for little Python memory

Source = tuple[int, str | None, str | None]
"""What a map task reads: its number, and a line of the task list or, in later steps, the location of a part."""

_Made = tuple[Path, list[list[SortedRun]]]
"""Where an attempt has left its files, and the runs of its spills: one for each partition."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """The job as tasks get it: a zip of the working folder among Spark's Python files, and how to create the job."""

    archive: str
    script: str
    job_class: str
    arguments: list[str]

    def load(self) -> tuple[type[Job], Path]:
        """The job's class, and the working folder of this process."""
        return _load(self.archive, self.script, self.job_class)


@dataclass(frozen=True, slots=True)
class Step:
    """A step: its number, whether it has a mapper, combiner and reducer, its tasks' environment, its output folder."""

    number: int
    substeps: list[str]
    reducers: int | None
    environment: dict[str, str]
    output: str
    surveys: bool = False
    """Whether it looks at the inputs that the next step reads again."""

    @property
    def reduces(self) -> bool:
        """Whether a reducer follows."""
        return "reducer" in self.substeps


@dataclass(frozen=True, slots=True)
class Done:
    """What the launcher must know of a finished task besides its output; if it ran twice, the last report counts."""

    task: str
    step: int
    totals: list[int]
    counters: dict[str, int]
    rows: str
    files: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Task:
    """An attempt at a task of a step. `unique` is a number that no other attempt of the run has."""

    job: Shipped
    step: Step
    number_of_try: int
    unique: int
    report: Callable[[Done], None]

    @contextmanager
    def attempt(self, kind: str, number: int) -> Iterator[tuple[Path, Callable[..., _Made]]]:
        """A folder for the attempt, and a function that runs it there; `number` is the task's."""
        with _Named(f"{kind}-{number:05}", self.number_of_try), _folder() as folder:

            def run(**more: Any) -> _Made:
                attempt = Attempt(
                    str(folder),
                    self.step.number,
                    kind,
                    number,
                    _MEMORY,
                    substeps=tuple(self.step.substeps),
                    environment=self.step.environment,
                    number_of_try=self.number_of_try,
                    **more,
                )
                job_class, home = self.job.load()
                with chdir(home):
                    result = run_attempt(job_class, self.job.arguments, attempt, lambda _: None)
                made = Path(attempt.folder)
                rows, files = "", []
                for file in files_in_folder(made):
                    if file.name == ROWS:
                        rows = Path(file.place).read_text(encoding="utf-8")
                    else:
                        files.append((file.name, self._deliver_file(attempt.task, file)))
                self.report(Done(attempt.task, self.step.number, list(result.totals), result.counters, rows, files))
                return made / "part", [spill.runs(made) for spill in result.spills]

            yield folder, run

    def storage(self) -> Storage:
        """The storage of the job's tasks."""
        job_class, _ = self.job.load()
        return job_class(["--mapper", f"--step-num={self.step.number}", *self.job.arguments]).storage

    def deliver(self, part: Path, number: int) -> tuple[int, str]:
        """Copy a part to the step's folder, whole or not at all; returns its number and its name there."""
        name = f"part-{number:05}-{self.unique}"
        self._copy(part, join(self.step.output, name))
        return number, name

    def _deliver_file(self, task: str, file: TaskFile) -> str:
        """Copy a named file of a task to the step's folder; returns its location."""
        place = join(self.step.output, f"_of-{task}-{self.unique}.{Path(file.place).name}")
        self._copy(Path(file.place), place)
        return place

    def _copy(self, path: Path, location: str) -> None:
        with path.open("rb") as source, self.storage().write(location) as file:
            shutil.copyfileobj(source, file, 1 << 20)


def map_to_pieces(task: Task, sources: Iterable[Source], partitions: int) -> Iterator[tuple[int, bytes]]:
    """Run map tasks (a partition usually has only one); yields (partition, lines) pairs."""
    for number, line, part in sources:
        with task.attempt("map", number) as (folder, run):
            _, spills = run(line=line, source=_fetched(task, part, folder), partitions=partitions)
            for spill in spills:
                for partition, sorted_run in enumerate(spill):
                    for piece in _pieces(sorted_run):
                        yield partition, piece


def map_to_part(task: Task, sources: Iterable[Source]) -> Iterator[tuple[int, str]]:
    """Run map tasks without a reducer; yields the number and name of each part."""
    for number, line, part in sources:
        with task.attempt("map", number) as (folder, run):
            made, _ = run(line=line, source=_fetched(task, part, folder))
            yield task.deliver(made, number)


def reduce_to_part(task: Task, number: int, pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, str]]:
    """Run a reduce task; yields the number and name of its part."""
    with task.attempt("reduce", number) as (folder, run):
        shuffled = folder / "shuffled"
        with shuffled.open("wb") as file:
            for _, piece in pieces:
                file.write(piece)
        made, _ = run(runs=(SortedRun(str(shuffled), 0, shuffled.stat().st_size, in_order=False),))
        yield task.deliver(made, number)


def _pieces(run: SortedRun) -> Iterator[bytes]:
    """The lines of a run in large pieces; each ends at the end of a line, since Spark may reorder the pieces."""
    left = run.length
    with open(run.path, "rb") as file:  # noqa: PTH123
        file.seek(run.offset)
        while left > 0:
            piece = file.read(min(_PIECE, left))
            piece += b"" if piece.endswith(b"\n") else file.readline()
            left -= len(piece)
            yield piece


def _fetched(task: Task, part: str | None, folder: Path) -> str | None:
    """A part of the previous step as a local file."""
    if part is None:
        return None
    if not is_remote(part):
        return str(local_path(part))
    fetched = folder / "source"
    with task.storage().open_stream(part) as source, fetched.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    return str(fetched)


@cache
def _load(archive: str, script: str, job_class: str) -> tuple[type[Job], Path]:
    """Once per process: unpack the working folder, and import the script from it."""
    _import_from_anywhere()
    packed = next(path for path in sys.path if Path(path).name == archive)
    home = Path(tempfile.mkdtemp(prefix="crawlmill-job-", dir=_disk()))
    with zipfile.ZipFile(packed) as files:
        for entry in files.infolist():
            made = Path(files.extract(entry, home))
            if mode := entry.external_attr >> 16 & 0o777:
                made.chmod(mode)
    name = Path(archive).stem  # the script's own name could clash with another module
    spec = importlib.util.spec_from_file_location(name, home / script)
    if spec is None or spec.loader is None:
        raise ImportError(f"no Python script: {script}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, job_class), home


def _import_from_anywhere() -> None:
    """Make the import path absolute: on YARN it is relative to the container's folder, which tasks leave."""
    sys.path[:] = map(os.path.abspath, sys.path)
    for module in list(sys.modules.values()):
        path = getattr(module, "__path__", None)
        if type(path) is list:
            path[:] = map(os.path.abspath, path)


def _disk() -> str | None:
    """The folder that Spark provides for its tasks, and empties when it ends."""
    for folder in os.environ.get("SPARK_LOCAL_DIRS", "").split(","):
        if os.access(folder, os.W_OK):
            return folder
    return None


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="crawlmill-", dir=_disk(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


class _Named:
    """Adds a last line for the launcher to any exception in the block: which task it was, and why it failed."""

    def __init__(self, task: str, number_of_try: int) -> None:
        self._names = {"task": task, "attempt": number_of_try - 1}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, GeneratorExit):
            words = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
            said = " ".join((str(error) if isinstance(error, CrawlmillError) else " ".join(words)).split())
            error.add_note(FAILURE + json.dumps({**self._names, "error": said[:500]}))
