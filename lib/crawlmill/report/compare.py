"""Compares the results of two runs by key: what only one of them has, and where they differ most.

Both are sorted by key, in bounded memory, so that runs of any size can be compared.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from crawlmill.mr.task.pairs import encode_key
from crawlmill.report.tally import number_of
from crawlmill.sorting import sort_lines

__all__ = ["compare"]

_MEMORY: Final = 64 << 20
_HASH: Final = 1 << 64

Pairs = Iterable[tuple[Any, Any]]


def compare(here: Pairs, there: Pairs, top: int) -> dict[str, Any]:
    """`rows` ([key, here or null, there or null], the largest difference first, `top` of them, if all are counts),
    and how many keys are `only_here`, `only_there`, `equal` and `changed`.

    If a key has several values, counts are added up; other values are equal if they are the same in any order.

    Raises:
        OSError: The temporary folder is full.
    """  # noqa: D205
    counts = {"only_here": 0, "only_there": 0, "equal": 0, "changed": 0}
    rows: list[tuple[int, bool, bytes, int | None, int | None]] = []
    comparable = True
    with tempfile.TemporaryDirectory(prefix="crawlmill-") as folder:
        pairs = (line for side, found in ((b"a", here), (b"b", there)) for line in _lines(side, found))
        with sort_lines(pairs, Path(folder), _MEMORY) as lines:
            for key, group in groupby((line.rstrip(b"\n").split(b"\t") for line in lines), key=lambda parts: parts[0]):
                sides = _sides(group)
                a, b = sides.get(b"a"), sides.get(b"b")
                counts[_verdict(a, b)] += 1
                numbers = [None if side is None else side[0] for side in (a, b)]
                comparable = comparable and all(side is None or side[1] == 0 for side in (a, b))
                if comparable:
                    gap = abs((numbers[0] or 0) - (numbers[1] or 0))
                    rows.append((-gap, key != b"null", key, numbers[0], numbers[1]))
                    if len(rows) > 2 * top + 1000:
                        rows = sorted(rows, key=lambda row: row[:3])[:top]
    rows = sorted(rows, key=lambda row: row[:3])[:top] if comparable else []
    return {"rows": [[json.loads(key), a, b] for _, _, key, a, b in rows], **counts}


def _lines(side: bytes, pairs: Pairs) -> Iterator[bytes]:
    """`key TAB side TAB number TAB hash`: for a count the hash is 0, for other values the number."""
    for key, value in pairs:
        number = number_of(value)
        text = b"%d\t0" % number if number is not None else b"0\t%d" % _hash(value)
        yield b"%s\t%s\t%s\n" % (encode_key(key), side, text)


def _hash(value: Any) -> int:
    digest = hashlib.blake2b(json.dumps(value).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") | 1  # never 0, which marks counts


def _sides(lines: Iterable[list[bytes]]) -> dict[bytes, tuple[int, int]]:
    """The sums of numbers and hashes for each side that has the key."""
    sides: dict[bytes, tuple[int, int]] = {}
    for _, side, number, value in lines:
        before = sides.get(side, (0, 0))
        sides[side] = before[0] + int(number), before[1] + int(value)
    return sides


def _verdict(a: tuple[int, int] | None, b: tuple[int, int] | None) -> str:
    if a is None or b is None:
        return "only_there" if a is None else "only_here"
    return "equal" if a == b else "changed"
