"""Cutting what many queries want out of chunks: equal to looking at each line for each query."""

from __future__ import annotations

import random

import pytest

from crawlmill.indexes import sweep
from crawlmill.indexes.cluster.key_sweep import KeySweep
from crawlmill.indexes.query import Query
from crawlmill.indexes.sweep import Sweep
from crawlmill.urls.patterns import keys_of_urls, parse_pattern

WORDS = ["com,a", "com,a,b", "com,ab", "com,a:8080", "org,z"]


def sorted_chunks(dice, *, blank):
    """Sorted lines, and the same in chunks, perhaps with blank lines."""
    keys = sorted(f"{dice.choice(WORDS)})/{dice.randrange(12)}" for _ in range(300))
    lines = sorted(f"{key} 202401{dice.randrange(10, 30)}000000 {{}}\n".encode() for key in keys)
    cuts = sorted(dice.sample(range(len(lines)), 5))
    chunks = [b"".join(lines[a:b]) for a, b in zip([0, *cuts], [*cuts, len(lines)], strict=True)]
    return lines, [chunk.replace(b"\n", b"\n\n", 1) for chunk in chunks] if blank else chunks


@pytest.mark.parametrize("wanted", [5, 60])
@pytest.mark.parametrize("seed", range(5))
def test_single_keys_have_their_lines_whatever_their_order(seed, wanted):
    dice = random.Random(seed)
    lines, chunks = sorted_chunks(dice, blank=seed == 0)
    keys = [f"{dice.choice(WORDS)})/{dice.randrange(14)}".encode() for _ in range(wanted)]
    found = [b""] * wanted
    sweeping = KeySweep(keys)
    for chunk in chunks:
        together, parts = sweeping.cut(chunk)
        assert sum(size for _, _, size in parts) == len(together)
        for number, count, size in parts:
            part, together = together[:size], together[size:]
            assert count == len(part.splitlines())
            found[number] += part
    for key, taken in zip(keys, found, strict=True):
        assert taken == b"".join(line for line in lines if line.split(b" ")[0] == key), key


def test_usual_urls_of_long_lists_have_the_keys_of_patterns():
    """What is left to `parse_pattern` is None; nothing else may be."""
    plain = ["http://www.Example.com:80/A/../b/?y=2&x=1#top", "https://10.0.0.1/", "https://example.org/a%20b"]
    other = [
        "example.com",
        "http://example.com/*",
        "*.example.com",
        " http://e.org/",
        "HTTP:/e",
        "http://example.com/\thost",
        "http://\udcff.org/",
        "",
        "http://e.org/\n",
    ]
    keys = keys_of_urls([*plain, *other])
    assert keys == [*(parse_pattern(each).key for each in plain), *[None] * len(other)]


@pytest.mark.parametrize("worth_cutting", [1, 10**9])
@pytest.mark.parametrize("seed", range(5))
def test_what_many_queries_want_equals_brute_force(monkeypatch, seed, worth_cutting):
    monkeypatch.setattr(sweep, "_WORTH_CUTTING", worth_cutting)
    dice = random.Random(seed)
    lines, chunks = sorted_chunks(dice, blank=seed == 0)
    queries = [Query(parse_pattern(f"{dice.choice(WORDS)})/{dice.randrange(14)}", is_key=True)) for _ in range(60)]
    queries += [
        Query(parse_pattern(f"{word})/1", match, is_key=True)) for word in WORDS for match in ("prefix", "domain")
    ]
    found = [b""] * len(queries)
    sweeping = Sweep.of(queries)
    for chunk in chunks:
        for number, piece in sweeping.cut(chunk):
            assert piece.endswith(b"\n")
            found[number] += piece
    for query, taken in zip(queries, found, strict=True):
        wanted = [line for line in lines if any(low <= line < high for low, high in query.ranges)]
        assert taken.replace(b"\n\n", b"\n").lstrip(b"\n") == b"".join(wanted), query.pattern
