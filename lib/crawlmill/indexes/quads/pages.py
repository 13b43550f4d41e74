"""Pages with their quads: as lines in a shuffle, and collected after it.

Each capture is one line, and sorting lines by their bytes orders pages by urlkey, keeps each page together, and orders
its captures by time:

    <urlkey> <page> <timestamp> {"capture": {…}, "quads": {"<format>": "<quads, one per line>", …}}

The page is the IRI of the graph. A page with several captures has the quads of all of them, without duplicates, and is
listed with its newest capture.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

__all__ = ["Page", "pages_of", "shuffled_line", "survey_line"]


@dataclass(slots=True)
class Page:
    """A page.

    Attributes:
        key: Its urlkey.
        uri: Its IRI.
        timestamp: The time of its newest capture, 14 digits.
        capture: The fields of that capture.
        quads: The quads by format, without line ends and duplicates.
    """

    key: str
    uri: str
    timestamp: str = ""
    capture: dict[str, str] = field(default_factory=dict)
    quads: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """All quads, without duplicates."""
        return list(dict.fromkeys(line for lines in self.quads.values() for line in lines))


def shuffled_line(key: str, uri: str, timestamp: str, capture: dict[str, str], quads: dict[str, list[str]]) -> bytes:
    """The line of a capture, with its line end."""
    body = {"capture": capture, "quads": {name: "\n".join(lines) for name, lines in quads.items()}}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return f"{key} {uri} {timestamp} {text}\n".encode("utf-8", "backslashreplace")


def survey_line(key: str) -> bytes:
    """The line that counts a page when parts are cut: no part begins within the pages of a urlkey."""
    return f"{key} \n".encode("ascii")


def pages_of(lines: Iterable[bytes]) -> Iterator[Iterator[Page]]:
    """The pages of sorted lines, grouped by urlkey."""
    for _, captures in groupby(lines, lambda line: line.partition(b" ")[0]):
        yield _pages(captures)


def _pages(lines: Iterable[bytes]) -> Iterator[Page]:
    cut = (line.split(b" ", 3) for line in lines)
    for (key, uri), captures in groupby(cut, lambda parts: (parts[0], parts[1])):
        page = Page(key.decode("ascii"), uri.decode("utf-8"))
        seen: dict[str, dict[str, None]] = {}
        for _, _, timestamp, text in captures:
            body = json.loads(text)
            page.timestamp, page.capture = timestamp.decode("ascii"), body["capture"]
            for name, quads in body["quads"].items():
                seen.setdefault(name, {}).update(dict.fromkeys(quads.split("\n")))
        page.quads = {name: list(quads) for name, quads in seen.items()}
        yield page
