"""The launcher: runs `python jobs/x.py LIST...`, from the command line to the exit code.

    0 all inputs ok    1 usage error or failed job    2 some inputs partial or failed    128 + n stopped by signal n

Mistakes of the user are found before anything runs. Then the launcher reads the lists, writes the task list, runs it,
merges the ledger, checks the limit of bad inputs, publishes, and prints a summary. A run that does not succeed leaves
no output, no process and no temporary file, but keeps the ledger of what it read.
"""

from __future__ import annotations

import logging
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crawlmill import core
from crawlmill.codecs.inflate import decoders
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.inputs.lists import Input, Inputs, read_lists
from crawlmill.inputs.units import units_of
from crawlmill.later import later
from crawlmill.ledger.file import check_ledger_place
from crawlmill.mr.engines.registry import engine_of
from crawlmill.mr.engines.run_setup import RunSetup
from crawlmill.mr.run import options as declared
from crawlmill.mr.run.conf import with_s3_settings
from crawlmill.mr.run.ending import Ending, RunInfo
from crawlmill.mr.run.launch_options import LaunchOptions
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.run.owned_folders import OwnedFolder, remove_abandoned
from crawlmill.mr.run.progress import Console, Progress
from crawlmill.mr.run.signals import stoppable
from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.failures import Stopped, TaskError, TooManyBadError, cannot_retry, is_of_job, one_line
from crawlmill.mr.task.monitor import Totals
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.task_list import cut, encode_task
from crawlmill.storage import Storage, StorageOptions
from crawlmill.storage.shares import most_tasks
from crawlmill.terminal.starting import Lasting

if TYPE_CHECKING:
    from crawlmill.formats.selectors.criteria import Criteria
    from crawlmill.mr.engines.registry import Work

__all__ = ["launch"]

_select_inputs: Callable[[Inputs, Criteria], tuple[Inputs, int]] = later("crawlmill.mr.task.selected:select_inputs")
_verdict_of: Callable[[Input, Criteria], bool | None] = later("crawlmill.mr.task.selected:verdict_of")


def launch(job: Job) -> int:
    """Run a job with its parsed options; returns the exit code.

    Raises:
        UsageError: A mistake of the user; nothing was run.
    """
    console = Console(job.stderr)
    try:
        with stoppable(), _logging(job, console), _scratch(job.options.local_tmp_dir) as scratch:
            return _Launch(job, scratch, console).run()
    except Stopped as stopped:
        console.clear()
        return 128 + stopped.signal_number
    except OSError as error:
        console.clear()
        if cannot_retry(error) is None and is_of_job(error, type(job)):
            raise
        raise CrawlmillError(one_line(error)) from error


_SCRATCH: Final = re.compile(r"crawlmill-[a-z0-9_]{8}")


