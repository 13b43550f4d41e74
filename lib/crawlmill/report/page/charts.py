"""Charts as SVG whose text stays readable at any width.

The outer drawing is not scaled: lines and labels are placed by percentages. Only the curves are in an inner drawing
that is stretched, with strokes that are not.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Final

from crawlmill.report.page.text import short
from crawlmill.units import size

__all__ = ["bar", "by_time", "bytes_label", "log_log", "shares"]

_MAX_TICKS: Final = 6
_SIDE: Final = 1000

Point = Sequence[float]
Tick = tuple[float, str]


def bar(number: int, largest: int, kind: str = "") -> str:
    """A bar with a length relative to the largest number, in the colour of its kind; hidden from screen readers."""
    classes = f"bar {kind}".strip()
    width = 100 * max(number, 0) / largest if largest > 0 else 0
    return (
        f'<svg class="{classes}" aria-hidden="true" width="100%" height="10">'
        f'<rect data-bar="" width="{width:.3f}%" height="100%" rx="1.5"/></svg>'
    )


def shares(name: str, parts: Sequence[tuple[str, int]]) -> str:
    """One bar, divided into shares of several kinds; `parts` are (class, number)."""
    whole, at, pieces = sum(number for _, number in parts) or 1, 0.0, []
    for kind, number in parts:
        width = 100 * number / whole
        pieces.append(f'<rect class="{kind}" x="{at:.3f}%" width="{width:.3f}%" height="100%"/>')
        at += width
    return f'<svg class="shares" role="img" aria-label="{html.escape(name)}" width="100%">{"".join(pieces)}</svg>'


def log_log(name: str, series: Sequence[Sequence[Point]], x: str, y: str) -> str:
    """Points on two logarithmic axes; all numbers are above 0. One series is drawn as a line, several as points."""
    points = [point for each in series for point in each]
    (left, right), (low, high) = (_decades([point[axis] for point in points]) for axis in (0, 1))
    places = [
        [(_part(math.log10(px), left, right), _part(math.log10(py), low, high)) for px, py in each] for each in series
    ]
    curves = [_dots(each, number) + (_line(each) if len(series) == 1 else "") for number, each in enumerate(places)]
    return _chart(name, "".join(curves), _powers(left, right), _powers(low, high), x, y)


def by_time(name: str, points: Sequence[Point], what: str, label: Callable[[float], str] | None = None) -> str:
    """A number that grows over time: points are (seconds, number)."""
    last = max(points[-1][0], 0.001)
    unit, seconds = ("s", 1) if last < 180 else ("min", 60) if last < 3 * 3600 else ("h", 3600)
    most = max(*(point[1] for point in points), 1)
    places = [(px / last, py / most) for px, py in points]
    times = [(at * seconds / last, f"{at:.6g} {unit}" if at else "0") for at in _round_numbers(last / seconds)]
    numbers = [(at / most, (label or short)(at)) for at in _round_numbers(most) if at == int(at)]
    return _chart(name, _area(places) + _line(places), times, numbers, "time", what)


def bytes_label(number: float) -> str:
    """A number of bytes as an axis label."""
    return size(int(number)).replace(".0 ", " ")


def _chart(name: str, curves: str, xs: Sequence[Tick], ys: Sequence[Tick], x: str, y: str) -> str:
    grid = "".join(f'<line x1="0" x2="100%" y1="{_y(at)}" y2="{_y(at)}"/>' for at, _ in ys)
    labels = "".join(
        f'<text x="0" dx="-8" y="{_y(at)}" dy=".35em" class="y">{html.escape(text)}</text>' for at, text in ys
    )
    labels += "".join(
        f'<text x="{100 * at:.2f}%" y="100%" dy="1.5em" class="x">{html.escape(text)}</text>' for at, text in xs
    )
    return (
        f'<svg class="chart" role="img" aria-label="{html.escape(name)}">{grid}{labels}'
        f'<text x="0" y="0" dx="-8" dy="-1em" class="axis">{html.escape(y)}</text>'
        f'<text x="100%" y="100%" dy="2.9em" class="axis end">{html.escape(x)}</text>'
        f'<svg aria-hidden="true" viewBox="0 0 {_SIDE} {_SIDE}" preserveAspectRatio="none" width="100%" height="100%">'
        f"{curves}</svg></svg>"
    )


def _line(places: Sequence[tuple[float, float]]) -> str:
    return f'<path class="line" d="M{"L".join(_places(places))}"/>' if places else ""


def _area(places: Sequence[tuple[float, float]]) -> str:
    return f'<path class="area" d="M0 {_SIDE}L{"L".join(_places(places))}V{_SIDE}Z"/>'


def _dots(places: Sequence[tuple[float, float]], number: int) -> str:
    """Lines of length zero, which appear as round dots however the drawing is stretched."""
    dots = dict.fromkeys(f"M{place}h0" for place in _places(places))
    return f'<path class="dots s{number}" d="{"".join(dots)}"/>'


def _places(places: Sequence[tuple[float, float]]) -> list[str]:
    return [f"{_SIDE * px:.1f} {_SIDE * (1 - py):.1f}" for px, py in places]


def _y(part: float) -> str:
    return f"{100 * (1 - part):.2f}%"


def _part(at: float, low: int, high: int) -> float:
    return (at - low) / (high - low)


def _decades(numbers: Sequence[float]) -> tuple[int, int]:
    """The powers of ten that enclose these numbers."""
    low = math.floor(math.log10(min(numbers)))
    return low, max(math.ceil(math.log10(max(numbers)) - 1e-9), low + 1)


def _powers(low: int, high: int) -> list[Tick]:
    step = math.ceil((high - low) / _MAX_TICKS)
    return [(_part(power, low, high), short(10**power)) for power in range(low, high + 1, step)]


def _round_numbers(last: float) -> list[float]:
    """From 0 to `last`, at most four steps of 1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(last))
    step = next(step for step in (power * part for part in (0.2, 0.5, 1, 2, 5)) if last / step <= 5)
    return [number * step for number in range(int(last / step + 1e-9) + 1)]
