"""Jobs: the base classes, the launcher, the runners.

    from crawlmill.mr import CountJob, FormatError, Record, summing

Names are imported on first use, so that commands can use parts of this package without the cost of mrjob.
"""

from __future__ import annotations

from crawlmill.terminal.starting import begin, wrong_python

begin()  # before anything that takes time is imported

from importlib import import_module  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from crawlmill.mr.task import failure_report  # noqa: E402

if TYPE_CHECKING:
    from crawlmill.errors import FormatError, UsageError
    from crawlmill.formats.record import Record
    from crawlmill.inputs.reading import Reading
    from crawlmill.mr.compat import MRStep, RawValueProtocol
    from crawlmill.mr.job.base import CrawlJob, summing
    from crawlmill.mr.job.counting import CountJob, counted_natively
    from crawlmill.mr.run.options import whole_number
    from crawlmill.mr.run.results import Results
    from crawlmill.results.columns import Columns

__all__ = [
    "Columns",
    "CountJob",
    "CrawlJob",
    "FormatError",
    "MRStep",
    "RawValueProtocol",
    "Reading",
    "Record",
    "Results",
    "UsageError",
    "counted_natively",
    "summing",
    "whole_number",
]

# Report errors from here on: the next import may be of a package that the node lacks.
failure_report.listen()
_WRONG = wrong_python()
if _WRONG is not None:
    failure_report.report(_WRONG)
    raise SystemExit(_WRONG)

_HOMES = {
    "crawlmill.errors": ("FormatError", "UsageError"),
    "crawlmill.formats.record": ("Record",),
    "crawlmill.inputs.reading": ("Reading",),
    "crawlmill.mr.compat": ("MRStep", "RawValueProtocol"),
    "crawlmill.mr.job.base": ("CrawlJob", "summing"),
    "crawlmill.mr.job.counting": ("CountJob", "counted_natively"),
    "crawlmill.mr.run.options": ("whole_number",),
    "crawlmill.mr.run.results": ("Results",),
    "crawlmill.results.columns": ("Columns",),
}


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("crawlmill"):
            raise
        failure_report.report(f"ModuleNotFoundError: {error}")
        raise SystemExit(
            f"the package {error.name} is not installed here: run the job with the interpreter that has it "
            "(after `make demo`, .venv/bin/python)"
        ) from error
