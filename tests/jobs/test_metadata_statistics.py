"""`metadata_statistics`: all tables in one pass, counted by hand."""

from __future__ import annotations

import json

import pytest
from tests.formats.metadata_values import FAILURE, MISSING, PAGE, RSS
from tests.formats.sequencefiles import block_file, plain_file
from tests.mr.helpers import PROJECT, rows, run, run_here

SCRIPT = PROJECT / "jobs" / "metadata_statistics.py"
RECORDS = [
    (b"http://www.example.fr/index", PAGE),
    (b"http://www.example.fr/index", PAGE),
    (b"http://a.example.co.uk/", FAILURE),
    (b"http://192.0.2.7/x", MISSING),
    (b"http://c.example.fr/feed", RSS),
]
TABLES: dict[str, dict] = {
    "disposition": {"SUCCESS": 4, "FAILURE": 1},
    "failure": {"DNSFailure": 1},
    "redirect": {301: 2, 0: 1},
    "status": {200: 3, 404: 1},
    "server": {"nginx": 2, None: 2},
    "host": {"name": 4, "ipv4": 1},
    "tld": {"fr": 3, "uk": 1, None: 1},
    "domain": {"example.fr": 3, "example.co.uk": 1, None: 1},
    "mime": {"text/html": 2, "text/xml": 1},
    "charset": {"UTF-8": 3},
    "detector": {1: 2, 0: 1},
    "parsed": {"html": 2, "rss": 1},
    "gzip": {"gunzipped": 2, "none": 1},
    "truncated": {True: 2, False: 1},
    "content_len": {4096: 2, 0: 1, 512: 1},
    "download_size": {4096: 2, 512: 1},
    "gunzip_content_len": {16384: 2},
    "links": {"text/css": 2, "text/javascript": 2, "img": 2, "a": 4},
    "pages_with_links": {"text/css": 2, "text/javascript": 2, "img": 2, "a": 2},
    "links_per_page": {4: 2},
}
COUNTS = {
    json.dumps([table, item], separators=(",", ":")): n for table, found in TABLES.items() for item, n in found.items()
}


@pytest.fixture
def files(crawl):
    return [crawl.write("0", block_file(RECORDS[:2])), crawl.write("1", plain_file(RECORDS[2:]))]


def test_all_tables_are_counted(job, crawl, files):
    ended = run_here(job.MetadataStatistics, "-r", "inline", crawl.list(*files))
    assert (ended.code, ended.pairs) == (0, COUNTS), ended.err


def test_workers_from_another_folder_give_the_same(crawl, files, tmp_path):
    ended = run(SCRIPT, "--num-cores", "2", crawl.list(*files), cwd=tmp_path)
    assert (ended.code, ended.pairs) == (0, COUNTS), ended.err


def test_top_is_of_each_table(job, crawl, files):
    ended = run_here(job.MetadataStatistics, "-r", "inline", "--top", "1", crawl.list(*files))
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert [json.loads(key)[0] for key, _ in lines] == sorted(TABLES)
    assert {json.loads(key)[0]: int(n) for key, n in lines} == {t: max(found.values()) for t, found in TABLES.items()}
    assert ['["server","nginx"]', "2"] in lines  # of equal counts the key's JSON decides
    ended = run_here(job.MetadataStatistics, "-r", "inline", "--min-count", "2", "--top", "2", crawl.list(*files))
    assert ended.pairs.keys() < COUNTS.keys()
    assert {key for key in ended.pairs if "content_len" in key} == {
        '["content_len",4096]',
        '["gunzip_content_len",16384]',
    }


def test_invalid_record_counts_for_nothing_and_is_lost(job, crawl, tmp_path):
    records = [*RECORDS, (b"http://x.example/", b'{"attempt_time":1,"disposition":"SUCCESS","http_result":"200"}')]
    lst = crawl.list(crawl.write("0", block_file(records)))
    ended = run_here(job.MetadataStatistics, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.pairs) == (2, COUNTS)
    [row] = rows(tmp_path / "l").values()
    assert (row["records"], row["lost"]) == (6, {"bad-json": 1})


def test_texts_are_refused(job, crawl):
    ended = run_here(
        job.MetadataStatistics, "-r", "inline", crawl.list(crawl.write("t", block_file([(b"k", b"text")])))
    )
    assert (ended.code, ended.out) == (2, "")
    assert "expected metadata, got text_data" in ended.err
