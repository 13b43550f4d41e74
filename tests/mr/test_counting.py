"""Counting jobs: counters, reducers, thresholds, the largest; as functions and on small crawls."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mr.helpers import run_here

from crawlmill.errors import FormatError
from crawlmill.mr import CountJob, CrawlJob, summing
from crawlmill.mr.job.counting import PairCounter
from crawlmill.mr.task.largest import Largest
from crawlmill.mr.task.pairs import encode_key


class HostCount(CountJob):
    """Count hosts by scheme."""

    types = ("response",)

    def process(self, record):
        scheme, _, rest = record.uri.partition("://")
        if rest.startswith("bad"):
            raise FormatError("bad host", reason="bad-header")
        yield ["scheme", scheme], 1
        yield rest.split("/")[0] or None, 2


class PairsOfNumbers(CountJob):
    """Count in two columns."""

    types = ("response",)

    def mapper_final(self):
        yield "a", [1, 2]
        yield "a", [3, 4]
        yield "b", [9, 1]


class MapOnly(CrawlJob):
    """Give URIs as they come."""

    types = ("response",)

    def process(self, record):
        return [(record.uri, record.offset)]


def test_counter_adds_by_json_of_the_key():
    counter = PairCounter()
    for key, number in [("a", 1), (1, 2), (True, 3), (1.0, 4), (["a", None], 5), (("a", None), 6), (None, 7), ("a", 8)]:
        counter.add(key, number)
    assert len(counter) == 6
    assert list(counter.drain()) == [("a", 9), (1, 2), (True, 3), (1.0, 4), (["a", None], 11), (None, 7)]
    assert len(counter) == 0


@pytest.mark.parametrize(("values", "total"), [([5], 5), ([1, 2, 3], 6), ([0.5, 1], 1.5), ([[1, 2], [3, 4]], [4, 6])])
def test_summing_adds_numbers_and_columns(values, total):
    assert list(summing(None, "k", iter(values))) == [("k", total)]


def test_largest_orders_falling_then_null_first_then_by_bytes_of_the_key():
    largest = Largest(10)
    for pair in [("b", 1), ("é", 1), (None, 1), ("Z", 1), ("a", 2), (["x"], 1), ("z", [1, 9]), (5, 1)]:
        largest.add(*pair)
    assert largest.pairs() == [
        ("a", 2),
        (None, 1),
        ("Z", 1),
        ("b", 1),
        ("z", [1, 9]),
        ("é", 1),
        (5, 1),
        (["x"], 1),
    ]


@given(st.dictionaries(st.text(max_size=4), st.integers(0, 5), max_size=50), st.integers(1, 60))
def test_largest_is_the_beginning_of_all_sorted(counts, n):
    largest = Largest(n)
    for pair in counts.items():
        largest.add(*pair)
    assert largest.pairs() == sorted(counts.items(), key=lambda pair: (-pair[1], encode_key(pair[0])))[:n]


def test_largest_holds_little_more_than_it_gives():
    largest = Largest(10)
    numbers = list(range(100_000))
    random.Random(5).shuffle(numbers)
    for number in numbers:
        largest.add(str(number), number)
        assert sum(map(len, largest._rankings.values())) < 1100
    assert [value for _, value in largest.pairs()] == list(range(99_999, 99_989, -1))


def test_process_is_counted_and_a_record_that_cannot_be_taken_is_lost_whole(crawl):
    one = crawl.warc("a", "http://e.org/1", "http://bad.org/", "https://e.org/2")
    two = crawl.warc("b", "http://e.org/3", "http:///x")
    ended = run_here(HostCount, "-r", "inline", crawl.list(one, two))
    assert ended.code == 2
    assert ended.pairs == {'["scheme","http"]': 3, '["scheme","https"]': 1, '"e.org"': 6, "null": 2}
    assert "1 partial" in ended.err


@pytest.mark.parametrize("most_keys", [0, 1, 3])
def test_counts_flushed_early_come_out_the_same(crawl, monkeypatch, most_keys):
    lst = crawl.list(crawl.warc("a", *(f"http://h{n % 5}.org/" for n in range(40))))
    wanted = run_here(HostCount, "-r", "inline", lst).out
    monkeypatch.setattr(HostCount, "most_keys", most_keys)
    assert run_here(HostCount, "-r", "inline", lst).out == wanted
    assert wanted.count("\n") == 6


def test_min_count_applies_to_sums_over_all_tasks_and_before_top(crawl):
    files = [crawl.warc(f"{n}", "http://often.org/", f"http://once{n}.org/") for n in range(3)]
    lst = crawl.list(*files)
    assert run_here(HostCount, "-r", "inline", "--min-count", "6", lst).pairs == {
        '["scheme","http"]': 6,
        '"often.org"': 6,
    }
    assert run_here(HostCount, "-r", "inline", "--min-count", "99", "--top", "5", lst).out == ""
    top = run_here(HostCount, "-r", "inline", "--top", "3", lst)
    assert top.out == '"often.org"\t6\n["scheme","http"]\t6\n"once0.org"\t2\n'


def test_columns_are_summed_and_ranked_by_the_first(crawl):
    lst = crawl.list(crawl.warc("a"))
    assert run_here(PairsOfNumbers, "-r", "inline", lst).out == '"a"\t[4,6]\n"b"\t[9,1]\n'
    assert run_here(PairsOfNumbers, "-r", "inline", "--top", "1", lst).out == '"b"\t[9,1]\n'
    assert run_here(PairsOfNumbers, "-r", "inline", "--min-count", "5", lst).out == '"b"\t[9,1]\n'


def test_job_without_reducer_gives_its_pairs_in_the_order_of_tasks_and_accounts(crawl):
    files = [crawl.warc(f"{n}", f"http://e.org/{n}/a", f"http://e.org/{n}/b") for n in (2, 1)]
    ended = run_here(MapOnly, "-r", "inline", crawl.list(*files))
    assert [line.split("\t")[0] for line in ended.out.splitlines()[::2]] == ['"http://e.org/2/a"', '"http://e.org/1/a"']
    assert "2 inputs: 2 ok; 6 records" in ended.err


def test_combiner_of_a_job_is_used_and_changes_nothing(crawl):
    seen = []

    class Combined(HostCount):
        """Count, combine, sum."""

        def combiner(self, key, values):
            values = list(values)
            seen.append(len(values))
            yield key, sum(values)

    class Uncounted(CrawlJob):
        """Emit each pair, combine, sum."""

        types = ("response",)
        process = HostCount.process
        combiner = Combined.combiner
        reducer = summing

    lst = crawl.list(crawl.warc("a", *["http://e.org/"] * 5), crawl.warc("b", "http://e.org/"))
    wanted = run_here(HostCount, "-r", "inline", lst).pairs
    assert run_here(Combined, "-r", "inline", lst).pairs == wanted
    assert run_here(Uncounted, "-r", "inline", lst).pairs == wanted
    assert max(seen) == 5
