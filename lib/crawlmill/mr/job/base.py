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
import time
from argparse import SUPPRESS, ArgumentError, Namespace, RawDescriptionHelpFormatter, _ArgumentGroup
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from crawlmill.errors import CrawlmillError, FormatError, UsageError
from crawlmill.formats.record import Record
from crawlmill.inputs.lists import Input, Inputs
from crawlmill.inputs.reading import ItemReading, Reading, ReadOptions, Selection
from crawlmill.mr.compat import MRJob, MRJobRunner, MRStep, RawValueProtocol
from crawlmill.mr.job.help import describe, hide_rare
from crawlmill.mr.run import options as declared
from crawlmill.mr.run.results import Results
from crawlmill.mr.task.failure_report import report
from crawlmill.mr.task.files import TaskFiles, check_name, files_of_streaming
from crawlmill.mr.task.monitor import EngineMonitor, Monitor
from crawlmill.mr.task.pairs import JsonPairs, decode_pair, encode_lines, encode_pair
from crawlmill.mr.task.rows import Pair, RowsFile, lines_of_streaming, without_row_lines, without_rows
from crawlmill.mr.task.sums import Choice, chunks_of, sum_lines, summing
from crawlmill.mr.task.survey import REDUCERS, read_findings, reads_task_list
from crawlmill.mr.task.task_list import decode_task
from crawlmill.sorting import SortedLines, batches
from crawlmill.storage import Storage, StorageOptions, redact
from crawlmill.storage.coalesce import CoalescingStorage
from crawlmill.storage.interface import Opener
from crawlmill.terminal.streams import open_closed_streams
from crawlmill.terminal.text import visible

__all__ = ["CrawlJob", "summing"]

_LOOK_EVERY_S: Final = 0.1


