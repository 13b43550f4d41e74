"""What a job gets is decided in one place: a toy selector works for every format, and for the native core."""

from __future__ import annotations

import pytest
from tests.builders import gzip_member, record, response
from tests.formats.sequencefiles import plain_file

from crawlmill.analysis.tags import TagCounter
from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading, ReadOptions
from crawlmill.storage import Storage

WARC = [response(f"http://{name}.org/", b"<p>" * size) for name, size in [("a", 1), ("b", 2), ("a", 4)]]


class OfUri:
    name = "--of"

    def __init__(self, start, formats=None):
        self.start, self.formats = start, formats

    def takes(self, found):
        return (found.uri or "").startswith(self.start)


def read(tmp_path, data, *selectors, counter=None, types=None, **options):
    path = tmp_path / "x"
    path.write_bytes(data)
    selection = Selection(types=types, selectors=selectors)
    reading = Reading(Input("x", str(path)), Storage(), ReadOptions(**options), selection)
    reading.counter = counter
    return reading, list(reading)


@pytest.mark.parametrize("options", [{}, {"heads_only": True}, {"verify": True}])
@pytest.mark.parametrize("pack", [b"".join, lambda records: b"".join(map(gzip_member, records))])
def test_deselected_records_are_read_and_counted_and_not_given(tmp_path, on_core, pack, options):
    reading, found = read(tmp_path, pack(WARC), OfUri("http://a"), **options)
    assert [each.uri for each in found] == ["http://a.org/", "http://a.org/"]
    assert (reading.row.outcome, reading.row.records) == ("ok", 3)


def test_records_must_meet_every_condition(tmp_path, on_core):
    data = b"".join(map(gzip_member, [*WARC, record("metadata", b"x", "http://a.org/", "text/plain")]))
    conditions = OfUri("http://a"), OfUri("http://a.org/")
    assert len(read(tmp_path, data, *conditions)[1]) == 3
    assert len(read(tmp_path, data, *conditions, types=frozenset({"response"}))[1]) == 2
    assert read(tmp_path, data, *conditions, OfUri("http://b"))[1] == []


def test_native_counter_counts_nothing_that_a_selector_has_not_seen(tmp_path, on_core):
    counter = TagCounter()
    data = b"".join(map(gzip_member, WARC))
    _, found = read(tmp_path, data, OfUri("http://b"), counter=getattr(counter, "native", None))
    assert (len(found), list(counter.drain())) == (1, [])
    if on_core == "native":
        _, found = read(tmp_path, data, counter=counter.native)
        assert sum(number for _, number in counter.drain()) + sum(each.body().count(b"<p>") for each in found) == 7


def test_damage_in_a_deselected_record_is_reported(tmp_path, on_core):
    members = [gzip_member(each) for each in WARC]
    members[1] = members[1][:-6] + bytes([members[1][-6] ^ 1]) + members[1][-5:]
    reading, found = read(tmp_path, b"".join(members), OfUri("http://a"))
    assert (len(found), dict(reading.row.lost)) == (2, {"bad-checksum": 1})


def test_selector_chooses_among_the_records_of_a_sequencefile(tmp_path):
    data = plain_file([(b"http://a/", b"1"), (b"http://b/", b"2")])
    reading, found = read(tmp_path, data, OfUri("http://b"))
    assert ([each.head for each in found], reading.row.records) == ([b"http://b/"], 2)


def test_format_whose_records_cannot_answer_is_unsupported_and_names_the_option(tmp_path, on_core):
    data = b"".join(map(gzip_member, WARC))
    reading, found = read(tmp_path, data, OfUri("http://a", frozenset({"wat", "wet"})))
    assert (found, reading.row.outcome, dict(reading.row.lost)) == ([], "failed", {"unsupported-format": 1})
    assert "--of: records of this format cannot answer it: expected wat or wet, got warc" in (
        reading.row.problems[0].message
    )
    assert len(read(tmp_path, data, OfUri("http://a", frozenset({"wat", "warc"})))[1]) == 2
