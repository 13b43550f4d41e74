"""The launcher: what `python jobs/x.py LIST...` does, from the command line to the exit code.

    0 all inputs ok    1 usage error or failed job    2 some inputs partial or failed    128 + n stopped by signal n

Whatever the user got wrong is found before anything runs. Then: read the lists, write the task list, run it, merge
the ledger, judge, publish, sum up. A run that ends otherwise leaves no output, no process and no temporary file, but
the ledger of what it read.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crawlmill import core
from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.inputs.ledger import LedgerRow, Summary, complete
from crawlmill.inputs.lists import COMMON_CRAWL, Input, Inputs, read_lists
from crawlmill.mr import options as declared
from crawlmill.mr.conf import conf_paths
from crawlmill.mr.engines import EngineWork
from crawlmill.mr.failures import Stopped, TaskError, TooManyBadError, hopeless
from crawlmill.mr.job import CrawlJob
from crawlmill.mr.monitor import Totals
from crawlmill.mr.options import BadLimit
from crawlmill.mr.progress import Console, Progress
from crawlmill.mr.protocols import encode_value
from crawlmill.mr.publish import OutputFolder, copy_to
from crawlmill.mr.report import run_report
from crawlmill.mr.rows import decode_row
from crawlmill.mr.runners import InlineRunner, LocalRunner, MachineRunner
from crawlmill.mr.shuffle import Run, merge
from crawlmill.mr.signals import stoppable
from crawlmill.mr.tasks import MOST_TASKS_HERE, MOST_TASKS_ON_ENGINES, cut, encode_task
from crawlmill.storage import Storage, absolute, is_remote, redact
from crawlmill.storage.locations import local_path

if TYPE_CHECKING:
    from crawlmill.mr.hadoop import HadoopWork

    Work = MachineRunner | EngineWork | HadoopWork

__all__ = ["launch"]

_SORT_MEMORY: Final = 128 << 20


def launch(job: CrawlJob) -> int:
    """Run a job as its options say; gives the exit code.

    Raises:
        UsageError: The user has got something wrong; nothing was run.
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
        if (reason := hopeless(error)) is None:
            raise
        raise CrawlmillError(reason) from error