class CrawlJob(MRJob):  # type: ignore[misc]
    """The base of jobs; see the module's text. `formats` and `types` empty mean all there are."""

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

    monitor: Monitor
    task_files: TaskFiles | None
    """Where this task's files go; None in a task that has no launcher."""

    _cl_args: list[str]
    _stdout: Any

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self.monitor = EngineMonitor(self.set_status, self.increment_counter)
        self.task_files = None
        self._offset: int | None = None  # of the record that is at work

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

    def watched(self, reading: Reading) -> Iterator[Record]:
        """The records of one input, with signs of life now and then."""
        start, _ = reading.item.span
        due = time.monotonic() + _LOOK_EVERY_S
        for record in reading:
            self._offset = record.offset
            yield record
            if time.monotonic() >= due:
                self.monitor.beat(reading.row.records, record.offset - start)
                due = time.monotonic() + _LOOK_EVERY_S

    def mapper(self, _key: None, line: str) -> Iterator[Pair]:
        """The pairs of one line of the task list, and a ledger row for each of its inputs."""
        for rank, reading in self._readings(line, self.read_options):
            with self._at_work(reading):
                yield from self.read(reading)
            yield from self.monitor.account(rank, reading.row)

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

    def survey(self, reading: Any) -> Iterator[Pair]:
        """What is to be known of an input before any is processed, as pairs for `conclude`."""
        raise NotImplementedError(f"{type(self).__name__} has no survey()")

    def conclude(self, key: Any, values: Iterator[Any]) -> Iterator[Pair]:
        """The reducer of what `survey` yields, in one task; its pairs are the `findings`."""
        raise NotImplementedError(f"{type(self).__name__} has no conclude()")

    @cached_property
    def findings(self) -> list[Pair]:
        """What the survey has found, in the tasks of the steps after it."""
        return list(read_findings(self.internal_protocol(), self.storage, os.environ))

    def steps(self) -> list[MRStep]:
        """The steps: the job's own, and before them that of the survey, if it has one."""
        own: list[MRStep] = super().steps()
        if not self.surveys:
            return own
        return [MRStep(mapper=self._survey_mapper, reducer=self.conclude, jobconf={REDUCERS: 1}), *own]

    def _survey_mapper(self, _key: None, line: str) -> Iterator[Pair]:
        for _, reading in self._readings(line, self.survey_options):
            with self._at_work(reading):
                yield from self.survey(reading)

    def _readings(self, line: str, options: ReadOptions) -> Iterator[tuple[int, Any]]:
        """The inputs of a line of the task list, ready to be read, by their ranks in the ledger."""
        selection, task = self.selection(), decode_task(line)
        ranges = [(item.location, item.offset or 0, item.length) for _, item in task if item.length is not None]
        with closing(CoalescingStorage(self.storage, ranges, self.options.coalesce)) as storage:
            for rank, item in task:
                yield rank, self._reading(item, storage, options, selection)

    @contextmanager
    def _at_work(self, reading: Any) -> Iterator[None]:
        """Give signs of life while an input is read; an error that comes out of it names the place."""
        self._offset = None
        try:
            with self.monitor.alive(lambda: reading.reached):
                yield
        except BaseException as error:
            error.add_note(f"(at {self._place_in(reading.item)})")
            raise

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

    def finish(self, results: Results) -> None:
        """Add files to the output that are made of what tasks have left. Runs in the launcher, before publishing."""

    @classmethod
    def ends_with(cls) -> str | None:
        """What has to be recorded of a job by whoever may end its run without its launcher."""
        if cls.finish is CrawlJob.finish and cls.publishes_pairs:
            return None
        return f"{cls.__module__}:{cls.__qualname__}"

    def _reading(self, item: Input, storage: Opener, options: ReadOptions, selection: Selection) -> Any:
        if issubclass(self.items, Record):
            return Reading(item, storage, options, selection)
        return ItemReading(item, storage, self.items, options, selection, streamed=self.streamed)

    def _place_in(self, item: Input) -> str:
        place = "" if self._offset is None else f"offset {self._offset} of "
        return place + redact(item.location)

    @cached_property
    def storage(self) -> Storage:
        """What opens inputs, as the launcher set it up."""
        handed_on = self.options.storage
        if handed_on is None:
            return Storage(declared.storage_options(self.options))
        return _storage_of_run(declared.storage_options_from(handed_on))

    @property
    def survey_options(self) -> ReadOptions:
        """How inputs are read by the survey."""
        return self.read_options

    @cached_property
    def read_options(self) -> ReadOptions:
        """How inputs are read."""
        return declared.read_options(self.options)

    # Running: the command line, the steps of a task

    @classmethod
    def run(cls) -> None:
        """Do what the command line says: launch the job, or be one of its tasks."""
        open_closed_streams()
        try:
            cls().execute()
        except (CrawlmillError, ArgumentError) as error:
            said = visible(" ".join(str(error).split()))
            with suppress(OSError):
                sys.stderr.write(f"{cls.name()}: {said}\n")
            report(said)
            sys.exit(1)

    @classmethod
    def mr_job_script(cls) -> str | None:
        """The path of the script that is run: where that is a door to the class, the door, not the class' module."""
        main = sys.modules.get("__main__")
        if getattr(main, cls.__name__, None) is cls and (script := getattr(main, "__file__", None)):
            return str(script)
        found: str | None = super().mr_job_script()
        return found

    @classmethod
    def name(cls) -> str:
        """The job's name: that of its file."""
        return Path(cls.mr_job_script() or cls.__name__).stem

    def execute(self) -> None:
        """Launch the job, or be the task that the options name."""
        if self.options.worker is not None:
            from crawlmill.mr.engines.machine.worker import serve  # noqa: PLC0415 - imports this module

            serve(type(self), self.options.worker, self._cl_args[1:])
        elif self.is_task() and self._stdout is None:
            with _guarded_stdout() as self._stdout:
                super().execute()
        else:
            super().execute()

    def run_job(self) -> None:
        """Run the whole job; ends the process if the exit code is not 0."""
        from crawlmill.mr.job.declared import check_declared  # noqa: PLC0415 - no task needs it
        from crawlmill.mr.launch import launch  # noqa: PLC0415

        check_declared(self)
        code = launch(self)
        if code:
            sys.exit(code)

    def run_mapper(self, step_num: int = 0) -> None:
        """Run a map task from stdin to stdout."""
        self._run("mapper", self.map_pairs, step_num)

    def run_combiner(self, step_num: int = 0) -> None:
        """Run a combiner from stdin to stdout."""
        self._run("combiner", self.combine_pairs, step_num)

    def run_reducer(self, step_num: int = 0) -> None:
        """Run a reduce task from stdin to stdout."""
        self._run("reducer", self.reduce_pairs, step_num)

    def _run(self, kind: str, transform: Callable[[Iterable[Pair], int], Iterator[Pair]], step_num: int) -> None:
        # mrjob writes twice per pair; this writes as many pairs at once as the buffer takes.
        read, write = self.pick_protocols(step_num, kind)
        if kind == "mapper" and reads_task_list(step_num, surveys=self.surveys):
            read = self.input_protocol().read
        if self.task_files is None and kind != "combiner" and (folder := self.options.files_folder):
            self.task_files = files_of_streaming(self.storage, folder, os.environ)
        choice = self.sums(kind, step_num)
        if kind == "reducer" and self.reduces_lines and step_num == self._first_step:
            self.stdout.writelines(encode_lines(self._reduced_lines(), write))
        elif choice is None:
            pairs = transform((read(line.rstrip(b"\r\n")) for line in self._read_input()), step_num)
            self.stdout.writelines(encode_lines(pairs, write))
        else:
            self.stdout.writelines(self._summed(kind, step_num, choice))
        if self.task_files is not None:
            self.task_files.commit()

    def sums(self, kind: str, step_num: int) -> Choice | None:
        """What a combiner or reducer of a step chooses of the sums, if it is `summing`; None if it is anything else."""
        if kind == "mapper" or not self.is_json(kind, step_num) or self.overrides(CrawlJob, f"{kind[:-1]}_pairs"):
            return None
        step = self._get_step(step_num, MRStep)
        if step[f"{kind}_init"] or step[f"{kind}_final"]:
            return None
        return Choice() if getattr(step[kind], "__func__", step[kind]) is summing else None

    def is_json(self, kind: str, step_num: int) -> bool:
        """Whether part of a step reads (unless it is the first mapper) and writes pairs as `pairs` does."""
        read, write = self.pick_protocols(step_num, kind)
        return write is encode_pair and (read is decode_pair or (kind == "mapper" and not step_num))

    def overrides(self, base: type[CrawlJob], *methods: str) -> bool:
        """Whether the job has another method by one of these names than `base`."""
        return any(getattr(type(self), name) is not getattr(base, name) for name in methods)

    def _reduced_lines(self) -> Iterator[Pair]:
        if isinstance(self.stdin, SortedLines):
            yield from self.reduce_lines(self.stdin.chunks())
            return
        with RowsFile(self.task_files) as rows:
            yield from self.reduce_lines(without_row_lines(lines_of_streaming(self.stdin), rows.add))

    def _summed(self, kind: str, step_num: int, choice: Choice) -> Iterator[bytes]:
        chunks = batches(self._read_input()) if self.options.args else chunks_of(self.stdin)
        if kind == "combiner" or step_num != self._first_step:
            # Rows pass a combiner where they stand: Hadoop merges what it has written, and takes it for sorted.
            yield from sum_lines(chunks, choice)
        else:
            with RowsFile(self.task_files) as rows:
                yield from sum_lines(chunks, choice, rows.add)

    def map_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a map task; rows stay among them if a reducer follows, which will set them aside."""
        mapped = super().map_pairs(pairs, step_num)
        first = self._first_step
        return mapped if step_num != first or "reducer" in self._steps_desc()[first] else self._rows_set_aside(mapped)

    def combine_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a combiner; rows pass it by."""
        rows: list[Pair] = []
        yield from super().combine_pairs(without_rows(pairs, rows.append), step_num)
        yield from rows

    def reduce_pairs(self, pairs: Iterable[Pair], step_num: int = 0) -> Iterator[Pair]:
        """The pairs of a reduce task; in the step that accounts for inputs, rows are set aside."""
        if step_num != self._first_step:
            yield from super().reduce_pairs(pairs, step_num)
            return
        with RowsFile(self.task_files) as rows:
            yield from super().reduce_pairs(without_rows(pairs, rows.add), step_num)

    @property
    def _first_step(self) -> int:
        """The step that accounts for inputs: the first one after the survey."""
        return int(self.surveys)

    def _rows_set_aside(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        with RowsFile(self.task_files) as rows:
            yield from without_rows(pairs, rows.add)

    # Options and runners

    def configure_args(self) -> None:
        """Declare the options that every job has."""
        parser = self.arg_parser
        # argparse makes a formatter for every option declared; one that knows its width does not ask the terminal.
        parser.formatter_class = partial(RawDescriptionHelpFormatter, width=100)
        super().configure_args()
        parser.allow_abbrev = False
        hide_rare(parser)
        describe(parser, type(self), self.name(), self.shown_as)
        inputs = parser.add_argument_group("inputs")
        declared.add_base_url(inputs.add_argument)
        declared.add_storage(inputs.add_argument)
        lookup = parser.add_argument_group("captures of an index (arguments are then URL patterns)")
        declared.add_lookup(lookup.add_argument)
        declared.add_reading(partial(self._pass_on, inputs))
        declared.add_ending(parser.add_argument_group("bad inputs").add_argument)
        declared.add_running(parser.add_argument_group("running").add_argument)
        self._declared = True
        for hidden in ("--storage", "--files-folder"):
            self.add_passthru_arg(hidden, help=SUPPRESS)
        parser.add_argument("--worker", type=int, help=SUPPRESS)

    def _pass_on(self, group: _ArgumentGroup, *names: str, **settings: Any) -> None:
        """Declare an option, in a group of the help, that tasks get too."""
        self._passthru_arg_dests.add(group.add_argument(*names, **settings).dest)

    def load_args(self, args: list[str]) -> None:
        """Parse the command line; whatever is wrong with it is a UsageError."""
        if not getattr(self, "_declared", False):
            raise UsageError(f"configure_args() of {type(self).__name__} does not call super().configure_args()")

        def error(message: str) -> None:
            raise UsageError(f"{message} (see --help)")

        self.arg_parser.error = error
        super().load_args(args)
        if self.options.heads_only and not self.heads_suffice:
            raise UsageError(f"--heads-only: {self.name()} needs the bodies of records")

    def _print_help(self, options: Namespace) -> None:
        if options.runner:
            super()._print_help(options)
        else:
            self.arg_parser.formatter_class = RawDescriptionHelpFormatter
            self.arg_parser.print_help()

    def hand_on(self, option: str, value: str) -> None:
        """Give an option, which the command line has not, to all tasks."""
        self._cl_args = [f"{option}={value}", *self._cl_args]

    def _runner_class(self) -> type[MRJobRunner]:
        from crawlmill.mr.engines.registry import runner_class  # noqa: PLC0415 - no task needs it

        return runner_class(self.options.runner)

    def _runner_kwargs(self) -> dict[str, Any]:
        runner = self._runner_class()
        given = super()._runner_kwargs()
        for name in ("s3_endpoint", "s3_region"):  # of our storage; mrjob would find them strange but for its own S3
            if name not in runner.OPT_NAMES:
                given.pop(name, None)
        return {**given, "mrjob_cls": type(self)} if getattr(runner, "WANTS_JOB_CLASS", False) else given


@lru_cache(maxsize=1)
def _storage_of_run(options: StorageOptions) -> Storage:
    """One for all tasks that this process runs: they share connections, and what was learnt of a server."""
    return Storage(options)


@contextmanager
def _guarded_stdout() -> Iterator[BinaryIO]:
    """A file for pairs where stdout was; what user code prints goes to stderr meanwhile, and corrupts nothing."""
    with os.fdopen(os.dup(1), "wb", 1 << 16) as pairs:
        os.dup2(2, 1)
        try:
            yield pairs
        finally:
            pairs.flush()
            os.dup2(pairs.fileno(), 1)
