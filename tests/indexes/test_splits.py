"""Samples of lines, and the split points they lead to."""

from __future__ import annotations

import random
from bisect import bisect_right
from itertools import groupby

import pytest

from crawlmill.indexes.cluster.splits import MAX_SPLIT, Sampler, number_of_shards, sample_size, split_points


def sampled(lines, most, piece=100):
    sampler = Sampler(most)
    for at in range(0, len(lines), piece):
        sampler.add(lines[at : at + piece])
    return sampler


def splits_of(inputs, shards, most=None):
    """The split points of these inputs, and the lines that each shard holds."""
    most = most or sample_size(shards, len(inputs))
    samples = [sampled(lines, most) for lines in inputs]
    merged = sorted(pair for sampler in samples for pair in sampler.sample())
    points = list(split_points(merged, sum(weight for _, weight in merged), shards))
    every = sorted(line for lines in inputs for line in lines)
    return points, [len(list(group)) for _, group in groupby(every, lambda line: bisect_right(points, line))]


def numbered(count, start=0):
    return [b"com,example)/%08d 20240101000000 {}" % n for n in range(start, start + count)]


def test_sample_that_has_room_takes_every_line():
    assert list(sampled(numbered(500), 500).sample()) == [(line, 1) for line in numbered(500)]


@pytest.mark.parametrize("count", [501, 1000, 1001, 4096, 33_333])
@pytest.mark.parametrize("piece", [1, 7, 5000])
def test_sample_has_one_line_of_each_block(count, piece):
    sampler = sampled(numbered(count), 500, piece)
    places = [int(line[13:21]) for line, _ in sampler.sample()]
    assert sampler.lines == count
    assert sampler.weight * 250 < count <= sampler.weight * 501
    blocks = [place // sampler.weight for place in places]
    assert blocks == list(range(len(blocks)))
    assert count // sampler.weight <= len(places) <= count // sampler.weight + 1


def test_sample_does_not_depend_on_the_pieces_it_is_given():
    lines = numbered(10_000)
    assert {tuple(sampled(lines, 500, piece).sample()) for piece in (1, 3, 1000, 10_000)} == {
        tuple(sampled(lines, 500, 64).sample())
    }


def test_place_within_a_block_is_even():
    # 64 lines to a block: over many inputs, each place is about as often taken as the others.
    sampler = sampled(numbered(640_000), 12_000)
    assert sampler.weight == 64
    places = [int(line[13:21]) % 64 for line, _ in sampler.sample()]
    halves = sum(place < 32 for place in places) / len(places)
    assert 0.48 < halves < 0.52
    assert len(set(places)) == 64


def test_long_line_is_sampled_by_its_first_bytes():
    assert list(sampled([b"x" * 5000], 10).sample()) == [(b"x" * MAX_SPLIT, 1)]


def slices(lines, count):
    size = -(-len(lines) // count)
    return [lines[at : at + size] for at in range(0, len(lines), size)]


def shuffled(lines):
    return random.Random(7).sample(lines, len(lines))


MIXTURES = {
    "sorted slices": slices(numbered(60_000), 12),
    "one sorted file": [numbered(60_000)],
    "one file backwards": [numbered(60_000)[::-1]],
    "giant last": [*slices(numbered(2_000), 100), numbered(58_000, 2_000)],
    "giant first, shuffled": [shuffled(numbered(58_000, 2_000)), *slices(numbered(2_000), 100)],
    "alternating": [[line for pair in zip(numbered(30_000), numbered(30_000, 30_000), strict=True) for line in pair]],
}


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize("shards", [1, 2, 7, 40])
def test_shards_are_balanced(mixture, shards):
    points, sizes = splits_of(MIXTURES[mixture], shards)
    assert points == sorted(set(points))
    assert len(sizes) == shards
    assert max(sizes) <= 1.3 * 60_000 / shards


@pytest.mark.parametrize(
    ("lines", "shards", "sizes"),
    [
        ([], 3, []),
        ([b"a"], 7, [1]),
        ([b"a", b"b", b"c", b"d", b"e"], 7, [1, 1, 1, 1, 1]),
        ([b"a"] * 6, 3, [6]),
        ([b"a"] * 50 + [b"b"], 2, [50, 1]),
        ([b"a"] + [b"b"] * 50, 2, [1, 50]),
        ([b"a", b"a", b"b", b"b"], 2, [2, 2]),
        ([b"a"] * 10 + [b"b"] * 80 + [b"c"] * 10, 4, [10, 80, 10]),
    ],
)
def test_few_lines_give_fewer_shards_and_no_empty_one(lines, shards, sizes):
    points, found = splits_of([lines], shards)
    assert found == sizes
    assert len(points) == max(len(sizes) - 1, 0)


@pytest.mark.parametrize(("lines", "shards"), [(0, 1), (1, 1), (3_000_000, 1), (3_000_001, 2), (10_000_000, 4)])
def test_number_of_shards_by_default(lines, shards):
    assert number_of_shards(lines) == shards


@pytest.mark.parametrize(
    ("shards", "inputs", "size"),
    [(None, 5, None), (2, 5, 2_000), (300, 5, 60_000), (300, 90_000, 500), (300, 1000, 20_000)],
)
def test_size_of_a_sample(shards, inputs, size):
    assert sample_size(shards, inputs) == size
