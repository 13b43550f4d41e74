"""A format is added in one place: a toy one, whose items are no records, is read, accounted for and counted by a job."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass

import pytest
from tests.builders import gzip_member, response
from tests.mr.helpers import rows, run

from crawlmill.errors import FormatError
from crawlmill.formats.reader import Reader
from crawlmill.inputs import readers
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ItemReading, Reading
from crawlmill.storage import Storage

PAGE = gzip_member(response("http://e.org/", b"<p>"))
TOY = b"TOY\nthree 3\nbad\nfour 4\n"


@dataclass
class Line:
    offset: int
    number: int
    word: str


def read_lines(opened, request, account):
    account.found("toy")
    offset = opened.start
    source = opened.from_start()
    data = b"".join(iter(lambda: source.read(7), b""))
    for number, line in enumerate(io.BytesIO(data), 1):
        if b" " in line:
            account.count(1)
            yield Line(offset, number, line.split()[0].decode())
        elif line != b"TOY\n":
            account.lose(FormatError("no toy", reason="bad-header", offset=offset))
        offset += len(line)


TOY_READER = Reader(("toys",), ("toy",), lambda data: data.startswith(b"TOY\n"), read_lines, Line)


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    monkeypatch.setattr(readers, "READERS", list(readers.READERS))
    readers.register(TOY_READER)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"

    def write(data, *span):
        path.write_bytes(data)
        return Input(str(path), str(path), *span)

    return write


def test_items_of_a_registered_format_are_given_and_accounted_for(file):
    reading = ItemReading(file(TOY), Storage(), Line)
    assert list(reading) == [Line(4, 2, "three"), Line(16, 4, "four")]
    row = reading.row
    assert (row.format, row.outcome, row.records, row.bytes) == ("toy", "partial", 2, len(TOY))
    assert [(each.reason, each.offset) for each in row.problems] == [("bad-header", 12)]


def test_item_that_cannot_be_taken_is_lost_at_its_offset(file):
    reading = ItemReading(file(TOY), Storage(), Line)
    for line in reading:
        reading.lose(FormatError("too silly", reason="bad-json"), line)
    assert next((each.reason, each.offset) for each in reading.row.problems) == ("bad-json", 4)


def test_range_of_a_registered_format_is_known_by_its_own_bytes_unless_it_asks_for_those_of_the_file(file, monkeypatch):
    item = file(b"NO TOY\n" + TOY)
    part = Input(item.given, item.location, 7, len(TOY))
    assert [line.offset for line in ItemReading(part, Storage(), Line)] == [11, 23]
    by_file = Reader(("toys",), ("toy",), TOY_READER.begins, read_lines, Line, bytes_of_file=4)
    monkeypatch.setattr(readers, "READERS", [readers.READERS[0], by_file])
    assert list(ItemReading(part, Storage(), Line)) == []
    item = file(TOY)
    part = Input(item.given, item.location, 4, len(TOY) - 4)
    assert [line.offset for line in ItemReading(part, Storage(), Line)] == [4, 16]


def problem(reading):
    assert list(reading) == []
    row = reading.row
    assert (row.outcome, row.records) == ("failed", 0)
    return row.problems[0].reason, row.problems[0].message


def test_format_that_gives_other_items_is_unsupported(file):
    item = file(TOY)
    assert problem(Reading(item, Storage())) == (
        "unsupported-format",
        f"a format that this job does not count: expected WARC, ARC or a SequenceFile, got toys ({item.location})",
    )
    assert problem(ItemReading(file(PAGE), Storage(), Line)) == (
        "unsupported-format",
        f"a format that this job does not count: expected toys, got WARC or ARC ({item.location})",
    )


@pytest.mark.parametrize("data", [b"hello", gzip.compress(b"hello", mtime=0)])
def test_unknown_format_names_those_that_are_read(file, data):
    reason, message = problem(ItemReading(file(data), Storage(), Line))
    assert (reason, "expected toys, got" in message) == ("unknown-format", True)


@pytest.mark.parametrize(
    ("start", "length", "said"),
    [(0, None, "empty file"), (9, None, "the file ends before this offset"), (0, 0, "the range has a length of 0")],
)
def test_what_there_is_nothing_of_is_told(file, start, length, said):
    reason, message = problem(ItemReading(file(b"", start, length), Storage(), Line))
    assert (reason, said in message) == ("unknown-format", True)


JOB = """
from dataclasses import dataclass
from crawlmill.formats.reader import Reader
from crawlmill.inputs.readers import register
from crawlmill.mr import CrawlJob, summing

@dataclass
class Line:
    offset: int
    word: str

def read_lines(opened, request, account):
    account.found("toy")
    source = opened.from_start()
    for line in source.read(1 << 20).splitlines()[1:]:
        account.count(1)
        yield Line(0, line.split()[0].decode())

register(Reader(("toys",), ("toy",), lambda data: data.startswith(b"TOY\\n"), read_lines, Line))

class Words(CrawlJob):
    '''Count words of toys.'''
    items = Line
    formats = ("toy",)
    def process(self, line):
        yield line.word, 1
    reducer = summing

if __name__ == "__main__":
    Words.run()
"""


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_job_with_a_format_of_its_own_counts_it_in_its_tasks(tmp_path, runner):
    script = tmp_path / "words.py"
    script.write_text(JOB)
    paths = [tmp_path / name for name in ("a.toy", "b.toy", "c.warc.gz")]
    for path, data in zip(paths, [TOY, b"TOY\nfour 4\n", PAGE], strict=True):
        path.write_bytes(data)
    (tmp_path / "list").write_text("".join(f"{path}\n" for path in paths))
    ended = run(script, "-r", runner, "--ledger", tmp_path / "ledger", tmp_path / "list")
    assert (ended.code, ended.pairs) == (2, {'"bad"': 1, '"four"': 2, '"three"': 1})
    ledger = rows(tmp_path / "ledger").values()
    assert [(row["format"], row["records"], row["lost"]) for row in ledger] == [
        ("toy", 3, {}),
        ("toy", 1, {}),
        (None, 0, {"unsupported-format": 1}),
    ]
