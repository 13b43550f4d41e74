"""Neighbouring ranges are fetched together, each gives exactly its bytes, and nothing else changes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlmill.errors import SourceError
from crawlmill.storage import Storage
from crawlmill.storage.coalesce import CoalescingStorage, group_ranges

DATA = random.Random(1).randbytes(100_000)


class Counting:
    """A storage that notes what it is asked for."""

    def __init__(self):
        self.asked = []
        self.storage = Storage()

    def open_stream(self, location, start=0, length=None):
        self.asked.append((start, length))
        return self.storage.open_stream(location, start, length)


@pytest.fixture
def coalescing():
    """Makes storages, and closes them."""
    made = []

    def make(*arguments, **options):
        made.append(CoalescingStorage(*arguments, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(DATA)
    return str(file)


def read(storage, location, start, length, piece=7_000):
    with storage.open_stream(location, start, length) as stream:
        return b"".join(iter(lambda: stream.read(piece), b""))


@pytest.mark.parametrize(
    ("spans", "gap", "expected"),
    [
        ([(0, 100), (100, 100), (200, 50)], 0, [3]),
        ([(0, 100), (150, 100), (260, 50)], 50, [3]),
        ([(0, 100), (151, 100)], 50, [1, 1]),
        ([(0, 10), (100, 10)], 1000, [1, 1]),  # more gap than is wanted on its two sides
        ([(0, 10), (20, 10), (60, 20)], 1000, [3]),
        ([(500, 100), (0, 100)], 1000, [1, 1]),
        ([(0, 100), (50, 100)], 0, [2]),
    ],
)
def test_ranges_are_grouped_by_their_gaps(spans, gap, expected):
    assert [len(group) for group in group_ranges([("x", *span) for span in spans], gap)] == expected


def test_ranges_of_different_files_are_never_one_request():
    assert len(group_ranges([("x", 0, 10), ("y", 10, 10)], 1000)) == 2


def test_group_is_one_request_and_each_range_its_bytes(path, coalescing):
    counting = Counting()
    spans = [(1_000, 2_000), (3_000, 500), (3_600, 8_000), (90_000, 100)]
    storage = coalescing(counting, [(path, *span) for span in spans], gap=200)
    for start, length in spans:
        assert read(storage, path, start, length) == DATA[start : start + length]
    assert counting.asked == [(1_000, 10_600), (90_000, 100)]


def test_range_that_was_left_unread_does_not_disturb_the_next(path, coalescing):
    counting = Counting()
    spans = [(0, 5_000), (5_000, 5_000)]
    storage = coalescing(counting, [(path, *span) for span in spans], gap=0)
    with storage.open_stream(path, 0, 5_000) as stream:
        assert stream.read(10) == DATA[:10]
    assert read(storage, path, 5_000, 5_000) == DATA[5_000:10_000]
    assert len(counting.asked) == 1


def test_step_back_reads_through_a_request_of_its_own(path, coalescing):
    counting = Counting()
    spans = [(0, 5_000), (5_000, 5_000)]
    storage = coalescing(counting, [(path, *span) for span in spans], gap=0)
    with storage.open_stream(path, 0, 5_000) as stream:
        stream.read(3_000)
        assert stream.seek(1_000) == 1_000
        assert stream.tell() == 1_000
        assert stream.read() == DATA[1_000:5_000]
    assert read(storage, path, 5_000, 5_000) == DATA[5_000:10_000]
    assert counting.asked == [(0, 10_000), (0, 5_000)]


def test_same_or_overlapping_ranges_are_given_each_time(path, coalescing):
    counting = Counting()
    spans = [(0, 5_000), (2_000, 5_000)]
    storage = coalescing(counting, [(path, *span) for span in spans], gap=0)
    for start, length in [*spans, (0, 5_000)]:
        assert read(storage, path, start, length) == DATA[start : start + length]


def test_range_behind_the_end_of_the_file_is_cut(path, coalescing):
    storage = coalescing(Counting(), [(path, 99_000, 500), (path, 99_500, 5_000), (path, 104_500, 10)], gap=0)
    assert read(storage, path, 99_000, 500) == DATA[99_000:99_500]
    assert read(storage, path, 99_500, 5_000) == DATA[99_500:]
    assert read(storage, path, 104_500, 10) == b""


def test_missing_file_is_an_error_for_each_range(tmp_path, coalescing):
    gone = str(tmp_path / "gone")
    storage = coalescing(Storage(), [(gone, 0, 10), (gone, 10, 10)], gap=0)
    for start in (0, 10):
        with pytest.raises(SourceError):
            storage.open_stream(gone, start, 10)


def test_what_was_not_announced_is_opened_as_ever(path, coalescing):
    storage = coalescing(Counting(), [], gap=0)
    assert read(storage, path, 5, 10) == DATA[5:15]
    with storage.open_stream(path) as stream:
        assert stream.read(10) == DATA[:10]


@settings(deadline=None)
@given(
    spans=st.lists(st.tuples(st.integers(0, 99_999), st.integers(1, 3_000)), min_size=1, max_size=12),
    gap=st.integers(0, 5_000),
    piece=st.integers(1, 4_000),
)
def test_any_ranges_give_their_bytes(tmp_path_factory, spans, gap, piece):
    path = tmp_path_factory.getbasetemp() / "hypothesis-data"
    if not path.exists():
        path.write_bytes(DATA)
    storage = CoalescingStorage(Storage(), [(str(path), *span) for span in sorted(spans)], gap=gap)
    for start, length in sorted(spans):
        assert read(storage, str(path), start, length, piece) == DATA[start : start + length]
    storage.close()
