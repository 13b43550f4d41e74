"""Plans which record goes into which output file, and in which order, from the list alone, before anything is read.

Records are sorted by the names of their files, as the list has them, and their offsets. An output file takes as many of
them as fit into its size, by the lengths that the list says. So every runner, and every run, writes the same files.

Files whose names say that they are ARC (`.arc`, `.arc.gz`) have output files of their own. What a record is its bytes
say, in the end: where names are, a WARC and an ARC file share a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from crawlmill.errors import UsageError
from crawlmill.extraction.listed import name_of
from crawlmill.inputs.lists import Input

__all__ = ["DEFAULT_SIZE", "PlannedFile", "parse_size", "plan_files"]

DEFAULT_SIZE: Final = 1_000_000_000
"""Bytes that an output file has at most, unless the user says otherwise or a single record is larger."""

_HEADER: Final = 4096  # of the record that describes a file
_NOTE: Final = 800  # of a provenance record, beside what it takes from its line
_ARC: Final = re.compile(r"\.arc(\.gz)?(\?.*)?\Z", re.IGNORECASE)
_GZIP: Final = re.compile(r"\.gz(\?.*)?\Z", re.IGNORECASE)
_SIZE: Final = re.compile(r"(\d{1,15})(?:\.(\d{1,3}))?\s*([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

T = TypeVar("T")


@dataclass(slots=True)
class PlannedFile(Generic[T]):
    """An output file: its number, and what goes into it, in order."""

    number: int
    inputs: list[tuple[T, Input]] = field(default_factory=list)


def parse_size(text: str) -> int:
    """Bytes that a size such as `100KB` or `1.5GB` names, by powers of 1,000.

    Raises:
        ValueError: It names none.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    whole, part, unit = found.groups()
    thousandths = int(whole) * 1000 + int((part or "0").ljust(3, "0"))
    size: int = thousandths * 1000 ** _POWERS[unit.lower()] // 1000
    if not size:
        raise ValueError(text)
    return size


def plan_files(
    inputs: Iterable[tuple[T, Input]], max_size: int = DEFAULT_SIZE, *, notes: bool = False
) -> list[PlannedFile[T]]:
    """The output files.

    Args:
        inputs: All that is copied, each with what it is known by.
        max_size: Bytes of a file; a larger record has one for itself.
        notes: A provenance record is written for each.

    Raises:
        UsageError: A line names a whole file, not a record of it.
    """
    names: dict[str, str] = {}
    planned: list[tuple[str, str, int, int, T, Input]] = []
    for known, item in inputs:
        if item.length is None:
            raise UsageError(
                "a line names a whole file, not a record of it",
                expected="captures: CDXJ lines, or LOCATION<TAB>OFFSET<TAB>LENGTH",
                actual=item.shown,
            )
        if item.location not in names:
            names[item.location] = name_of(item)
        planned.append((names[item.location], item.location, item.offset or 0, item.length, known, item))
    planned.sort(key=lambda each: each[:4])
    files: list[PlannedFile[T]] = []
    filled: dict[bool, tuple[PlannedFile[T], int]] = {}
    for name, _, _, length, known, item in planned:
        is_arc = _ARC.search(name) is not None
        cost = _stored(length, name) + (_NOTE + 3 * len(item.given) if notes else 0)
        file, size = filled.get(is_arc, (None, 0))
        if file is None or size + cost > max_size:
            file, size = PlannedFile(len(files)), _HEADER
            files.append(file)
        file.inputs.append((known, item))
        filled[is_arc] = (file, size + cost)
    return files


def _stored(length: int, name: str) -> int:
    """Bytes that a range of a file is stored in, at most: what is not compressed yet may even grow by that."""
    return length if _GZIP.search(name) else length + length // 1000 + 64
