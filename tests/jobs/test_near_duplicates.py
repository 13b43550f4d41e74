"""`near_duplicates`: all near pairs and no others, compared with comparing all with all."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest
from tests import builders
from tests.formats.sequencefiles import block_file
from tests.mr.helpers import PROJECT, rows, run, run_here

SCRIPT = PROJECT / "jobs" / "near_duplicates.py"


def attempt(number):
    record = {"attempt_time": 1341708194671, "disposition": "SUCCESS", "http_result": 200}
    return json.dumps(record if number is None else {**record, "text_simhash": number}).encode()


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def families():
    """(URL, hash) of families whose members are 0 to 9 bits from their first, and of loners."""
    draw = random.Random(7)
    found = []
    for family in range(8):
        base = draw.getrandbits(64)
        for member, bits in enumerate([0, 0, 1, 2, 3, 4, 5, 7, 9]):
            number = base
            for bit in draw.sample(range(64), bits):
                number ^= 1 << bit
            found.append((f"http://{family}.example/{member}", signed(number)))
    found += [(f"http://far.example/{n}", signed(draw.getrandbits(64))) for n in range(40)]
    draw.shuffle(found)
    return found


ITEMS = families()


def all_with_all(items, limit):
    """{(URL, URL): least distance} of all pairs of different URLs within a distance."""
    found = {}
    for (a, x), (b, y) in combinations(items, 2):
        distance = ((x ^ y) & (1 << 64) - 1).bit_count()
        if a != b and x and y and distance <= limit:
            pair = (min(a, b), max(a, b))
            found[pair] = min(distance, found.get(pair, 64))
    return found


def pairs(ended):
    return {tuple(json.loads(key)): value for key, value in ended.pairs.items()}


@pytest.fixture
def files(crawl):
    records = [(url.encode(), attempt(number)) for url, number in ITEMS]
    records += [(b"http://none.example/%d" % n, attempt(None)) for n in range(3)]
    records += [(b"http://zero.example/%d" % n, attempt(0)) for n in range(2)]
    return [crawl.write("0", block_file(records[::2])), crawl.write("1", block_file(records[1::2]))]


@pytest.mark.parametrize("limit", [0, 1, 3, 7])
def test_all_pairs_within_the_distance_are_found_once(job, crawl, files, limit):
    wanted = all_with_all(ITEMS, limit)
    assert len(wanted) >= 8
    ended = run_here(job.NearDuplicates, "-r", "inline", "--max-distance", limit, crawl.list(*files))
    assert (ended.code, pairs(ended)) == (0, wanted), ended.err


def test_workers_from_another_folder_find_the_same_and_say_what_was_left_out(crawl, files, tmp_path):
    ended = run(SCRIPT, "--num-cores", "2", "-v", crawl.list(*files), cwd=tmp_path)
    assert (ended.code, pairs(ended)) == (0, all_with_all(ITEMS, 3)), ended.err
    assert "step 1, near_duplicates: left out = 5\n" in ended.err


def test_url_that_was_fetched_twice_is_no_pair_and_has_its_least_distance(job, crawl):
    items = [("http://a.example/", 7), ("http://a.example/", 6), ("http://a.example/", 7), ("http://b.example/", 15)]
    lst = crawl.list(crawl.write("0", block_file([(url.encode(), attempt(number)) for url, number in items])))
    ended = run_here(job.NearDuplicates, "-r", "inline", lst)
    assert pairs(ended) == {("http://a.example/", "http://b.example/"): 1}


def test_large_groups_come_out_whole_and_pair_by_their_first_url(job, crawl):
    items = [(f"http://same.example/{n}", -7) for n in (3, 1, 2)] + [("http://same.example/2", -7)]
    items += [("http://near.example/", -5), ("http://also.example/", -5)]
    lst = crawl.list(crawl.write("0", block_file([(url.encode(), attempt(number)) for url, number in items])))
    ended = run_here(job.NearDuplicates, "-r", "inline", "--max-group", "2", lst)
    assert (ended.code, ended.pairs) == (
        0,
        {
            '["group",-7]': ["http://same.example/1", "http://same.example/2", "http://same.example/3"],
            '["http://also.example/","http://near.example/"]': 0,
            '["http://near.example/","http://same.example/1"]': 1,
            '["http://also.example/","http://same.example/1"]': 1,
        },
    )
    ended = run_here(job.NearDuplicates, "-r", "inline", "--max-group", "3", lst)
    assert pairs(ended) == all_with_all(items, 3)


PAGE = " ".join(f"word{n} of the page" for n in range(60))
TEXTS = {
    "http://t.example/1": PAGE,
    "http://t.example/2": PAGE,
    "http://t.example/3": " ".join(f"{n} something else entirely {n * n}" for n in range(60)),
    "http://t.example/short1": "abc",
    "http://t.example/short2": "abc",
    "http://t.example/dots1": "....... ....... !!",
    "http://t.example/dots2": "---",
}


@pytest.fixture
def texts(crawl):
    records = [builders.warcinfo(), *(builders.conversion(url, text) for url, text in TEXTS.items())]
    return {
        "text_data": crawl.write("t", block_file([(url.encode(), text.encode()) for url, text in TEXTS.items()])),
        "wet": crawl.write("w", builders.pack(records)),
    }


@pytest.mark.parametrize("kind", ["text_data", "wet"])
@pytest.mark.parametrize("which", ["2012", "package"])
def test_texts_are_hashed_and_short_ones_left_out(job, crawl, texts, kind, which):
    ended = run_here(job.NearDuplicates, "-r", "inline", "--hash", which, "-v", crawl.list(texts[kind]))
    assert pairs(ended) == {("http://t.example/1", "http://t.example/2"): 0}, ended.err
    # Of 2012, the dots have a hash: they are characters like all others.
    assert f"left out = {3 if which == '2012' else 4}\n" in ended.err


def test_texts_and_their_metadata_can_be_compared(job, crawl, texts, files):
    ended = run_here(job.NearDuplicates, "-r", "inline", crawl.list(*texts.values(), *files))
    assert pairs(ended) == all_with_all(ITEMS, 3) | {("http://t.example/1", "http://t.example/2"): 0}


def test_published_hashes_are_not_those_of_the_package(job, crawl, files, tmp_path):
    lst = crawl.list(*files)
    ended = run_here(job.NearDuplicates, "-r", "inline", "--hash", "package", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.out) == (2, "")
    assert {tuple(row["lost"]) for row in rows(tmp_path / "l").values()} == {("unsupported-format",)}


def test_invalid_metadata_are_lost(job, crawl, tmp_path):
    values = [attempt(7), attempt("7"), attempt(1 << 64), b'{"attempt_time":']
    lst = crawl.list(crawl.write("0", block_file([(b"http://a.example/%d" % n, v) for n, v in enumerate(values)])))
    ended = run_here(job.NearDuplicates, "-r", "inline", "--ledger", tmp_path / "l", lst)
    assert (ended.code, ended.out) == (2, "")
    [row] = rows(tmp_path / "l").values()
    assert row["lost"] == {"bad-json": 3}


@pytest.mark.parametrize("value", ["-1", "8", "x", ""])
def test_distance_that_cannot_be_is_a_mistake_of_the_user(job, crawl, files, value):
    ended = run_here(job.NearDuplicates, "-r", "inline", f"--max-distance={value}", crawl.list(*files))
    assert (ended.code, ended.out) == (1, "")
    assert "--max-distance" in ended.err
