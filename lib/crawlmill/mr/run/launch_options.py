"""The options of a launch, taken once from the parsed command line, and frozen."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import dataclass, replace
from typing import Any, Self

from crawlmill import core
from crawlmill.mr.run import options as declared
from crawlmill.mr.run import reading_options
from crawlmill.mr.run.conf import conf_paths
from crawlmill.mr.run.options import BadLimit

__all__ = ["LaunchOptions"]


@dataclass(frozen=True)
class LaunchOptions:
    """The options of a launch. `lists` are the arguments; None means that the user has not set an option.

    `conf_paths` are the mrjob.conf files in use. `parsed` is the parsed command line itself, for code that reads
    options which commands have too (storage, look-up); it is never modified.
    """

    parsed: Namespace
    lists: tuple[str, ...]
    runner: str | None
    conf_paths: list[str]
    base_url: str | None
    output_dir: str | None
    cat_output: bool | None
    ledger: str | None
    on_bad_input: str
    max_bad_inputs: BadLimit
    inputs_per_task: int | None
    max_running_tasks: int | None
    task_retries: int
    coalesce: int
    checkpoint: str | None
    retries: int | None
    cmdenv: dict[str, str] | None
    py_files: list[str] | None
    local_tmp_dir: str | None
    progress: bool
    quiet: bool
    verbose: bool

    @classmethod
    def of(cls, parsed: Namespace, script: str | None) -> Self:
        """The options from a job's parsed command line; `script` is the job's script.

        Raises:
            UsageError: Options exclude each other, or a file is not a valid mrjob.conf.
        """
        reading_options.read_options(parsed)
        declared.check_lookup(parsed)
        given: dict[str, Any] = {name: getattr(parsed, name) for name in _AS_THEY_ARE}
        return cls(
            parsed=parsed,
            lists=tuple(parsed.args),
            conf_paths=conf_paths(parsed.conf_paths, script),
            quiet=bool(parsed.quiet),
            verbose=bool(parsed.verbose),
            **given,
        )

    @property
    def looks_up(self) -> bool:
        """Whether the arguments are patterns to look up in indexes, not lists."""
        return bool(self.parsed.index)

    def with_core(self) -> Self:
        """The same options, with the core chosen here added to the environment of tasks that run elsewhere."""
        chosen = os.environ.get(core.VARIABLE)
        return replace(self, cmdenv={core.VARIABLE: chosen, **(self.cmdenv or {})}) if chosen else self


_OF_THEIR_OWN = {"parsed", "lists", "conf_paths", "quiet", "verbose"}
_AS_THEY_ARE = [name for name in LaunchOptions.__dataclass_fields__ if name not in _OF_THEIR_OWN]
