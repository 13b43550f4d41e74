"""A real CDX server, pywb, over a cluster and over a plain file: what it gives is what the lines say."""

from __future__ import annotations

import random
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from tests.indexes.captures import OPTIONS, expected, make_cluster, make_lines, make_patterns, text, value
from tests.indexes.test_cdx_api import ask
from tests.indexes.test_lookup import query
from tests.pywb import pywb_python

# pywb leaves hosts at other ports out of host and domain queries, and one of a single label out of its own domain.
LINES = [
    line for line in make_lines(3000, seed=9) if ":" not in line.split(")")[0] and not line.startswith("localhost")
]
CONFIG = """
collections:
  crawl: {{index: {{type: zipnum, path: {0}/cluster/cluster.idx, max_blocks: 3}}, archive_paths: {0}}}
  plain: {{index_paths: {0}/plain.cdxj, archive_paths: {0}}}
"""


@pytest.fixture(scope="module")
def pywb(tmp_path_factory):
    """The address of a server with the collections `crawl` and `plain`."""
    folder = tmp_path_factory.mktemp("pywb")
    make_cluster(folder / "cluster", LINES, per=40)
    (folder / "plain.cdxj").write_bytes(text(LINES))
    (folder / "config.yaml").write_text(CONFIG.format(folder))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = "import sys; from pywb.apps.cli import wayback; sys.exit(wayback())"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [pywb_python(), "-c", start, "-p", str(port), "-b", "127.0.0.1"], cwd=folder, stdout=log, stderr=log
        )
    try:
        for _ in range(600):
            assert server.poll() is None, (folder / "log").read_text()[-2000:]
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/crawl/cdx?url=a.example", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize("collection", ["crawl", "plain"])
def test_random_queries_equal_brute_force(pywb, collection):
    dice = random.Random(collection)
    for options in OPTIONS[1::2]:
        if options.get("match") == "prefix":
            continue  # a prefix may end within the name of a host here, not there
        patterns = [each for each in make_patterns(dice, LINES, 3, options.get("match")) if ":80" not in each]
        queries = [query(pattern, **options) for pattern in patterns if not pattern.endswith(("com*", "org*"))]
        for asked, found in zip(queries, ask(f"{pywb}/{collection}/cdx", *queries), strict=True):
            assert found == expected(LINES, asked.pattern.text, **options), (asked.pattern.text, options)


def test_pages_of_every_size_are_one_answer_and_fuzzy_matches_none(pywb):
    whole = expected(LINES, "*.example.com")
    for size in (1, 2, 7, 1000):
        assert ask(f"{pywb}/crawl/cdx", query("*.example.com"), page_size=size) == [whole]
    url = next(value(line, "url") for line in LINES if "?" in line)
    assert ask(f"{pywb}/crawl/cdx", query(f"{url.partition('?')[0]}?utm_source=none&zz=1")) == [[]]
