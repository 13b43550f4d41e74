"""The commands on SequenceFiles, and `simhash`."""

from __future__ import annotations

import base64
import hashlib
import io
import json

import pytest
from tests import builders
from tests.data import needs_data, shared
from tests.formats.metadata_values import PAGE
from tests.formats.sequencefiles import ESCAPE, block_file, plain_file

RECORDS = [(b"http://a.example/%d" % n, b"text\t%d\n" % n) for n in range(6)] + [(b"http://a.example/\xff", b"\xfe")]
MAKERS = {"block": block_file, "none": lambda records: plain_file(records, interval=60)}


@pytest.fixture(params=MAKERS)
def file(request, tmp_path):
    path = tmp_path / "textData-00000"
    path.write_bytes(MAKERS[request.param](RECORDS))
    return path


def rows(out):
    return [json.loads(line) for line in out.split(b"\n") if line]


def test_records_json_lists_key_place_and_content(run, file):
    code, out, err = run("records", "--json", "--sha256", "--content", file)
    assert (code, err) == (0, "")
    found = rows(out)
    assert [row["index"] for row in found] == list(range(7))
    assert [list(row) for row in found] == [
        ["offset", "index", "key", "value_length", "truncated", "content", "sha256"]
    ] * 7
    for row, (_, value) in zip(found, RECORDS, strict=True):
        assert row["value_length"] == len(value)
        assert row["sha256"] == hashlib.sha256(value).hexdigest()
    assert (found[3]["key"], found[3]["content"]) == ("http://a.example/3", "text\t3\n")
    assert found[6]["key"] == {"base64": base64.b64encode(RECORDS[6][0]).decode()}
    assert found[6]["content"] == {"base64": "/g=="}


def test_records_table_has_the_columns_of_each_kind_of_archive(run, file, tmp_path):
    code, out, _ = run("records", file)
    lines = out.decode().splitlines()
    assert (code, lines[0]) == (0, "offset\tindex\tvalue_length\tkey")
    assert lines[2].split("\t")[1:] == ["1", "7", "http://a.example/1"]
    warc = tmp_path / "x.warc"
    warc.write_bytes(builders.warcinfo())
    _, out, _ = run("records", file, warc)
    lines = out.decode().splitlines()
    assert lines[0] == "file\toffset\tindex\tvalue_length\tkey"
    assert lines[8] == "file\toffset\tlength\ttype\tdate\thttp_status\tcontent_length\turi"
    assert len(lines) == 10
    _, out, _ = run("records", "--fields", "key,uri", file, warc)
    assert out.decode().splitlines()[0] == "file\tkey\turi"
    assert len(out.decode().splitlines()) == 9


def test_check_accounts_for_a_sequencefile(run, file):
    code, out, _ = run("check", "--json", "--digests", file)
    (row,) = rows(out)
    assert (code, row["outcome"], row["format"], row["records"]) == (0, "ok", "sequencefile", 7)
    assert row["bytes"] == file.stat().st_size


def test_cat_gives_the_record_that_a_row_names(run, file):
    _, out, _ = run("records", "--json", file)
    for row, (key, value) in zip(rows(out), RECORDS, strict=True):
        place = ("--offset", row["offset"], "--index", row["index"])
        assert run("cat", file, *place) == (0, key + b"\t" + value + b"\n", "")
        assert run("cat", file, *place, "--part", "payload") == (0, value, "")
        assert run("cat", file, *place, "--part", "headers") == (0, key, "")
    assert run("cat", file, "--offset", rows(out)[3]["offset"], "--index", 3, "--part", "text") == (0, b"text\t3\n", "")


