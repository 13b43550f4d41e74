"""How far a run was at which time: the series `progress` of `_run.json`."""

from __future__ import annotations

from typing import Final

__all__ = ["MAX_POINTS", "Point", "Timeline"]

MAX_POINTS: Final = 200
_FIRST_INTERVAL_S: Final = 0.02

Point = tuple[float, int, int, int]
"""Seconds since the run began; inputs, records and bytes done by then."""


class Timeline:
    """Keeps at most `MAX_POINTS` points of a run of any length, about equally far apart.

    When there is no room for more, every second point is dropped, and from then on half as many are taken.
    """

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._interval_s = _FIRST_INTERVAL_S
        self._due_s = 0.0

    def is_due(self, seconds: float) -> bool:
        """Whether `add` would keep a point of this time."""
        return seconds >= self._due_s

    def add(self, seconds: float, inputs: int, records: int, size: int) -> None:
        """The run is so far at this time; `size` in bytes. Points that come too soon after another are left out."""
        if not self.is_due(seconds):
            return
        self._points.append((seconds, inputs, records, size))
        if len(self._points) >= MAX_POINTS - 2:  # the first and the last are not of these
            del self._points[::2]
            self._interval_s *= 2
        self._due_s = seconds + self._interval_s

    def series(self, seconds: float, inputs: int, records: int, size: int) -> list[Point]:
        """The points of a run that has ended after so many seconds with these totals, which are the last point.

        No column ever falls: where a failed task took its share with it, the series waits until that is done again.
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
