"""The log of Hadoop's or Spark's client: what reading both has in common.

    2026-01-05 10:00:00,123 INFO mapreduce.Job: Running job: job_1_1        Hadoop 3
    26/01/05 10:00:00 WARN TaskSetManager: Lost task 3.0 in stage 0.0 …      Spark 3.5
    2026-01-05T10:00:00.123Z ERROR Utils: …                                  Spark 4

These are log4j records. Any other line belongs to the record before it, or comes from a shell or the Java VM itself.
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
    """Parses a log line by line, and keeps the likely reason in case the client gives up.

    That is an error record, an uncaught Java exception, or a line that begins with one of `complains_with`.
    """

    complains_with: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.complaints: list[str] = []
        """Possible reasons, in the order in which they were logged."""
        self._last = ""

    def feed(self, line: str) -> _Failure | None:
        """Parse a line; returns the failed attempt of a task once its report is complete."""
        line = line.rstrip()
        record = RECORD.match(line)
        if not self._is_data(line, record):
            self._hear(line, record)
            return self._understand(line, record)
        return None

    def complaint(self) -> str:
        """The likely reason why the client gave up without reporting a failed task."""
        return self._complaint_or_last_line(self.complaints[-1] if self.complaints else None)

    def _is_data(self, line: str, record: re.Match[str] | None) -> bool:  # noqa: ARG002 - for subclasses
        """Whether the line is part of a table in the log, not a message."""
        return False

    def _understand(self, line: str, record: re.Match[str] | None) -> _Failure | None:
        """Parse the line; returns a failure that is complete with it."""
        raise NotImplementedError

    def _hear(self, line: str, record: re.Match[str] | None) -> None:
        message = record["message"] if record else line
        if not message.strip() or STACK.match(line):
            return
        self._last = message
        is_error = record is not None and record["level"] in ("ERROR", "FATAL")
        if is_error or message.startswith((_DYING, *self.complains_with)):
            self.complaints.append(re.sub(rf'^{_DYING} "\S+" |^Error: ', "", message))

    def _complaint_or_last_line(self, complaint: str | None) -> str:
        """A complaint, or else the last line, cut to 500 characters."""
        return (complaint or self._last or NO_REASON).strip()[:_MAX_SAID]
