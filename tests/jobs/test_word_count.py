"""`word_count`: words of extracted texts, counted by hand."""

from __future__ import annotations

import pytest
from tests import builders
from tests.formats.sequencefiles import block_file
from tests.mr.helpers import PROJECT, run, run_here

SCRIPT = PROJECT / "jobs" / "word_count.py"
TEXTS = ["Hello hello, WORLD! snake_case", "東京。東京 hello", "cafe\u0301 x\u2028y", ""]
WORDS = {"hello": 3, "world": 1, "snake_case": 1, "東京": 2, "cafe": 1, "x": 1, "y": 1}
TEXTS_WITH = {"hello": 2, "world": 1, "snake_case": 1, "東京": 1, "cafe": 1, "x": 1, "y": 1}
COUNTS = {f'"{word}"': count for word, count in WORDS.items()}
BOTH = {f'"{word}"': [count, TEXTS_WITH[word]] for word, count in WORDS.items()}


@pytest.fixture
def wets(crawl):
    """Two WET files."""
    records = [builders.conversion(f"http://e.org/{n}", text) for n, text in enumerate(TEXTS)]
    records.append(builders.record("metadata", b"never counted", "http://e.org/m", "text/plain"))
    return [
        crawl.write(f"{n}.wet.gz", builders.pack([builders.warcinfo(), *half]))
        for n, half in enumerate((records[:2], records[2:]))
    ]


@pytest.mark.parametrize(("options", "counts"), [((), COUNTS), (("--document-frequency",), BOTH)])
def test_words_of_all_files_are_counted(job, crawl, wets, options, counts):
    ended = run_here(job.WordCount, "-r", "inline", *options, crawl.list(*wets))
    assert (ended.code, ended.pairs) == (0, counts)


@pytest.mark.parametrize(("options", "counts"), [((), COUNTS), (("--document-frequency",), BOTH)])
def test_workers_from_another_folder_give_the_same_in_any_locale(crawl, wets, tmp_path, options, counts):
    ended = run(SCRIPT, *options, crawl.list(*wets), cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (ended.code, ended.pairs) == (0, counts)


def test_min_count_and_top_go_by_the_number_of_occurrences(job, crawl, wets):
    lst = crawl.list(*wets)
    assert run_here(job.WordCount, "-r", "inline", "--min-count", "2", lst).pairs == {'"hello"': 3, '"東京"': 2}
    both = run_here(job.WordCount, "-r", "inline", "--document-frequency", "--min-count", "2", "--top", "1", lst)
    assert both.out == '"hello"\t[3,2]\n'
    top = run_here(job.WordCount, "-r", "inline", "--top", "4", lst)
    assert top.out == '"hello"\t3\n"東京"\t2\n"cafe"\t1\n"snake_case"\t1\n'


def test_warc_given_to_word_count_fails_as_unsupported(job, crawl):
    ended = run_here(job.WordCount, "-r", "inline", crawl.list(crawl.warc("a", "http://e.org/")))
    assert (ended.code, ended.out) == (2, "")
    assert "unsupported-format" in ended.err


@pytest.mark.parametrize(("options", "counts"), [((), COUNTS), (("--document-frequency",), BOTH)])
def test_text_data_of_2012_have_the_same_words(job, crawl, options, counts):
    records = [(b"http://e.org/%d" % n, text.encode()) for n, text in enumerate(TEXTS)]
    ended = run_here(job.WordCount, "-r", "inline", *options, crawl.list(crawl.write("t", block_file(records))))
    assert (ended.code, ended.pairs) == (0, counts)


def test_text_data_that_is_no_utf8_is_lost_alone(job, crawl):
    lst = crawl.list(crawl.write("t", block_file([(b"a", b"one\xff"), (b"b", b"two"), (b"\xff", b"three")])))
    ended = run_here(job.WordCount, "-r", "inline", lst)
    assert (ended.code, ended.pairs) == (2, {'"two"': 1, '"three"': 1})
    assert "bad-encoding" in ended.err
