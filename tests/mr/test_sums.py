"""Sums over lines: the same, with either core, as decoding, grouping and adding each pair; hostile keys and values."""

from __future__ import annotations

import io
import json
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mr.helpers import SCRIPTS, run, run_here
from tests.mr.scripts.hostile import KEYS as KEYS_COUNTED
from tests.mr.scripts.hostile import WIDE, WIDE_TIMES, Combined, Hostile
from tests.mr.test_engines import engine  # noqa: F401 - a fixture

from crawlmill.analysis.servers import ServerCounter
from crawlmill.analysis.tags import TagCounter
from crawlmill.analysis.words import WordCounter
from crawlmill.ledger.row import LedgerRow
from crawlmill.mr import CountJob, summing
from crawlmill.mr.task.pairs import decode_pair, encode_key, encode_pair
from crawlmill.mr.task.rows import row_pair
from crawlmill.mr.task.sums import Choice, sum_lines

KEYS = st.one_of(
    st.text(max_size=4),
    st.sampled_from(["a", "a ", "a!", "\t", "\n", "\r", "\\ud", "\\", '"', "\x7f", "é", "\u2028", "x" * 10_000]),
    st.sampled_from(["\ud800", "\ud83d\ude00", "\U0001f600", "a\udfff", "\0", "\0ledger", "null"]),
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([1.0, 1.5, -0.0, 10**25]),
    st.lists(st.text(max_size=2), max_size=2),
    st.dictionaries(st.sampled_from("ba"), st.integers(0, 1)),
)
SMALL = st.one_of(
    st.integers(0, 9),
    st.integers(-5, 10**18 + 5),
    st.sampled_from([10**17, 10**18 - 1, 10**18, 2**63, 2**64, -(2**63), 10**30]),
)
NUMBERS = st.one_of(SMALL, st.floats(-100, 100).filter(lambda n: n == n), st.booleans())
VALUES = st.one_of(
    st.lists(NUMBERS, min_size=1, max_size=5),
    st.lists(st.lists(SMALL, min_size=2, max_size=2), min_size=1, max_size=4),
    st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=3),
)
many = settings(max_examples=400, deadline=None)


def lines_of(groups) -> list[bytes]:
    """Sorted lines; groups whose keys have one JSON would mix kinds of values."""
    by_key = {encode_key(key): (key, values) for key, values in groups}
    return sorted(encode_pair(key, value) for key, values in by_key.values() for value in values)


def summed_pair_by_pair(lines, choice):
    """All pairs decoded, those with the same bytes as key grouped, summed and written."""
    found = []
    for _, group in groupby(lines, lambda line: line.partition(b"\t")[0]):
        pairs = [decode_pair(line) for line in group]
        found += summing(None, pairs[0][0], iter([value for _, value in pairs]))

    def number(pair):
        return pair[1][0] if isinstance(pair[1], list) else pair[1]

    if choice.least is not None:
        found = [pair for pair in found if number(pair) >= choice.least]
    if choice.most is None:
        return [encode_pair(*pair) for pair in found]
    found.sort(key=lambda pair: (-number(pair), pair[0] is not None, encode_key(pair[0])))
    return [encode_pair(None, pair) for pair in found[: choice.most]]


@many
@given(
    groups=st.lists(st.tuples(KEYS, VALUES), max_size=8),
    cut=st.sampled_from([1, 7, 1 << 20]),
    choice=st.builds(Choice, st.sampled_from([None, 1, 5]), st.sampled_from([None, 1, 3, 1000])),
)
def test_sums_are_those_of_every_pair_decoded(groups, cut, choice):
    lines = lines_of(groups)
    text = b"".join(line + b"\n" for line in lines)
    chunks = [text[at : at + cut] for at in range(0, len(text), cut)]
    found = b"".join(sum_lines(chunks, choice))
    assert found.split(b"\n")[:-1] == summed_pair_by_pair(lines, choice)


def test_keys_are_one_if_their_bytes_are():
    lines = [b"1\t1\n", b"1\t1\n", b"1.0\t2\n", b"12\t4\n", b"true\t8\n"]
    assert b"".join(sum_lines(lines, Choice())) == b"1\t2\n1.0\t2\n12\t4\ntrue\t8\n"


def test_rows_are_set_aside_and_nothing_else():
    rows = []
    lines = [
        b'"\\u0000ledger:000000000000"\t{"input":"x"}\n',
        b'"\\u0000ledges"\t1\n',
        b'"\\u0000ledges"\t1\n',
        b'"a"\t2\n',
    ]
    assert b"".join(sum_lines(lines, Choice(), rows.append)) == b'"\\u0000ledges"\t2\n"a"\t2\n'
    assert rows == [("\0ledger:000000000000", {"input": "x"})]


def test_many_odd_values_of_a_key_are_not_held():
    line = b'"a"\t0.5\n' * 10_000
    given_out = 0

    def chunks():
        nonlocal given_out
        for _ in range(200):
            given_out += 1
            yield line

    assert b"".join(sum_lines(chunks(), Choice())) == b'"a"\t1000000.0\n'
    assert given_out == 200