class _Launch:
    """One launch: the state shared by the steps from the options to the exit code."""

    def __init__(self, job: Job, scratch: Path, console: Console) -> None:
        self.options = options = LaunchOptions.of(job.options, job.mr_job_script())
        self.job, self.scratch, self.console = job, scratch, console
        self.engine = engine_of(options.runner)
        self.began_s = time.time()
        self.info = RunInfo(
            job.name(),
            self.engine.name,
            sys.argv[1:],
            self.began_s,
            options.output_dir,
            options.ledger,
            options.on_bad_input,
            options.max_bad_inputs.text,
            options.cat_output,
            options.quiet,
            options.verbose,
            job.ends_with(),
            **_results_of(job),
        )
        self.limit = self.info.limit
        self.progress = Progress(console, self._judge, shown=options.progress and not options.quiet)
        (scratch / "limits").mkdir()
        storage_options = declared.storage_options(options.parsed, limits_folder=str(scratch / "limits"))
        if self.engine.on_aws:
            storage_options = with_s3_settings(storage_options, options.conf_paths, self.engine.name)
        self.storage = Storage(storage_options)
        self.inputs: list[Input] = []  # in the order of the ledger
        self.beside: Mapping[str, str] = {}
        self.lost = 0  # by the look-up
        self.deselected = 0  # inputs

    def run(self) -> int:
        """Run all steps; returns the exit code."""
        self._check_places()
        with closing(self._work()) as work:
            output = OutputFolder(self.options.output_dir, self.storage) if self.options.output_dir else None
            try:
                work.write_to(output)
                work.warm_up()
                with Lasting():
                    inputs = self._read_inputs()
                    tasks = self._write_tasks(inputs)
                if (preview := self.job.preview(tasks)) is not None:
                    self.job.stdout.write(preview.encode())
                    return 0
                self._limit_tasks(work, inputs, tasks)
                if self.job.most_reducers is not None:
                    work.set_reducers(max(1, min(self.job.most_reducers, tasks)))
                code = self._to_the_end(work, output)
                if self.lost:
                    self.console.say(
                        f"{self.info.name}: captures may be missing: the look-up could not read all it had to"
                    )
                return code or (2 if self.lost else 0)
            finally:
                self.console.clear()
                if output is not None:
                    output.discard()

    def _check_places(self) -> None:
        """Check now, not after hours of work, that the ledger and a checkpoint can be written."""
        for option, place in (("--output-dir", self.options.output_dir), ("--ledger", self.options.ledger)):
            if place == "":
                raise UsageError(f"{option}: expected a location, got ''")
        if self.job.needs_output_dir() and not self.options.output_dir:
            raise UsageError(f"{self.job.name()} writes files: it needs --output-dir")
        core.name()
        decoders()
        if self.options.ledger:
            check_ledger_place(self.options.ledger, self.storage.options)

    def _work(self) -> Work:
        """Create the run on its engine."""
        options = self.options
        if self.engine.here and options.max_running_tasks is not None:
            raise UsageError("--max-running-tasks: for clusters only; on this machine --num-cores says how many run")
        if not self.engine.here:
            if options.checkpoint:
                raise UsageError(f"--checkpoint: only for inline and local, not for {options.runner}")
            options = options.with_core()
        settings = TaskSettings(self._storage_for_tasks())
        return self.engine.make_work(
            RunSetup(self.job, options, self.scratch, self.storage, self.progress, self.info, settings)
        )

    def _read_inputs(self) -> Inputs:
        given = {
            "stdin": self.job.stdin,
            "base_url": self.options.base_url,
            "default_base": self.engine.default_base,
            "local_keys": not self.engine.on_aws,
        }
        lists = list(self.options.lists)
        if self.options.looks_up and not self.job.searches:
            from crawlmill.mr.run.lookup import read_captures_of  # noqa: PLC0415 - few runs need it

            inputs, self.lost = read_captures_of(self.options.parsed, lists, self.storage, self.console.say, **given)
        else:
            read = partial(read_lists, storage=self.storage, **given)
            inputs = self.job.read_lists(lists, self.storage, read)
        inputs = self._selected(inputs)
        self.beside = inputs.beside
        if inputs.repeated and not self.options.quiet:
            self.console.say(f"{inputs.repeated:,} repeated line{'s' * (inputs.repeated > 1)} left out")
        return inputs

    def _selected(self, inputs: Inputs) -> Inputs:
        """The inputs without the captures that their index lines exclude."""
        criteria = self.job.criteria
        if not criteria or self.job.searches:
            return inputs
        chosen, self.deselected = _select_inputs(inputs, criteria)
        undecided = (item for item in chosen if _verdict_of(item, criteria) is None)
        if self.job.selects_lists and (item := next(undecided, None)) is not None:
            raise UsageError(
                f"{self.info.name} selects captures by their lines, and this one does not say enough: "
                f"{item.shown[:100]}"
            )
        return chosen

    def _write_tasks(self, inputs: Inputs) -> int:
        """Rank the inputs in ledger order, cut them into tasks, write the task list; returns the number of tasks."""
        self.inputs = inputs.ledger_order()
        ranks = {id(item): rank for rank, item in enumerate(self.inputs)}
        # A user who sets the number of inputs per task wants whole inputs.
        own = self.job.cut_tasks([(ranks[id(item)], item) for item in inputs], self.storage, self.console.say)
        if own is not None:
            with (self.scratch / "tasks.jsonl").open("wb") as file:
                for line in own:
                    file.writelines((line, b"\n"))
            self.lost += self.job.lost
            self.progress.inputs = len(inputs)
            return len(own)
        cut_up = (lambda item: [item]) if self.options.inputs_per_task else partial(units_of, storage=self.storage)
        ranked = ((ranks[id(item)], unit) for item in inputs for unit in cut_up(item))
        number = 0
        with (self.scratch / "tasks.jsonl").open("wb") as file:
            options = self.options
            tasks = cut(ranked, options.inputs_per_task, most=self.engine.most_tasks, gap=options.coalesce)
            for number, task in enumerate(tasks, 1):  # noqa: B007
                file.write(encode_task(task) + b"\n")
        self.progress.inputs = len(inputs)
        return number

    def _limit_tasks(self, work: Work, inputs: Inputs, tasks: int) -> None:
        """Give each task its share of the limits of hosts, if the tasks cannot coordinate through a folder."""
        if self.engine.here:
            return
        most, host = most_tasks(
            (item.location for item in inputs), self.options.max_running_tasks, self.storage.options, kind=inputs.kind
        )
        if most is None:
            return
        if host is not None and most < tasks and not self.options.quiet:
            self.console.say(f"at most {most} map tasks run at a time: more connections to {host} are not allowed")
        most = min(most, tasks)  # the share of a task that does not run would be wasted
        work.limit_tasks(most, TaskSettings(self._storage_for_tasks(share=most)))

    def _storage_for_tasks(self, **more: Any) -> StorageOptions:
        """The storage options for tasks. Tasks on other machines cannot use this one's limits folder."""
        if not self.engine.here:
            more["limits_folder"] = None
        if self.engine.on_aws:
            more["s3_credentials_required"] = True
            if self.options.retries is None:
                more["retries"] = declared.RETRIES_ON_EMR
        return replace(self.storage.options, **more)

    def _judge(self, totals: Totals) -> None:
        if self.limit.exceeded(totals.bad, len(self.inputs)):
            raise TooManyBadError("too many inputs are bad")

    def _to_the_end(self, work: Work, output: OutputFolder | None) -> int:
        """Run the tasks and end the run; returns the exit code. Whatever happens, the ledger is kept."""
        ending = Ending(
            self.info,
            self.inputs,
            self.job,
            self.storage,
            self.scratch,
            self.console,
            self.job.stdout,
            beside=self.beside,
            deselected=self.deselected,
            timeline=self.progress.timeline,
        )
        try:
            return ending.finish(work, output, self._execute(work))
        except Stopped as stopped:
            ending.keep_so_far(work, signal.Signals(stopped.signal_number).name)
            raise
        except BaseException:
            ending.keep_of_failed(work)
            raise

    def _execute(self, work: Work) -> TaskError | TooManyBadError | None:
        """Run the tasks; returns the error that ended them early, if any."""
        try:
            work.run()
        except (TaskError, TooManyBadError) as error:
            return error
        finally:
            self.console.clear()
        return None


