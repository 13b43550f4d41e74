"""The reasons why a run fails as a whole, although no input is to blame."""

from __future__ import annotations

import errno
import re
import sys
import traceback
from typing import Final

from crawlmill.errors import CrawlmillError

__all__ = ["Stopped", "TaskError", "TooManyBadError", "cannot_retry", "is_of_job", "one_line", "task_failed"]

_NO_MODULE: Final = re.compile(r"(?:\S+: )*ModuleNotFoundError\b")  # Java may have put its own word before it
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)


class TaskError(CrawlmillError):
    """A task failed as often as it may; `trace` is the last attempt's traceback, or empty."""

    def __init__(self, what: str, trace: str = "") -> None:
        super().__init__(what)
        self.trace = trace


class TooManyBadError(CrawlmillError):
    """More inputs are bad than the user allows."""


class Stopped(BaseException):
    """A signal that asks the launcher to stop; no error, so that only the launcher's end catches it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def task_failed(name: str, times: int, said: str, trace: str = "", *, logs: str = "") -> TaskError:
    """The error of a task that failed so many times: what its last attempt said, with where Python's logs are."""
    often = f"{times} times, last error" if times > 1 else "once"
    missing = "; the nodes' Python lacks a package" if _NO_MODULE.match(said) else ""
    return TaskError(f"task {name} failed {often}: {said}{missing}{logs and '; '}{logs}", trace)


def cannot_retry(error: BaseException) -> str | None:
    """One line about an error that another attempt cannot help: a mistake of the user, a full disk. None for others."""
    if isinstance(error, CrawlmillError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _FULL:
        return one_line(error)
    return None


def one_line(error: OSError) -> str:
    """What the operating system says, and of which file."""
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"


def is_of_job(error: BaseException, job: type) -> bool:
    """Whether an error came through code of the job's own, for which its traceback is wanted, and not from ours."""
    own = [cls for cls in job.__mro__ if not cls.__module__.startswith(("crawlmill.mr.", "mrjob.", "builtins"))]
    files = {getattr(sys.modules.get(cls.__module__), "__file__", None) for cls in own}
    return any(frame.f_code.co_filename in files for frame, _ in traceback.walk_tb(error.__traceback__))