@pytest.mark.parametrize(
    "line", [b"no tab\n", b'"a"\t01\n', b"\n", b'"a"\t\n', b'"a"\t"x"\n"a"\t1\n', b'"a"\t[1,2]\n"a"\t1\n']
)
def test_line_that_is_no_pair_of_numbers_is_an_error(line):
    with pytest.raises((ValueError, TypeError)):
        list(sum_lines([line], Choice()))


def test_counters_write_lines_with_the_bytes_of_their_pairs():
    names = ['a"b', "a\\", "\x01\x1f\x7f", "é", "\u2028", "x" * 3000, "\U0001f600"]
    tags, words, both, servers = TagCounter(), WordCounter(), WordCounter(True), ServerCounter()

    def fill():
        tags.add("".join(f"<x{name}><x{name}>" for name in names).encode())
        for text in ("Wört wört _1 漢字 " + "y" * 17 + " " + "z" * 16, "wört"):
            words.add(text)
            both.add(text)
        servers.add([*names, None])

    for counter in (tags, words, both, servers):
        fill()
        wanted = sorted(encode_pair(*pair) + b"\n" for pair in counter.drain())
        for other in (tags, words, both, servers):
            dict(other.drain())
        fill()
        lines = b"".join(counter.drain_lines()).splitlines(keepends=True)
        lines += [encode_pair(*pair) + b"\n" for pair in counter.drain()]
        assert sorted(lines) == wanted
        for other in (tags, words, both, servers):
            dict(other.drain())


class OwnEnd(Hostile):
    """Its own mapper_final sees pairs."""

    def mapper_final(self):
        for key, number in super().mapper_final():
            yield key, 2 * number


def hostile_lists(crawl):
    """Three files with two records each, and what is counted of them, by the JSON of the key."""
    lst = crawl.list(*(crawl.warc(f"{n}", "http://e.org/1", "http://e.org/2") for n in range(3)))
    totals = {encode_key(key): 6 * (n + 1) for n, key in enumerate(KEYS_COUNTED)}
    return lst, {**totals, b'"big"': 6 * 10**20, b'"half"': 3.0, b'"wide"': 6 * WIDE_TIMES * WIDE}


@pytest.mark.parametrize("options", [(), ("--min-count", "20"), ("--top", "5"), ("--top", "3", "--min-count", "7")])
@pytest.mark.parametrize("most_keys", [2, 500_000])
def test_jobs_count_hostile_keys(crawl, monkeypatch, options, most_keys):
    monkeypatch.setattr(CountJob, "most_keys", most_keys)
    lst, totals = hostile_lists(crawl)
    if "--min-count" in options:
        least = int(options[options.index("--min-count") + 1])
        totals = {key: number for key, number in totals.items() if number >= least}
    order = sorted(totals)
    if "--top" in options:
        order = sorted(totals, key=lambda key: (-totals[key], key != b"null", key))[: int(options[1])]
    wanted = b"".join(b"%b\t%b\n" % (key, json.dumps(totals[key]).encode()) for key in order)
    out = run_here(Hostile, "-r", "inline", *options, "-D", "mapreduce.job.reduces=1", lst).out
    assert out.encode() == wanted
    if not options:
        assert run_here(Combined, "-r", "inline", "-D", "mapreduce.job.reduces=1", lst).out.encode() == wanted
        twice = run_here(OwnEnd, "-r", "inline", "-D", "mapreduce.job.reduces=1", lst).pairs
        if most_keys > 2:
            assert twice['"a"'] == 2 * totals[b'"a"']


@pytest.mark.parametrize("job", [Hostile, Combined])
def test_every_way_of_running_counts_hostile_keys_alike(crawl, engine, job):  # noqa: F811
    lst, totals = hostile_lists(crawl)
    wanted = sorted(b"%b\t%b" % (key, json.dumps(number).encode()) for key, number in totals.items())
    ways = [run_here(job, "-r", "inline", lst)]
    ways.append(run_here(job, "-r", "emr", lst))  # the stand-in, which hands on lines as streaming does
    if job is Hostile:
        ways.append(run(SCRIPTS / "hostile.py", "-r", "local", "--num-cores", "2", "--no-progress", lst))
    for ended in ways:
        assert ended.code == 0, ended.err
        assert sorted(ended.out.encode().split(b"\n")[:-1]) == wanted


def test_combiner_leaves_rows_where_they_stand_so_that_merged_outputs_stay_sorted():
    row = encode_pair(*row_pair(0, LedgerRow("x", "x")))
    lines = sorted([b'"Z"\t1\n', b'"a"\t1\n', b'"a"\t2\n', row + b"\n", b'"z"\t1\n'])
    combined = io.BytesIO()
    job = Combined(["--combiner", "--step-num=0"])
    job.sandbox(stdin=io.BytesIO(b"".join(lines)), stdout=combined)
    job.run_combiner()
    found = combined.getvalue().splitlines(keepends=True)
    assert found == sorted(found)
    assert found == [b'"Z"\t1\n', row + b"\n", b'"a"\t3\n', b'"z"\t1\n']
