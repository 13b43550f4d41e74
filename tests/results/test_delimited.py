"""Comma- and tab-separated rows: what Python's csv module writes and reads is what we read and write."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.errors import FormatError
from crawlmill.results.columns import Column
from crawlmill.results.delimited import DELIMITERS, read_cells, typed_cells, write_cells
from crawlmill.results.pairs import lines_of

LETTERS = st.sampled_from("ab,\"\t\r\n'#\\é漢\ufeff\x00 ")
CELLS = st.none() | st.text(LETTERS, max_size=8)
FULL = st.text(LETTERS, min_size=1, max_size=8)
ROWS = st.lists(st.lists(CELLS, min_size=2, max_size=4), max_size=5)
KINDS = sorted(DELIMITERS)


def read(text: str | bytes, kind: str = "csv") -> list[list[str | None]]:
    data = text.encode() if isinstance(text, str) else text
    return [row for _, row in read_cells(lines_of([data]), DELIMITERS[kind])]


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS)
def test_what_is_written_the_csv_module_reads_and_so_do_we(kind, rows):
    text = "".join(write_cells(row, DELIMITERS[kind]) for row in rows)
    there = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITERS[kind], strict=True)
    assert list(there) == [[cell or "" for cell in row] for row in rows]
    assert read(text, kind) == rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@given(rows=st.lists(st.lists(FULL, min_size=2, max_size=4), max_size=5))
def test_what_the_csv_module_writes_is_read(kind, quoting, rows):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=DELIMITERS[kind], quoting=quoting).writerows(rows)
    assert read(file.getvalue(), kind) == rows


def test_null_is_an_empty_cell_and_an_empty_string_is_quoted():
    assert write_cells([None, "", "x"], ",") == ',"",x\r\n'
    assert read(',"",x\r\n') == [[None, "", "x"]]


def test_rows_come_with_the_numbers_of_their_first_lines():
    rows = read_cells(lines_of([b'a,b\r\n"x\r\ny","""\n"\r\nc,d']), ",")
    assert list(rows) == [(1, ["a", "b"]), (2, ["x\r\ny", '"\n']), (5, ["c", "d"])]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        (b'a,b\r\nc,"d', "truncated", "line 2"),
        (b'a,b\r\nc,d"e"\r\n', "bad-encoding", "line 2"),
        (b'"a"b,c\r\n', "bad-encoding", "line 1"),
        (b"a,b\r\nc,d\r\n\xff,e\r\n", "bad-encoding", "line 3"),
    ],
)
def test_what_is_no_row_is_an_error_with_its_line(text, reason, line):
    with pytest.raises(FormatError) as error:
        read(text)
    assert (error.value.reason, error.value.source) == (reason, line)


def test_a_broken_cell_of_a_million_quotes_is_refused_at_once():
    with pytest.raises(FormatError):
        read(b'"' + b'x""' * 1_000_000 + b'"y\r\n')


def test_cells_get_the_types_of_their_columns():
    columns = [Column("a", "string"), Column("b", "int64"), Column("c", "json")]
    assert typed_cells(["12", "12", '["12",null]'], columns) == ["12", 12, ["12", None]]
    assert typed_cells([None, None, "null"], columns) == [None, None, None]
    for cells in (["a", "1.0", "1"], ["a", "1", "{"], ["a", "1"], ["a", "", "1"]):
        with pytest.raises(ValueError, match=r"expected|Expecting"):
            typed_cells(cells, columns)
