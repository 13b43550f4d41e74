"""Reading the log of Hadoop's or Spark's client: what they have in common.

    2026-01-05 10:00:00,123 INFO mapreduce.Job: Running job: job_1_1        Hadoop 3
    26/01/05 10:00:00 WARN TaskSetManager: Lost task 3.0 in stage 0.0 …      Spark 3.5
    2026-01-05T10:00:00.123Z ERROR Utils: …                                  Spark 4

These are records of log4j. A line that is not a record belongs to the record before it, or comes from a shell or from
the Java machine itself.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final, Generic, TypeVar

__all__ = ["NO_REASON", "RECORD", "STACK", "ClientLog"]

RECORD: Final = re.compile(
    r"^(?P<time>\d\d[\d/-]*[ T][\d:,.]+Z? )?(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +\S+ *:? (?P<message>.*)"
)
"""A record: its time, which some layouts leave out, its level and its message."""

STACK: Final = re.compile(r"^(\tat |\t\.\.\. )")
"""The beginning of a line of a Java stack trace."""

NO_REASON: Final = "it does not say why"
"""What a log says that says nothing."""

_Failure = TypeVar("_Failure")
_DYING: Final = "Exception in thread"
_MAX_SAID: Final = 500


class ClientLog(Generic[_Failure]):
    """Takes in a log line by line, and keeps what may be the reason if the client gives up.

    That is a record of an error, an uncaught exception of Java, or a line that begins with one of `complains_with`.
    """

    complains_with: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.complaints: list[str] = []
        """Possible reasons, in the order in which they were logged."""
        self._last = ""

    def feed(self, line: str) -> _Failure | None:
        """Take in a line; returns the failed attempt of a task if the line completes the report on one."""
        line = line.rstrip()
        record = RECORD.match(line)
        if not self._is_data(line, record):
            self._hear(line, record)
            return self._understand(line, record)
        return None

    def complaint(self) -> str:
        """What seems to be the reason why the client gave up without reporting a failed task."""
        return self._said(self.complaints[-1] if self.complaints else None)

    def _is_data(self, line: str, record: re.Match[str] | None) -> bool:  # noqa: ARG002 - for those that have some
        """Whether the line is a part of a table in the log, and not a message."""
        return False

    def _understand(self, line: str, record: re.Match[str] | None) -> _Failure | None:
        """Learn what the line says, and return the failure that is complete with it."""
        raise NotImplementedError

    def _hear(self, line: str, record: re.Match[str] | None) -> None:
        message = record["message"] if record else line
        if not message.strip() or STACK.match(line):
            return
        self._last = message
        is_error = record is not None and record["level"] in ("ERROR", "FATAL")
        if is_error or message.startswith((_DYING, *self.complains_with)):
            self.complaints.append(re.sub(rf'^{_DYING} "\S+" |^Error: ', "", message))

    def _said(self, complaint: str | None) -> str:
        """A complaint, or if there is none the last line, in at most 500 characters."""
        return (complaint or self._last or NO_REASON).strip()[:_MAX_SAID]
