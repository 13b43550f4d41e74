"""Labelled lines: they sort as the lines do, and come back as they were."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from crawlmill.indexes.cluster.sharding import escape, escaped_lines, label_lines, shards_of, unescape

LINE = st.binary(min_size=1, max_size=12).map(lambda data: data.replace(b"\n", b"n"))
HOSTILE = st.lists(
    st.sampled_from([b"\x07", b"\x08", b"\t", b"\x0b", b"\x0c", b"\r", b"\x0e", b"\x01", b"\x02", b"a"]),
    min_size=1,
    max_size=6,
).map(b"".join)


@given(st.lists(LINE | HOSTILE, min_size=2, max_size=2))
def test_escaped_lines_sort_as_the_lines_do(lines):
    one, other = lines
    assert (one < other) == (escape(one) < escape(other))
    assert not set(b"\t\r") & set(escape(one))
    assert unescape(escape(one)) == one


@given(st.lists(LINE | HOSTILE, min_size=1, max_size=30), st.integers(0, 5), st.integers(1, 200))
def test_lines_come_back_by_shard_in_order(lines, points, size):
    bounds = sorted({escape(line) for line in lines})[:points]
    labelled = label_lines(b"".join(line + b"\n" for line in lines), bounds)
    ordered = sorted(labelled.split(b"\n")[:-1])
    chunks = [b"".join(line + b"\n" for line in ordered[at : at + size]) for at in range(0, len(ordered), size)]
    found = {
        int(label): [line for _, piece in pieces for line in piece]
        for label, pieces in groupby(shards_of(chunks), lambda pair: pair[0])
    }
    wanted: dict[int, list[bytes]] = {}
    for line in sorted(lines):
        wanted.setdefault(bisect_right(sorted(map(unescape, bounds)), line), []).append(line)
    assert found == wanted


@given(st.lists(LINE | HOSTILE, min_size=1, max_size=30), st.sets(st.integers(0, 29)))
def test_lines_that_are_asked_for_are_escaped(lines, numbers):
    found = escaped_lines(b"".join(line + b"\n" for line in lines))
    assert len(found) == len(lines)
    for number in sorted(numbers):
        if number < len(lines):
            assert [found[number], found[number]] == [escape(lines[number])] * 2
