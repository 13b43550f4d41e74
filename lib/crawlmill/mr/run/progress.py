"""What the user sees while a run works: messages and progress."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import BinaryIO, Final

from crawlmill.ledger.timeline import Timeline
from crawlmill.mr.task.attempt import Attempt, Result
from crawlmill.mr.task.monitor import Totals
from crawlmill.terminal.text import visible, visible_lines
from crawlmill.units import size

__all__ = ["Console", "Progress"]

_REDRAW_S: Final = 0.2
_LINE_EVERY_S: Final = 10.0


class Console:
    """Stderr: lines, and on a terminal a status line below them that is redrawn."""

    def __init__(self, stream: BinaryIO) -> None:
        # Unbuffered: the interpreter would try to write what is left in a buffer again, and exit with 120.
        self._stream: BinaryIO = getattr(stream, "raw", stream)
        self.is_terminal = stream.isatty()
        self._drawn = False

    def say(self, text: str) -> None:
        """Print a line."""
        self._write(f"{self._cleared()}{visible_lines(text)}\n")

    def draw(self, text: str) -> None:
        """Redraw the status line."""
        width = shutil.get_terminal_size().columns - 1
        self._write(f"{self._cleared()}{visible(text)[:width]}")
        self._drawn = True

    def clear(self) -> None:
        """Remove the status line."""
        if self._drawn:
            self._write(self._cleared())

    def _cleared(self) -> str:
        drawn, self._drawn = self._drawn, False
        return "\r\x1b[K" if drawn else ""

    def _write(self, text: str) -> None:
        rest = text.encode("utf-8", "backslashreplace")
        try:
            while rest:
                rest = rest[self._stream.write(rest) or len(rest) :]  # None: a full pipe in non-blocking mode
        except OSError:
            pass  # nobody reads it, or the disk is full; the run does not depend on it


class Progress:
    """The watch of a launched run: adds up the reports of tasks, shows the progress, and calls the judge.

    `timeline` records the progress over time, whether it is shown or not.

    `judge` is called with the totals of finished tasks, after each of them; it may raise.
    """

    def __init__(self, console: Console, judge: Callable[[Totals], None], *, shown: bool) -> None:
        self.inputs = 0
        self.phase = ""
        self._console, self._judge, self._shown = console, judge, shown
        self._done = Totals()
        self._at_work: dict[str, Totals] = {}
        self.timeline = Timeline()
        self._began = time.monotonic()
        self._due = self._began + (_REDRAW_S if console.is_terminal else _LINE_EVERY_S)

    def progress(self, task: str, totals: Totals | None) -> None:
        """Record a task's totals so far; None: its work was lost."""
        if totals is None:
            self._at_work.pop(task, None)
        else:
            self._at_work[task] = totals
        self.tick()

    def done(self, attempt: Attempt, result: Result) -> None:
        """Count a task's output from now on."""
        self._at_work.pop(attempt.task, None)
        self._done = self._done.plus(result.totals)
        self._judge(self._done)
        self.tick()

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.say(text)

    def tick(self) -> None:
        """Record and show the progress, each if it is time."""
        now = time.monotonic()
        if self.timeline.is_due(now - self._began):
            self.timeline.add(now - self._began, *self._totals()[:3])
        if not self._shown or now < self._due or not self.inputs:
            return
        text = self._text(now - self._began)
        if self._console.is_terminal:
            self._due = now + _REDRAW_S
            self._console.draw(text)
        else:
            self._due = now + _LINE_EVERY_S
            self._console.say(text)

    def _totals(self) -> Totals:
        totals = self._done
        for part in self._at_work.values():
            totals = totals.plus(part)
        return totals

    def _text(self, seconds: float) -> str:
        totals = self._totals()
        if self.phase and totals == Totals():
            return f"0/{self.inputs:,} inputs, {self.phase}"
        speed = size(int(totals.bytes / seconds)) if seconds else "0 B"
        text = f"{totals.inputs:,}/{self.inputs:,} inputs, {totals.records:,} records, {size(totals.bytes)}, {speed}/s"
        text += f", {totals.bad:,} bad" if totals.bad else ""
        if self.phase:
            return f"{text}, {self.phase}"
        if totals.inputs == self.inputs:
            return f"{text}, reducing"
        if totals.inputs:
            left = int(seconds * (self.inputs - totals.inputs) / totals.inputs)
            text += f", {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"
        return text
