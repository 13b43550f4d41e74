"""Writing parts of tables."""

from __future__ import annotations

import io
import json

import pyarrow.parquet as pq

from crawlmill.indexes.columnar import writer


def line(number, size=10):
    fields = {"url": f"http://example.com/{'x' * size}{number}", "length": "1", "offset": str(number), "filename": "f"}
    return b"com,example)/%06d 20200101000000 %s" % (number, json.dumps(fields).encode())


def test_rows_are_made_of_a_bounded_number_of_bytes_however_lines_arrive(monkeypatch):
    """Long lines would be tens of gigabytes if they were counted alone."""
    monkeypatch.setattr(writer, "_BATCH_BYTES", 100_000)
    made, table_of = [], writer.table_of
    monkeypatch.setattr(writer, "table_of", lambda lines, **more: made.append(lines) or table_of(lines, **more))
    lines = [line(n, size) for n, size in enumerate([10] * 500 + [30_000] * 40 + [10] * 500)]
    files = []
    for step in (1, 7, len(lines)):
        made.clear()
        file = io.BytesIO()
        part = writer.PartWriter(file, rows=300)
        for at in range(0, len(lines), step):
            part.write(lines[at : at + step])
        part.close()
        assert [each for some in made for each in some] == lines
        assert max(sum(map(len, some)) for some in made) < 100_000 + 31_000
        files.append(file.getvalue())
    assert files[0] == files[1] == files[2]
    meta = pq.ParquetFile(io.BytesIO(files[0])).metadata
    assert [meta.row_group(n).num_rows for n in range(meta.num_row_groups)] == [300, 300, 300, 140]
