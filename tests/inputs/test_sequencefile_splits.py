"""SequenceFiles as inputs: whole, and as splits; which bytes are asked for to find out what a range is of."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from tests import builders
from tests.formats.metadata_values import FAILURE
from tests.formats.sequencefiles import ESCAPE, SYNC, block_file, plain_file
from tests.storage.faults import FaultServer, Thing

from crawlmill.formats.selection import Selection
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.storage import Storage, StorageOptions
from crawlmill.storage.coalesce import CoalescingStorage

RECORDS = [(b"http://a.example/%d" % n, b"text %d " % n * (n % 5)) for n in range(40)]
FILES = {"block": block_file(RECORDS), "none": plain_file(RECORDS), "record": plain_file(RECORDS, "GzipCodec")}


class Asked(Storage):
    """Storage that remembers which spans were opened."""

    def __init__(self):
        super().__init__()
        self.spans = []

    def open_stream(self, location, start=0, length=None):
        self.spans.append((start, length))
        return super().open_stream(location, start, length)


def read(path, offset=None, length=None, **selected):
    """(reading, its records, the spans that were opened)."""
    storage = Asked()
    reading = Reading(Input(str(path), str(path), offset, length), storage, selection=Selection(**selected))
    return reading, list(reading), storage.spans


@pytest.fixture(params=FILES)
def file(request, tmp_path):
    path = tmp_path / "textData-00000"
    path.write_bytes(FILES[request.param])
    return path


def owner(data, at):
    """From where a split that begins at `at` owns records: Hadoop's rule."""
    end = data.index(SYNC) + 16
    if at <= end:
        return end
    found = data.find(ESCAPE, at)
    return len(data) if at + 20 >= len(data) or found < 0 else found


def test_whole_file_is_read_to_its_end(file):
    reading, records, spans = read(file)
    assert [(r.head, r.body()) for r in records] == RECORDS
    row = reading.row
    assert (row.outcome, row.format, row.records, row.bytes) == ("ok", "sequencefile", 40, file.stat().st_size)
    assert spans == [(0, None)]


@pytest.mark.parametrize("size", [1, 7, 100, 333, 10_000])
def test_splits_own_every_record_once_and_cover_their_own_bytes(file, size):
    data = file.read_bytes()
    ends = range(len(data) - 60, len(data), size)
    starts = [0, *ends] if size < 100 else range(0, len(data), size)
    found = []
    for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
        reading, records, _ = read(file, start, end - start)
        row = reading.row
        assert (row.outcome, row.format, row.records, row.bytes) == ("ok", "sequencefile", len(records), end - start)
        assert all(owner(data, start) <= r.offset for r in records)
        found += [(r.head, r.body()) for r in records]
    assert found == RECORDS


def test_split_may_begin_with_any_bytes_even_those_of_gzip(file):
    """Buffers of GzipCodec begin as an archive does; a whole member stands there, but no record is in it."""
    data = file.read_bytes()
    places = [at for at in range(len(data) - 30) if data.startswith(b"\x1f\x8b\x08", at)]
    assert places or b"Gzip" not in data
    for at in places[:6]:
        reading, records, _ = read(file, at, len(data) - at)
        assert (reading.row.outcome, reading.row.lost) == ("ok", {})
        assert all(r.offset >= owner(data, at) for r in records)


def test_range_past_the_end_is_truncated(file):
    size = file.stat().st_size
    reading, records, _ = read(file, 0, size + 1)
    assert len(records) == 40
    assert (reading.row.outcome, reading.row.lost, reading.row.bytes) == ("partial", {"truncated": 1}, size)


def test_range_of_a_warc_is_all_that_is_asked_for(tmp_path):
    parts = [builders.gzip_member(r) for r in (builders.warcinfo(), *builders.pages(2))]
    path = tmp_path / "x"
    path.write_bytes(b"".join(parts))
    at = len(b"".join(parts[:3]))
    reading, records, spans = read(path, at, len(parts[3]))
    assert (reading.row.outcome, len(records)) == ("ok", 1)
    assert spans == [(at, len(parts[3]))]


