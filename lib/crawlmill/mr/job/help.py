"""The --help of a job: its docstring, its own options, the shared ones, and the few mrjob options that matter."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from crawlmill.errors import UsageError
from crawlmill.mr.engines.registry import DEFAULT, ENGINES, Engine
from crawlmill.terminal.streams import drop_output

__all__ = ["options_on", "parser_of", "print_help"]

_SHOWN: Final = {
    "args": "a file with one input per line, plain or gzip; - is stdin; with --index, a URL pattern",
    "output_dir": "a folder that does not exist yet, on any storage, for the results (default: stdout)",
    "conf_paths": "the mrjob.conf to read",
    "s3_endpoint": "an S3 server other than Amazon's, such as MinIO",
    "s3_region": "the region of the S3 buckets (default: by the AWS configuration)",
    "num_cores": "worker processes of the local runner, or of Spark without a master (default: one per core)",
    "spark_master": "where Spark runs: local[N], spark://HOST:PORT, yarn, … (default: on this machine)",
    "spark_tmp_dir": "a folder that all tasks of Spark reach (default: on HDFS; none is needed on this machine)",
    "quiet": "print nothing on stderr while all goes well",
    "verbose": "print more on stderr: counters, failed attempts, what mrjob does",
    "help": "show this and exit",
}


def print_help(
    parser: argparse.ArgumentParser, rare: Iterable[argparse.Action], job: type, name: str, shown_as: str | None = None
) -> None:
    """Print the help of a job; of mrjob's options (`rare`), only those that most users need, in our own words.

    Raises:
        UsageError: It cannot be printed, which argparse's own function does not report.
    """
    _make_ready(parser, rare, job, name, shown_as)
    try:
        sys.stdout.write(parser.format_help())
        sys.stdout.flush()
    except OSError as error:
        drop_output()
        if not isinstance(error, BrokenPipeError):
            raise UsageError(f"the help cannot be written to stdout: {error.strerror}") from error


def parser_of(job: type[Any]) -> argparse.ArgumentParser:
    """The parser of a job's command line as its help shows it: for reading, not for parsing."""
    declared = _declared(job)
    parser: argparse.ArgumentParser = declared.arg_parser
    _make_ready(parser, declared._of_mrjob, job, job.name(), job.shown_as)  # noqa: SLF001
    return parser


def options_on(engine: Engine, job: type[Any]) -> list[argparse.Action]:
    """The options of a job for one engine, which only `-r ENGINE --help` shows."""
    names = engine.runner_class().OPT_NAMES - set(_SHOWN)
    rare: list[argparse.Action] = _declared(job)._of_mrjob  # noqa: SLF001
    return [
        action
        for action in rare
        if action.dest in names
        and action.help
        and action.help != argparse.SUPPRESS
        and not action.help.startswith("Deprecated")
    ]


def _declared(job: type[Any]) -> Any:
    """The job with its options declared and no command line parsed, since some jobs refuse an empty one."""
    return type(job.__name__, (job,), {"load_args": lambda *_: None})([])


def _make_ready(
    parser: argparse.ArgumentParser, rare: Iterable[argparse.Action], job: type, name: str, shown_as: str | None
) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _hide(rare)
    _describe(parser, job, name, shown_as)


def _shown_script(job: Any, name: str) -> str:
    """How the script is called: the project's own from the folder above theirs, others from their own folder."""
    script = job.mr_job_script()
    return f"jobs/{name}.py" if script is None or Path(script).parent.name == "jobs" else f"{name}.py"


def _hide(rare: Iterable[argparse.Action]) -> None:
    for action in rare:
        action.help = _SHOWN.get(action.dest, argparse.SUPPRESS)
        if action.dest == "args":
            action.metavar = "LIST"
        if action.dest == "runner":
            action.choices = tuple(ENGINES)
            *others, last = [f"{name} (default)" if name == DEFAULT else name for name in ENGINES]
            names = f"{', '.join(others)} or {last}"
            action.help = f"where to run: {names}; with --help: the options of that runner"
        if action.option_strings == ["--no-conf"]:
            action.help = "read no mrjob.conf at all"


def _describe(parser: argparse.ArgumentParser, job: type, name: str, shown_as: str | None) -> None:
    """Put the job's docstring above its options and examples below."""
    parser.prog = shown_as or f"python {_shown_script(job, name)}"
    parser.usage = "%(prog)s [-r RUNNER] [options] LIST..."
    parser.description = inspect.cleandoc(job.__doc__ or "")
    formats = getattr(job, "formats", ())
    lists = {"warc": "sample.paths", "wat": "sample.wat.paths", "wet": "sample.wet.paths"}
    example = next((f"input_lists/{file}" for kind, file in lists.items() if kind in formats), "metadata.paths")
    parser.epilog = f"""\
examples:
  {parser.prog} {example}
  {parser.prog} --output-dir out --on-bad-input fail crawl.paths.gz
  echo /data/x.warc.gz | {parser.prog} -r inline -

exit code: 0 all inputs read, 1 usage error or failed job, 2 some inputs were partial or failed (the ledger names them)
"""
