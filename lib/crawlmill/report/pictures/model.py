"""The content of a picture, independent of how it is drawn."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

__all__ = ["Bars", "Picture", "Plot", "thinned"]

MAX_POINTS: Final = 300


@dataclass(frozen=True)
class Bars:
    """A table of things and numbers, with a bar each, in falling order. `rows`: [thing, number, more cells …]."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[Any]]

    def to_json(self) -> dict[str, Any]:
        """The JSON for the data of the page."""
        return {"shape": "bars", **asdict(self)}


@dataclass(frozen=True)
class Plot:
    """Points of one or more series, [x, y] each, all greater than 0; both axes are logarithmic."""

    title: str
    note: str
    x: str
    y: str
    series: dict[str, list[list[int]]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON for the data of the page."""
        return {"shape": "plot", **asdict(self)}


Picture = Bars | Plot


def thinned(points: list[list[int]]) -> list[list[int]]:
    """At most `MAX_POINTS` of the points, including the first and the last, denser at the beginning."""
    last = len(points) - 1
    if last < MAX_POINTS:
        return points
    steps = MAX_POINTS - 1
    chosen = sorted({round((last + 1) ** (step / steps)) - 1 for step in range(steps)} | {last})
    return [points[index] for index in chosen]
