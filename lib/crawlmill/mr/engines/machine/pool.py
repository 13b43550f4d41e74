"""The worker processes of the local runner: the launcher starts them, hands out attempts, and replaces dead ones.

A worker runs one attempt after another and is discarded when one fails; the others continue meanwhile. An attempt
counts once its result has arrived, so nothing counts twice.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import socket
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from crawlmill.mr.engines.machine.channel import Channel, Message
from crawlmill.mr.run.signals import undisturbed
from crawlmill.mr.task.attempt import Attempt, Result
from crawlmill.mr.task.failures import TaskError
from crawlmill.mr.task.monitor import Totals

__all__ = ["Launchpad", "Pool", "Watch"]

_TICK_S: Final = 1.0
_MAX_CAUSE: Final = 1000


class Watch(Protocol):
    """Receives reports about a run."""

    def progress(self, task: str, totals: Totals | None) -> None:
        """Report a task's totals so far; None: its work was lost and will be redone."""

    def done(self, attempt: Attempt, result: Result) -> None:
        """Report that a task's output counts from now on."""

    def note(self, text: str) -> None:
        """Report a message for the user."""

    def tick(self) -> None:
        """Called about once a second."""


@dataclass(frozen=True)
class Launchpad:
    """How to start a worker: `prepare` fills its new folder and returns the command without its arguments."""

    folder: Path
    prepare: Callable[[Path], list[str]]
    arguments: list[str]
    environment: dict[str, str]
    hint: Callable[[], str] = str
    """What may be wrong if no worker starts; added after the message."""


class _Worker:
    """A worker process, the channel to it, and its current attempt."""

    def __init__(self, pad: Launchpad, number: int) -> None:
        folder = pad.folder / f"worker-{number}"
        folder.mkdir()
        command = pad.prepare(folder)
        near, far = socket.socketpair()
        with far:
            # In a session of its own: Ctrl-C does not reach it, and killing the session ends all its children.
            self.process = subprocess.Popen(
                [*command, f"--worker={far.fileno()}", *pad.arguments],
                cwd=folder,
                env=pad.environment,
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[far.fileno()],
                start_new_session=True,
            )
        self.channel = Channel(near)
        self.ready = False
        self.attempt: Attempt | None = None

    def hand(self, attempt: Attempt) -> None:
        self.attempt = attempt
        try:
            self.channel.send("attempt", attempt)
        except OSError:
            pass  # it is dead, which the broken channel will soon show

    def end(self, *, dying: bool = False) -> str:
        """Kill it and its children; returns how it ended, after a short wait if it is ending by itself."""
        code = None
        if dying:
            try:
                code = self.process.wait(_TICK_S)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # the session is empty (macOS reports EPERM)
        self.channel.close()
        self.process.wait()
        if code is None or code >= 0:
            return "no answer" if code is None else f"exit code {code}"
        return f"killed by signal {-code}" + (", perhaps for want of memory" if code == -signal.SIGKILL else "")


class Pool:
    """Up to `size` workers. The run fails if a task fails more than `retries` times."""

    def __init__(self, pad: Launchpad, size: int, retries: int, watch: Watch) -> None:
        self._pad, self._size, self._retries, self._watch = pad, size, retries, watch
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        self._started = self._failed_starts = 0

    def warm_up(self, count: int) -> None:
        """Start this many workers in the background; they wait for work."""
        while len(self._workers) < min(count, self._size):
            self._start()

    def run(self, attempts: Iterable[Attempt]) -> Iterator[tuple[Attempt, Result]]:
        """Yield the successful attempts with their results, as they finish.

        Raises:
            TaskError: A task failed too often, or no worker starts.
        """
        todo = iter(attempts)
        again: deque[Attempt] = deque()
        while True:
            self._hand_out(todo, again)
            if not any(worker.attempt for worker in self._workers):
                return
            for worker, messages in self._wait():
                finished = self._hear(worker, messages, again)
                if finished:
                    yield finished
            self._watch.tick()

    def close(self) -> None:
        """Kill all workers."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self._selector.close()

    def _start(self) -> _Worker:
        with undisturbed():  # otherwise a process could be started that nobody knows, and outlive this one
            worker = _Worker(self._pad, self._started)
            self._started += 1
            self._workers.append(worker)
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        return worker

    def _hand_out(self, todo: Iterator[Attempt], again: deque[Attempt]) -> None:
        while True:
            idle = next((worker for worker in self._workers if worker.attempt is None), None)
            if idle is None and len(self._workers) >= self._size:
                return
            attempt = again.popleft() if again else next(todo, None)
            if attempt is None:
                return
            (idle or self._start()).hand(attempt)

    def _wait(self) -> list[tuple[_Worker, list[Message] | None]]:
        """Wait at most a second for messages of workers; None for one that is dead and has no more messages."""
        # In this order: messages of workers found dead have all arrived when we read.
        dead = [worker for worker in self._workers if worker.process.poll() is not None]
        heard: dict[_Worker, list[Message] | None] = {
            key.data: key.data.channel.receive() for key, _ in self._selector.select(0 if dead else _TICK_S)
        }
        # A child of a dead worker may hold its channel open, which then stays silent.
        return [*heard.items(), *((worker, None) for worker in dead if worker not in heard)]

    def _hear(
        self, worker: _Worker, messages: list[Message] | None, again: deque[Attempt]
    ) -> tuple[Attempt, Result] | None:
        if messages is None:
            self._retire(worker, again)
            return None
        finished = None
        for kind, body in messages:
            attempt = worker.attempt
            if kind == "ready":
                worker.ready, self._failed_starts = True, 0
            elif kind == "cannot_retry":
                raise TaskError(body)
            elif kind == "failed":
                self._retire(worker, again, *body)
                break
            elif attempt is not None and kind == "totals":
                self._watch.progress(attempt.task, body)
            elif attempt is not None and kind == "done":
                worker.attempt = None
                finished = (attempt, body)
        return finished

    def _retire(self, worker: _Worker, again: deque[Attempt], said: str = "", trace: str = "") -> None:
        """Handle a dead worker, or an attempt that it reported as failed: schedule the task again."""
        self._selector.unregister(worker.channel)
        self._workers.remove(worker)
        how = worker.end(dying=not said)
        cause = said[:_MAX_CAUSE] or f"its worker ended: {how}"
        attempt = worker.attempt
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts > self._retries:
                raise TaskError(f"workers do not start: {cause}{self._pad.hint()}", trace)
        if attempt is None:
            return
        shutil.rmtree(attempt.folder, ignore_errors=True)
        self._watch.progress(attempt.task, None)
        if not worker.ready:
            again.append(attempt)
            return
        if attempt.number_of_try > self._retries:
            raise TaskError(f"task {attempt.task} failed {attempt.number_of_try} times, last error: {cause}", trace)
        self._watch.note(f"task {attempt.task} failed and is tried again: {cause}")
        again.append(replace(attempt, number_of_try=attempt.number_of_try + 1))
