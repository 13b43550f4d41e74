"""`tag_count`: as a function, in process, and as a user runs it. All counts are made by hand."""

from __future__ import annotations

import json

import pytest
from tests import builders
from tests.data import needs_data, shared
from tests.mr.helpers import PROJECT, rows, run, run_here

HTML = [("Content-Type", "text/html")]
SCRIPT = PROJECT / "jobs" / "tag_count.py"


@pytest.fixture
def pages(crawl):
    """Two WARCs and an ARC; of their responses, these count."""
    upper = builders.response("http://e.org/1", b"<HTML><p class='<b>'>x<p><script>'<i>'</script><my-tag>")
    other = builders.response("http://e.org/2", b"<html><p>", [("Content-Type", "text/plain")])
    xhtml = builders.response("http://e.org/3", b"<html><br/>", [("content-type", "application/xhtml+xml; charset=x")])
    utf16 = builders.response("http://e.org/4", "\ufeff<html><p>\u3c00".encode("utf-16-le"), HTML)
    revisit = builders.response("http://e.org/1", b"<html>", kind="revisit")
    parts = [
        crawl.write("a.warc.gz", builders.pack([builders.warcinfo(), builders.request("http://e.org/1"), upper, other]))
    ]
    parts += [crawl.write("b.warc", b"".join([builders.warcinfo(), xhtml, utf16, revisit]))]
    old = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n<html><div>"
    parts += [crawl.write("c", builders.arc([("http://e.org/5", old)]))]
    return parts


COUNTS = {'"html"': 4, '"p"': 3, '"script"': 1, '"my-tag"': 1, '"br"': 1, '"div"': 1}


def test_page_is_counted_by_the_counter_of_the_job(job):
    counter = job.TagCount([]).make_counter()
    counter.add(b"<P><p><!-- <i> -->")
    assert dict(counter.drain()) == {"p": 2}


@pytest.mark.parametrize("per_task", [1, 2, 3])
def test_pages_of_all_formats_are_counted_however_they_are_cut(job, crawl, pages, per_task):
    ended = run_here(job.TagCount, "-r", "inline", "--inputs-per-task", per_task, crawl.list(*pages))
    assert (ended.code, ended.pairs) == (0, COUNTS)
    assert ended.out == "".join(f"{key}\t{COUNTS[key]}\n" for key in sorted(COUNTS))


@pytest.mark.parametrize(("size", "lost"), [(200_000, {}), (1_100_000, {"bad-header": 1})])
def test_page_behind_a_long_http_header_is_counted_or_reported(job, crawl, tmp_path, size, lost):
    page = builders.response("http://e.org/1", b"<p>", [("X", "x" * size), *HTML])
    lst = crawl.list(
        crawl.write("long.warc.gz", builders.pack([builders.response("http://e.org/2", b"<i>", HTML), page]))
    )
    ended = run_here(job.TagCount, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert ended.pairs == ({'"i"': 1} if lost else {'"i"': 1, '"p"': 1})
    assert [row["lost"] for row in rows(tmp_path / "l").values()] == [lost]


@pytest.mark.parametrize(("on_bad", "code"), [("skip", 2), ("fail", 1)])
def test_damaged_and_missing_inputs_beside_good_ones(job, crawl, pages, tmp_path, on_bad, code):
    data = pages[0].read_bytes()
    cut = crawl.write("cut.warc.gz", data[:-7])  # the last record, which counts nothing, is cut
    lst = crawl.list(*pages, cut, crawl.folder / "gone")
    ended = run_here(job.TagCount, "-r", "inline", "--on-bad-input", on_bad, "--ledger", tmp_path / "l", lst)
    assert ended.code == code
    found = {name.rpartition("/")[2]: row["outcome"] for name, row in rows(tmp_path / "l").items()}
    if code == 2:
        assert found == {"a.warc.gz": "ok", "b.warc": "ok", "c": "ok", "cut.warc.gz": "partial", "gone": "failed"}
        assert ended.pairs == COUNTS | {'"html"': 5, '"p"': 5, '"script"': 2, '"my-tag"': 2}
    else:
        assert ended.out == ""


def test_local_runner_from_another_folder_gives_the_same(crawl, pages, tmp_path):
    lst = crawl.list(*pages)
    ended = run(SCRIPT, "--num-cores", "2", "--output-dir", "out", lst, cwd=tmp_path)
    assert ended.code == 0, ended.err
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert len(parts) == 2
    lines = "".join(part.read_text() for part in parts).splitlines()
    assert {key: json.loads(n) for key, n in (line.split("\t") for line in lines)} == COUNTS


def test_too_large_body_is_lost_and_said(job, crawl, pages, tmp_path):
    ended = run_here(job.TagCount, "-r", "inline", "--max-body", "20", "--ledger", tmp_path / "l", crawl.list(pages[0]))
    assert (ended.code, ended.pairs) == (2, {})
    assert [row["lost"] for row in rows(tmp_path / "l").values()] == [{"too-large": 1}]


def test_help_teaches(job):
    ended = run(SCRIPT, "--help")
    assert ended.code == 0
    for word in ("tag_count", "Count the HTML start tags", "--base-url", "--top", "--ledger", "exit code", "examples:"):
        assert word in ended.out
    assert "--emr" not in ended.out


@needs_data
def test_real_page_has_the_tags_that_an_independent_tokenizer_finds(job, crawl):
    ended = run_here(job.TagCount, "-r", "inline", crawl.list(shared("commoncrawl/whirlwind.warc.gz")))
    # html5lib 1.1, tokenizer alone, on the payload that warcio 1.8 gives.
    assert {key: ended.pairs[key] for key in ('"a"', '"b"', '"body"', '"br"')} == {
        '"a"': 207,
        '"b"': 12,
        '"body"': 1,
        '"br"': 15,
    }
