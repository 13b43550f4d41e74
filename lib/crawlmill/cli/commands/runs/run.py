"""Run a job that comes with Crawlmill, just like its script in `jobs/`.

Examples:
  crawlmill run tag_count crawl.paths
  crawlmill run word_count --top 10 -r spark --output-dir out crawl.wet.paths.gz
  crawlmill run tag_count --help
"""

from __future__ import annotations

import argparse
import ast
import difflib
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from crawlmill import jobs
from crawlmill.errors import UsageError

__all__ = ["READS", "add_arguments", "job_names", "run"]

READS: Final = False
"""The job has options for its storage of its own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("job", metavar="JOB", help="the name of the job (see the list)")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="options and lists of the job")
    shown = "\n".join(f"  {name:22}{_summary(name)}" for name in job_names())
    parser.description = f"{parser.description}\nJobs:\n{shown}\n"


def job_names() -> list[str]:
    """The names of the jobs that come with Crawlmill, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(jobs.__path__) if not module.name.startswith("_"))


def run(options: argparse.Namespace) -> int:
    """Run the job. It ends the process itself where its exit code is not 0."""
    name: str = options.job
    if name not in job_names():
        near = difflib.get_close_matches(name, job_names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(job_names())}"
        raise UsageError(f"no job is called {name}: {hint}")
    job = getattr(import_module(f"{jobs.__name__}.{name}"), name.title().replace("_", ""))
    job.shown_as = f"crawlmill run {name}"
    sys.argv = [job.shown_as, *options.arguments]
    job.run()
    return 0


def _summary(name: str) -> str:
    """The first line of a job's module, which is not imported for it."""
    for folder in jobs.__path__:
        path = Path(folder, f"{name}.py")
        if path.exists():
            return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return ""
