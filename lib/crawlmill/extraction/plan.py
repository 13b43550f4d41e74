"""Plans which record goes into which output file, and in which order, from the list alone, before reading anything.

Records are sorted by the names of their files, as in the list, and by offset. An output file takes as many as fit into
its size, going by the lengths in the list. So every runner, and every run, writes the same files.

Files with names of ARC files (`.arc`, `.arc.gz`) get output files of their own. In the end the bytes decide what a
record is: if names are wrong, a WARC and an ARC file share a number.
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

_HEADER: Final = 4096  # for the record that describes a file
_NOTE: Final = 800  # for a provenance record, in addition to its line
_ARC: Final = re.compile(r"\.arc(\.gz)?(\?.*)?\Z", re.IGNORECASE)
_GZIP: Final = re.compile(r"\.gz(\?.*)?\Z", re.IGNORECASE)
_SIZE: Final = re.compile(r"(\d{1,15})(?:\.(\d{1,3}))?\s*([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

T = TypeVar("T")


@dataclass(slots=True)
class PlannedFile(Generic[T]):
    """An output file: its number, and its contents, in order."""

    number: int
    inputs: list[tuple[T, Input]] = field(default_factory=list)


def parse_size(text: str) -> int:
    """Parse a size such as `100KB` or `1.5GB` (powers of 1,000) to bytes.

    Raises:
        ValueError: It is not a size.
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
    """Plan the output files.

    Args:
        inputs: All records to copy, each with its identification.
        max_size: The size of a file in bytes; a larger record gets a file of its own.
        notes: Whether a provenance record is written for each.

    Raises:
        UsageError: A line names a whole file, not a record in it.
    """
    by_file: dict[str, list[tuple[T, Input]]] = {}
    for known, item in inputs:
        if item.length is None:
            raise UsageError(
                "a line names a whole file, not a record of it",
                expected="captures: CDXJ lines, or LOCATION<TAB>OFFSET<TAB>LENGTH",
                actual=item.shown,
            )
        by_file.setdefault(item.location, []).append((known, item))
    files: list[PlannedFile[T]] = []
    filled: dict[bool, tuple[PlannedFile[T], int]] = {}
    for name, location in sorted((name_of(group[0][1]), location) for location, group in by_file.items()):
        is_arc, is_gzip = _ARC.search(name) is not None, _GZIP.search(name) is not None
        file, size = filled.get(is_arc, (None, 0))
        for known, item in sorted(by_file[location], key=_span):
            length = item.length or 0
            cost = length if is_gzip else _stored(length)
            cost += _NOTE + 3 * len(item.given) if notes else 0
            if file is None or size + cost > max_size:
                file, size = PlannedFile(len(files)), _HEADER
                files.append(file)
            file.inputs.append((known, item))
            size += cost
        if file is not None:
            filled[is_arc] = (file, size)
    return files


def _span(pair: tuple[object, Input]) -> tuple[object, ...]:
    return pair[1][2:4]


def _stored(length: int) -> int:
    """The most bytes that a range takes when it is compressed for the copy: it may even grow."""
    return length + length // 1000 + 64
