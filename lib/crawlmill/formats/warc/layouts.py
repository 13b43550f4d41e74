"""Headers of WARC records in the usual form, and a short cut for those laid out like earlier ones.

The writer of a file gives all records of a type the same fields in the same order. Once such a layout has been seen a
few times, a regular expression is made of its names, which reads a header five times as fast as looking for each field.

A header is usual if its lines are ASCII and end in CR LF, each is `Name: value`, values neither have tabs nor end in a
blank, and no wanted field is there twice.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from crawlmill.formats.warc.record import quick_head

__all__ = ["Layouts", "UsualHead"]

UsualHead = tuple[str, int, int, tuple[str, ...] | None]
"""The type of a record, where its block begins, how long it declares that to be, and the values of wanted fields: ""
for one that is absent, None for all if the header is unusual."""

_NAME: Final = "[A-Za-z-]++"
_VALUE: Final = "[!-~]++(?: ++[!-~]++)*+"
_FIELD: Final = re.compile(rf"\n({_NAME}): ({_VALUE})\r(?=\n)")
_TYPE: Final = "WARC-Type"
_LENGTH: Final = "Content-Length"
_BEGIN: Final = len("WARC/1.0\r\n")
_END: Final = b"\r\n\r\n"
_KEY: Final = slice(21, 25)  # of a head, the beginning of its type in nearly all files: any text would do
_OFTEN: Final = 4  # times that a layout is seen before an expression is made of it, which takes half a millisecond
_MOST: Final = 16  # layouts that are remembered

_Layout = tuple[re.Pattern[str], str, int, tuple[int, ...]]
"""What matches headers, the type of their records, and the groups of the length and of the wanted fields."""


class Layouts:
    """Reads the heads of records.

    Args:
        wanted: The lower-case names of the wanted fields, of which there are at least two.
    """

    def __init__(self, wanted: tuple[str, ...]) -> None:
        self._wanted = wanted
        self._known: dict[str, list[_Layout]] = {}
        self._seen: Counter[tuple[str, ...]] = Counter()

    def read(self, head: bytes) -> UsualHead | None:
        """Read the head that `head` begins with: as `quick_head` does, which does not answer for other forms either."""
        header = head[: head.find(_END, _BEGIN) + len(_END)]
        text = header.decode("ascii") if header.isascii() else ""
        for layout, kind, length, wanted in self._known.get(text[_KEY], ()):
            if found := layout.fullmatch(text):
                return kind, len(text), int(found[length]), found.group(*wanted)
        said = quick_head(head)
        return None if said is None else (*said, self._values(text, said[0]))

    def _values(self, header: str, kind: str) -> tuple[str, ...] | None:
        """The values of the wanted fields of a header; None if it is unusual."""
        parts = _FIELD.split(header)  # what is between fields, name, value, what is between fields, …
        if len(parts) != 3 * (header.count("\n") - 2) + 1:
            return None
        names, values = parts[1::3], parts[2::3]
        lowered = [name.lower() for name in names]
        if any(lowered.count(name) > 1 for name in self._wanted):
            return None
        self._learn(names, header, kind)
        return tuple(values[lowered.index(name)] if name in lowered else "" for name in self._wanted)

    def _learn(self, names: list[str], header: str, kind: str) -> None:
        """Remember the layout of a usual header, if it is seen often."""
        seen, layout = self._seen, (kind, *names)
        if layout in seen or len(seen) < _MOST:
            seen[layout] += 1
        if seen[layout] == _OFTEN and names.count(_TYPE) == names.count(_LENGTH) == 1:
            self._known.setdefault(header[_KEY], []).append(self._expression(names, kind))

    def _expression(self, names: list[str], kind: str) -> _Layout:
        """What matches headers of records of this type with these fields."""
        lines = [r"WARC/1\.[01]"]
        groups: dict[str, int] = {}
        for name in names:
            value = kind if name == _TYPE else "[0-9]{1,18}+" if name == _LENGTH else _VALUE
            known = name if name == _LENGTH else name.lower()
            if known in (_LENGTH, *self._wanted):
                groups[known] = len(groups) + 1
                value = f"({value})"
            lines.append(f"{name}: {value}")
        absent = len(groups) + 1
        wanted = tuple(groups.get(name, absent) for name in self._wanted)
        return re.compile("\r\n".join([*lines, "\r\n()"])), kind, groups[_LENGTH], wanted
