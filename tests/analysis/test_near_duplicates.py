"""Near-duplicates by blocks, beside comparing all with all."""

from __future__ import annotations

import io
import json
import random
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawlmill.analysis.near_duplicates import MAX_DISTANCE, Group, blocks, group, pairs_in

ALL = (1 << 64) - 1


def signed(number):
    number &= ALL
    return number - (1 << 64) if number >> 63 else number


def distance(a, b):
    return f"{(a ^ b) & ALL:b}".count("1")


def brute(records, limit):
    """{(url, url): least distance} of all records within the limit."""
    found = {}
    for (a, number), (b, other) in combinations(records, 2):
        if a != b and number and other and distance(number, other) <= limit:
            pair = (min(a, b), max(a, b))
            found[pair] = min(found.get(pair, 64), distance(number, other))
    return found


def job(records, limit, *, max_group=1000, max_held=200_000, shuffle=None):
    """(groups, pairs as they came) of the three steps; what goes from step to step goes as JSON."""
    order = shuffle or (lambda values: values)
    by_hash = defaultdict(list)
    for url, number in records:
        if number:
            by_hash[number].append(url)
    groups, found, by_block = {}, [], defaultdict(list)
    for number, urls in by_hash.items():
        one = group(number, order(urls))
        if len(one.urls) > max_group:
            groups[number] = one.urls
            one = one.by_first()
        found += one.pairs()
        for block in blocks(number, limit):
            by_block[tuple(json.loads(json.dumps(block)))].append(json.dumps(one))
    for (index, _), values in by_block.items():
        arriving = (Group(*json.loads(value)) for value in order(values))
        found += pairs_in(index, arriving, limit, max_held=max_held, spool=io.BytesIO)
    return groups, found


@st.composite
def families(draw):
    """Records whose hashes lie a few bits around a few centres, some URLs and hashes twice."""
    centres = draw(st.lists(st.integers(0, ALL), min_size=1, max_size=3))
    flips = st.lists(st.integers(0, 63), max_size=9)
    hashes = [
        draw(st.sampled_from(centres)) ^ sum(1 << bit for bit in set(draw(flips)))
        for _ in range(draw(st.integers(0, 14)))
    ]
    return [(f"http://{draw(st.integers(0, 30))}.example/", signed(number)) for number in hashes]


@settings(derandomize=True, database=None, max_examples=250, deadline=None)
@given(families(), st.integers(0, MAX_DISTANCE), st.sampled_from([1, 2, 200_000]), st.integers(0, 99))
@example([("b", 5), ("a", 5), ("a", 4), ("c", 0), ("d", 0), ("b", 5)], 1, 1, 1)
def test_job_finds_what_comparing_all_with_all_finds(records, limit, max_held, seed):
    dice = random.Random(seed)

    def shuffle(values):
        return dice.sample(values, len(values))

    groups, found = job(records, limit, max_held=max_held, shuffle=shuffle)
    assert groups == {}
    assert all(a < b for (a, b), _ in found)
    least = {}
    for pair, bits in found:
        least[pair] = min(least.get(pair, 64), bits)
    assert least == brute(records, limit)


@settings(derandomize=True, database=None, max_examples=200, deadline=None)
@given(families(), st.integers(0, MAX_DISTANCE))
def test_two_records_are_paired_once(records, limit):
    records = [(f"{number:03}", simhash) for number, (_, simhash) in enumerate(records)]
    _, found = job(records, limit)
    assert max(Counter(pair for pair, _ in found).values(), default=1) == 1
    assert dict(found) == brute(records, limit)


@pytest.mark.parametrize("limit", range(MAX_DISTANCE + 1))
def test_every_choice_of_differing_bits_leaves_a_block_in_common(limit):
    dice = random.Random(limit)
    for _ in range(300):
        number = dice.getrandbits(64)
        other = number ^ sum(1 << bit for bit in dice.sample(range(64), limit))
        assert set(blocks(number, limit)) & set(blocks(signed(other), limit))


@pytest.mark.parametrize(
    ("limit", "count", "bits"),
    [(0, 1, 64), (1, 3, 43), (2, 6, 32), (3, 10, 26), (4, 15, 21), (5, 21, 18), (6, 28, 16), (7, 36, 14)],
)
def test_blocks_are_as_many_and_as_narrow_as_documented(limit, count, bits):
    every = list(blocks(-1, limit))
    assert [index for index, _ in every] == list(range(count))
    assert round(sum(content.bit_length() for _, content in every) / count) == bits
    assert all(content & (content + 1) == 0 for _, content in every)  # of all ones, no bit is left out between
    assert [content for _, content in blocks(0, limit)] == [0] * count


def test_each_bit_is_in_as_many_blocks_as_its_chunk():
    for limit in range(1, MAX_DISTANCE + 1):
        for bit in range(64):
            assert sum(content > 0 for _, content in blocks(1 << bit, limit)) == limit + 1


@pytest.mark.parametrize("limit", [-1, MAX_DISTANCE + 1])
def test_distance_out_of_range_is_an_error(limit):
    with pytest.raises(ValueError, match="expected 0 to 7 bits"):
        blocks(1, limit)


def test_group_has_its_urls_once_and_in_order():
    one = group(-7, iter(["b", "a", "c", "a"]))
    assert one == Group(-7, ["a", "b", "c"])
    assert list(one.pairs()) == [(("a", "b"), 0), (("a", "c"), 0), (("b", "c"), 0)]
    assert one.by_first() == Group(-7, ["a"])
    assert list(one.by_first().pairs()) == []


def test_large_group_is_paired_through_its_first_url():
    records = [*((f"m{n:04}", 0xF0) for n in range(40)), ("x", 0xF1), ("y", 0xF1), ("far", 0xFFFF00000000)]
    groups, found = job(records, 3, max_group=39)
    assert groups == {0xF0: [f"m{n:04}" for n in range(40)]}
    assert sorted(found) == [(("m0000", "x"), 1), (("m0000", "y"), 1), (("x", "y"), 0)]
    groups, found = job(records, 3, max_group=40)
    assert (groups, len(found)) == ({}, 40 * 39 // 2 + 80 + 1)


def test_equal_urls_are_no_pair():
    assert job([("a", 1), ("a", 3), ("a", 1)], 3) == ({}, [])


def test_what_is_not_held_waits_in_a_file_and_the_file_is_closed():
    files = []

    def spool():
        files.append(io.BytesIO())
        return files[-1]

    groups = [Group(1 << 60 | n, [f"http://{n}.example/\ud800\n"]) for n in range(9)]
    found = sorted(pairs_in(0, groups, 7, max_held=2, spool=spool))
    assert found == sorted(pairs_in(0, groups, 7))
    assert [file.closed for file in files] == [True] * 4
    assert len(found) <= len(list(combinations(groups, 2)))


def test_many_hashes_in_one_block_are_not_compared_all_with_all():
    dice = random.Random(5)
    groups = [Group(dice.getrandbits(38) << 26, [str(n)]) for n in range(3000)]  # alike in chunks 0 and 1
    compared = [0]

    class Counting(int):
        def __xor__(self, other):
            compared[0] += 1
            return int(self) ^ int(other)

    list(pairs_in(0, [Group(Counting(number), urls) for number, urls in groups], 3))
    assert compared[0] < 3000 * 2999 / 2 / 50
