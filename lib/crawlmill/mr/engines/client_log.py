"""What the logs of Hadoop's and of Spark's client have in common: records of log4j, and last words.

    2026-01-05 10:00:00,123 INFO mapreduce.Job: Running job: job_1_1        Hadoop 3
    26/01/05 10:00:00 WARN TaskSetManager: Lost task 3.0 in stage 0.0 …      Spark 3.5
    2026-01-05T10:00:00.123Z ERROR Utils: …                                  Spark 4

Lines that are no record belong to the one before, or come from a shell or the Java machine itself.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["RECORD", "STACK", "LastWords"]

RECORD: Final = re.compile(
    r"^(?P<time>\d\d[\d/-]*[ T][\d:,.]+Z? )?(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +\S+ *:? (?P<message>.*)"
)
"""A record: its time, which some layouts leave out, its level and its message."""

STACK: Final = re.compile(r"^(\tat |\t\.\.\. )")
"""How a line begins that is one of a trace of Java."""

_DYING: Final = "Exception in thread"
_MAX_SAID: Final = 500


class LastWords:
    """Keeps what may be the reason why a client gives up: records of errors, Java's own, lines that begin so."""

    def __init__(self, *begin_so: str) -> None:
        self._begin_so = (_DYING, *begin_so)
        self.complaints: list[str] = []
        """In their order."""
        self._last = ""

    def hear(self, line: str) -> None:
        """Take in a line."""
        record = RECORD.match(line)
        message = record["message"] if record else line
        if not message.strip() or STACK.match(line):
            return
        self._last = message
        if (record and record["level"] in ("ERROR", "FATAL")) or message.startswith(self._begin_so):
            self.complaints.append(re.sub(rf'^{_DYING} "\S+" |^Error: ', "", message))

    def said(self, complaint: str | None) -> str:
        """A complaint, or if there is none the last line, in at most 500 characters."""
        return (complaint or self._last or "no word from it").strip()[:_MAX_SAID]
