"""Jobs: the bases a job derives from, the launcher, the runners.

    from crawlmill.mr import CountJob, CrawlJob, summing

Names are imported when they are asked for: commands use parts of this package without the weight of mrjob.
"""

from __future__ import annotations

from crawlmill.terminal.starting import begin, wrong_python

begin()  # before anything that takes time is imported

from importlib import import_module  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from crawlmill.mr.task import failure_report as task_report  # noqa: E402

if TYPE_CHECKING:
    from crawlmill.mr.job.base import CrawlJob
    from crawlmill.mr.job.counting import CountJob, counted_natively
    from crawlmill.mr.task.sums import summing

__all__ = ["CountJob", "CrawlJob", "counted_natively", "summing"]

# From here on: what is imported next may be what the node lacks.
task_report.listen()
_WRONG = wrong_python()
if _WRONG is not None:
    task_report.report(_WRONG)
    raise SystemExit(_WRONG)

_HOMES = {
    "CountJob": "job.counting",
    "CrawlJob": "job.base",
    "counted_natively": "job.counting",
    "summing": "task.sums",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("crawlmill"):
            raise
        task_report.report(f"ModuleNotFoundError: {error}")
        raise SystemExit(
            f"the package {error.name} is not installed here: run the job with the interpreter that has it "
            "(after `make demo`, .venv/bin/python)"
        ) from error
