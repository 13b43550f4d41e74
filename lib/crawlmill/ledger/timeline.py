"""The progress of a run over time: the series `progress` of `_run.json`."""

from __future__ import annotations

from typing import Final

__all__ = ["MAX_POINTS", "Point", "Timeline"]

MAX_POINTS: Final = 200
_FIRST_INTERVAL_S: Final = 0.02

Point = tuple[float, int, int, int]
"""Seconds since the run began; inputs, records and bytes done by then."""


class Timeline:
    """Keeps at most `MAX_POINTS` points of a run of any length, about equally spaced in time.

    When it is full, every second point is dropped, and from then on points are added half as often.
    """

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._interval_s = _FIRST_INTERVAL_S
        self._due_s = 0.0

    def is_due(self, seconds: float) -> bool:
        """Whether `add` would keep a point at this time."""
        return seconds >= self._due_s

    def add(self, seconds: float, inputs: int, records: int, size: int) -> None:
        """Add a point; `size` is in bytes. Points too soon after the last one are dropped."""
        if not self.is_due(seconds):
            return
        self._points.append((seconds, inputs, records, size))
        if len(self._points) >= MAX_POINTS - 2:  # leaves room for the first and the last point
            del self._points[::2]
            self._interval_s *= 2
        self._due_s = seconds + self._interval_s

    def series(self, seconds: float, inputs: int, records: int, size: int) -> list[Point]:
        """The points of a run that ended after so many seconds with these totals, which are the last point.

        No column ever falls: if the work of a failed task is lost, the series stays level until it has been redone.
        """
        last = (round(seconds, 3), inputs, records, size)
        points: list[Point] = [(0.0, 0, 0, 0)]
        for point in self._points:
            before = points[-1]
            at, *counts = (min(max(now, earlier), end) for now, earlier, end in zip(point, before, last, strict=True))
            reached: Point = (round(at, 3), int(counts[0]), int(counts[1]), int(counts[2]))
            if reached[1:] != before[1:] or reached[0] != before[0]:
                points.append(reached)
        return [*(points[:-1] if len(points) > 1 and points[-1] == last else points), last]
