"""Runs work ahead in a few threads, and returns the results in order.

All requests to a host share the threads, first come, first served. The threads are daemons, so that an interrupted run
does not wait for a silent server.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

__all__ = ["Workers"]

T = TypeVar("T")


class _Job(Generic[T]):
    """A function to be run once; `take` waits for its result."""

    def __init__(self, do: Callable[[], T]) -> None:
        self._do = do
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._result: T
        self.cancelled = False

    def run(self) -> None:
        try:
            if not self.cancelled:
                self._result = self._do()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            self._error = error
        finally:
            self._done.set()

    def take(self) -> T:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result


class Workers:
    """`number` threads, started when needed; with `number` 1, the caller's own thread does the work."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def in_order(self, work: Iterable[Callable[[], T]]) -> Generator[Callable[[], T]]:
        """For each piece of work, in order, yield a function that waits for its result or raises its error.

        One more piece than there are threads is started before its result is taken.
        """
        if self.number == 1:
            yield from work
            return
        jobs: deque[_Job[T]] = deque()
        coming = iter(work)
        try:
            while True:
                while len(jobs) <= self.number:
                    with suppress(StopIteration):
                        jobs.append(self._begin(next(coming)))
                        continue
                    break
                if not jobs:
                    return
                yield jobs.popleft().take
        finally:
            for job in jobs:
                job.cancelled = True

    def _begin(self, do: Callable[[], T]) -> _Job[T]:
        job = _Job(do)
        with self._lock:
            if len(self._threads) < self.number:
                thread = threading.Thread(target=self._serve, name="crawlmill-ahead", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(job)
        return job

    def close(self) -> None:
        """Let the threads end once they have finished their work, without waiting for them."""
        with self._lock:
            for _ in self._threads:
                self._queue.put(None)
            self._threads.clear()

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            job.run()
