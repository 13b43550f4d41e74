"""The jobs that come with Crawlmill: their names, summaries and classes."""

from __future__ import annotations

import ast
import difflib
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from crawlmill import jobs
from crawlmill.errors import UsageError

if TYPE_CHECKING:  # `crawlmill --help` must not import mrjob
    from crawlmill.mr import CrawlJob

__all__ = ["job_names", "load_job", "summary_of"]


def job_names() -> list[str]:
    """The names of the jobs, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(jobs.__path__) if not module.name.startswith("_"))


def summary_of(name: str) -> str:
    """The summary of a job: the first line of its module, read without importing it."""
    for folder in jobs.__path__:
        path = Path(folder, f"{name}.py")
        if path.exists():
            return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return ""


def load_job(name: str) -> type[CrawlJob]:
    """The class of a job, shown in its help as `crawlmill run NAME`.

    Raises:
        UsageError: There is no such job; the message suggests a similar name, or lists all.
    """
    if name not in job_names():
        near = difflib.get_close_matches(name, job_names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(job_names())}"
        raise UsageError(f"no job is called {name}: {hint}")
    job: type[CrawlJob] = getattr(import_module(f"{jobs.__name__}.{name}"), name.title().replace("_", ""))
    job.shown_as = f"crawlmill run {name}"
    return job
