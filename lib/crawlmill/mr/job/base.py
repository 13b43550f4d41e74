"""`CrawlJob`: the base of jobs over crawl files. A job says which records it wants and what pairs each of them gives.

    class StatusCount(CrawlJob):
        '''Count HTTP status codes. (This text is the job's --help.)'''

        formats = ("warc", "arc")
        types = ("response",)

        def process(self, record):
            yield record.http.status, 1

        reducer = summing

    if __name__ == "__main__":
        StatusCount.run()

The launcher (`launch`) cuts the inputs into tasks; a map task reads its inputs to their ends, gives the pairs of their
records, and accounts for every input with a row of the ledger. Trouble of an input never fails a task.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace, RawDescriptionHelpFormatter, _ArgumentGroup
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
    PAIRS,
    declare_options,
    declare_output_format,
    pass_on,
    raise_usage_error,
    storage_of,
)
from crawlmill.mr.job.program import door_of, guarded_stdout, run_program
from crawlmill.mr.job.step_task import StepTask, is_json, overrides, plain_sums, rows_set_aside
from crawlmill.mr.job.task_inputs import InputWatch, TaskInputs
from crawlmill.mr.run.reading_options import criteria_of, read_options
from crawlmill.mr.task.files import TaskFiles, check_name
from crawlmill.mr.task.monitor import EngineMonitor, Monitor
from crawlmill.mr.task.pairs import JsonPairs
from crawlmill.mr.task.rows import Pair, RowsFile, without_rows
from crawlmill.mr.task.sums import Choice, summing
from crawlmill.mr.task.survey import REDUCERS, read_findings
from crawlmill.results.columns import JSON_PAIRS, Columns
from crawlmill.storage import Storage

if TYPE_CHECKING:  # no task needs it
    from crawlmill.mr.run.results import Results
    from crawlmill.results.writers import PartFormat

__all__ = ["CrawlJob", "summing"]

_OWN_SETTINGS = ("s3_sse", "s3_sse_kms_key_id")
"""Settings of runners that mrjob does not know."""


class CrawlJob(MRJob):  # type: ignore[misc]
    """The base of jobs; see the module's text. `formats` and `types` empty mean all there are."""

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

    # A line of the task list is a task. Without ignoreKey, Hadoop would put the line's offset in front of it.
    HADOOP_INPUT_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
    JOBCONF: ClassVar[dict[str, Any]] = {
        "mapreduce.input.lineinputformat.linespermap": 1,
        "stream.map.input.ignoreKey": "true",
        "mapreduce.map.speculative": "false",  # it would fetch everything twice
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

    # What a job says, each of it in its own way.

    def process(self, record: Record) -> Iterable[Pair]:
        """The pairs of one record. A FormatError means that the record could not be taken: none of its pairs counts."""
        raise NotImplementedError(f"{type(self).__name__} has no process()")

    def read(self, reading: Reading) -> Iterator[Pair]:
        """The pairs of one input; a job may take the records in its own way."""
        for record in self.watched(reading):
            try:
                pairs = list(self.process(record) or ())
            except FormatError as error:
                reading.lose(error, record)
                continue
            yield from pairs

    def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
        """The pairs of a reduce task, from its sorted lines, many whole ones at a time: for very many lines.

        The lines are what INTERNAL_PROTOCOL has written; there must be a `reducer` too, which is not called.
        """
        raise NotImplementedError(f"{type(self).__name__} has no reduce_lines()")

    def selection(self) -> Selection:
        """Which formats the job takes, and which of their records."""
        return Selection(frozenset(self.formats) or None, frozenset(self.types) or None)

    def read_lists(self, lists: list[str], storage: Storage, read: Callable[[list[str]], Inputs]) -> Inputs:  # noqa: ARG002
        """The inputs of the lists that the user gave, by `read` or otherwise. Runs in the launcher."""
        return read(lists)

    def cut_tasks(
        self, ranked: list[tuple[int, Input]], storage: Storage, say: Callable[[str], None]
    ) -> list[bytes] | None:
        """The lines of the task list, by a job whose tasks are no runs of files; None: they are. Runs in the launcher.

        Each line is one of `task_list`, to which a job may add what its `mapper` knows; every input, which comes with
        its rank, must be in one of them, or all its units in several.
        """
        del ranked, storage, say  # of jobs that cut
        return None

    def preview(self, tasks: int) -> str | None:  # noqa: ARG002
        """What is printed in place of a run of so many tasks; None: the job runs. Runs in the launcher."""
        return None

    def survey(self, reading: Any) -> Iterator[Pair]:
        """What is to be known of an input before any is processed, as pairs for `conclude`."""
        raise NotImplementedError(f"{type(self).__name__} has no survey()")

    def conclude(self, key: Any, values: Iterator[Any]) -> Iterator[Pair]:
        """The reducer of what `survey` yields, in one task; its pairs are the `findings`."""
        raise NotImplementedError(f"{type(self).__name__} has no conclude()")

    def needs_output_dir(self) -> bool:
        """Whether the job, as its options say, needs a folder for what it writes. Runs in the launcher."""
        return self.writes_files

    def finish(self, results: Results) -> None:
        """Add files to the output that are made of what tasks have left. Runs in the launcher, before publishing."""

    # What a job may use.

    def watched(self, reading: Reading) -> Iterator[Record]:
        """The records of one input, with signs of life now and then."""
        return self._watch.records(reading)

    @cached_property
    def findings(self) -> list[Pair]:
        """What the survey has found, in the tasks of the steps after it."""
        return list(read_findings(self.internal_protocol(), self.storage, os.environ))

    def write_file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A file of the output, to be written within a `with` block in a map or reduce task.

        It is published as OUTPUT_DIR/NAME if the attempt counts; `name` may have folders (`year=2024/x.parquet`). What
        is written is streamed. No two tasks may write a file of the same name.

        Raises:
            ValueError: The name is none, or this task has written one of that name.
        """
        if not self.writes_files:
            raise TypeError(f"{type(self).__name__} writes a file, but does not say so: writes_files = True")
        check_name(name)
        if self.task_files is None:
            raise UsageError(f"{name}: a task that was not launched has no place for files")
        return self.task_files.write(name)

    @cached_property
    def storage(self) -> Storage:
        """What opens inputs, as the launcher set it up."""
        return storage_of(self.options)

    @cached_property
    def read_options(self) -> ReadOptions:
        """How inputs are read."""
        return read_options(self.options)

    @cached_property
    def criteria(self) -> Criteria:
        """What the user asks of pages; the records that `process` gets meet it."""
        return criteria_of(self.options)

    @property
    def survey_options(self) -> ReadOptions:
        """How inputs are read by the survey."""
        return self.read_options

    @cached_property
    def part_format(self) -> PartFormat | None:
        """How the parts of the results are written; None: as pairs."""
        if self.columns is None or self.options.output_format == PAIRS:
            return None
        from crawlmill.results.writers import PartFormat  # noqa: PLC0415 - not of every run

        return PartFormat(self.options.output_format, self.columns, harmless=self.options.spreadsheet_safe)

    # The steps, and what goes through the tasks of them (`task_inputs`, `step_task`).

    def steps(self) -> list[MRStep]:
        """The steps: the job's own, and before them that of the survey, if it has one."""
        own: list[MRStep] = super().steps()
        if not self.surveys:
            return own
        return [MRStep(mapper=self._survey_mapper, reducer=self.conclude, jobconf={REDUCERS: 1}), *own]

    def mapper(self, _key: None, line: str) -> Iterator[Pair]:
        """The pairs of one line of the task list, and a ledger row for each of its inputs."""
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
        """What a combiner or reducer of a step chooses of the sums, if it is `summing`; None if it is anything else."""
        if kind == "mapper" or not is_json(self, kind, step_num) or overrides(self, CrawlJob, f"{kind[:-1]}_pairs"):
            return None
        return plain_sums(self._get_step(step_num, MRStep), kind)

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a map task; rows stay among them if a reducer follows, which will set them aside."""
        mapped: Iterator[Pair] = super().map_pairs(pairs, step_num)
        if step_num != self._accounting_step or "reducer" in self._steps_desc()[step_num]:
            return mapped
        return rows_set_aside(mapped, self.task_files)

    def combine_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a combiner; rows pass it by."""
        rows: list[Pair] = []
        yield from super().combine_pairs(without_rows(pairs, rows.append), step_num)
        yield from rows

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a reduce task; in the step that accounts for inputs, rows are set aside."""
        if step_num != self._accounting_step:
            yield from super().reduce_pairs(pairs, step_num)
            return
        with RowsFile(self.task_files) as rows:
            yield from super().reduce_pairs(without_rows(pairs, rows.add), step_num)

    @property
    def _accounting_step(self) -> int:
        """The step that accounts for inputs: the first one after the survey."""
        return int(self.surveys)

    # The job as a program (`program`, `command_line`).

    @classmethod
    def run(cls) -> None:
        """Do what the command line says: launch the job, or be one of its tasks."""
        run_program(cls)

    @classmethod
    def mr_job_script(cls) -> str | None:
        """The path of the script that is run: where that is a door to the class, the door, not the class' module."""
        found: str | None = door_of(cls) or super().mr_job_script()
        return found

    @classmethod
    def name(cls) -> str:
        """The job's name: that of its file."""
        return Path(cls.mr_job_script() or cls.__name__).stem

    @classmethod
    def ends_with(cls) -> str | None:
        """What has to be recorded of a job by whoever may end its run without its launcher."""
        if cls.finish is CrawlJob.finish and cls.publishes_pairs:
            return None
        return f"{cls.__module__}:{cls.__qualname__}"

    def execute(self) -> None:
        """Launch the job, or be the task that the options name."""
        if self.options.worker is not None:
            from crawlmill.mr.engines.machine.worker import serve  # noqa: PLC0415 - only workers need it

            serve(type(self), self.options.worker, self._cl_args[1:])
        elif self.is_task() and self._stdout is None:
            with guarded_stdout() as self._stdout:
                super().execute()
        else:
            super().execute()

    def run_job(self) -> None:
        """Run the whole job; ends the process if the exit code is not 0."""
        from crawlmill.mr.job.declared import check_declared, check_output_format  # noqa: PLC0415 - no task needs it
        from crawlmill.mr.launch import launch  # noqa: PLC0415 - no task needs it

        check_declared(self)
        check_output_format(self)
        code = launch(self)
        if code:
            sys.exit(code)

    def configure_args(self) -> None:
        """Declare the options that every job has."""
        parser = self.arg_parser
        # argparse makes a formatter for every option declared; one that knows its width does not ask the terminal.
        parser.formatter_class = partial(RawDescriptionHelpFormatter, width=100)
        super().configure_args()
        parser.allow_abbrev = False
        self._of_mrjob = list(parser._actions)  # noqa: SLF001 - mrjob's own way of reading its parser
        declare_options(parser, self._passthru_arg_dests)
        if self.formats_results:
            declare_output_format(parser, self._passthru_arg_dests, shown=self.columns is not None)

    def _pass_on(self, group: _ArgumentGroup, *names: str, **settings: Any) -> None:
        """Declare an option, in a group of the help, that tasks get too."""
        pass_on(group, self._passthru_arg_dests)(*names, **settings)

    def load_args(self, args: list[str]) -> None:
        """Parse the command line; whatever is wrong with it is a UsageError."""
        if not hasattr(self, "_of_mrjob"):
            raise UsageError(f"configure_args() of {type(self).__name__} does not call super().configure_args()")
        self.arg_parser.error = raise_usage_error
        super().load_args(args)
        if self.options.heads_only and not self.heads_suffice:
            raise UsageError(f"--heads-only: {self.name()} needs the bodies of records")

    def _print_help(self, options: Namespace) -> None:
        if options.runner:
            super()._print_help(options)
        else:
            from crawlmill.mr.job.help import print_help  # noqa: PLC0415 - no task needs it

            print_help(self.arg_parser, self._of_mrjob, type(self), self.name(), self.shown_as)

    def _runner_opt_names_for_help(self) -> set[str]:
        """Of the settings of a runner, those that mrjob knows: it looks each of them up."""
        return {name for name in super()._runner_opt_names_for_help() if name not in _OWN_SETTINGS}

    def make_runner(self, **settings: Any) -> MRJobRunner:
        """The runner that the options name, made with these settings in place of theirs."""
        return self._runner_class()(**{**self._runner_kwargs(), **settings})

    def _runner_class(self) -> type[MRJobRunner]:
        from crawlmill.mr.engines.registry import runner_class  # noqa: PLC0415 - no task needs it

        return runner_class(self.options.runner)

    def _runner_kwargs(self) -> dict[str, Any]:
        runner = self._runner_class()
        given = super()._runner_kwargs()
        for name in ("s3_endpoint", "s3_region"):  # of our storage; mrjob would find them strange but for its own S3
            if name not in runner.OPT_NAMES:
                given.pop(name, None)
        for name in _OWN_SETTINGS:
            if name in runner.OPT_NAMES:
                given[name] = getattr(self.options, name)
        return {**given, "mrjob_cls": type(self)} if getattr(runner, "WANTS_JOB_CLASS", False) else given
