"""The process of an engine's client, `hadoop jar` or `spark-submit`, which runs a job and logs its progress."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

__all__ = ["ClientProcess"]

_TICK_S: Final = 0.5


class ClientProcess:
    """The client process, in a session of its own: Ctrl-C reaches only the launcher, which decides."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._rest = b""
        self._ended = False

    def lines(self, tick: Callable[[], None]) -> Iterator[str]:
        """Yield its lines until it ends; calls `tick` at least twice a second."""
        stream = self._process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector, stream:
            selector.register(stream, selectors.EVENT_READ)
            while True:
                over = self._process.poll() is not None  # checked first: what it wrote before can still be read
                if selector.select(0 if over else _TICK_S):
                    piece = stream.read1(1 << 16)  # type: ignore[attr-defined]
                    if not piece:
                        break
                    *lines, self._rest = (self._rest + piece).split(b"\n")
                    yield from (line.decode("utf-8", "replace") for line in lines)
                elif over:
                    break  # a child process keeps the stream open, and has nothing to say
                tick()
        if self._rest:
            yield self._rest.decode("utf-8", "replace")

    def wait(self) -> int:
        """Wait for the end; returns the exit code."""
        return self._process.wait()

    def end(self, grace_s: float = 0.0) -> None:
        """End the process, with its children on this machine; what it has submitted to a cluster continues.

        `grace_s`: how long to wait after only asking it to end, in seconds.
        """
        if self._ended:
            return
        self._ended = True
        if grace_s and self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_s)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # it is gone; macOS forbids it if it is ending
            os.killpg(self._process.pid, number)
