"""Statistics against those of other programs: the lines of cc-crawl-statistics, and the tool that compares them."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pyarrow.parquet as pq
import pytest
from tests.data import shared
from tests.mr.helpers import run_here
from tools.compare_statistics import main

from crawlmill.indexes.columnar.host_rows import outcome_of
from crawlmill.jobs.crawl_statistics import CrawlStatistics
from crawlmill.jobs.host_index import HostIndex

CRAWL = "CC-MAIN-2024-10"


@pytest.fixture
def listing(tmp_path):
    """A list of the index files of a small crawl."""
    path = tmp_path / "index.paths"
    files = sorted((shared("statistics") / CRAWL / "indexes").glob("*.gz"))
    path.write_text("".join(f"{file}\n" for file in files))
    return path


def compared(capsys, ours, theirs):
    """The tool's exit code, and the counts of each metric."""
    code = main([str(ours), str(theirs)])
    table = capsys.readouterr().out.partition("\n\n")[0].splitlines()[1:]
    return code, {
        " ".join(words[5:]): [int(word.replace(",", "")) for word in words[:5]] for words in map(str.split, table)
    }


def test_pages_are_those_that_cc_crawl_statistics_counts(listing, tmp_path, capsys):
    ended = run_here(CrawlStatistics, "-r", "inline", listing)
    (tmp_path / "ours").write_text(ended.out)
    _, found = compared(capsys, tmp_path / "ours", shared("statistics") / "published" / f"{CRAWL}.gz")
    counts = {metric: numbers for metric, numbers in found.items() if not metric.startswith("histogram")}
    assert sum(map(sum, counts.values())) > 150
    assert not [metric for metric, (_, _, *unequal) in counts.items() if any(unequal)]
    # It errs in the URLs of these, see the page on validation; all other lines are equal to the last number.
    erring = {
        "charset",
        "domain",
        "languages",
        "mimetype",
        "mimetype_detected",
        "primary_language",
        "robotstxt_status",
        "tld",
    }
    assert {metric for metric, numbers in counts.items() if numbers[1]} <= erring
    assert counts["host"][1] == counts["size_estimate url"][1] == 0


def test_classes_of_robots_txt_are_those_that_cc_crawl_statistics_counts(listing, tmp_path):
    published = gzip.decompress((shared("statistics") / "published" / f"{CRAWL}.gz").read_bytes()).decode()
    lines = [line.split("\t") for line in published.splitlines() if line.startswith('["robotstxt_status"')]
    expected: Counter[str] = Counter()
    for key, value in lines:
        numbers = json.loads(value)
        expected[outcome_of(json.loads(key)[1])] += numbers[0] if isinstance(numbers, list) else numbers
    run_here(HostIndex, "-r", "inline", listing, "--output-dir", tmp_path / "out")
    rows = [row for path in (tmp_path / "out").rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    found = Counter({name[7:]: sum(row[name] for row in rows) for name in rows[0] if name.startswith("robots_")})
    assert +found == expected == {"200": 16, "redirPerm": 2, "4xx": 4, "gone": 2}


def test_lines_are_compared_by_their_numbers(tmp_path, capsys):
    lines = {
        "ours": {
            ("tld", "is", CRAWL): [3, 3, 1],
            ("tld", "de", CRAWL): [2, 1],
            ("host", "a", CRAWL): 1,
            ("host", "b", CRAWL): 4,
            ("size_estimate", "url", CRAWL): {"M": [1], "card": 7.1},
            ("tld", "x", "other"): 1,
        },
        "theirs": {
            ("tld", "is", CRAWL): [3, 3, 1, 1],
            ("tld", "de", CRAWL): 2,
            ("host", "b", CRAWL): 5,
            ("size_estimate", "url", CRAWL): {"M": [1], "card": 7.0},
            ("host", "c", CRAWL): 1,
        },
    }
    for name, some in lines.items():
        text = "".join(f"{json.dumps(key)}\t{json.dumps(value)}\n" for key, value in some.items())
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-00000").write_bytes(gzip.compress(text.encode()) if name == "ours" else text.encode())
        (tmp_path / name / "_SUCCESS").touch()
    assert compared(capsys, tmp_path / "ours", tmp_path / "theirs") == (
        2,
        {"host": [0, 0, 1, 1, 1], "tld": [1, 1, 0, 0, 0], "size_estimate url": [1, 0, 0, 0, 0]},
    )
    assert compared(capsys, tmp_path / "ours", tmp_path / "ours")[0] == 0
