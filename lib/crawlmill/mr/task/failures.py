"""The reasons why a run fails as a whole, without an input at fault."""

from __future__ import annotations

import errno
import re
import sys
import traceback
from typing import Final

from crawlmill.errors import CrawlmillError

__all__ = ["Stopped", "TaskError", "TooManyBadError", "cannot_retry", "is_of_job", "one_line", "task_failed"]

_NO_MODULE: Final = re.compile(r"(?:\S+: )*ModuleNotFoundError\b")  # Java may put words of its own in front
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
_FULL: Final = (*_NO_SPACE, errno.EROFS, errno.EFBIG)


class TaskError(CrawlmillError):
    """A task failed the maximum number of times; `trace` is the last attempt's traceback, or empty."""

    def __init__(self, what: str, trace: str = "") -> None:
        super().__init__(what)
        self.trace = trace


class TooManyBadError(CrawlmillError):
    """More inputs are bad than the user allows."""


class Stopped(BaseException):
    """A signal asks the launcher to stop. Not an Exception, so that only the launcher's end catches it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def task_failed(name: str, times: int, said: str, trace: str = "", *, logs: str = "") -> TaskError:
    """The error for a task that failed so many times: the last attempt's message, and where Python's logs are."""
    often = f"{times} times, last error" if times > 1 else "once"
    missing = "; the nodes' Python lacks a package" if _NO_MODULE.match(said) else ""
    return TaskError(f"task {name} failed {often}: {said}{missing}{logs and '; '}{logs}", trace)


def cannot_retry(error: BaseException) -> str | None:
    """One line about an error for which a retry is useless (a mistake of the user, a full disk); None for others."""
    if isinstance(error, CrawlmillError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _FULL:
        return one_line(error)
    return None


def one_line(error: OSError) -> str:
    """The operating system's message, and the file that it concerns."""
    said = error.strerror or str(error)
    if error.filename:
        return f"{said}: {error.filename}"
    if error.errno in _NO_SPACE:  # the system does not say where
        return f"{said}, for temporary files (their folder: --local-tmp-dir) or for results"
    return said


def is_of_job(error: BaseException, job: type) -> bool:
    """Whether an error passed through the job's own code, so that its traceback should be shown."""
    own = [cls for cls in job.__mro__ if not cls.__module__.startswith(("crawlmill.mr.", "mrjob.", "builtins"))]
    files = {getattr(sys.modules.get(cls.__module__), "__file__", None) for cls in own}
    return any(frame.f_code.co_filename in files for frame, _ in traceback.walk_tb(error.__traceback__))
