"""Parquet files of captures as inputs: what is damaged in any column is found, and not more than that is lost."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlmill.formats.reader import ReadOptions
from crawlmill.indexes.cdx.block import Block
from crawlmill.indexes.columnar.writer import open_writer
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ItemReading
from crawlmill.storage import Storage

ROWS = [
    {
        "url_surtkey": f"com,example)/{n:03}",
        "url": f"http://example.com/{n:03}",
        "fetch_status": 200,
        "warc_filename": "f.gz",
        "fetch_time": dt.datetime(2020, 1, 1, 0, 0, n % 60, tzinfo=dt.UTC),
        "warc_record_offset": n,
        "warc_record_length": 7,
        "not_in_lines": f"{n * n}",
    }
    for n in range(40)
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "part.parquet"
    table = pa.Table.from_pylist(ROWS)
    with path.open("wb") as file, open_writer(file, table.schema, version="1.0", compression="gzip") as writer:
        writer.write_table(table)
    return path.read_bytes()


def read(path, data, **options):
    path.write_bytes(data)
    reading = ItemReading(Input(str(path), str(path)), Storage(), Block, ReadOptions(**options))
    return sum(block.lines for block in reading), reading.row


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]


def test_no_flipped_bit_of_a_page_goes_unnoticed(tmp_path, data):
    """Headers of pages have no checksums, but most of their bytes matter."""
    assert read(tmp_path / "x", data)[1].outcome == "ok"
    group = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0)
    for number in range(group.num_columns):
        column = group.column(number)
        last = column.dictionary_page_offset + column.total_compressed_size - 1
        for place in range(last - 12, last + 1):
            assert read(tmp_path / "x", flipped(data, place))[1].outcome != "ok", (column.path_in_schema, place)


def test_damage_in_a_column_that_lines_do_not_need_is_told_and_no_line_is_lost(tmp_path, data):
    group = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0)
    (column,) = [each for n in range(group.num_columns) if (each := group.column(n)).path_in_schema == "not_in_lines"]
    damaged = flipped(data, column.dictionary_page_offset + column.total_compressed_size - 5)
    count, row = read(tmp_path / "x", damaged)
    assert (count, row.outcome, row.records, dict(row.lost)) == (40, "partial", 40, {"bad-header": 1})
    count, row = read(tmp_path / "x", damaged, heads_only=True)
    assert (count, row.outcome) == (40, "ok")
