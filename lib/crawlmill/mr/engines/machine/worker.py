"""A worker of the local runner: a separate process that runs attempts handed out by the launcher.

It is the job's script, run by a new interpreter in a folder of its own, and has only the files that were shipped there.
If an attempt fails, the worker reports the reason and ends, and the launcher retries with a new worker. If the launcher
dies, even by kill -9, the channel to it breaks and the worker ends at once.
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
    """Run attempts of the job until the channel at file descriptor `line` breaks. Each task gets `arguments`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the launcher
    os.dup2(2, 1)  # what user code prints must not end up in the launcher's results
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
        sys.stdout.flush()  # what user code printed: this process will be killed, not exited
        channel.send("done", result)


def _listen(channel: Channel, attempts: queue.SimpleQueue[Attempt]) -> None:
    while (messages := channel.receive()) is not None:
        for _, attempt in messages:
            attempts.put(attempt)
    os._exit(1)  # whatever the main thread is doing


def _reporter(channel: Channel) -> Any:
    """An excepthook that reports to the launcher, if it is still there, why this worker ends."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = " ".join("".join(traceback.format_exception_only(kind, error)).split())
        with suppress(OSError):
            channel.send("failed", (said, "".join(traceback.format_exception(kind, error, trace))))

    return report
