"""The end of a run: merge the ledger, check the limit of bad inputs, publish, report, and choose the exit code.

All that must be known about the launch is in `RunInfo`, which can be stored: a process that has it, the task list and
the rows can end the run as its launcher would have.
"""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, Self

from crawlmill import core
from crawlmill.errors import CrawlmillError, FormatError, UsageError
from crawlmill.inputs.lists import Input
from crawlmill.ledger.file import keep_ledger
from crawlmill.ledger.row import LedgerRow, WrittenRows, complete, merged
from crawlmill.ledger.run_json import core_warning, run_report, unicode_warning, without_secrets
from crawlmill.ledger.summary import Summary
from crawlmill.ledger.timeline import Timeline
from crawlmill.mr.compat import MRJOB_VERSION
from crawlmill.mr.run.options import BadLimit
from crawlmill.mr.run.output_folder import OutputFolder
from crawlmill.mr.run.progress import Console
from crawlmill.mr.run.results import Results, copy_to, named
from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.failures import TaskError, TooManyBadError
from crawlmill.mr.task.files import TaskFile
from crawlmill.mr.task.pairs import encode_value
from crawlmill.mr.task.rows import take_rows
from crawlmill.mr.task.shuffle import SortedRun, merge
from crawlmill.results.columns import Columns
from crawlmill.results.parts import find_parts
from crawlmill.results.task_parts import TaskParts
from crawlmill.results.writers import PartFormat
from crawlmill.storage import Storage, absolute, redact
from crawlmill.storage.locations import without_slashes
from crawlmill.terminal.streams import drop_output

__all__ = ["Done", "Ending", "RunInfo"]

_SORT_MEMORY: Final = 128 << 20
_ENDED_EARLY: Final = "the run ended before this input was read"


class Done(Protocol):
    """What a run has written: its output files, local or at locations, and local files of ledger rows."""

    @property
    def parts(self) -> list[Path | str]:
        """Output files, in order."""

    @property
    def rows(self) -> list[Path]:
        """Local files of ledger rows."""

    @property
    def files(self) -> list[TaskFile]:
        """Named files written by tasks."""

    def counters(self) -> list[dict[str, int]]:
        """Counters of each step, by `group: name`."""


