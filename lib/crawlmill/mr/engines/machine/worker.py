"""A worker of the local runner: a separate process that runs attempts as the launcher hands them out.

It is the job's script, run by a fresh interpreter in a folder of its own, and has only the files that were shipped
there. If an attempt fails, its worker reports the reason and ends, and the launcher tries again with a new worker. If
the launcher dies, even by kill -9, the channel to it breaks and the worker ends at once.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn

from crawlmill.errors import CrawlmillError
from crawlmill.mr.engines.machine.channel import Channel
from crawlmill.mr.task.attempt import Attempt, run_attempt
from crawlmill.mr.task.contract import Job
from crawlmill.mr.task.failures import cannot_retry, is_of_job, one_line

__all__ = ["serve"]


def serve(job_class: type[Job], line: int, arguments: list[str]) -> NoReturn:
    """Run attempts of the job until the line, a file descriptor, breaks. `arguments` go to each of its tasks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the launcher to handle
    os.dup2(2, 1)  # what user code prints must not get among the launcher's results
    channel = Channel(socket.socket(fileno=line))
    attempts: queue.SimpleQueue[Attempt] = queue.SimpleQueue()
    sys.excepthook = _reporter(channel)
    threading.Thread(target=_listen, args=(channel, attempts), daemon=True).start()
    channel.send("ready")
    while True:
        attempt = attempts.get()
        try:
            result = run_attempt(job_class, arguments, attempt, lambda totals: channel.send("totals", totals))
        except (CrawlmillError, OSError) as error:
            if (reason := cannot_retry(error)) is not None:
                channel.send("cannot_retry", reason)
            elif isinstance(error, OSError) and not is_of_job(error, job_class):
                channel.send("failed", (one_line(error), ""))
            else:
                raise
            sys.exit(1)
        sys.stdout.flush()  # what user code printed: this process will be killed, not ended
        channel.send("done", result)


def _listen(channel: Channel, attempts: queue.SimpleQueue[Attempt]) -> None:
    while (messages := channel.receive()) is not None:
        for _, attempt in messages:
            attempts.put(attempt)
    os._exit(1)  # in the midst of whatever the main thread does


def _reporter(channel: Channel) -> Any:
    """An excepthook: the launcher hears why this worker ends, if it is still there."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = " ".join("".join(traceback.format_exception_only(kind, error)).split())
        with suppress(OSError):
            channel.send("failed", (said, "".join(traceback.format_exception(kind, error, trace))))

    return report
