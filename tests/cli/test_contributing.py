"""What CONTRIBUTING.md says of adding a command, a field and a reason holds: a toy of each is added at the one place it names."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest
from tests.builders import gzip_member, response

from crawlmill.cli.main import COMMANDS, Command
from crawlmill.errors import FormatError
from crawlmill.formats.warc.record import WarcRecord
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import Reading
from crawlmill.ledger.file import read_ledger
from crawlmill.ledger.summary import Summary
from crawlmill.storage import Storage

TOY_COMMAND = '''
"""Say how often.

Examples:
  crawlmill toy 3
"""


def add_arguments(parser):
    parser.add_argument("times", type=int)


def run(options):
    print("toy " * options.times)
    return 2
'''


@pytest.fixture
def toy_command(monkeypatch):
    module = ModuleType("crawlmill.cli.commands.archives.toy")
    exec(TOY_COMMAND, module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "toy", Command("archives", "say how often"))


@pytest.mark.usefixtures("toy_command")
def test_command_is_a_module_and_its_line_among_the_commands(run):
    # options for its storage come by themselves
    assert run("toy", "3", "--retries", "5") == (2, b"toy toy toy \n", "")
    code, out, _ = run("toy", "--help")
    assert (code, b"crawlmill toy 3" in out) == (0, True)
    code, out, _ = run("--help")
    assert (code, b"say how often" in out) == (0, True)


def test_command_that_is_not_there_is_a_mistake_of_the_user(run):
    code, out, err = run("toy", "3")
    assert (code, out) == (1, b"")
    assert "no command is called toy" in err


def test_field_of_records_is_a_line_in_the_class_of_the_record(monkeypatch, run, tmp_path):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(gzip_member(response("http://e.org/a", b"<p>")))
    code, out, err = run("records", "--fields", "offset,toy", path)
    assert (code, out, "no field toy: expected " in err) == (1, b"", True)
    monkeypatch.setattr(WarcRecord, "listed", {**WarcRecord.listed, "toy": lambda record: record.uri.upper()})
    assert run("records", "--fields", "offset,toy", path) == (0, b"offset\ttoy\n0\tHTTP://E.ORG/A\n", "")
    _, out, _ = run("records", "--json", path)
    assert list(json.loads(out).items())[-1] == ("toy", "HTTP://E.ORG/A")


def test_reason_is_added_in_the_closed_list(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="'too-silly' is no reason of FormatError"):
        FormatError("silly", reason="too-silly")
    monkeypatch.setattr(FormatError, "reasons", (*FormatError.reasons, "too-silly"))
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(gzip_member(response("http://e.org/", b"<p>")))
    reading = Reading(Input(str(path), str(path)), Storage())
    for record in reading:
        reading.lose(FormatError("silly", reason="too-silly"), record)
    [row] = read_ledger([json.dumps(reading.row.to_json()).encode()], "ledger")
    assert (row.outcome, dict(row.lost), row.problems[0].offset) == ("partial", {"too-silly": 1}, 0)
    summary = Summary()
    summary.add(row)
    assert any("too-silly: silly" in line for line in summary.lines())
