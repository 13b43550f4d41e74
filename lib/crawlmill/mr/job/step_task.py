"""Runs a task of a step from stdin to stdout: decodes pairs, or sums lines undecoded, and sets ledger rows aside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crawlmill.errors import UsageError
from crawlmill.mr.compat import MRStep
from crawlmill.mr.task.files import TaskFiles, files_of_streaming
from crawlmill.mr.task.pairs import decode_pair, encode_lines, encode_pair
from crawlmill.mr.task.rows import Pair, RowsFile, lines_of_streaming, without_row_lines, without_rows
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.sums import Choice, chunks_of, sum_lines, summing
from crawlmill.mr.task.survey import reads_task_list
from crawlmill.sorting import SortedLines, batches
from crawlmill.storage import Storage

if TYPE_CHECKING:  # unused at run time, and every task would pay for it
    from typing import Protocol

    from crawlmill.results.writers import PartFormat

    class StepJob(Protocol):
        """What a task needs of its job; `CrawlJob` is one."""

        options: Any
        stdin: Any
        stdout: Any
        task_files: TaskFiles | None

        @property
        def storage(self) -> Storage:
            """Opens inputs."""

        @property
        def surveys(self) -> bool:
            """Whether a survey precedes the processing of inputs."""

        @property
        def reduces_lines(self) -> bool:
            """Whether the reducer of the step that accounts for inputs takes whole lines."""

        @property
        def part_format(self) -> PartFormat | None:
            """How to write the parts of the results; None: as pairs."""

        def pick_protocols(self, step_num: int, step_type: str) -> tuple[Any, Any]:
            """The protocols that read and write pairs."""

        def input_protocol(self) -> Any:
            """The protocol that reads the lines of the task list."""

        def sums(self, kind: str, step_num: int) -> Choice | None:
            """How a combiner or reducer selects sums, if it only sums; else None."""

        def reduce_lines(self, chunks: Iterator[bytes]) -> Iterator[Pair]:
            """Yield the pairs of a reduce task from its sorted lines."""

        def _read_input(self) -> Iterator[bytes]: ...

        def _steps_desc(self) -> list[dict[str, Any]]: ...


__all__ = ["StepTask", "is_json", "overrides", "plain_sums", "rows_set_aside"]


class StepTask:
    """A mapper, combiner or reducer of a step; runs once."""

    def __init__(self, job: StepJob, kind: str, step_num: int) -> None:
        self._job, self._kind, self._step_num = job, kind, step_num
        self._accounts = step_num == int(job.surveys)

    def run(self, transform: Callable[[Iterable[Pair], int], Iterator[Pair]]) -> None:
        """Read stdin and write stdout; `transform` maps input pairs to output pairs."""
        # mrjob writes twice per pair; this fills the buffer before it writes.
        job, kind, number = self._job, self._kind, self._step_num
        read, write = job.pick_protocols(number, kind)
        if kind == "mapper" and reads_task_list(number, surveys=job.surveys):
            read = job.input_protocol().read
        settings: TaskSettings | None = job.options.task_settings
        if job.task_files is None and kind != "combiner" and settings is not None and settings.files_folder:
            job.task_files = files_of_streaming(job.storage, settings.files_folder, os.environ)
        choice = job.sums(kind, number)
        # Where two fields are the key, streaming adds a TAB to lines that have no more: they are without a value.
        end = b"\r\n\t" if kind == "reducer" and job.reduces_lines else b"\r\n"
        with self._output() as output:
            if kind == "reducer" and job.reduces_lines and self._accounts:
                output.writelines(encode_lines(self._reduced_lines(), write))
            elif choice is None:
                pairs = transform((read(line.rstrip(end)) for line in job._read_input()), number)  # noqa: SLF001 - mrjob's
                output.writelines(encode_lines(pairs, write))
            else:
                output.writelines(self._summed(choice))
        if job.task_files is not None:
            job.task_files.commit()

    @contextmanager
    def _output(self) -> Iterator[Any]:
        """The output for lines: stdout, or a named file of the task for results in another format."""
        job, form = self._job, self._job.part_format
        if form is None or not self._gives_results():
            yield job.stdout
            return
        from crawlmill.results.task_parts import write_part  # noqa: PLC0415 - many runs do not need it

        if job.task_files is None:
            raise UsageError("--output-format: a task that was not launched has no place for files")
        number = int(os.environ.get("mapreduce_task_partition", "0"))  # noqa: SIM112 - as Hadoop names it
        with write_part(job.task_files, number, form) as part:
            yield part

    def _gives_results(self) -> bool:
        """Whether this task writes the results: the reducer of the last step, or its mapper if it has none."""
        steps = self._job._steps_desc()  # noqa: SLF001 - mrjob's
        return self._step_num == len(steps) - 1 and self._kind == ("reducer" if "reducer" in steps[-1] else "mapper")

    def _reduced_lines(self) -> Iterator[Pair]:
        job = self._job
        if isinstance(job.stdin, SortedLines):
            yield from job.reduce_lines(job.stdin.chunks())
            return
        with RowsFile(job.task_files) as rows:
            yield from job.reduce_lines(without_row_lines(lines_of_streaming(job.stdin), rows.add))

    def _summed(self, choice: Choice) -> Iterator[bytes]:
        job = self._job
        chunks = batches(job._read_input()) if job.options.args else chunks_of(job.stdin)  # noqa: SLF001 - mrjob's
        if self._kind == "combiner" or not self._accounts:
            # Rows stay in place in a combiner: Hadoop merges its output and assumes that it is sorted.
            yield from sum_lines(chunks, choice)
        else:
            with RowsFile(job.task_files) as rows:
                yield from sum_lines(chunks, choice, rows.add)


def rows_set_aside(pairs: Iterable[Pair], files: TaskFiles | None) -> Iterator[Pair]:
    """The pairs without the ledger rows among them, which are written to a file of the task."""
    with RowsFile(files) as rows:
        yield from without_rows(pairs, rows.add)


def plain_sums(step: MRStep, kind: str) -> Choice | None:
    """How a combiner or reducer selects sums, if it is plain `summing`; None if it is anything else."""
    if step[f"{kind}_init"] or step[f"{kind}_final"]:
        return None
    return Choice() if getattr(step[kind], "__func__", step[kind]) is summing else None


def is_json(job: StepJob, kind: str, step_num: int) -> bool:
    """Whether part of a step reads (unless it is the first mapper) and writes pairs in the format of `task.pairs`."""
    read, write = job.pick_protocols(step_num, kind)
    return write is encode_pair and (read is decode_pair or (kind == "mapper" and not step_num))


def overrides(job: object, base: type[Any], *methods: str) -> bool:
    """Whether a job overrides one of these methods of `base`."""
    return any(getattr(type(job), name) is not getattr(base, name) for name in methods)
