"""`text_data`: every text of a textData file, as it is, whole or by splits."""

from __future__ import annotations

import json

import pytest
from tests.formats.metadata_values import FAILURE
from tests.formats.sequencefiles import ESCAPE, block_file, plain_file
from tests.mr.helpers import PROJECT, rows, run, run_here

SCRIPT = PROJECT / "jobs" / "text_data.py"
TEXTS = {
    "http://a.example/\té": "first\nsecond\r\nthird\twith\ttabs\n\n",
    "http://a.example/odd": "\0\x01\u2028🙂\ufeff",
    "http://a.example/json": '"\\" {"a": 1}\t[]',
    "http://a.example/empty": "",
    "http://a.example/last": "the last one " * 40,
}
RECORDS = [(key.encode(), text.encode()) for key, text in TEXTS.items()]


def texts(ended):
    return {json.loads(key): value for key, value in ended.pairs.items()}


@pytest.fixture
def files(crawl):
    return [crawl.write("0", block_file(RECORDS[:3], each=2)), crawl.write("1", plain_file(RECORDS[3:], interval=30))]


def test_record_gives_url_and_text(job):
    class Record:
        uri = "http://a.example/"

        @staticmethod
        def text():
            return "text"

    assert list(job.TextData([]).process(Record)) == [("http://a.example/", "text")]


def test_all_texts_come_out_unchanged(job, crawl, files):
    ended = run_here(job.TextData, "-r", "inline", crawl.list(*files))
    assert (ended.code, texts(ended)) == (0, TEXTS), ended.err


def test_splits_of_a_file_give_each_text_once(job, crawl, tmp_path):
    file = crawl.write("0", block_file(RECORDS, each=2))
    size = file.stat().st_size
    lst = crawl.list(*(f"{file}\t{start}\t{min(50, size - start)}" for start in range(0, size, 50)))
    ended = run_here(job.TextData, "-r", "inline", "--inputs-per-task", "2", "--ledger", tmp_path / "l", lst)
    assert (ended.code, texts(ended)) == (0, TEXTS)
    found = rows(tmp_path / "l").values()
    assert {row["outcome"] for row in found} == {"ok"}
    assert sum(row["records"] for row in found) == 5
    assert sum(row["bytes"] for row in found) == size


def test_workers_from_another_folder_give_the_same(crawl, files, tmp_path):
    ended = run(SCRIPT, "--num-cores", "2", crawl.list(*files), cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0")
    assert (ended.code, texts(ended)) == (0, TEXTS), ended.err


def test_damaged_block_and_text_that_is_no_utf8_are_lost_alone(job, crawl, tmp_path):
    data = bytearray(block_file([*RECORDS, (b"http://b.example/", b"ab\xffc"), (b"\xff", b"x")], each=2))
    data[data.index(ESCAPE) + 60] ^= 0xFF
    lst = crawl.list(crawl.write("0", data))
    ended = run_here(job.TextData, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert (ended.code, list(texts(ended))) == (2, list(TEXTS)[2:])
    [row] = rows(tmp_path / "l").values()
    assert (row["outcome"], row["format"], row["records"]) == ("partial", "sequencefile", 5)
    assert row["lost"]["bad-encoding"] == 2
    assert sum(row["lost"].values()) == 3


@pytest.mark.parametrize(("on_bad", "code"), [("skip", 2), ("fail", 1)])
def test_other_kinds_of_files_are_refused_beside_good_ones(job, crawl, files, tmp_path, on_bad, code):
    metadata = crawl.write("m", block_file([(b"http://a.example/", FAILURE)]))
    warc = crawl.warc("w", "http://a.example/")
    lst = crawl.list(*files, metadata, warc, crawl.folder / "gone")
    ended = run_here(job.TextData, "-r", "inline", "--on-bad-input", on_bad, "--ledger", tmp_path / "l", lst)
    assert ended.code == code
    if code == 2:
        lost = {name.rpartition("/")[2]: row["lost"] for name, row in rows(tmp_path / "l").items()}
        unsupported = {"unsupported-format": 1}
        assert lost == {"0": {}, "1": {}, "m": unsupported, "w": unsupported, "gone": {"not-found": 1}}
        assert texts(ended) == TEXTS
