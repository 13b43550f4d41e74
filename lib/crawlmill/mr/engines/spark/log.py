"""Reads what Spark says about failed tasks, in the log of spark-submit and when it gives up.

    … WARN TaskSetManager: Lost task 3.0 in stage 0.0 (TID 3) (HOST executor 1): CLASS: Traceback (most recent …
      File …
    RuntimeError: bad luck
    crawlmill-failure {"task": "map-00003", "attempt": 0, "error": "RuntimeError: bad luck"}

    Job aborted due to stage failure: Task 3 in stage 0.0 failed 4 times, most recent failure: Lost task 3.3 in …

In place of the latter, Spark 4 often gives the task's own exception.

The last line of a traceback is of our own making (`spark_tasks`). It is missing where a task had no time to say
anything (killed), or no package to say it with: then Spark's words stand, or the traceback's.

Spec: the sources of `TaskSetManager` and `DAGScheduler` (Spark 3.5 to 4.3); there is no other documentation.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from crawlmill.mr.engines.client_log import RECORD, STACK, ClientLog
from crawlmill.mr.engines.spark.tasks import FAILURE

__all__ = ["FailedTask", "SparkLog", "what_failed"]

_LOST: Final = re.compile(
    r"Lost task (?P<task>\d+)\.\d+ in stage (?P<stage>\d+)\.\d+ \(TID \d+\) \([^)]*\): (?P<why>.*)", re.DOTALL
)
_GAVE_UP: Final = re.compile(r"Task \d+ in stage [\d.]+ failed (\d+) times")
_TRACE: Final = re.compile(
    r"Traceback \(most recent call last\):\n.*?(?=\n\s*\tat |\n\nDriver stacktrace:|\Z)", re.DOTALL
)
_SPARKS_FRAMES: Final = re.compile(
    r'  File "[^"\n]*(?:/pyspark(?:\.zip)?/|/crawlmill/mr/engines/spark/)[^"\n]*".*\n(?:    .*\n)*'
)
_CLASS: Final = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error|Failure): ")


@dataclass(frozen=True, slots=True)
class FailedTask:
    """An attempt that failed: the task's name, Spark's numbers for it, what was wrong, the trace, which try it was.

    A task that had no time to say its name has only the numbers; and what Spark 4 says in the end is without them.
    """

    task: str | None
    number: int | None
    stage: int | None
    said: str
    trace: str
    times: int


def what_failed(text: str) -> FailedTask | None:
    """The failure that Spark speaks of; None if it is none of a task."""
    lost, gave_up, found = _LOST.search(text), _GAVE_UP.search(text), _TRACE.search(text)
    if lost is None and found is None:
        return None
    why = lost["why"] if lost else text
    lines = found[0].split("\n") if found else []
    note = next((line for line in lines if line.startswith(FAILURE)), None)
    named = json.loads(note.removeprefix(FAILURE)) if note else {}
    said = named.get("error") or _last_words(lines) or _CLASS.sub("", why.split("\n")[0])
    trace = _SPARKS_FRAMES.sub("", "".join(f"{line}\n" for line in lines if line != note)).strip()
    return FailedTask(
        named.get("task"),
        int(lost["task"]) if lost else None,
        int(lost["stage"]) if lost else None,
        said.strip()[:500],
        f"{trace}\n" if trace else "",
        int(gave_up[1]) if gave_up else named.get("attempt", 0) + 1,
    )


def _last_words(lines: list[str]) -> str:
    """The exception that a traceback ends with."""
    frames = [number for number, line in enumerate(lines) if line.startswith("  ")]
    return next((line for line in lines[frames[-1] + 1 :] if line), "") if frames else ""


class SparkLog(ClientLog[FailedTask]):
    """Takes in the log line by line."""

    complains_with = ("Error",)

    def __init__(self) -> None:
        super().__init__()
        self._lost: list[str] = []

    def _understand(self, line: str, record: re.Match[str] | None) -> FailedTask | None:
        record, failure = _timed(record), None
        if self._lost and (record or STACK.match(line)):
            failure, self._lost = what_failed("\n".join(self._lost)), []
        if record and "Lost task " in record["message"]:
            self._lost = [record["message"]]
        elif self._lost:
            self._lost.append(line)
        return failure

    @staticmethod
    def is_news(line: str) -> bool:
        """Whether it may interest whoever wants to know more: Spark's small talk and traces of Java do not."""
        record = _timed(RECORD.match(line))
        return record["level"] in ("WARN", "ERROR", "FATAL") if record else not STACK.match(line)


def _timed(record: re.Match[str] | None) -> re.Match[str] | None:
    """A record that has a time; without one, the line may be a part of a job's own error."""
    return record if record and record["time"] else None
