"""Pictures of the results of `host_statistics`: `"host"<TAB>{"captures": n, "status": {…}, …}`."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from crawlmill.mr.task.largest import Largest
from crawlmill.report.pictures.model import Bars, Picture, Plot, thinned
from crawlmill.report.tally import Tally

__all__ = ["Hosts"]

_COLUMNS: Final = ("captures", "urls", "digests", "bytes", "first", "last")
_MAX_KINDS: Final = 10_000


class Hosts:
    """Adds up the facts about hosts, and keeps all facts about the `top` largest."""

    def __init__(self, top: int) -> None:
        self._captures = Tally(1, ranks=True)
        self._largest = Largest(top)
        self._top = top
        self._kinds: dict[str, Counter[str]] = {"status": Counter(), "mime": Counter()}

    def add(self, key: Any, value: Any) -> None:
        """Add a result, of any job."""
        if not isinstance(key, str) or not isinstance(value, dict) or type(value.get("captures")) is not int:
            return
        self._captures.add(key, value["captures"])
        self._largest.add(key, [value.get(column) for column in _COLUMNS])
        for name, kinds in self._kinds.items():
            found = value.get(name)
            if isinstance(found, dict) and len(kinds) < _MAX_KINDS:
                kinds.update({kind: number for kind, number in found.items() if type(number) is int})

    def pictures(self) -> list[Picture]:
        """The pictures, if there are results of this job."""
        if not self._captures.lines:
            return []
        rows = [[key, *map(_cell, cells)] for key, cells in self._largest.pairs()]
        total, lines = self._captures.total or 0, self._captures.lines
        note = f"{total:,} captures of {lines:,} {'key' if lines == 1 else 'keys'} in all."
        pictures: list[Picture] = [
            Bars("Most captures", note, ["host", "captures", "URLs", "contents", "bytes", "first", "last"], rows)
        ]
        for name, title in (("status", "HTTP status"), ("mime", "Media types")):
            if self._kinds[name]:
                ranked = sorted(self._kinds[name].items(), key=lambda each: (-each[1], each[0]))
                cells = [[kind, number] for kind, number in ranked[: min(self._top, 20)]]
                pictures.append(Bars(title, "Captures of all hosts.", [title, "captures"], cells))
        points = thinned([point for point in self._captures.rank_frequency() if point[1] > 0])
        if len(points) > 1:
            note = "Captures of each host, the host with the most first."
            pictures.append(Plot("Captures by rank", note, "rank", "captures", {"hosts": points}))
        return pictures


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
