"""The options that every job has, which of them are passed on to tasks, and the storage built from them."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, RawDescriptionHelpFormatter, _ArgumentGroup
from collections.abc import Callable, Iterable
from copy import copy
from functools import lru_cache, partial
from typing import Any, Final, NoReturn

from crawlmill.errors import UsageError
from crawlmill.mr.compat import MRJob
from crawlmill.mr.run import options as declared
from crawlmill.mr.run import reading_options
from crawlmill.mr.task.settings import OPTION, TaskSettings
from crawlmill.results.columns import FORMATS
from crawlmill.storage import Storage, StorageOptions

__all__ = [
    "HELP_FORMATTER",
    "PAIRS",
    "declare_options",
    "declare_options_of_mrjob",
    "declare_output_format",
    "pass_on",
    "raise_usage_error",
    "storage_of",
]

PAIRS: Final = "pairs"
"""The format of results unless the user wants another."""


HELP_FORMATTER: Final = partial(RawDescriptionHelpFormatter, width=100)
"""argparse makes a formatter for each option; one with a fixed width does not query the terminal each time."""


def declare_options_of_mrjob(parser: ArgumentParser) -> None:
    """Declare the options that mrjob gives every job."""
    for action in _options_of_mrjob():
        parser._add_action(copy(action))  # noqa: SLF001 - as argparse adds those of `parents`


@lru_cache(maxsize=1)
def _options_of_mrjob() -> list[Action]:
    """These are over a hundred, made once in a process: with them, making a job took longer than many tasks."""
    job = MRJob.__new__(MRJob)
    job.arg_parser = ArgumentParser(add_help=False, formatter_class=HELP_FORMATTER)
    job.configure_args()
    return list(job.arg_parser._actions)  # noqa: SLF001


def declare_options(parser: ArgumentParser, passed_on: set[str]) -> None:
    """Declare the options of jobs besides mrjob's; adds the names of those passed on to tasks to `passed_on`."""
    for action in parser._actions:  # noqa: SLF001 - mrjob's own way of reading its parser
        if action.dest == "runner":
            action.choices = None  # the registry of engines has the choices
    inputs = parser.add_argument_group("inputs")
    declared.add_base_url(inputs.add_argument)
    declared.add_storage(inputs.add_argument)
    declared.add_lookup(
        parser.add_argument_group("captures of an index (arguments are then URL patterns)").add_argument, times=False
    )
    reading_options.add_selecting(pass_on(parser.add_argument_group("selecting pages"), passed_on))
    reading_options.add_reading(pass_on(inputs, passed_on))
    declared.add_ending(parser.add_argument_group("bad inputs").add_argument)
    declared.add_running(parser.add_argument_group("running").add_argument)
    passed_on.add(parser.add_argument(OPTION, dest="task_settings", type=TaskSettings.parse, help=SUPPRESS).dest)
    parser.add_argument("--worker", type=int, help=SUPPRESS)


def declare_output_format(parser: ArgumentParser, passed_on: set[str], *, shown: bool) -> None:
    """Declare the format of results; hidden in the help of jobs that support only one."""
    add = pass_on(parser.add_argument_group("results") if shown else parser, passed_on)
    formats = (
        "pairs: key TAB value, in JSON (default); jsonl: objects; csv, tsv: with a header; parquet: needs --output-dir "
        "and the packages of crawlmill[columnar]"
    )
    safe = "with csv and tsv: put ' before texts that a spreadsheet takes for formulas"
    add("--output-format", choices=FORMATS, default=PAIRS, help=formats if shown else SUPPRESS)
    add("--spreadsheet-safe", action="store_true", help=safe if shown else SUPPRESS)


def pass_on(group: _ArgumentGroup | ArgumentParser, passed_on: set[str]) -> Callable[..., None]:
    """Return a function that declares an option, in a group of the help, and passes it on to tasks."""

    def add(*names: str, **settings: Any) -> None:
        passed_on.add(group.add_argument(*names, **settings).dest)

    return add


def raise_usage_error(message: str, options: Iterable[str] = ()) -> NoReturn:
    """The error handler of a parser with these options. Raises: UsageError."""
    raise UsageError(f"{declared.with_near_option(message, options)} (see --help)")


def storage_of(options: Any) -> Storage:
    """The storage that the launcher configured for its tasks, or the one that the command line asks for."""
    settings: TaskSettings | None = options.task_settings
    if settings is None:
        return Storage(declared.storage_options(options))
    return _storage_of_run(settings.storage)


@lru_cache(maxsize=1)
def _storage_of_run(options: StorageOptions) -> Storage:
    """One storage for all tasks of this process, which share its connections and what it learnt about servers."""
    return Storage(options)
