"""The columns of a CDX file are those that its header names, wherever such a file is read."""

from __future__ import annotations

import gzip
import io

import pytest
from tests.indexes.test_lookup import ask, query

from crawlmill.errors import FormatError, UsageError
from crawlmill.indexes.capture import parse_capture
from crawlmill.indexes.cdx.blocks import read_blocks
from crawlmill.indexes.cdx.header import parse_header
from crawlmill.inputs.lists import read_lists
from crawlmill.storage import Storage

FIELDS = {
    "N": "com,a)/",
    "b": "20240101000000",
    "a": "http://a.com/",
    "m": "text/html",
    "s": "200",
    "k": "SHA",
    "r": "-",
    "M": "-",
    "S": "12",
    "V": "345",
    "g": "a.warc.gz",
}
USUAL = " ".join(FIELDS.values()).encode()
WANTED = {"url": "http://a.com/", "mime": "text/html", "status": "200", "digest": "SHA"}
ORDERS = [
    "N b a m s k r S V g",
    "N b a g V S k s m",
    "N b S V g a e m s k r M",
    "V g N a b k s m S",
    "N b a m s k r M V S g",
]


def line_of(letters: str, **changes: str) -> bytes:
    """A line with these columns; `?` for those that no capture has."""
    return " ".join((FIELDS | changes).get(letter, "?") for letter in letters.split()).encode()


def text_of(letters: str, header: bytes = b" CDX ") -> bytes:
    second = line_of(letters, N="com,b)/", a="http://b.com/")
    return header + letters.encode() + b"\n" + line_of(letters) + b"\n" + second + b"\n"


def without_place(letters: str) -> bytes:
    """The line of the first capture in the usual columns: `S` may be missing."""
    return USUAL if "S" in letters.split() else USUAL.replace(b" 12 ", b" - ")


@pytest.mark.parametrize("letters", ORDERS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_look_up_reads_the_columns_that_the_header_names(tmp_path, letters, packed):
    data = text_of(letters)
    (tmp_path / "a.cdx").write_bytes(gzip.compress(data) if packed else data)
    problems = []
    (found,) = ask([tmp_path / "a.cdx"], [query("http://a.com/")], problems)
    assert [line.encode() for line in found] == [without_place(letters)]
    (found,) = ask([tmp_path / "a.cdx"], [query("*.com", filters=["=status:200", "=mime:text/html"])], problems)
    assert len(found) == 2
    assert problems == []


@pytest.mark.parametrize("core", ["python", "native"], indirect=True)
@pytest.mark.parametrize("letters", ORDERS)
@pytest.mark.parametrize("packed", [False, True])
def test_inputs_are_read_in_the_columns_that_the_header_names(core, letters, packed):
    data = text_of(letters) + b" CDX N b a m s k r M S V g\r\n" + USUAL + b"\r\n"
    blocks = list(read_blocks(io.BytesIO(gzip.compress(data) if packed else data), on_problem=pytest.fail))
    first, second, third = b"".join(block.data for block in blocks).splitlines()
    assert (first, third) == (without_place(letters), USUAL)
    assert sum(block.lines for block in blocks) == 3
    assert blocks[-1].number_of(blocks[-1].lines - 1) == 5
    assert WANTED.items() <= parse_capture(first).fields.items()
    assert parse_capture(second).urlkey == "com,b)/"


@pytest.mark.parametrize("letters", ["N b S V g a e m s k r M", "N b a m s k r M V S g"])
def test_lists_of_captures_are_read_in_the_columns_that_the_header_names(tmp_path, letters):
    (tmp_path / "l").write_bytes(text_of(letters))
    (one,) = read_lists([str(tmp_path / "l")], Storage()).items
    assert (one.location, one.offset, one.length) == (f"{tmp_path}/a.warc.gz", 345, 12)


@pytest.mark.parametrize("letters", ["N b a m s k r M S V g", "N b a m s k r V g"])
def test_usual_columns_are_no_work(letters):
    assert parse_header(b" CDX " + letters.encode()) is None


@pytest.mark.parametrize(("letters", "missing"), [("A b e a m s", "no N"), ("N m s", "no b and no a"), ("", "no N")])
@pytest.mark.parametrize("packed", [False, True])
def test_a_header_without_key_time_or_url_is_an_error_of_one_line(tmp_path, letters, missing, packed):
    data = text_of(letters)
    (tmp_path / "a.cdx").write_bytes(gzip.compress(data) if packed else data)
    problems: list[FormatError] = []
    assert list(read_blocks(io.BytesIO((tmp_path / "a.cdx").read_bytes()), on_problem=problems.append)) == []
    with pytest.raises(UsageError, match=missing):
        ask([tmp_path / "a.cdx"], [query("http://a.com/")])
    assert {(problem.reason, missing in str(problem)) for problem in problems} == {("unknown-format", True)}
    with pytest.raises(UsageError, match=f"line 1: .*{missing}"):
        read_lists([str(tmp_path / "a.cdx")], Storage())


def test_lines_with_other_columns_than_their_header_are_lost_alone(tmp_path):
    data = text_of("N b a g V S k s m") + USUAL + b"\n" + b'com,c)/ 20240101000000 {"url": "http://c.com/"}\n'
    problems: list[FormatError] = []
    (block,) = read_blocks(io.BytesIO(data), on_problem=problems.append)
    assert block.lines == 3
    assert [problem.reason for problem in problems] == ["bad-header"]
    assert "line 4 is not a capture: expected 9 columns, got 11" in str(problems.pop())
    (tmp_path / "a.cdx").write_bytes(data)
    assert [len(found) for found in ask([tmp_path / "a.cdx"], [query("*.com")], problems)] == [3]
    assert [problem.reason for problem in problems] == ["bad-header"]
