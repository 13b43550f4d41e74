"""Ledger rows on engines: as pairs through map, sort, combine and reduce, set aside into files; with no launcher at all."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.native.cores import using

from crawlmill import core
from crawlmill.errors import CrawlmillError, Problem
from crawlmill.inputs.lists import Input
from crawlmill.ledger.row import LedgerRow, WrittenRows, complete, merged
from crawlmill.ledger.summary import Summary
from crawlmill.mr.engines.run_folder import listed_files
from crawlmill.mr.job.base import CrawlJob, summing
from crawlmill.mr.task.pairs import encode_pair, encode_value
from crawlmill.mr.task.rows import (
    TaskRows,
    decode_row,
    encode_row,
    row_pair,
    take_row,
    take_rows,
    without_rows,
)
from crawlmill.mr.task.settings import TaskSettings
from crawlmill.mr.task.task_list import encode_task
from crawlmill.storage import Storage, StorageOptions


class UriCount(CrawlJob):
    """Count URIs."""

    types = ("response",)

    def process(self, record):
        yield record.uri, 1

    reducer = combiner = summing


class UriList(CrawlJob):
    """List URIs."""

    types = ("response",)
    process = UriCount.process


def step(job, kind, lines, *args):
    made = job([f"--{kind}", *args])
    made.sandbox(stdin=iter(lines), stdout=io.BytesIO(), stderr=io.BytesIO())
    made.execute()
    return made.stdout.getvalue().splitlines(keepends=True), made.stderr.getvalue()


@pytest.fixture
def tasks(crawl):
    paths = [
        crawl.warc("b.warc.gz", "http://e.org/1", "http://e.org/2"),
        crawl.folder / "gone",
        crawl.warc("a", "http://e.org/1"),
    ]
    return [encode_task([(rank, Input(str(path), str(path)))]) + b"\n" for rank, path in enumerate(paths)]


def ledger_of(folder):
    files = listed_files(Storage(), str(folder))
    assert {file.name for file in files} == {"_rows"}
    lines = sorted(line for file in files for line in Path(file.place).read_bytes().splitlines())
    return [(rank, row.outcome, row.records) for rank, row in map(decode_row, lines)]


WANTED = [(0, "ok", 3), (1, "failed", 0), (2, "ok", 2)]


@pytest.mark.parametrize("prefix", [b"", b"1234\t"])
def test_rows_pass_map_combine_and_reduce_and_are_set_aside_by_the_reducer(tmp_path, tasks, prefix, monkeypatch):
    folder = tmp_path / "ledger"
    mapped = []
    for line in tasks:
        lines, stderr = step(UriCount, "mapper", [prefix + line])
        assert b"reporter:counter:crawlmill,inputs,1" in stderr
        combined, _ = step(UriCount, "combiner", sorted(lines))
        mapped += combined
    mapped.sort()
    reduced = []
    for number in (0, 1):
        monkeypatch.setenv("mapreduce_task_partition", str(number))
        part = [line for line in mapped if hash_of(line) % 2 == number]
        reduced += step(UriCount, "reducer", part, TaskSettings(StorageOptions(), str(folder)).argument())[0]
    assert sorted(reduced) == [b'"http://e.org/1"\t2\n', b'"http://e.org/2"\t1\n']
    assert ledger_of(folder) == WANTED


def hash_of(line):
    return sum(line.partition(b"\t")[0])


def test_rows_of_a_job_without_reducer_are_set_aside_by_each_map_task_and_again_by_another_attempt(
    tmp_path, tasks, monkeypatch
):
    folder = tmp_path / "ledger"
    for number, line in enumerate(tasks * 2):
        monkeypatch.setenv("mapreduce_task_partition", str(number % 3))
        lines, _ = step(UriList, "mapper", [line], TaskSettings(StorageOptions(), str(folder)).argument())
        assert not any(b"ledger" in line for line in lines)
    assert ledger_of(folder) == WANTED


def test_lines_of_rows_are_sorted_by_rank_whatever_their_names():
    rows = [(rank, LedgerRow.of(Input(name, name))) for rank, name in ((10, "a"), (9, 'q"\t\\'), (1000, "A"))]
    found = map(decode_row, sorted(encode_row(*row) for row in rows))
    assert list(found) == sorted(rows, key=lambda row: row[0])


def test_lines_of_units_are_sorted_by_number_and_keep_it():
    rows = [(3, LedgerRow("x", "x", unit=(number, 20))) for number in (10, 9, 0)] + [(2, LedgerRow("a", "a"))]
    found = map(decode_row, sorted(encode_row(*row) for row in rows))
    assert [(rank, row.unit) for rank, row in found] == [(2, None), (3, (0, 20)), (3, (9, 20)), (3, (10, 20))]


def test_pairs_that_only_look_like_rows_are_left_alone():
    aside = []
    pairs = [("ledger:", 1), ("\0", 2), (None, 3), (["\0ledger:000000000001"], 4), row_pair(1, LedgerRow("x", "x"))]
    assert list(without_rows(pairs, aside.append)) == pairs[:4]
    assert aside == pairs[4:]


ODD = 'a\t"\\ , \udcff \u2028 ,"outcome":"ok","records":9,"lost":{}'


@pytest.mark.parametrize(
    "row",
    [
        LedgerRow("x", "x"),
        LedgerRow(ODD, ODD, format="cluster", records=3, bytes=10**12, verified=False),
        LedgerRow("x", "x", unicode="1.2.3", core="python"),
        LedgerRow("x", "https://user:secret@example.com/x?token=1"),
        LedgerRow("x", "x", 5, 7, "warc"),
        LedgerRow("x", "x", 5),
        LedgerRow("x", "s3://bucket/x?y", 0, 7, "warc", 1, 7),
        LedgerRow("x", "x", unit=(3, 20)),
    ],
)
def test_rows_are_written_and_taken_as_their_pairs_are(row):
    line = encode_row(12, row)
    assert line == encode_pair(*row_pair(12, row)) + b"\n"
    rank, taken = take_row(line)
    assert rank == 12
    assert (taken.records, taken.bytes, taken.unit, taken.input) == (row.records, row.bytes, row.unit, row.input)
    if isinstance(taken, WrittenRows):
        assert taken.lines == encode_value(row.to_json()) + b"\n"
        assert row.unit is None


CORES = ["python", *(["native"] if core.native() else [])]


def many_rows():
    """A task's rows: usual ones, one with a loss, one of a unit, one of a range, one at a secret location."""
    inputs = [[rank, f"{ODD} {rank}", "/x/\u00e9.idx", None, None] for rank in (3, 4, 5, 6, 8, 7, 9)]
    inputs[3][1] = "plain \u00e4\x00\x1f\x7f"
    inputs[4] += [2, 3, 0, 9]
    inputs[5][3:] = [5, 6]
    inputs[6][2] = "https://user:secret@example.com/x"
    inputs = list(map(tuple, inputs))
    rows = TaskRows(inputs)
    rows.format, rows.verified = "cluster", False
    rows.row(1).lose(Problem("truncated", 5, "8 bytes", "3", ODD))
    for number in range(len(inputs)):
        rows.records[number], rows.bytes[number] = number, 10**12 + number
    return inputs, rows