class _Launch:
    """One launch: what the steps on the way from options to exit code have to know of each other."""

    def __init__(self, job: CrawlJob, scratch: Path, console: Console) -> None:
        options = job.options
        self.job, self.options, self.scratch, self.console = job, options, scratch, console
        self.began_s = time.time()
        self.lists: list[str] = options.args
        self.output_dir: str | None = options.output_dir
        self.ledger_order: list[Input] = []
        # "fail" means: not one.
        self.limit = options.max_bad_inputs if options.on_bad_input == "skip" else BadLimit("0", number=0)
        self.progress = Progress(console, self._judge, shown=options.progress and not options.quiet)
        (scratch / "limits").mkdir()
        storage_options = declared.storage_options(options, limits_folder=str(scratch / "limits"))
        # Tasks on other machines cannot share this one's folder.
        for_tasks = storage_options if self._on_this_machine else replace(storage_options, limits_folder=None)
        job.hand_on("--storage", json.dumps(for_tasks.to_json()))
        self.storage = Storage(storage_options)

    def run(self) -> int:
        """Do it all; gives the exit code."""
        self._check_places()
        with closing(self._work()) as work:
            output = OutputFolder(self.output_dir, self.storage) if self.output_dir else None
            try:
                work.write_to(output)
                work.warm_up()
                self._write_tasks(self._read_lists())
                return self._finish(work, output, self._execute(work))
            finally:
                self.console.clear()
                if output is not None:
                    output.discard()

    @property
    def _on_this_machine(self) -> bool:
        return (self.options.runner or LocalRunner.alias) in (InlineRunner.alias, LocalRunner.alias)

    def _check_places(self) -> None:
        """Find out now, not after hours of work, that the ledger or a checkpoint cannot be written."""
        declared.read_options(self.options)
        core.name()
        if self.options.ledger and not is_remote(self.options.ledger):
            path = local_path(absolute(self.options.ledger, os.getcwd()))  # noqa: PTH109
            if path.is_dir() or not os.access(path.parent, os.W_OK):
                raise UsageError(f"the ledger cannot be written: {path}")

    def _work(self) -> Work:
        """The runner, told where things are."""
        options = self.options
        options.conf_paths = conf_paths(options.conf_paths, self.job.mr_job_script())
        options.args, options.output_dir = [str(self.scratch / "tasks.jsonl")], None
        options.local_tmp_dir = str(self.scratch)
        if not self._on_this_machine:
            if options.checkpoint:
                raise UsageError(f"--checkpoint: only for inline and local, not for {options.runner}")
            if options.runner == "hadoop":
                from crawlmill.mr.hadoop import HadoopWork  # noqa: PLC0415 - imports much of mrjob

                return HadoopWork(self.job, self.scratch, self.storage, self.progress)
            return EngineWork(self.job, self.scratch, self.storage)
        runner: MachineRunner = self.job.make_runner()
        runner.watch, runner.task_retries = self.progress, options.task_retries
        if options.checkpoint:
            runner.keep_in(Path(options.checkpoint))
        return runner

    def _read_lists(self) -> Inputs:
        default_base = "s3://commoncrawl/" if self.options.runner == "emr" else COMMON_CRAWL
        inputs = read_lists(
            self.lists, self.storage, base_url=self.options.base_url, default_base=default_base, stdin=self.job.stdin
        )
        if inputs.repeated and not self.options.quiet:
            self.console.say(f"{inputs.repeated:,} repeated line{'s' * (inputs.repeated > 1)} left out")
        return inputs

    def _write_tasks(self, inputs: Inputs) -> None:
        """Rank the inputs by the order of the ledger, cut them into tasks, write the task list."""
        self.ledger_order = inputs.ledger_order()
        ranks = {id(item): rank for rank, item in enumerate(self.ledger_order)}
        ranked = ((ranks[id(item)], item) for item in inputs)
        here = (self.options.runner or LocalRunner.alias) in (InlineRunner.alias, LocalRunner.alias)
        most = MOST_TASKS_HERE if here else MOST_TASKS_ON_ENGINES
        tasks = cut(ranked, self.options.inputs_per_task, most=most)
        with (self.scratch / "tasks.jsonl").open("wb") as file:
            file.writelines(encode_task(task) + b"\n" for task in tasks)
        self.progress.inputs = len(inputs)

    def _judge(self, totals: Totals) -> None:
        if self.limit.exceeded(totals.bad, len(self.ledger_order)):
            raise TooManyBadError("too many inputs are bad")

    def _execute(self, work: Work) -> TaskError | TooManyBadError | None:
        """Run the tasks; gives what ended them before their time."""
        try:
            work.run()
        except (TaskError, TooManyBadError) as error:
            return error
        except Stopped as stopped:
            self._keep_so_far(work.rows, signal.Signals(stopped.signal_number).name)
            raise
        finally:
            self.console.clear()
        return None

    def _finish(self, work: Work, output: OutputFolder | None, ended: TaskError | TooManyBadError | None) -> int:
        ledger = self.scratch / "ledger.jsonl"
        summary = self._merge(work.rows, ledger, "the run ended before this input was read" if ended else None)
        excess = self.limit.exceeded(summary.not_ok, summary.inputs)
        failed = ended is not None or excess
        if failed or output is None or self.options.ledger:
            place = self._keep(ledger, failed=failed, needed=summary.not_ok > 0)
            extras = {}
        else:
            place = f"{self.output_dir.rstrip('/')}/_ledger.jsonl" if self.output_dir else None
            extras = {"_ledger.jsonl": ledger}
        if not failed:
            if output is None if self.options.cat_output is None else self.options.cat_output:
                self._print_results(work.parts)
            if output is not None:
                output.publish(work.parts, {**extras, "_run.json": self._report(summary)})
        self._say_how_it_ended(work, summary, place)
        if isinstance(ended, TaskError):
            self.console.say(f"{ended.trace}{self.job.name()}: {ended}")
        elif failed:
            self.console.say(f"{self.job.name()}: {self._excess(summary)}; nothing is published")
        return 1 if failed else 2 if summary.not_ok else 0

    def _merge(self, files: list[Path], target: Path, why: str | None) -> Summary:
        """Write the ledger: one row for each input, whatever became of it."""
        summary = Summary()
        with target.open("wb") as file:
            for row in complete(self._rows(files), self.ledger_order, why or "no task has accounted for this input"):
                summary.add(row)
                file.write(encode_value(row.to_json()) + b"\n")
        return summary

    def _rows(self, files: list[Path]) -> Iterator[tuple[int, LedgerRow]]:
        runs = [Run(str(path), 0, path.stat().st_size) for path in files]
        return map(decode_row, merge(runs, self.scratch, memory=_SORT_MEMORY))

    def _keep(self, ledger: Path, *, failed: bool, needed: bool) -> str | None:
        """Put the ledger where the user looks for it; without a wish of theirs, only if it has something to say."""
        if self.options.ledger:
            place = absolute(self.options.ledger, os.getcwd())  # noqa: PTH109
        elif self.output_dir and failed:
            place = absolute(f"{self.output_dir.rstrip('/')}.failed.jsonl", os.getcwd())  # noqa: PTH109
        elif needed:
            place = str(Path(tempfile.mkdtemp(prefix="crawlmill-ledger-"), "ledger.jsonl"))
        else:
            return None
        with self.storage.write(place) as file:
            copy_to(file, ledger, self.storage)
        return redact(place)

    def _keep_so_far(self, files: list[Path], what: str) -> None:
        """Of a run that was stopped, keep the rows of what it has read, if there is a name to keep them under."""
        beside = self.output_dir or self.options.ledger
        said = f"{self.job.name()}: stopped by {what}"
        if beside:
            place = absolute(f"{beside.rstrip('/')}.interrupted.jsonl", os.getcwd())  # noqa: PTH109
            with self.storage.write(place) as file:
                file.writelines(encode_value(row.to_json()) + b"\n" for _, row in self._rows(files))
            said += f"; the ledger so far: {redact(place)}"
        self.console.say(said)

    def _print_results(self, parts: list[Path | str]) -> None:
        try:
            for part in parts:
                copy_to(self.job.stdout, part, self.storage)
            self.job.stdout.flush()
        except BrokenPipeError:
            # Whoever read our results has enough. What the interpreter flushes at its end must not complain either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def _say_how_it_ended(self, work: Work, summary: Summary, place: str | None) -> None:
        if self.options.quiet and not summary.not_ok:
            return
        if self.options.verbose:
            self.console.say(f"core: {core.name()}")
            for number, counters in enumerate(work.counters(), 1):
                for name, count in sorted(counters.items()):
                    self.console.say(f"step {number}, {name} = {count:,}")
        for line in summary.lines(time.time() - self.began_s):
            self.console.say(line)
        if place is not None:
            self.console.say(f"ledger: {place}")

    def _excess(self, summary: Summary) -> str:
        allowed = (
            "--on-bad-input fail" if self.options.on_bad_input == "fail" else f"--max-bad-inputs {self.limit.text}"
        )
        return f"{summary.not_ok:,} of {summary.inputs:,} inputs are bad, more than {allowed} allows"

    def _report(self, summary: Summary) -> bytes:
        return run_report(
            name=self.job.name(), runner=self.options.runner or LocalRunner.alias, arguments=sys.argv[1:],
            began_s=self.began_s, ended_s=time.time(), summary=summary,
        )  # fmt: skip


class _ToConsole(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.say(self.format(record))


@contextmanager
def _logging(job: CrawlJob, console: Console) -> Iterator[None]:
    """What our storage and mrjob log goes to the console, from warnings on unless the user wants more or less."""
    options = job.options
    level = logging.ERROR if options.quiet else logging.INFO if options.verbose else logging.WARNING
    handler = _ToConsole(console)
    if not options.verbose:
        handler.addFilter(lambda record: record.name != "mrjob.conf")  # "No configs found" is no news
    loggers = [logging.getLogger(name) for name in ("mrjob", "crawlmill")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


@contextmanager
def _scratch(folder: str | None) -> Iterator[Path]:
    """A temporary folder that only this user can read: task lists may hold signed URLs."""
    try:
        path = tempfile.mkdtemp(prefix="crawlmill-", dir=folder)
    except OSError as error:
        raise UsageError(f"no temporary folder can be made: {error}") from error
    try:
        yield Path(path).absolute()
    finally:
        shutil.rmtree(path, ignore_errors=True)