@dataclass(frozen=True)
class RunInfo:
    """What the launch knows about a run.

    `cat_output` None: print results if there is no output folder. `job`: MODULE:CLASS of a job that takes part in
    ending its run, and so is needed for it; None for other jobs. `columns`: the columns of the results, from
    `Columns.to_json`; None if the results are not pairs.
    """

    name: str
    runner: str
    arguments: list[str]
    began_s: float
    output_dir: str | None = None
    ledger: str | None = None
    on_bad_input: str = "skip"
    max_bad_inputs: str = "100%"
    cat_output: bool | None = None
    quiet: bool = False
    verbose: bool = False
    job: str | None = None
    output_format: str = "pairs"
    columns: dict[str, Any] | None = None
    spreadsheet_safe: bool = False

    @property
    def limit(self) -> BadLimit:
        """The limit of bad inputs; "fail" means none."""
        return BadLimit.parse(self.max_bad_inputs) if self.on_bad_input == "skip" else BadLimit("0", number=0)

    @property
    def part_format(self) -> PartFormat | None:
        """How tasks write the parts of the results; None: as pairs."""
        if self.output_format == "pairs":
            return None
        return PartFormat(self.output_format, Columns.from_json(self.columns), harmless=self.spreadsheet_safe)

    def recorded(self) -> RunInfo:
        """The information in a form that can be stored and used from any folder: no secrets, absolute locations."""
        here = os.getcwd()  # noqa: PTH109
        return replace(
            self,
            arguments=without_secrets(self.arguments),
            output_dir=absolute(without_slashes(self.output_dir), here) if self.output_dir else None,
            ledger=absolute(self.ledger, here) if self.ledger else None,
        )

    def make_job(self) -> Job | None:
        """The job that takes part in ending its run; None if it does not.

        Raises:
            UsageError: Its class is in a script of the user's own, which is not available.
        """
        if self.job is None:
            return None
        module, _, name = self.job.partition(":")
        if not module.startswith("crawlmill."):
            raise UsageError(
                f"{self.name} itself makes a part of its output when it ends, and its script cannot be found from here"
            )
        job: Job = getattr(import_module(module), name)(self.arguments)
        return job

    def to_json(self) -> dict[str, Any]:
        """The information as a JSON object for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Self:
        """Parse the object written by `to_json`. Raises: FormatError."""
        try:
            return cls(**given)
        except TypeError as error:
            raise FormatError(f"the record of a run by another version: {error}", reason="bad-json") from error


class Ending:
    """Ends a run with these inputs, given in the order of the ledger; without a job, in the usual way.

    `beside`: locations of inputs that also exist in a local folder, from which they were not read. `deselected`: the
    number of captures in lists that the user's selection excluded as inputs. `timeline`: the run's progress over time,
    if known.
    """

    def __init__(
        self,
        run: RunInfo,
        inputs: list[Input],
        job: Job | None,
        storage: Storage,
        scratch: Path,
        console: Console,
        stdout: BinaryIO,
        *,
        beside: Mapping[str, str] | None = None,
        deselected: int = 0,
        timeline: Timeline | None = None,
    ) -> None:
        self._beside = beside or {}
        self._deselected = deselected
        self._timeline = timeline or Timeline()
        self._missed: Counter[str] = Counter()
        self._run, self._inputs, self._job = run, inputs, job
        self._storage, self._scratch = storage, scratch
        self._console, self._stdout = console, stdout
        self._settled = False  # whether the ledger has been kept, as far as possible

    def finish(self, work: Done, output: OutputFolder | None, ended: TaskError | TooManyBadError | None) -> int:
        """Run all steps; returns the exit code. `ended` is the error that ended the tasks early, if any."""
        run, ledger = self._run, self._scratch / "ledger.jsonl"
        if isinstance(ended, TaskError):
            self.keep_of_failed(work)
            self._console.say(f"{ended.trace}{run.name}: {ended}")
            return 1
        summary = self._merge(work.rows, ledger, _ENDED_EARLY if ended else None)
        failed = ended is not None or run.limit.exceeded(summary.not_ok, summary.inputs)
        if failed or output is None or run.ledger:
            place, in_place = self._keep(ledger, failed=failed, needed=summary.not_ok > 0)
            extras = {}
        else:
            in_place = True
            place = f"{run.output_dir.rstrip('/')}/_ledger.jsonl" if run.output_dir else None
            extras = {"_ledger.jsonl": ledger}
        if not failed:
            formatted = self._formatted(work)
            if output is None if run.cat_output is None else run.cat_output:
                self._print_results(work.parts if formatted is None else formatted)
            if output is not None:
                parts, files = self._finished(work, summary) if formatted is None else ((), formatted.files)
                number = len(parts) + len(find_parts(files))
                output.publish(parts, files, {**extras, "_run.json": self._report(summary, number)})
                self._settled = True
        self._say_how_it_ended(work, summary, place)
        if failed:
            unread = summary.unaccounted if ended else 0
            self._console.say(f"{run.name}: {self._excess(summary, unread)}; nothing is published")
        return 1 if failed or not in_place else 2 if summary.not_ok else 0

    def _finished(self, work: Done, summary: Summary) -> tuple[Sequence[Path | str], dict[str, Path | str]]:
        """What to publish: parts, and named files, some of which the job may add."""
        files, job = named(work.files), self._job
        if job is None:
            return work.parts, files
        read = job.output_protocol().read
        results = Results(work.parts, files, self._storage, self._scratch, read, summary, self._run.began_s)
        job.finish(results)
        return work.parts if job.publishes_pairs else (), {**files, **results.added}

    def _formatted(self, work: Done) -> TaskParts | None:
        """The parts of results that tasks have written in a format; None if they are pairs."""
        run, form = self._run, self._run.part_format
        if form is None:
            return None
        parts = TaskParts(named(work.files), form, self._storage, self._scratch)
        if not form.harmless and not run.quiet and (cells := parts.formulas()):
            number = "1 text begins" if cells == 1 else f"{cells:,} texts begin"
            self._console.say(
                f"warning: {number} with = + - @, TAB or CR, which spreadsheets may take for formulas: "
                "--spreadsheet-safe puts ' before them"
            )
        return parts

    def keep_so_far(self, work: Done, stopped_by: str) -> None:
        """Keep the rows of what a stopped run has read, if there is a name to store them under."""
        beside = self._run.output_dir or self._run.ledger
        said = f"{self._run.name}: stopped by {stopped_by}"
        if beside and not self._settled:
            place = absolute(f"{beside.rstrip('/')}.interrupted.jsonl", os.getcwd())  # noqa: PTH109
            try:
                with self._storage.write(place) as file:
                    file.writelines(_lines_of(row) for _, row in merged(self._rows(work.rows)))
            except (CrawlmillError, OSError) as error:
                said += f"; the ledger so far cannot be kept: {error}"
            else:
                said += f"; the ledger so far: {redact(place)}"
        self._console.say(said)

    def keep_of_failed(self, work: Done) -> None:
        """Keep the ledger of a run that failed with an error, which the caller reports, unless it was kept already."""
        if self._settled:
            return
        ledger = self._scratch / "ledger.jsonl"
        try:
            summary = self._merge(work.rows, ledger, _ENDED_EARLY)
            place, _ = self._keep(ledger, failed=True, needed=summary.not_ok > 0)
        except (CrawlmillError, OSError) as error:
            self._console.say(f"the ledger cannot be kept: {error}")
        else:
            self._say_how_it_ended(work, summary, place)

    def _merge(self, files: list[Path], target: Path, why: str | None) -> Summary:
        """Write the ledger: one row for each input, whatever its outcome."""
        summary = Summary(deselected=self._deselected)
        target.parent.mkdir(parents=True, exist_ok=True)  # it may have been removed, with the rows
        with target.open("wb") as file:
            for row in complete(self._rows(files), self._inputs, why or "no task has accounted for this input"):
                summary.add(row)
                file.write(_lines_of(row))
                if isinstance(row, LedgerRow) and row.location in self._beside and row.outcome == "failed":
                    self._missed[self._beside[row.location]] += 1
        return summary

    def _rows(self, files: list[Path]) -> Iterator[tuple[int, LedgerRow | WrittenRows]]:
        # A file may contain the rows of many tasks, or of a task whose inputs are not in the ledger's order.
        runs = [SortedRun(str(path), 0, path.stat().st_size, in_order=False) for path in files if path.exists()]
        return take_rows(merge(runs, self._scratch, memory=_SORT_MEMORY).chunks())

    def _keep(self, ledger: Path, *, failed: bool, needed: bool) -> tuple[str | None, bool]:
        """Store the ledger where the user wants it; if they have not said where, only if it reports problems.

        Returns its location, and whether that is as wanted: results must not be lost because the ledger could not be
        stored.
        """
        wanted = None
        if self._run.ledger:
            wanted = absolute(self._run.ledger, os.getcwd())  # noqa: PTH109
        elif self._run.output_dir and failed:
            wanted = absolute(f"{self._run.output_dir.rstrip('/')}.failed.jsonl", os.getcwd())  # noqa: PTH109
        place = None
        if wanted or needed:
            place = keep_ledger(wanted, lambda target: self._storage.copy(str(ledger), target), self._console.say)
        self._settled = True
        if place is None:
            return None, not (wanted or needed)
        return redact(place), wanted in (None, place)

    def _print_results(self, parts: list[Path | str] | TaskParts) -> None:
        try:
            if isinstance(parts, TaskParts):
                parts.print(self._stdout)
            else:
                for part in parts:
                    copy_to(self._stdout, part, self._storage)
            self._stdout.flush()
        except BrokenPipeError:
            drop_output()  # the reader of our results has closed the pipe
        except OSError as error:
            drop_output()
            if error.filename is not None:  # an error of reading
                raise
            raise CrawlmillError(f"the results cannot be written to stdout: {error.strerror}") from error

    def _say_how_it_ended(self, work: Done, summary: Summary, place: str | None) -> None:
        if self._run.quiet and not summary.not_ok:
            return
        if self._run.verbose:
            self._console.say(f"core: {core.name()}; of tasks: {', '.join(sorted(summary.cores)) or 'not known'}")
            for number, counters in enumerate(work.counters(), 1):
                for name, count in sorted(counters.items()):
                    self._console.say(f"step {number}, {name} = {count:,}")
        for line in summary.lines(time.time() - self._run.began_s):
            self._console.say(line)
        for folder, count in self._missed.items():
            exist = "1 input that failed exists" if count == 1 else f"{count:,} inputs that failed exist"
            self._console.say(f"hint: {exist} beside the list: --base-url {shlex.quote(folder)} reads from there")
        elsewhere = self._run.runner not in ("inline", "local")
        for warning in (unicode_warning(summary), core_warning(summary) if elsewhere else None):
            if warning:
                self._console.say(warning)
        if place is not None:
            self._console.say(f"ledger: {place}")

    def _excess(self, summary: Summary, unread: int) -> str:
        allowed = (
            "--on-bad-input fail"
            if self._run.on_bad_input == "fail"
            else f"--max-bad-inputs {self._run.max_bad_inputs}"
        )
        bad = summary.not_ok - unread
        text = f"{bad:,} of {summary.inputs:,} inputs {'is' if bad == 1 else 'are'} bad, more than {allowed} allows"
        return text + (f"; {unread:,} {'was' if unread == 1 else 'were'} not read" if unread else "")

    def _report(self, summary: Summary, parts: int) -> bytes:
        run = self._run
        tables = {"output_format": run.output_format, "columns": run.columns} if run.columns else {}
        return run_report(
            name=run.name,
            runner=run.runner,
            arguments=run.arguments,
            began_s=run.began_s,
            ended_s=time.time(),
            summary=summary,
            mrjob=MRJOB_VERSION,
            timeline=self._timeline,
            results={"parts": parts, **tables},
        )


def _lines_of(row: LedgerRow | WrittenRows) -> bytes:
    """A row as a line of the ledger, or the lines of several."""
    return row.lines if isinstance(row, WrittenRows) else encode_value(row.to_json()) + b"\n"