def test_damaged_range_of_a_warc_costs_a_look_at_the_beginning_of_its_file(tmp_path):
    member = bytearray(builders.gzip_member(builders.response("http://e.org/", b"x" * 100)))
    member[30] ^= 0xFF
    path = tmp_path / "x"
    path.write_bytes(builders.gzip_member(builders.warcinfo()) + member)
    start = path.stat().st_size - len(member)
    reading, records, spans = read(path, start, len(member))
    assert (records, reading.row.outcome) == ([], "failed")
    assert spans == [(start, len(member)), (0, 4)]


def test_text_that_is_a_warc_is_a_text(tmp_path):
    """A split may begin before a value that holds an archive."""
    page = b"what a record looks like:\n" + builders.response("http://e.org/", b"x")
    records = [*RECORDS[:10], (b"http://b.example/", page), *RECORDS[10:20]]
    path = tmp_path / "x"
    path.write_bytes(plain_file(records))
    at = path.read_bytes().index(page) - 10
    reading, found, _ = read(path, at, path.stat().st_size - at)
    assert (reading.row.format, reading.row.outcome) == ("sequencefile", "ok")
    assert {r.head for r in found} <= {key for key, _ in RECORDS[10:20]}


@pytest.mark.parametrize(
    ("wanted", "outcome", "records"), [("text_data", "ok", 40), ("metadata", "failed", 0), ("warc", "failed", 0)]
)
@pytest.mark.parametrize("whole", [True, False])
def test_job_that_cannot_count_a_kind_gets_nothing_of_it(file, wanted, outcome, records, whole):
    offset, length = (None, None) if whole else (0, file.stat().st_size)
    reading, found, _ = read(file, offset, length, formats=frozenset({wanted}))
    row = reading.row
    assert (row.outcome, row.format, row.records, len(found)) == (outcome, "sequencefile", records, records)
    if outcome == "failed":
        assert row.lost == {"unsupported-format": 1}
        assert row.bytes == 0
        assert f"expected {wanted}, got text_data" in row.problems[0].message


def test_metadata_is_of_its_own_kind(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(block_file([(b"http://a.example/", FAILURE)]))
    assert read(path, formats=frozenset({"metadata"}))[0].row.outcome == "ok"
    assert read(path, formats=frozenset({"text_data"}))[0].row.lost == {"unsupported-format": 1}


def test_types_choose_among_kinds_as_among_types_of_records(file):
    assert len(read(file, types=frozenset({"text_data", "conversion"}))[1]) == 40
    reading, records, _ = read(file, types=frozenset({"response"}))
    assert (records, reading.row.records) == ([], 40)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_cut_file_is_partial(file, cut):
    file.write_bytes(file.read_bytes()[:-cut])
    reading, records, _ = read(file)
    assert reading.row.outcome == "partial"
    assert reading.row.records == len(records) < 40
    assert set(reading.row.lost) == {"truncated"}


def test_whole_file_that_begins_as_a_sequencefile_and_is_none_fails(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"SEQUENCE of words")
    reading, _, _ = read(path)
    assert (reading.row.outcome, reading.row.lost) == ("failed", {"unsupported-format": 1})


def test_splits_are_read_over_one_connection_and_no_byte_many_times(tmp_path):
    records = [(b"http://a.example/%d" % n, random.Random(n).randbytes(5000)) for n in range(200)]
    data = plain_file(records)
    cuts = [0, 250_000, 500_000, 750_000, len(data)]
    with FaultServer({"/x": Thing(data)}) as web:
        spans = [(f"{web.url}/x", start, end - start) for start, end in pairwise(cuts)]
        limits = StorageOptions(max_connections_per_host=1, read_timeout_s=0.5)
        with Storage(limits, sleep=lambda _: time.sleep(0.001)) as storage:
            shared = CoalescingStorage(storage, spans)
            readings = [Reading(Input(url, url, start, length), shared) for url, start, length in spans]
            found = [(record.head, record.body()) for reading in readings for record in reading]
            shared.close()
        asked = [seen.range for seen in web.seen]
    assert [reading.row.problems for reading in readings] == [[]] * 4
    assert found == records
    assert len(asked) <= 4 * len(spans)
