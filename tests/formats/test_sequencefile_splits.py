"""Splits of SequenceFiles: Hadoop's ownership rule, by Hadoop's own figures and by what must always hold."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.sequencefiles import (
    ESCAPE,
    KINDS,
    block_file,
    header_end,
    items,
    pairs,
    plain_file,
    read,
)
from tests.formats.test_sequencefile import digest, entries, manifest, stored


@pytest.mark.parametrize("entry", entries("files"))
def test_split_owns_what_hadoop_gives_it(entry):
    data = stored(entry)
    wanted = [record["d"] for record in manifest()["recordsets"].get(entry["recordset"], [])]
    for splits in entry.get("splits", {}).values():
        assert sum(count for *_, count in splits) == entry["count"]
        for start, length, first, count in splits:
            for known in (True, False):
                records, problems = read(data, known=known, start=start, end=start + length)
                assert [digest(record) for record in records] == (wanted[first : first + count] if count else [])
                assert [record.index for record in records] == list(range(count))
                assert problems == []


RECORDS = [(b"http://s.example/%d" % n, b"text %d " % n * (n % 9 + 1)) for n in range(60)]
FILES = {
    "none": plain_file(RECORDS, interval=300),
    "record": plain_file(RECORDS, "GzipCodec", interval=300),
    "block": block_file(RECORDS, each=7),
    "no escapes": plain_file(RECORDS, interval=10**9),
    "version 1": plain_file(RECORDS, version=1),
    "empty": block_file([]),
}


@pytest.mark.parametrize("name", ["none", "record", "block", "no escapes"])
def test_split_follows_the_rule_at_every_offset(name):
    data = FILES[name]
    begin, size = header_end(data), len(data)
    starts = [item.offset for item in items(data, begin, blocks=name == "block") for _ in range(item.records)]

    def first_owned(x: int) -> int:
        """A(x), by the words of the rule."""
        if x <= begin:
            return begin
        found = data.find(ESCAPE, x) if x + 20 < size else -1
        return found if found >= 0 else size

    for start in range(0, size, 13):
        end = min(start + 777, size)
        owned = [pair for pair, at in zip(RECORDS, starts, strict=True) if first_owned(start) <= at < first_owned(end)]
        assert pairs(read(data, start=start, end=end)[0]) == owned


@pytest.mark.parametrize("name", FILES)
@given(cuts=st.lists(st.integers(0, 4000), max_size=6))
@settings(deadline=None, max_examples=40)
def test_splits_of_any_size_give_each_record_once(name, cuts):
    data = FILES[name]
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found = []
    for start, end in pairwise(places):
        records, problems = read(data, start=start, end=end)
        assert problems == []
        found += pairs(records)
    assert found == ([] if name == "empty" else RECORDS)


@pytest.mark.parametrize("name", ["none", "record", "block"])
@given(data=st.data())
@settings(deadline=None, max_examples=120)
def test_splits_of_a_damaged_file_report_each_damage_once(name, data):
    sound = FILES[name]
    at = data.draw(st.integers(header_end(sound), len(sound) - 30))
    hole = data.draw(st.binary(min_size=1, max_size=30))
    damaged = sound[:at] + hole + sound[at + len(hole) :]
    damaged = damaged[: len(damaged) - data.draw(st.sampled_from([0, 0, 1, 25, 500]))]
    cuts = data.draw(st.lists(st.integers(0, len(damaged)), max_size=4))
    whole, problems = read(damaged)
    places = sorted({0, len(damaged), *cuts})
    parts = [read(damaged, start=start, end=end) for start, end in pairwise(places)]
    assert [pair for records, _ in parts for pair in pairs(records)] == pairs(whole)
    said = [(problem.reason, problem.offset) for _, found in parts for problem in found]
    assert said == [(problem.reason, problem.offset) for problem in problems]


def test_length_one_too_large_before_an_escape_loses_no_record_behind_it():
    sound = bytearray(FILES["record"])
    starts = [item.offset for item in items(bytes(sound), header_end(sound), blocks=False)]
    last = max(start for start in starts if start < sound.index(ESCAPE, header_end(sound)))
    sound[last + 3] += 1
    records, problems = read(bytes(sound))
    number = starts.index(last)
    assert pairs(records) == RECORDS[:number] + RECORDS[number + 1 :]
    assert [problem.offset for problem in problems] == [last]


def test_version_1_belongs_to_the_split_that_holds_its_header():
    data = FILES["version 1"]
    assert len(read(data, start=0, end=500)[0]) == 60
    assert read(data, start=500, end=len(data)) == ([], [])
    assert read(data, start=0, end=20) == ([], [])


def test_split_reads_no_further_than_the_first_escape_behind_it():
    data = KINDS["block GzipCodec"]
    second, third = [item.offset for item in items(data, header_end(data), blocks=True)][1:3]
    records, problems = read(data[: third + 20] + b"garbage", start=second, end=third)
    assert (len(records), problems) == (4, [])
