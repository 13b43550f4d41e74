"""The runners of one machine, `inline` and `local`: one pipeline, two ways of executing a task.

Each line of the task list is a map task; the shuffle comes between map and reduce; the output and the rows of a task
count once its folder has its final name. `inline` runs the tasks one after another in the launcher's own process, which
suits a debugger, and does not catch exceptions of the job. `local` runs them in worker processes, which have only what
was shipped to them.

mrjob's simulated runners, in contrast, split their input by bytes, do not retry failed tasks, sort everything in
memory, and take half a second to start.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from crawlmill.errors import UsageError
from crawlmill.later import later
from crawlmill.mr.compat import MRJobRunner, combine_environments, unarchive
from crawlmill.mr.engines.machine.pool import Launchpad, Pool, Watch
from crawlmill.mr.engines.run_setup import RunSetup
from crawlmill.mr.engines.shipping import modules_beside, used_by_tasks, zip_package
from crawlmill.mr.engines.steps import (
    REDUCERS,
    check_shipped,
    check_step,
    run_key,
    shipping,
    task_variables,
    usable_cores,
    whole_number,
)
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.task.attempt import Attempt, ListedLine, Result, run_attempt
from crawlmill.mr.task.failures import TaskError
from crawlmill.mr.task.files import ROWS, TaskFile, files_in_folder
from crawlmill.mr.task.monitor import Totals
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.shuffle import SortedRun
from crawlmill.mr.task.survey import SURVEY, reads_task_list
from crawlmill.storage import is_remote
from crawlmill.storage.locations import local_path

if TYPE_CHECKING:
    from crawlmill.mr.engines.machine.checkpoint import Checkpoint

__all__ = ["InlineRunner", "LocalRunner", "MachineRunner", "Silent", "machine_work"]

_make_checkpoint: Callable[..., Checkpoint] = later("crawlmill.mr.engines.machine.checkpoint:Checkpoint")

_MIN_MEMORY: Final = 32 << 20
_MAX_MEMORY: Final = 256 << 20
_PIECE: Final = 1 << 20
_LINE_END: Final = re.compile(rb"\n")


class Silent:
    """A watch that ignores all reports."""

    def progress(self, task: str, totals: Totals | None) -> None:
        """Ignore it."""

    def done(self, attempt: Attempt, result: Result) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""

    def tick(self) -> None:
        """Ignore it."""


class MachineRunner(MRJobRunner):  # type: ignore[misc]
    """The common part of both runners.

    `scratch` is a folder of the run's own; the last step writes to `output`, if given, so that its files can be
    published by rename. At the end, `parts` are the output files in order, `rows` the files of ledger rows, and `files`
    the named files written by tasks.
    """

    OPT_NAMES: ClassVar[set[str]] = MRJobRunner.OPT_NAMES | {"num_cores"}
    WANTS_JOB_CLASS: ClassVar[bool] = True
    _STEP_TYPES: ClassVar[set[str]] = {"streaming"}

    def __init__(self, mrjob_cls: Any, **settings: Any) -> None:
        with shipping():
            super().__init__(**settings)
        self.scratch = Path(self._opts["local_tmp_dir"])
        self.watch: Watch = Silent()
        self.task_retries = 0
        self.output: Path | None = None
        self.checkpoint: Checkpoint | None = None
        self._survey: dict[str, str] = {}
        self.parts: list[Path | str] = []
        self.rows: list[Path] = []
        self.files: list[TaskFile] = []
        self._counters: list[Counter[str]] = []
        self._job_class = mrjob_cls
        if self._opts["setup"]:
            raise UsageError(f"the {self.alias} runner runs no setup commands; found: {self._opts['setup'][0]}")
        check_shipped(map(str, self._shipped().values()), self._working_dir_mgr)
        self._reducers = [whole_number(self._jobconf_for_step(n), REDUCERS) for n in range(self._num_steps())]

    def _check_step(self, step: dict[str, Any], step_num: int) -> None:
        check_step(self.alias, step, step_num)

    @property
    def workers(self) -> int:
        """The number of tasks that run at a time."""
        return 1

    def keep_in(self, folder: Path, *, numbered: bool = False) -> None:
        """Keep finished tasks in this folder, and reuse those that an earlier run has kept there.

        `numbered`: names of files written by tasks contain the tasks' numbers.

        Must be called before `give`, whose settings do not affect results.
        """
        arguments = self._mr_job_extra_args()
        settings = {"arguments": arguments, "properties": self._jobconf_for_step(0), "environment": self._cmdenv()}
        self.checkpoint = _make_checkpoint(folder, self._shipped(), settings, numbered=numbered)

    def give(self, settings: TaskSettings) -> None:
        """Pass these settings to every task."""
        self._extra_args.append(settings.argument())

    def write_to(self, output: OutputFolder | None) -> None:
        """Have the last step write within this folder, if it is given and local."""
        self.output = output.work if output is not None else None

    def warm_up(self) -> None:
        """Begin work that does not need the inputs."""

    def limit_tasks(self, most: int, settings: TaskSettings) -> None:
        """Do nothing: the tasks of one machine share its limits, and run on at most as many workers as cores."""

    def set_reducers(self, number: int) -> None:
        """Do nothing: as many reducers as there are workers, or map tasks if these are fewer, make the best of them."""

    def close(self) -> None:
        """End everything that runs."""

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`."""
        return [dict(step) for step in self._counters]

    def _make_unique_job_key(self, label: str | None = None, owner: str | None = None) -> str:  # noqa: ARG002
        # mrjob's own version uses a deprecated function. The scratch folder is unique already.
        return run_key(self._label())

    def _execute(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Result]]:
        raise NotImplementedError

    def _run(self) -> None:
        for number, step in enumerate(self._get_steps()):
            self._counters.append(Counter())
            self._run_step(number, step)

    def _run_step(self, number: int, step: dict[str, Any]) -> None:
        """Run a step: map, and reduce if it has a reducer; from the task list or the previous parts to new `parts`."""
        last = number + 1 == self._num_steps()
        sources = self._sources(number)
        # At most as many as map tasks, unless the job sets it.
        reducers = self._reducers[number] or max(min(self.workers, len(sources)), 1)
        partitions = reducers if "reducer" in step else 0
        make = partial(
            Attempt,
            step=number,
            memory=self._memory(),
            substeps=tuple(step),
            environment=self._variables(number, len(sources)),
        )
        base = self._new_folder(f"step-{number}-map", final=(last and not partitions) or self._job_class.writes_files)
        maps = (
            make(base, kind="map", number=n, partitions=partitions, line=line, source=part)
            for n, (line, part) in enumerate(sources)
        )
        runs: list[list[SortedRun]] = [[] for _ in range(partitions)]
        done = []
        for attempt, home, result in self._committed(maps):
            done.append((attempt.number, home))
            for spill in result.spills:
                for run, partition in zip(spill.runs(home), runs, strict=True):
                    if run.length:
                        partition.append(run)
        if partitions:
            base = self._new_folder(f"step-{number}-reduce", final=last or self._job_class.writes_files)
            reduces = (make(base, kind="reduce", number=n, runs=tuple(found)) for n, found in enumerate(runs))
            done = [(attempt.number, home) for attempt, home, _ in self._committed(reduces)]
        self.parts = [home / "part" for _, home in sorted(done)]
        if self._job_class.surveys and number == 0:
            self._survey = {SURVEY: str(self.parts[0])}
        self._output_dir = base

    def _committed(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Path, Result]]:
        for attempt, result in self._unless_kept(attempts):
            home = attempt.commit()
            for file in files_in_folder(home):
                if file.name == ROWS:
                    self.rows.append(Path(file.place))
                else:
                    self.files.append(file)
            self._counters[attempt.step].update(result.counters)
            self.watch.done(attempt, result)
            yield attempt, home, result

    def _unless_kept(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Result]]:
        """Execute attempts, except map tasks of the first step that a checkpoint has kept."""
        checkpoint = self.checkpoint
        if checkpoint is None:
            yield from self._execute(attempts)
            return
        kept: list[tuple[Attempt, Result]] = []
        places: dict[int, Path] = {}
        keeping = True

        def missing() -> Iterator[Attempt]:
            for attempt in attempts:
                result = None
                if attempt.line is not None:
                    place = places[attempt.number] = checkpoint.place_of(attempt)
                    result = checkpoint.restore(attempt, place)
                if result is None:
                    yield attempt
                else:
                    kept.append((attempt, result))

        for attempt, result in self._execute(missing()):
            place = places.pop(attempt.number, None)
            if place is not None and keeping:
                try:
                    checkpoint.keep(attempt, place, result)
                except OSError as error:
                    keeping = False
                    self.watch.note(f"--checkpoint: nothing more is kept: {error.strerror or error}")
            yield attempt, result
        yield from kept

    def _new_folder(self, name: str, *, final: bool) -> str:
        folder = (self.output if final else None) or self.scratch
        (folder / name).mkdir()
        return str(folder / name)

    def _sources(self, step: int) -> list[tuple[ListedLine | None, str | None]]:
        """The inputs of a step's map tasks: each is a line of the task list, or a part of the previous step."""
        if not reads_task_list(step, surveys=self._job_class.surveys):
            return [(None, str(part)) for part in self.parts]
        return [(line, None) for path in self._get_input_paths() for line in _lines_of(path)]

    def _memory(self) -> int:
        """The memory a task may use for sorting, in bytes: an eighth of the machine's, divided among the workers."""
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return min(max(machine // 8 // self.workers, _MIN_MEMORY), _MAX_MEMORY)

    def _variables(self, step: int, maps: int) -> dict[str, str]:
        """The environment of the step's tasks, except variables that differ between tasks."""
        return {
            **task_variables(self._jobconf_for_step(step), self.get_job_key()),
            **self._wanted_environment(),
            **self._survey,
            "mapreduce_job_maps": str(maps),
        }

    def _wanted_environment(self) -> dict[str, str]:
        """The environment variables that the user sets for tasks; paths are prepended to existing ones."""
        wanted = self._cmdenv()
        combined = combine_environments(os.environ, wanted)
        return {name: combined[name] for name in wanted if name in combined}

    def _shipped(self) -> dict[str, Path]:
        """What tasks find in their folder and on their import path: files, archives, folders that become archives."""
        folders = {archive: folder for folder, archive in self._dir_to_archive_path.items()}
        manager = self._working_dir_mgr
        named = {**manager.name_to_path("file"), **manager.name_to_path("archive")}
        named |= {f"py_files/{number}": path for number, path in enumerate(self._opts["py_files"])}
        return {name: Path(folders.get(path, path)) for name, path in named.items()}

    def _fill(self, folder: Path) -> None:
        """Put the files that the job uploads into a task's folder."""
        self._create_dir_archives()
        for name, path in self._working_dir_mgr.name_to_path("file").items():
            shutil.copy2(path, folder / name)
        for name, path in self._working_dir_mgr.name_to_path("archive").items():
            unarchive(path, str(folder / name))


def machine_work(setup: RunSetup) -> MachineRunner:
    """Create a run of a job on this machine. Raises: UsageError."""
    runner: MachineRunner = setup.make_runner()
    runner.watch, runner.task_retries = setup.watch, setup.options.task_retries
    if (folder := setup.options.checkpoint) is not None:
        if not folder or is_remote(folder):
            raise UsageError("--checkpoint", expected="a local folder", actual=folder or "nothing")
        runner.keep_in(local_path(folder), numbered=setup.job.part_format is not None)
    runner.give(setup.settings)
    return runner


class InlineRunner(MachineRunner):
    """Runs tasks one after another in this process."""

    alias = "inline"

    def _execute(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Result]]:
        sys.path += self._opts["py_files"]
        folder = self.scratch / "inline"
        if not folder.exists():
            folder.mkdir()
            self._fill(folder)
        for attempt in attempts:
            try:
                with chdir(folder), _stdout_as_stderr():
                    result = run_attempt(
                        self._job_class,
                        self._mr_job_extra_args(),
                        attempt,
                        lambda totals, task=attempt.task: self.watch.progress(task, totals),  # type: ignore[misc]
                    )
            except SystemExit as error:  # from the job's own code; it must not end this run, least of all well
                raise TaskError(f"task {attempt.task} failed: it ended the process, exit code {error.code}") from error
            yield attempt, result


class LocalRunner(MachineRunner):
    """Runs tasks in worker processes: as many as there are cores, or as the user says."""

    alias = "local"

    def __init__(self, mrjob_cls: Any, **settings: Any) -> None:
        super().__init__(mrjob_cls, **settings)
        cores = self._opts["num_cores"]
        if cores is not None and cores < 1:
            raise UsageError(f"--num-cores: expected 1 or more, got {cores}")
        self._cores = cores or usable_cores()
        self._pool: Pool | None = None

    @property
    def workers(self) -> int:
        """The number of worker processes."""
        return self._cores

    def warm_up(self) -> None:
        """Start a worker; others start when there is work for them, which a short list may not have."""
        self._started_pool().warm_up(1)

    def close(self) -> None:
        """End all workers."""
        if self._pool is not None:
            self._pool.close()

    def _execute(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Result]]:
        return self._started_pool().run(attempts)

    def _started_pool(self) -> Pool:
        if self._pool is None:
            package = zip_package(self.scratch / "crawlmill.zip", compiled=used_by_tasks)
            path = [str(package), *map(os.path.abspath, self._opts["py_files"]), *_python_path()]
            environment = {**os.environ, **self._wanted_environment(), "PYTHONPATH": os.pathsep.join(path)}
            pad = Launchpad(self.scratch, self._prepare, self._mr_job_extra_args(), environment, self._hint)
            self._pool = Pool(pad, self._cores, self.task_retries, self.watch)
        return self._pool

    def _prepare(self, folder: Path) -> list[str]:
        self._fill(folder)
        return [sys.executable, self._working_dir_mgr.name("file", self._script_path)]

    def _hint(self) -> str:
        beside = modules_beside(self._script_path, self._shipped().values())
        return f"; modules next to the script are not shipped: add --files {','.join(beside)}" if beside else ""


def _lines_of(path: str) -> Iterator[ListedLine]:
    """The places of the lines of a task list. They may be long, so none is held."""
    start = at = 0
    with open(path, "rb", buffering=0) as lines:  # noqa: PTH123
        while piece := lines.read(_PIECE):
            for found in _LINE_END.finditer(piece):
                end = at + found.end()
                yield ListedLine(path, start, end - start)
                start = end
            at += len(piece)


def _python_path() -> list[str]:
    return [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]  # noqa: PTH100


@contextmanager
def _stdout_as_stderr() -> Iterator[None]:
    """Keep what user code prints, in Python or below it, out of the results."""
    sys.stdout.flush()
    try:
        before = os.dup(1)
    except OSError:  # the launcher was started with stdout closed
        yield
        return
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(before, 1)
        os.close(before)
