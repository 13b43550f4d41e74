"""Which record goes into which file: from the list alone, bounded, in an order that does not depend on the list's."""

from __future__ import annotations

import random

import pytest

from crawlmill.errors import UsageError
from crawlmill.extraction.plan import parse_size, plan_files
from crawlmill.extraction.ranges import requests_of
from crawlmill.inputs.lists import Input


def ranges(*places):
    return [
        (n, Input(f"{name}\t{offset}\t{length}", f"/data/{name}", offset, length))
        for n, (name, offset, length) in enumerate(places)
    ]


def planned(inputs, size=10_000, **more):
    return [[item.given for _, item in file.inputs] for file in plan_files(inputs, size, **more)]


def test_records_are_sorted_by_file_and_offset_whatever_the_order_of_the_list():
    inputs = ranges(("b.warc.gz", 5, 10), ("a.warc.gz", 70, 10), ("a.warc.gz", 9, 10))
    wanted = [["a.warc.gz\t9\t10", "a.warc.gz\t70\t10", "b.warc.gz\t5\t10"]]
    assert planned(inputs) == wanted
    random.Random(1).shuffle(inputs)
    assert planned(inputs) == wanted


def test_files_are_sorted_by_the_names_of_the_list_not_by_where_these_lead():
    inputs = [
        (0, Input('{"filename": "b.warc.gz", "offset": 1, "length": 2}', "s3://a/b.warc.gz", 1, 2)),
        (1, Input("a.warc.gz\t1\t2", "s3://b/a.warc.gz", 1, 2)),
    ]
    assert [known for known, _ in plan_files(inputs)[0].inputs] == [1, 0]


def test_a_file_takes_what_fits_and_a_large_record_has_one_for_itself():
    inputs = ranges(*(("a.warc.gz", n * 3000, 3000) for n in range(5)), ("b.warc.gz", 0, 50_000), ("c.warc.gz", 0, 10))
    assert [len(names) for names in planned(inputs, 11_000)] == [2, 2, 1, 1, 1]


def test_arc_files_are_planned_apart_and_share_the_numbers():
    inputs = ranges(("a.arc.gz", 0, 10), ("b.warc.gz", 0, 10), ("c.arc", 0, 10), ("d.warc", 0, 10))
    files = plan_files(inputs)
    assert [[known for known, _ in file.inputs] for file in files] == [[0, 2], [1, 3]]
    assert [file.number for file in files] == [0, 1]


def test_provenance_records_have_room():
    inputs = ranges(*(("a.warc.gz", n * 100, 100) for n in range(10)))
    assert len(planned(inputs, 6000)) == 1
    assert len(planned(inputs, 6000, notes=True)) > 1


def test_a_whole_file_is_no_record_of_it():
    with pytest.raises(UsageError, match=r"whole file, not a record.*a\.warc\.gz"):
        plan_files([(0, Input("a.warc.gz", "/data/a.warc.gz"))])


@pytest.mark.parametrize(
    ("text", "size"), [("100KB", 100_000), ("1.5MB", 1_500_000), ("2GB", 2 * 10**9), ("7", 7), ("3 kb", 3000)]
)
def test_sizes_are_powers_of_1000(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "0", "0.0KB", "-1", "1KiB", "1e6", "1.2345MB"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - argparse turns it into words
        parse_size(text)


def groups(*places):
    return [[n for n, _ in group] for group in requests_of(ranges(*places))]


def test_neighbours_are_one_request_and_far_ones_are_not():
    assert groups(("a", 0, 100), ("a", 100, 100), ("a", 900, 100)) == [[0, 1, 2]]
    assert groups(("a", 0, 100), ("a", 50_000, 100), ("b", 0, 100)) == [[0], [1], [2]]


def test_gaps_together_are_a_fifth_of_what_is_wanted_at_most():
    near = [("a", n * 120_000, 100_000) for n in range(8)]
    assert groups(*near) == [list(range(8))]
    assert groups(*((name, offset, length - 30_000) for name, offset, length in near)) == [[n] for n in range(8)]


def test_ranges_that_overlap_are_requests_of_their_own():
    assert groups(("a", 0, 100), ("a", 50, 100), ("a", 150, 10)) == [[0], [1, 2]]