def _results_of(job: Job) -> dict[str, Any]:
    """The description of the results in a RunInfo."""
    columns = None if job.columns is None else job.columns.to_json()
    if (form := job.part_format) is None:
        return {"columns": columns}
    return {"columns": columns, "output_format": form.name, "spreadsheet_safe": form.harmless}


class _ToConsole(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.say(self.format(record))


@contextmanager
def _logging(job: Job, console: Console) -> Iterator[None]:
    """Send log messages of our storage and of mrjob to the console, from warnings on unless the user set a level."""
    options = job.options
    level = logging.ERROR if options.quiet else logging.INFO if options.verbose else logging.WARNING
    handler = _ToConsole(console)
    if not options.verbose:
        handler.addFilter(lambda record: record.name != "mrjob.conf")  # "No configs found" is not worth a warning
    loggers = [logging.getLogger(name) for name in ("mrjob", "crawlmill")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, earlier in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(earlier)


@contextmanager
def _scratch(folder: str | None) -> Iterator[Path]:
    """A temporary folder that only this user can read, since task lists may contain signed URLs."""
    remove_abandoned(Path(folder or tempfile.gettempdir()), _SCRATCH.fullmatch)
    try:
        path = Path(tempfile.mkdtemp(prefix="crawlmill-", dir=folder)).absolute()
        owned = OwnedFolder(path)
    except OSError as error:
        place = f" in {folder}" if folder else ""
        raise UsageError(f"no temporary folder can be made{place}: {error.strerror or error}") from error
    with owned:
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
