"""Cutting what many queries want out of chunks: equal to looking at each line for each query."""

from __future__ import annotations

import random

import pytest

from crawlmill.indexes import sweep
from crawlmill.indexes.query import Query
from crawlmill.indexes.sweep import Sweep
from crawlmill.urls.patterns import parse_pattern

WORDS = ["com,a", "com,a,b", "com,ab", "com,a:8080", "org,z"]


@pytest.mark.parametrize("worth_cutting", [1, 10**9])
@pytest.mark.parametrize("seed", range(5))
def test_what_many_queries_want_equals_brute_force(monkeypatch, seed, worth_cutting):
    monkeypatch.setattr(sweep, "_WORTH_CUTTING", worth_cutting)
    dice = random.Random(seed)
    keys = sorted(f"{dice.choice(WORDS)})/{dice.randrange(12)}" for _ in range(300))
    lines = sorted(f"{key} 202401{dice.randrange(10, 30)}000000 {{}}\n".encode() for key in keys)
    cuts = sorted(dice.sample(range(len(lines)), 5))
    chunks = [b"".join(lines[a:b]) for a, b in zip([0, *cuts], [*cuts, len(lines)], strict=True)]
    if seed == 0:
        chunks = [chunk.replace(b"\n", b"\n\n", 1) for chunk in chunks]
    queries = [Query(parse_pattern(f"{dice.choice(WORDS)})/{dice.randrange(14)}", is_key=True)) for _ in range(60)]
    queries += [
        Query(parse_pattern(f"{word})/1", match, is_key=True)) for word in WORDS for match in ("prefix", "domain")
    ]
    found = [b""] * len(queries)
    sweeping = Sweep(queries)
    for chunk in chunks:
        for number, piece in sweeping.cut(chunk):
            assert piece.endswith(b"\n")
            found[number] += piece
    for query, taken in zip(queries, found, strict=True):
        wanted = [line for line in lines if any(low <= line < high for low, high in query.ranges)]
        assert taken.replace(b"\n\n", b"\n").lstrip(b"\n") == b"".join(wanted), query.pattern
