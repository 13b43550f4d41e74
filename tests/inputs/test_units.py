"""Large inputs are cut into units: together they give what the whole file gives, and have one ledger row."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from tests.builders import gzip_member, response
from tests.formats.metadata_values import FAILURE
from tests.formats.sequencefiles import block_file, plain_file
from tests.mr.helpers import rows, run_here

from crawlmill.formats.reader import Reader
from crawlmill.formats.selection import Selection
from crawlmill.inputs import readers, units
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.inputs.units import units_of
from crawlmill.ledger.row import merged
from crawlmill.mr import CrawlJob
from crawlmill.storage import Storage

RECORDS = [(b"http://a.example/%d" % n, random.Random(n).randbytes(n % 90)) for n in range(400)]
FILES = {
    "block": block_file(RECORDS),
    "none": plain_file(RECORDS),
    "record": plain_file(RECORDS, "GzipCodec"),
    "version 4": plain_file(RECORDS, version=4),
}


class Lengths(CrawlJob):
    """Give the length of each value."""

    formats = ("text_data",)

    def process(self, record):
        yield record.uri, record.content_length


def read(item):
    reading = Reading(item, Storage())
    return reading.row, [(record.offset, record.head, record.body()) for record in reading]


def read_in_units(item, size):
    """(row of the input, its records) read by units of so many bytes."""
    found, made = [], []
    for unit in units_of(item, Storage(), size):
        row, records = read(unit)
        made.append((0, row))
        found += records
    [(_, row)] = merged(made)
    return len(made), row, found


@pytest.fixture
def write(tmp_path):
    def run(data, name="x"):
        path = tmp_path / name
        if not path.exists() or path.read_bytes() != data:  # kept tasks are known by the file's time
            path.write_bytes(data)
        return Input(str(path), str(path))

    return run


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("size", [100, 1000, 5000])
def test_units_of_a_sequencefile_give_each_record_once_and_one_row(write, name, size):
    item = write(FILES[name])
    whole, records = read(item)
    count, row, found = read_in_units(item, size)
    assert 0.9 * len(FILES[name]) // size < count <= len(FILES[name]) // size
    assert found == records
    assert row.to_json() == whole.to_json()


@pytest.mark.parametrize("name", FILES)
def test_row_of_a_damaged_file_is_that_of_the_whole(write, name):
    data = bytearray(FILES[name])
    for at in (len(data) // 5, 3 * len(data) // 5):  # the lengths of a frame, behind an escape
        at = data.index(b"\xff\xff\xff\xff", at) + 20
        data[at : at + 4] = b"\x7f\xff\xff\xff"
    item = write(bytes(data[:-3]))
    whole, records = read(item)
    assert whole.lost.total() >= 2
    _, row, found = read_in_units(item, len(data) // 4)
    assert (found, row.to_json()) == (records, whole.to_json())


def test_first_records_of_the_file_decide_what_all_units_are_of(write):
    data = plain_file([(b"http://a/", FAILURE), *RECORDS])
    item = write(data)
    kinds = Selection(frozenset({"metadata"}))
    for unit in units_of(item, Storage(), 2000):
        reading = Reading(unit, Storage(), selection=kinds)
        assert {record.type for record in reading} == {"metadata"}
        assert reading.row.outcome == "ok"


def test_file_that_is_gone_when_its_units_are_read_is_one_problem(write, tmp_path):
    item = write(FILES["block"])
    cut = list(units_of(item, Storage(), 1000))
    Path(item.location).unlink()
    [(_, row)] = merged((0, read(unit)[0]) for unit in cut)
    assert (len(cut) > 3, row.outcome, dict(row.lost)) == (True, "failed", {"not-found": 1})


def test_what_cannot_be_cut_is_one_unit(write, tmp_path):
    big = FILES["none"]
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for ever
    for item in [
        write(gzip_member(response("http://e.org/", b"<p>" * 9000)) * 90, "a.warc.gz"),
        write(plain_file(RECORDS, version=1), "old"),
        write(big[:20], "small"),
        write(b"SEQ\x09" + bytes(30_000), "broken"),
        Input("x", str(tmp_path / "pipe")),
        Input("x", str(tmp_path / "missing")),
        Input("x", "http://127.0.0.1:9/x"),
        Input("x", write(big, "range").location, 0, len(big)),
    ]:
        assert list(units_of(item, Storage(), 1000)) == [item]
    assert list(units_of(write(big), Storage(), len(big) // 2 + 1)) == [write(big)]


def test_format_says_itself_where_it_can_be_cut(write, monkeypatch):
    def halves(source, size, unit_bytes):
        assert (source.read(4), unit_bytes) == (b"TOY\n", 100)
        return [(0, 150), (150, size - 150)]

    toy = Reader(("toys",), ("toy",), lambda data: data.startswith(b"TOY"), lambda *_: iter(()), units=halves)
    monkeypatch.setattr(readers, "READERS", [*readers.READERS, toy])
    monkeypatch.setattr(units, "READERS", readers.READERS)
    cut = list(units_of(write(b"TOY\n" * 100), Storage(), 100))
    assert [unit.span for unit in cut] == [(0, 150), (150, 250)]


@pytest.fixture
def run_in_units(tmp_path, write, monkeypatch):
    """Runs a job over one file; gives its end, and its ledger."""

    def run(data, unit_bytes, *options):
        monkeypatch.setattr(units, "UNIT_BYTES", unit_bytes)
        (tmp_path / "list").write_text(write(data).location + "\n")
        ended = run_here(Lengths, "-r", "inline", "--ledger", tmp_path / "ledger", *options, tmp_path / "list")
        return ended, rows(tmp_path / "ledger")

    return run


def test_job_over_units_ends_as_over_the_whole_file(run_in_units):
    for data in (FILES["block"], FILES["block"][:-7]):
        whole, ledger = run_in_units(data, 1 << 28)
        cut, ledger_of_units = run_in_units(data, 1000)
        assert whole.pairs == cut.pairs
        assert (cut.code, ledger_of_units) == (whole.code, ledger)
        assert cut.err.startswith("1 input: ")
    assert cut.code == 2


def test_input_with_several_bad_units_is_one_bad_input(run_in_units):
    data = bytearray(FILES["none"])
    for part in range(1, 5):
        at = data.index(b"\xff\xff\xff\xff", part * len(data) // 6) + 20
        data[at : at + 4] = b"\x7f\xff\xff\xff"
    ended, ledger = run_in_units(bytes(data), len(data) // 8, "--max-bad-inputs", "1")
    [row] = ledger.values()
    assert (ended.code, row["outcome"], sum(row["lost"].values())) == (2, "partial", 4)


def test_kept_tasks_of_units_are_taken_and_bad_ones_are_read_again(run_in_units, tmp_path):
    kept = tmp_path / "kept"
    first, ledger = run_in_units(FILES["block"], 1000, "--checkpoint", kept)
    places = sorted(kept.iterdir())
    again, ledger_again = run_in_units(FILES["block"], 1000, "--checkpoint", kept)
    assert (again.pairs, ledger_again) == (first.pairs, ledger)
    assert sorted(kept.iterdir()) == places
    assert len(places) > 10
    data = bytearray(FILES["block"])
    data[data.index(b"\xff\xff\xff\xff", 2000) + 25] ^= 255
    other = tmp_path / "other"
    run_in_units(bytes(data), 1000, "--checkpoint", other)
    assert len(list(other.iterdir())) == len(places) - 1


def test_inputs_per_task_keeps_files_whole(run_in_units, monkeypatch):
    monkeypatch.setattr("crawlmill.mr.launch.units_of", lambda *_: pytest.fail("cut up"))
    ended, _ = run_in_units(FILES["block"], 1000, "--inputs-per-task", "2")
    assert (ended.code, len(json.loads(json.dumps(ended.pairs)))) == (0, 400)
