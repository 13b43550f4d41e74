"""`CrawlJob`: the base class of jobs over crawl files. A job declares the records it wants and yields pairs for each.

    class StatusCount(CrawlJob):
        '''Count HTTP status codes. (This text is the job's --help.)'''

        formats = ("warc", "arc")
        types = ("response",)

        def process(self, record):
            yield record.http.status, 1

        reducer = summing

    if __name__ == "__main__":
        StatusCount.run()

The launcher (`launch`) cuts the inputs into tasks. A map task reads its inputs to the end, yields the pairs of their
records, and writes a ledger row for each input. A damaged or unreadable input never fails a task.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace, _ArgumentGroup
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from crawlmill.errors import FormatError, UsageError
from crawlmill.formats.record import Record
from crawlmill.formats.selection import Selection
from crawlmill.formats.selectors.criteria import Criteria
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.mr.compat import MRJob, MRJobRunner, MRStep, RawValueProtocol
from crawlmill.mr.job.command_line import (
    HELP_FORMATTER,
    PAIRS,
    declare_options,
    declare_options_of_mrjob,
    declare_output_format,
    pass_on,
    raise_usage_error,
    storage_of,
)
from crawlmill.mr.job.program import door_of, guarded_stdout, run_program
from crawlmill.mr.job.step_task import StepTask, is_json, overrides, plain_sums, rows_set_aside
from crawlmill.mr.job.task_inputs import InputWatch, TaskInputs
from crawlmill.mr.run.options import dropped_value
from crawlmill.mr.run.reading_options import criteria_of, read_options
from crawlmill.mr.task.files import TaskFiles, check_name
from crawlmill.mr.task.monitor import EngineMonitor, Monitor
from crawlmill.mr.task.pairs import JsonPairs
from crawlmill.mr.task.rows import Pair, RowsFile, without_rows
from crawlmill.mr.task.sums import Choice, summing
from crawlmill.mr.task.survey import REDUCERS, read_findings
from crawlmill.results.columns import JSON_PAIRS, Columns
from crawlmill.storage import Storage

if TYPE_CHECKING:  # tasks do not need it
    from crawlmill.mr.run.results import Results
    from crawlmill.results.writers import PartFormat

__all__ = ["CrawlJob", "summing"]

_OWN_SETTINGS = ("s3_sse", "s3_sse_kms_key_id")
"""Settings of runners that mrjob does not know."""


class CrawlJob(MRJob):  # type: ignore[misc]
    """The base class of jobs; see the module docstring. Empty `formats` or `types` mean all of them."""

    # What a job declares.

    formats: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    items: ClassVar[type[Any]] = Record
    """The class of what `process` is given: records, or the items of another reader (`crawlmill.formats.reader`)."""

    heads_suffice: ClassVar[bool] = False
    """Whether the job can do without the bodies of records."""

    INPUT_PROTOCOL = RawValueProtocol
    INTERNAL_PROTOCOL: ClassVar[type[Any]] = JsonPairs
    OUTPUT_PROTOCOL: ClassVar[type[Any]] = JsonPairs

    # Each line of the task list is one task. Without ignoreKey, Hadoop would put the line's offset in front of it.
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    JOBCONF: ClassVar[dict[str, Any]] = {
        "mapreduce.input.lineinputformat.linespermap": 1,
        "stream.map.input.ignoreKey": "true",
        "mapreduce.map.speculative": "false",  # would fetch every input twice
        "mapreduce.task.timeout": 1_800_000,
    }

    columns: Columns | None = JSON_PAIRS
    """The columns of the results, by which `--output-format` writes them; None: what the job yields are no pairs."""

    formats_results: ClassVar[bool] = True
    """Whether the job has the common `--output-format`, and not one of its own."""

    writes_files: ClassVar[bool] = False
    """Whether the results are, or are also, files that tasks write (`write_file`); needs an output folder."""

    publishes_pairs: ClassVar[bool] = True
    """Whether what the last step yields is published as `part-N`; else it is for `finish` alone."""

    shown_as: ClassVar[str | None] = None
    """How the job is called in its help (default: `python jobs/NAME.py`)."""

    reduces_lines: ClassVar[bool] = False
    """Whether the reducer of the step that accounts for inputs takes sorted lines as they are (`reduce_lines`)."""

    streamed: ClassVar[bool] = False
    """Whether the job, which takes other `items` than records, gets large records before they are read to the end."""

    most_reducers: ClassVar[int | None] = None
    """How many reducers a step has on a cluster, unless it or the user says so, if there are as many map tasks; with
    fewer tasks there are as many as these. None: what the cluster is set to."""

    surveys: ClassVar[bool] = False
    """Whether all inputs are looked at (`survey`, `conclude`) before they are processed."""

    searches: ClassVar[bool] = False
    """Whether the lists are of patterns, which the job looks up in the indexes that `--index` names."""

    selects_lines: ClassVar[bool] = False
    """Whether what the user asks of pages is asked by the job itself, of lines of captures, and not of records."""

    selects_lists: ClassVar[bool] = False
    """Whether only the lines of lists can answer what the user asks of pages."""

    lost = 0
    """How much was lost where the launcher cut the work (`cut_tasks`)."""

    monitor: Monitor
    task_files: TaskFiles | None
    """Where this task's files go; None in a task that has no launcher."""

    _cl_args: list[str]
    _stdout: Any

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self.monitor = EngineMonitor(self.set_status, self.increment_counter)
        self.task_files = None
        self._watch = InputWatch(lambda: self.monitor)

    # Methods that a job may override.

    def process(self, record: Record) -> Iterable[Pair]:
        """Yield the pairs of one record. After a FormatError the record is lost, and none of its pairs count."""
        raise NotImplementedError(f"{type(self).__name__} has no process()")

    def read(self, reading: Reading) -> Iterator[Pair]:
        """Yield the pairs of one input; override it to read the records in another way."""
        for record in self.watched(reading):
            try:
                pairs = list(self.process(record) or ())
            except FormatError as error:
                reading.lose(error, record)
                continue
            yield from pairs

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """Yield the pairs of a reduce task from its sorted lines: faster than `reducer` for very many lines.

        `chunks` are whole lines, many at a time, as written by INTERNAL_PROTOCOL. The job must have a `reducer` too,
        which is never called.
        """
        raise NotImplementedError(f"{type(self).__name__} has no reduce_lines()")

    def selection(self) -> Selection:
        """The formats, and the types of their records, that the job processes."""
        return Selection(frozenset(self.formats) or None, frozenset(self.types) or None)

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:  # noqa: ARG002
        """Read the lists that the user gave, with `read` or in another way. Runs in the launcher."""
        return read(lists)

    def cut_tasks(
        self, ranked: list[tuple[int, Input]], storage: Storage, say: Callable[[str], None]
    ) -> list[bytes] | None:
        """The lines of the task list, if the job cuts its own tasks; None for the usual tasks. Runs in the launcher.

        Each line is one of `task_list`, to which a job may add data for its `mapper`. Every input, given with its rank,
        must be in one of the tasks, or all of its units in several.
        """
        del ranked, storage, say  # used by jobs that override this
        return None

    def preview(self, tasks: int) -> str | None:  # noqa: ARG002
        """What to print instead of running so many tasks; None: run the job. Runs in the launcher."""
        return None

    def survey(self, reading: Any) -> Iterator[Pair]:
        """Yield pairs for `conclude` about one input, before any input is processed."""
        raise NotImplementedError(f"{type(self).__name__} has no survey()")

    def conclude(self, key: Any, values: Iterator[Any]) -> Iterator[Pair]:
        """Reduce the pairs of `survey`, in one task; the pairs yielded are the `findings`."""
        raise NotImplementedError(f"{type(self).__name__} has no conclude()")

    def needs_output_dir(self) -> bool:
        """Whether the job, with these options, needs an output folder. Runs in the launcher."""
        return self.writes_files

    def finish(self, results: Results) -> None:
        """Add files to the output, made from what the tasks wrote. Runs in the launcher, before publishing."""

    # Methods that a job may call.

    def watched(self, reading: Reading) -> Iterator[Record]:
        """Yield the records of one input; reports progress while they are read."""
        return self._watch.records(reading)

    @cached_property
    def findings(self) -> list[Pair]:
        """The pairs that `conclude` yielded, in the tasks of later steps."""
        return list(read_findings(self.internal_protocol(), self.storage, os.environ))

    def write_file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file of the output for writing, in a `with` block of a map or reduce task.

        It is published as OUTPUT_DIR/NAME if the attempt counts; `name` may contain folders (`year=2024/x.parquet`).
        Writes are streamed. No two tasks may write a file of the same name.

        Raises:
            ValueError: The name is not allowed, or this task has already written a file of that name.
        """
        if not self.writes_files:
            raise TypeError(f"{type(self).__name__} writes a file, but does not say so: writes_files = True")
        check_name(name)
        if self.task_files is None:
            raise UsageError(f"{name}: a task that was not launched has no place for files")
        return self.task_files.write(name)

    @cached_property
    def storage(self) -> Storage:
        """Opens inputs, as configured by the launcher."""
        return storage_of(self.options)

    @cached_property
    def read_options(self) -> ReadOptions:
        """How inputs are read."""
        return read_options(self.options)

    @cached_property
    def criteria(self) -> Criteria:
        """The user's selection of pages; `process` gets only records that meet it."""
        return criteria_of(self.options)

    @property
    def survey_options(self) -> ReadOptions:
        """How the survey reads inputs."""
        return self.read_options

    @cached_property
    def part_format(self) -> PartFormat | None:
        """How to write the parts of the results; None: as pairs."""
        if self.columns is None or self.options.output_format == PAIRS:
            return None
        from crawlmill.results.writers import PartFormat  # noqa: PLC0415 - many runs do not need it

        return PartFormat(self.options.output_format, self.columns, harmless=self.options.spreadsheet_safe)

    # The steps, and the input and output of their tasks (`task_inputs`, `step_task`).

    def steps(self) -> list[MRStep]:
        """The job's own steps, after that of the survey, if there is one."""
        own: list[MRStep] = super().steps()
        if not self.surveys:
            return own
        return [MRStep(mapper=self._survey_mapper, reducer=self.conclude, jobconf={REDUCERS: 1}), *own]

    def mapper(self, _key: None, line: str) -> Iterator[Pair]:
        """Yield the pairs of one line of the task list, and a ledger row for each of its inputs."""
        for rank, reading in self._inputs.readings(line, self.read_options):
            with self._watch.over(reading):
                yield from self.read(reading)
            yield from self.monitor.account(rank, reading.row)

    def _survey_mapper(self, _key: None, line: str) -> Iterator[Pair]:
        for _, reading in self._inputs.readings(line, self.survey_options):
            with self._watch.over(reading):
                yield from self.survey(reading)

    @cached_property
    def _inputs(self) -> TaskInputs:
        selection = replace(self.selection(), criteria=self.criteria, of_lines=self.selects_lines)
        return TaskInputs(self.storage, self.options.coalesce, self.items, selection, streamed=self.streamed)

    def run_mapper(self, step_num: int = 0) -> None:
        """Run a map task from stdin to stdout."""
        StepTask(self, "mapper", step_num).run(self.map_pairs)

    def run_combiner(self, step_num: int = 0) -> None:
        """Run a combiner from stdin to stdout."""
        StepTask(self, "combiner", step_num).run(self.combine_pairs)

    def run_reducer(self, step_num: int = 0) -> None:
        """Run a reduce task from stdin to stdout."""
        StepTask(self, "reducer", step_num).run(self.reduce_pairs)

    def sums(self, kind: str, step_num: int) -> Choice | None:
        """How a combiner or reducer of a step selects sums, if it is plain `summing`; None if it is anything else."""
        if kind == "mapper" or not is_json(self, kind, step_num) or overrides(self, CrawlJob, f"{kind[:-1]}_pairs"):
            return None
        return plain_sums(self._get_step(step_num, MRStep), kind)

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a map task; ledger rows stay among them if a reducer follows, which sets them aside."""
        mapped: Iterator[Pair] = super().map_pairs(pairs, step_num)
        if step_num != self._accounting_step or "reducer" in self._steps_desc()[step_num]:
            return mapped
        return rows_set_aside(mapped, self.task_files)

    def combine_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a combiner; ledger rows pass unchanged."""
        rows: list[Pair] = []
        yield from super().combine_pairs(without_rows(pairs, rows.append), step_num)
        yield from rows

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a reduce task; the step that accounts for inputs sets ledger rows aside."""
        if step_num != self._accounting_step:
            yield from super().reduce_pairs(pairs, step_num)
            return
        with RowsFile(self.task_files) as rows:
            yield from super().reduce_pairs(without_rows(pairs, rows.add), step_num)

    @property
    def _accounting_step(self) -> int:
        """The index of the step that accounts for inputs: the first one after the survey."""
        return int(self.surveys)

    # The job as a program (`program`, `command_line`).

    @classmethod
    def run(cls) -> None:
        """Run what the command line asks for: launch the job, or run one of its tasks."""
        run_program(cls)

    @classmethod
    def mr_job_script(cls) -> str | None:
        """The path of the script to run: that which imports the class, if there is one, else the class' own module."""
        found: str | None = door_of(cls) or super().mr_job_script()
        return found

    @classmethod
    def name(cls) -> str:
        """The name of the job, which is the name of its file."""
        return Path(cls.mr_job_script() or cls.__name__).stem

    @classmethod
    def ends_with(cls) -> str | None:
        """MODULE:CLASS of the job, if its run must be finished by it even without its launcher; else None."""
        if cls.finish is CrawlJob.finish and cls.publishes_pairs:
            return None
        return f"{cls.__module__}:{cls.__qualname__}"

    def execute(self) -> None:
        """Launch the job, or run the task that the options name."""
        if self.options.worker is not None:
            from crawlmill.mr.engines.machine.worker import serve  # noqa: PLC0415 - only workers need it

            serve(type(self), self.options.worker, self._cl_args[1:])
        elif self.is_task() and self._stdout is None:
            with guarded_stdout() as self._stdout:
                super().execute()
        else:
            super().execute()

    def run_job(self) -> None:
        """Run the whole job; exits the process if the exit code is not 0."""
        from crawlmill.mr.job.declared import check_declared, check_output_format  # noqa: PLC0415 - unused in tasks
        from crawlmill.mr.launch import launch  # noqa: PLC0415 - tasks do not need it

        check_declared(self)
        check_output_format(self)
        code = launch(self)
        if code:
            sys.exit(code)

    def configure_args(self) -> None:
        """Declare the options that every job has."""
        parser = self.arg_parser
        parser.formatter_class = HELP_FORMATTER
        declare_options_of_mrjob(parser)
        parser.allow_abbrev = False
        self._of_mrjob = list(parser._actions)  # noqa: SLF001 - mrjob's own way of reading its parser
        declare_options(parser, self._passthru_arg_dests)
        if self.formats_results:
            declare_output_format(parser, self._passthru_arg_dests, shown=self.columns is not None)

    def _pass_on(self, group: _ArgumentGroup, *names: str, **settings: Any) -> None:
        """Declare an option, in a group of the help, that is passed on to tasks."""
        pass_on(group, self._passthru_arg_dests)(*names, **settings)

    def load_args(self, args: list[str]) -> None:
        """Parse the command line. Raises: UsageError."""
        if not hasattr(self, "_of_mrjob"):
            raise UsageError(f"configure_args() of {type(self).__name__} does not call super().configure_args()")
        self.arg_parser.error = partial(raise_usage_error, options=self.arg_parser._option_string_actions)  # noqa: SLF001
        if dropped := dropped_value(args):
            raise_usage_error(dropped)
        super().load_args(args)
        if self.options.heads_only and not self.heads_suffice:
            raise UsageError(f"--heads-only: {self.name()} needs the bodies of records")

    def _print_help(self, options: Namespace) -> None:
        if options.runner:
            super()._print_help(options)
        else:
            from crawlmill.mr.job.help import print_help  # noqa: PLC0415 - tasks do not need it

            print_help(self.arg_parser, self._of_mrjob, type(self), self.name(), self.shown_as)

    def _runner_opt_names_for_help(self) -> set[str]:
        """The settings of a runner that mrjob knows, since it looks each of them up."""
        return {name for name in super()._runner_opt_names_for_help() if name not in _OWN_SETTINGS}

    def make_runner(self, **settings: Any) -> MRJobRunner:
        """Make the runner that the options name, with these settings instead of those of the options."""
        return self._runner_class()(**{**self._runner_kwargs(), **settings})

    def _runner_class(self) -> type[MRJobRunner]:
        from crawlmill.mr.engines.registry import runner_class  # noqa: PLC0415 - tasks do not need it

        return runner_class(self.options.runner)

    def _runner_kwargs(self) -> dict[str, Any]:
        runner = self._runner_class()
        given = super()._runner_kwargs()
        for name in ("s3_endpoint", "s3_region"):  # for our storage; mrjob would warn about them
            if name not in runner.OPT_NAMES:
                given.pop(name, None)
        for name in _OWN_SETTINGS:
            if name in runner.OPT_NAMES:
                given[name] = getattr(self.options, name)
        return {**given, "mrjob_cls": type(self)} if getattr(runner, "WANTS_JOB_CLASS", False) else given
