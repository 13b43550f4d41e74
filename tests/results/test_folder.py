"""Output folders are read back: any format, wherever parts are, and what is wrong with one is said."""

from __future__ import annotations

import bz2
import gzip
import json
from itertools import pairwise

import pytest

from crawlmill.errors import FormatError, SourceError
from crawlmill.results.columns import Columns
from crawlmill.results.folder import ResultFolder
from crawlmill.results.pairs import lines_of
from crawlmill.storage import Storage

WORDS = Columns({"word": "string"}, {"count": "int64", "documents": "int64"})


@pytest.fixture
def out(tmp_path):
    """Makes an output folder of files by name."""

    def make(columns: Columns | None = None, **files: bytes) -> ResultFolder:
        folder = tmp_path / "out"
        folder.mkdir(exist_ok=True)
        if columns is not None:
            (folder / "_run.json").write_text(json.dumps({"job": "x", "columns": columns.to_json()}))
        for name, content in files.items():
            (folder / name.replace("__", ".").replace("part", "part-")).write_bytes(content)
        return ResultFolder(str(folder), Storage())

    return make


def test_pairs_are_read_part_after_part(out):
    found = out(part00000=b'"a"\t1\nnull\t[1,2]\n', part00001=b"", part00002=b'["x",1]\t{"b":null}')
    assert list(found.pairs()) == [("a", 1), (None, [1, 2]), (["x", 1], {"b": None})]


def test_parts_are_in_the_order_of_their_numbers_and_nothing_else_is_a_part(out):
    found = out(part99999=b"", part100000=b"", part00000=b"", part00002__csv=b"", part00003__tmp_=b"", _SUCCESS=b"")
    assert [part.name for part in found.parts] == ["part-00000", "part-00002.csv", "part-99999", "part-100000"]
    assert found.finished


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress])
def test_compressed_pairs_are_read_and_a_cut_one_is_damaged(out, packed):
    whole = packed(b'"a"\t1\n' * 1000)
    assert list(out(part00000__gz=whole).pairs()) == [("a", 1)] * 1000
    with pytest.raises(FormatError, match=r"part-00000\.gz"):
        list(out(part00000__gz=whole[:-9]).pairs())


def test_objects_of_json_lines_are_pairs_by_their_columns(out):
    found = out(
        WORDS, part00000__jsonl=b'{"word":"a","count":3,"documents":2}\n{"word":null,"count":1,"documents":1}\n'
    )
    assert list(found.pairs()) == [("a", [3, 2]), (None, [1, 1])]


def test_cells_of_csv_are_typed_by_their_columns(out):
    found = out(
        Columns({"a": "string"}, {"b": "json"}), part00000__csv=b'a,b\r\n12,"{""x"": [1]}"\r\n,null\r\n"",2\r\n'
    )
    assert list(found.pairs()) == [("12", {"x": [1]}), (None, None), ("", 2)]


@pytest.mark.parametrize(
    ("header", "row", "pair"),
    [
        ("server,count", "12,7", ("12", 7)),
        ("word,count,documents", "true,7,6", ("true", [7, 6])),
        ("question,item,count", "status,200,5", (["status", "200"], 5)),
        ("key,value", '"[""a"",1]",12', (["a", 1], 12)),
        ("url,text", "http://a/,12", ("http://a/", "12")),
    ],
)
def test_without_run_json_names_tell_the_columns(out, header, row, pair):
    assert list(out(part00000__csv=f"{header}\r\n{row}\r\n".encode()).pairs()) == [pair]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("part00000", b'"a"\t1\nno result line\n', r"part-00000, line 2\)"),
        ("part00000", b'"a"\t1\n\n', r"part-00000, line 2\)"),
        ("part00000__jsonl", b'{"word":"a","count":1,"documents":1}\n{"word":"b"}\n', r"part-00000\.jsonl, line 2"),
        ("part00000__jsonl", b"[1]\n", r"part-00000\.jsonl, line 1"),
        ("part00000__csv", b'word,count,documents\r\n"a\nb",1,1\r\nc,x,1\r\n', r"count.*part-00000\.csv, line 4"),
        ("part00000__csv", b"word,count,documents\r\na,1\r\n", r"expected 3 cells.*part-00000\.csv, line 2"),
        ("part00000__csv", b"word,count\r\n", r"columns: expected.*part-00000\.csv, line 1"),
        ("part00000__tsv", b"", r"header.*part-00000\.tsv"),
    ],
)
def test_a_broken_line_is_an_error_that_names_file_and_line(out, name, content, says):
    with pytest.raises(FormatError, match=says):
        list(out(WORDS, **{name: content}).pairs())


def test_a_part_is_read_as_it_is_asked_for(out, monkeypatch):
    found = out(part00000=b'"a"\t1\n', part00001=b'"b"\t2\n')
    opened = []
    monkeypatch.setattr(
        Storage,
        "open_stream",
        lambda self, place, *a, _as=Storage.open_stream: opened.append(place) or _as(self, place, *a),
    )
    pairs = found.pairs()
    assert (next(pairs), len(opened)) == (("a", 1), 1)


def test_ledger_and_run_are_read(out):
    row = {
        "input": "x",
        "location": "/x",
        "format": None,
        "outcome": "failed",
        "records": 0,
        "bytes": 0,
        "verified": True,
        "lost": {"not-found": 1},
        "problems": [],
    }
    found = out(WORDS, _ledger__jsonl=json.dumps(row).encode() + b"\n")
    assert [each.to_json() for each in found.ledger()] == [row]
    assert found.run["job"] == "x"
    assert (found.columns, found.finished) == (WORDS, False)
    with pytest.raises(FormatError, match=r"_ledger\.jsonl, line 2"):
        list(out(_ledger__jsonl=json.dumps(row).encode() + b"\n{}\n").ledger())
    with pytest.raises(FormatError, match=r"_run\.json"):
        _ = out(_run__json=b"{").run
    with pytest.raises(FormatError, match=r"_run\.json"):
        _ = out(_run__json=b'{"columns": {"key": {}}}').columns


def test_a_folder_of_no_run_is_not_found(tmp_path):
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(SourceError) as error:
            ResultFolder(str(place), Storage())
        assert error.value.reason == "not-found"


def test_lines_are_the_same_however_chunks_are_cut():
    text = b"a\n\nbc\r\nd\n"
    for cuts in ([0, len(text)], list(range(len(text) + 1)), [0, 1, 3, 8, len(text)]):
        assert list(lines_of(text[a:b] for a, b in pairwise(cuts))) == [b"a", b"", b"bc\r", b"d"]