@pytest.mark.parametrize("name", CORES)
def test_rows_of_a_task_with_very_many_inputs_are_written_as_rows_are(name):
    inputs, rows = many_rows()
    with using(name):
        lines, numbers, others = rows.encode()
        expected = [encode_row(rank, row) for rank, row in rows]
        found = [*lines.splitlines(keepends=True), *(encode_row(*each) for each in others)]
        assert sorted(found) == sorted(expected)
        assert len(found) == len(inputs)
        inputs[3] = (inputs[3][0], "plain \udcff", *inputs[3][2:])
        again = list(rows)
        assert rows.encode()[0] == b"".join([encode_row(*again[number]) for number in (0, 2, 3, 5)])
    assert numbers == (4, 0 + 2 + 3 + 5, 4 * 10**12 + 10)
    assert [rank for rank, _ in others] == [4, 8, 9]
    assert [(row.records, row.verified, row.format) for _, row in rows] == [(n, False, "cluster") for n in range(7)]


@pytest.mark.parametrize("name", CORES)
def test_written_rows_of_neighbours_are_taken_together(name):
    rows = {
        rank: LedgerRow(f"{ODD}{rank}", "x", records=rank, bytes=2, core="native") for rank in (0, 1, 2, 3, 5, 6, 7)
    }
    rows[2].lose(Problem("truncated", 5, "8 bytes", "3", ODD))
    rows[6].core = "python"
    written = [encode_row(rank, row) for rank, row in rows.items()]
    with using(name):
        taken = list(take_rows([b"".join(written[:4]), b"".join(written[4:])]))
    summary, lines = Summary(), b""
    for _, row in merged(taken):
        summary.add(row)
        lines += row.lines if isinstance(row, WrittenRows) else encode_value(row.to_json()) + b"\n"
    assert lines == b"".join(encode_value(row.to_json()) + b"\n" for row in rows.values())
    assert (summary.inputs, summary.not_ok, summary.records) == (7, 1, 24)
    assert (summary.bytes, summary.cores) == (14, {"native", "python"})
    if name == "native":
        assert [(rank, row.count) for rank, row in taken] == [(0, 2), (2, 1), (3, 1), (5, 1), (6, 1), (7, 1)]


def test_two_rows_for_an_input_among_neighbours_are_refused():
    lines = b"".join(encode_value(LedgerRow(name, name).to_json()) + b"\n" for name in "abc")
    together = WrittenRows(lines, 3, 3, None, None, 3)
    for rows in ([(1, together), (2, LedgerRow("b", "b"))], [(1, together), (3, together)]):
        with pytest.raises(CrawlmillError, match="two rows") as raised:
            list(merged(rows))
        assert raised.value.source == "abc"[rows[1][0] - 1]
    assert [position for position, _ in merged([(1, together), (4, together)])] == [1, 4]
    inputs = [Input(name, name) for name in "zabcd"]
    assert [row.count for row in complete([(1, together)], inputs, "it ended")] == [1, 3, 1]


def test_a_row_that_has_lost_something_is_parsed_when_it_is_taken():
    row = LedgerRow(ODD, "x", records=1)
    row.lose(Problem("truncated", 5, "8 bytes", "3", ODD))
    assert encode_row(0, row) == encode_pair(*row_pair(0, row)) + b"\n"
    assert take_row(encode_row(0, row)) == (0, row)


def test_what_a_job_skipped_goes_with_the_row_and_is_summed_over_units():
    units = []
    for number in range(2):
        row = LedgerRow("x", "x", records=1, unit=(number, 2))
        row.skipped.update({"unknown-context": 2, "too-deep": number})
        units.append(take_row(encode_row(0, row)))
    ((_, whole),) = merged(units)
    assert isinstance(whole, LedgerRow)
    assert whole.skipped == {"unknown-context": 4, "too-deep": 1}
    assert "skipped" not in whole.to_json()
    summary = Summary()
    summary.add(whole)
    assert summary.skipped == whole.skipped


def test_row_brings_what_was_left_out_and_cut():
    for numbers in ((5, 0), (0, 2), (5, 2)):
        row = LedgerRow("x", "/x", records=9)
        row.deselected, row.truncated = numbers
        _, found = take_row(encode_row(1, row))
        assert (found.deselected, found.truncated) == numbers
