"""Parts in Parquet: what pyarrow reads of them, and what is read of what pyarrow writes."""

from __future__ import annotations

import io

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from crawlmill.errors import FormatError  # noqa: E402
from crawlmill.results.columns import Columns  # noqa: E402
from crawlmill.results.folder import ResultFolder  # noqa: E402
from crawlmill.results.parquet import RowWriter  # noqa: E402
from crawlmill.storage import Storage  # noqa: E402

COLUMNS = Columns({"url": "string"}, {"n": "int64", "more": "json"})


def written(rows, path):
    with path.open("wb") as file:
        writer = RowWriter(file, COLUMNS)
        for row in rows:
            writer.write(row)
        writer.close()
    return path


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["a", 1, '{"x":1}'], [None, None, "null"]],
        pytest.param([["é" * 70_000, n, "[]"] for n in range(2000)], marks=pytest.mark.slow),
    ],
)
def test_what_is_written_pyarrow_reads_with_types_and_so_do_we(tmp_path, rows):
    path = written(rows, tmp_path / "part-00000.parquet")
    table = pq.read_table(path)
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("url", "string"),
        ("n", "int64"),
        ("more", "string"),
    ]
    assert [list(row.values()) for row in table.to_pylist()] == rows
    values = {"null": None, "[]": [], '{"x":1}': {"x": 1}}
    found = list(ResultFolder(str(tmp_path), Storage()).pairs())
    assert found == [(url, [n, values[more]]) for url, n, more in rows]


def test_half_a_character_is_written_as_its_escape(tmp_path):
    path = written([["a\ud800", 1, '"é\udfff"'], ["é", None, "1"]], tmp_path / "part-00000.parquet")
    assert pq.read_table(path).to_pylist() == [
        {"url": "a\\ud800", "n": 1, "more": '"é\\udfff"'},
        {"url": "é", "n": None, "more": "1"},
    ]
    assert next(ResultFolder(str(tmp_path), Storage()).pairs()) == ("a\\ud800", [1, "é\udfff"])


def test_a_file_of_anybody_is_read_by_its_names(tmp_path):
    pq.write_table(pa.table({"server": ["a", None], "count": [1, 2]}), tmp_path / "part-00000.parquet")
    assert list(ResultFolder(str(tmp_path), Storage()).pairs()) == [("a", 1), (None, 2)]


def test_damage_and_other_columns_are_errors_that_name_the_file(tmp_path):
    path = written([["a", 1, "5"]] * 1000, tmp_path / "part-00000.parquet")
    whole = path.read_bytes()
    other = io.BytesIO()
    pq.write_table(pa.table({"server": ["a"], "count": [1.5]}), other)
    for content in (b"", b"PAR1", whole[:-1], whole[:4] + bytes(200) + whole[204:], other.getvalue()):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"part-00000\.parquet"):
            list(ResultFolder(str(tmp_path), Storage()).pairs())
