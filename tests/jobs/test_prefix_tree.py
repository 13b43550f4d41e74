"""The job that builds the index of 2012: its file against the tree of the items that it must hold."""

from __future__ import annotations

import json
import random
import struct

import pytest
from tests.indexes.test_prefix_tree import find, scan, write
from tests.mr.helpers import rows, run_here

from crawlmill.jobs.prefix_tree import PrefixTree
from crawlmill.sample import write_sample

ITEMS = sorted(
    (b"com.example%d/%d:http" % (n % 3, n // 2), (1346823845675, 1346864469604 + n % 3, n % 5, n * 500, 400 + n))
    for n in range(300)
)


def capture(key, values):
    segment, date, partition, offset, length = values
    host, _, path = key.decode().removesuffix(":http").partition("/")
    url = f"http://{'.'.join(reversed(host.split('.')))}/{path}"
    place = {
        "offset": str(offset),
        "length": str(length),
        "filename": f"common-crawl/parse-output/segment/{segment}/{date}_{partition}.arc.gz",
    }
    return f"x)/ 20120905000000 {json.dumps({'url': url, **place})}"


def build(tmp_path, lines, *options, runner="inline", code=0):
    inputs = [tmp_path / f"{number}.cdxj" for number in range(3)]
    for number, path in enumerate(inputs):
        path.write_text("".join(f"{line}\n" for line in lines[number::3]))
    listed = tmp_path / "list.paths"
    listed.write_text("".join(f"{path}\n" for path in inputs))
    out = tmp_path / f"out-{runner}"
    ended = run_here(PrefixTree, "-r", runner, listed, "--output-dir", out, "--block-size", 512, *options)
    assert ended.code == code, ended.err
    return out


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_captures_in_any_order_make_the_tree_of_their_items(runner, tmp_path):
    lines = [capture(*item) for item in ITEMS]
    random.Random(5).shuffle(lines)
    out = build(tmp_path, lines, runner=runner)
    assert (out / "url-index.pbtree").read_bytes() == write(ITEMS, size=512, folder=tmp_path)
    assert sum(row["records"] for row in rows(out / "_ledger.jsonl").values()) == len(ITEMS)


def test_values_without_a_size(tmp_path):
    out = build(tmp_path, [capture(*item) for item in ITEMS], "--values", 28)
    assert scan((out / "url-index.pbtree").read_bytes(), "<QQIQ") == [(key, values[:4]) for key, values in ITEMS]


def test_what_cannot_be_in_it_is_reported_with_its_line(tmp_path):
    lines = [capture(*item) for item in ITEMS[:30]]
    lines[3] = "not a capture"
    lines[6] = lines[6].replace("parse-output/segment/1346823845675/", "crawl-data/")
    lines[9] = lines[9].replace("http://", "http://" + "x" * 500)
    lines[12] = lines[12].replace('"length"', '"size"')
    out = build(tmp_path, lines, code=2)
    (row,) = [row for row in rows(out / "_ledger.jsonl").values() if row["outcome"] != "ok"]
    assert (row["outcome"], row["records"], row["lost"]) == ("partial", 6, {"bad-header": 3, "too-large": 1})
    assert [int(problem["message"].split()[1]) for problem in row["problems"]] == [2, 3, 4, 5]
    kept = [item for number, item in enumerate(ITEMS[:30]) if number not in (3, 6, 9, 12)]
    assert scan((out / "url-index.pbtree").read_bytes()) == kept


def test_nothing_makes_the_tree_of_nothing(tmp_path):
    out = build(tmp_path, ["not a capture"], code=2)
    data = (out / "url-index.pbtree").read_bytes()
    assert data == struct.pack("<III", 512, 1, 1).ljust(8 + 512, b"\0")
    assert find(out / "url-index.pbtree", "http://example.com/") == ([[]], [])


def test_metadata_and_arc_files_of_2012_lead_to_the_same_pages(tmp_path):
    write_sample(tmp_path / "sample", formats=("arc", "metadata"))
    found = {}
    for kind, pattern in (("arc", "*.arc.gz"), ("metadata", "metadata-*")):
        files = sorted(path for path in (tmp_path / "sample").rglob(pattern) if path.is_file())
        listed = tmp_path / f"{kind}.paths"
        listed.write_text("".join(f"{path}\n" for path in files))
        out = tmp_path / kind
        assert run_here(PrefixTree, "-r", "inline", listed, "--output-dir", out).code == 0
        found[kind] = scan((out / "url-index.pbtree").read_bytes())
    assert found["metadata"]
    assert {values for _, values in found["metadata"]} <= {values for _, values in found["arc"]}


def test_keys_with_line_ends_and_tabs_pass_the_shuffle(tmp_path):
    urls = [
        f"http://example.com/{mark}{n}"
        for n in (1, 2)
        for mark in ("a\tb", "a\nb", "a\rb", "a\x08b", "a\x0cb", "ab", "a")
    ]
    places = {"length": "5", "filename": "segment/1/2_3.arc.gz"}
    lines = [f"x)/ 20120905000000 {json.dumps({'url': url, 'offset': str(n), **places})}" for n, url in enumerate(urls)]
    out = build(tmp_path, lines)
    keys = [key for key, _ in scan((out / "url-index.pbtree").read_bytes())]
    assert keys == sorted(f"com.example{url[18:]}:http".encode() for url in urls)


def test_usage_errors_are_one_line(tmp_path):
    for options in (["--block-size", "0"], ["--block-size", "99999999"], ["--values", "30"], []):
        given = [*options, "--output-dir", tmp_path / "o"] if options else []
        ended = run_here(PrefixTree, "-r", "inline", tmp_path / "x.paths", *given)
        assert (ended.code, ended.err.count("\n")) == (1, 1)