def test_cat_without_an_index_gives_the_first_record_there(run, file):
    data = file.read_bytes()
    at = data.index(ESCAPE)
    at += 0 if b"Gzip" in data else 20
    assert run("cat", file, "--offset", at, "--part", "payload") == (0, RECORDS[0][1], "")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--offset", 3), 2, "no record begins here"),
        (("--offset", 10_000), 2, "crawlmill: "),
        (("--index", 99), 2, "no record begins here"),
        (("--index", 0, "--part", "raw"), 1, "no bytes of its own"),
        (("--index", 6, "--part", "text"), 2, "UTF-8"),
    ],
)
def test_cat_of_what_is_not_there_is_one_line(run, tmp_path, options, code, said):
    file = tmp_path / "x"
    file.write_bytes(block_file(RECORDS, each=7))
    options = options if "--offset" in options else ("--offset", file.read_bytes().index(ESCAPE), *options)
    ended, out, err = run("cat", file, *options)
    assert (ended, out) == (code, b"")
    assert said in err
    assert err.count("\n") == 1


def test_cat_in_a_damaged_file_gives_what_is_whole_and_says_what_is_not(run, tmp_path):
    data = bytearray(block_file(RECORDS))
    first, second = data.index(ESCAPE), data.rindex(ESCAPE)
    data[second - 20] ^= 0xFF
    file = tmp_path / "x"
    file.write_bytes(data)
    _, out, _ = run("records", "--json", file)
    assert [(row["offset"], row["index"]) for row in rows(out)] == [(second, n) for n in range(3)]
    assert run("cat", file, "--offset", second, "--index", 0, "--part", "payload")[:2] == (0, RECORDS[4][1])
    code, out, err = run("cat", file, "--offset", first)
    assert (code, out) == (2, b"")
    assert err.count(str(file)) == 1
    assert "bad-" not in err
    assert "values of a block" in err


# simhash: values of the program of 2012 for "abcde"; of shorter texts 0.


def test_simhash_prints_number_and_file_in_order(run, tmp_path):
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_bytes(b"abcde")
    short.write_bytes(b"abc")
    code, out, err = run("simhash", long, short, long)
    assert (code, err) == (0, "")
    assert out.decode() == f"2748145790002434242\t{long}\n0\t{short}\n2748145790002434242\t{long}\n"


def test_simhash_reads_stdin_and_charsets(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("abcde".encode("utf-16-le"))))
    assert run("simhash", "--charset", "UTF-16LE", "-") == (0, b"2748145790002434242\t-\n", "")


@pytest.mark.parametrize("charset", ["no-such-charset", "base64", "idna", "punycode", "undefined", "a\0b"])
def test_simhash_with_no_charset_is_a_mistake_of_the_user(run, tmp_path, charset):
    code, out, err = run("simhash", "--charset", charset, tmp_path / "never-read")
    assert (code, out) == (1, b"")
    assert repr(charset)[1:-1] in err


def test_simhash_of_a_missing_file_goes_on_with_the_others(run, tmp_path):
    there = tmp_path / "there"
    there.write_bytes(b"abcde")
    code, out, err = run("simhash", tmp_path / "gone", there)
    assert (code, out.decode()) == (2, f"2748145790002434242\t{there}\n")
    assert err.startswith("not-found: ")
    assert "gone" in err


@needs_data
def test_simhash_is_that_of_the_original_program(run, tmp_path):
    vectors = [v for v in json.loads(shared("legacy/simhash.json").read_text())["vectors"] if "text" in v]
    paths = [tmp_path / str(n) for n in range(len(vectors))]
    for path, vector in zip(paths, vectors, strict=True):
        path.write_bytes(vector["text"].encode())
    _, out, _ = run("simhash", *paths)
    assert [int(line.split()[0]) for line in out.splitlines()] == [v["signed"] for v in vectors]


def test_records_of_metadata_are_listed_as_all_others(run, tmp_path):
    file = tmp_path / "metadata-00000"
    file.write_bytes(block_file([(b"http://www.example.fr/index", PAGE)]))
    _, out, _ = run("records", "--json", file)
    (row,) = rows(out)
    assert (row["key"], row["value_length"]) == ("http://www.example.fr/index", len(PAGE))
