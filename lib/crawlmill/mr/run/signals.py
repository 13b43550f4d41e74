"""Signals that ask the launcher to stop, as an exception in its main thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from crawlmill.mr.task.failures import Stopped

__all__ = ["stoppable", "undisturbed"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """Within this block the first Ctrl-C, SIGTERM or SIGHUP raises Stopped; further ones are ignored.

    A signal that is already ignored (nohup, a shell's background job) stays so. Does nothing outside the main thread.
    """
    before: dict[signal.Signals, Any] = {}

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        if _held:
            _held.append(number)
        else:
            raise Stopped(number)

    if threading.current_thread() is threading.main_thread():
        for each in _SIGNALS:
            if signal.getsignal(each) not in (signal.SIG_IGN, None):
                before[each] = signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


_held: list[int] = []  # within `undisturbed`: 0, and then the signal that arrived


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within this block, which must be short, Stopped is delayed to the end, so that nothing begun here is lost."""
    _held.append(0)
    try:
        yield
    finally:
        came, _held[:] = _held[1:], []
    if came:
        raise Stopped(came[0])
