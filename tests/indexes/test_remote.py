"""Remote indexes: what is asked for and how much of it, what is kept, and what changes on the way."""

from __future__ import annotations

import math
import random
import re

import pytest
from tests.indexes.captures import expected, make_cluster, make_lines, text, value
from tests.indexes.test_lookup import ask, query
from tests.storage.faults import FaultServer, Thing

from crawlmill.errors import UsageError

LINES = make_lines(9000, seed=7)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of this test alone."""
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def web():
    with FaultServer() as server:
        yield server


def publish(server, folder, prefix="/c"):
    server.things |= {f"{prefix}/{path.name}": Thing(path.read_bytes()) for path in folder.iterdir()}


def asked(server, part):
    return [seen for seen in server.seen if part in seen.path]


def span(seen):
    first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", seen.range).groups()
    return int(last) + 1 - int(first)


def test_requests_before_the_first_member_are_few_and_fewer_the_second_time(web, tmp_path):
    members = make_cluster(tmp_path / "c", LINES, per=2, shards=2)
    publish(web, tmp_path / "c")
    idx = (tmp_path / "c/cluster.idx").stat().st_size
    for target in [*random.Random(8).sample(LINES, 4), LINES[-1]]:
        url = value(target, "url")
        web.seen.clear()
        assert ask([f"{web.url}/c/"], [query(url)]) == [expected(LINES, url)]
        before = next(number for number, seen in enumerate(web.seen) if "cdx-" in seen.path)
        assert before <= 2 + math.log2(len(members))
    assert sum(map(span, asked(web, "cluster.idx"))) < idx / 3  # by now its middle is in the cache
    web.seen.clear()
    ask([f"{web.url}/c/"], [query(url)])
    assert sum(map(span, asked(web, "cluster.idx"))) == 1  # whether it has changed


def test_neighbouring_members_are_one_request(web, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=20, shards=2)
    publish(web, tmp_path / "c")
    assert ask([f"{web.url}/c/"], [query("*.example.com")]) == [expected(LINES, "*.example.com")]
    assert 1 <= len(asked(web, "cdx-")) <= 4  # a run for each range of a domain, and another shard
    assert sum(map(span, asked(web, "cdx-"))) < sum(path.stat().st_size for path in (tmp_path / "c").glob("cdx-*"))


def test_many_patterns_fetch_no_member_twice(web, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=100, shards=2)
    publish(web, tmp_path / "c")
    urls = [value(line, "url") for line in random.Random(3).sample(LINES, 60)]
    assert ask([f"{web.url}/c/"], map(query, urls)) == [expected(LINES, url) for url in urls]
    fetched = sum(map(span, asked(web, "cdx-")))
    assert fetched <= sum(path.stat().st_size for path in (tmp_path / "c").glob("cdx-*"))
    assert len(asked(web, "cdx-")) < 40


def test_a_sorted_file_is_bisected(web):
    web.things["/a.cdxj"] = Thing(text(LINES))
    url = value(LINES[5000], "url")
    assert ask([f"{web.url}/a.cdxj"], [query(url)]) == [expected(LINES, url)]
    assert len(web.seen) <= 3 + math.log2(len(text(LINES)) / 32768)


def test_blocks_of_another_version_are_not_used(web, tmp_path, cache):
    make_cluster(tmp_path / "c", LINES[::2], per=3)
    publish(web, tmp_path / "c")
    url = value(LINES[5000], "url")
    assert ask([f"{web.url}/c/"], [query(url)]) == [expected(LINES[::2], url)]
    make_cluster(tmp_path / "d", LINES[1::2], per=3)
    for path in (tmp_path / "d").iterdir():
        web.things[f"/c/{path.name}"] = Thing(path.read_bytes(), etag='"two"')
    assert ask([f"{web.url}/c/"], [query(url)]) == [expected(LINES[1::2], url)]
    assert len(list((cache / "index-blocks").glob("*/*"))) == 1  # what was kept of the first version is gone


def test_a_damaged_block_in_the_cache_is_fetched_again(web, tmp_path, cache):
    make_cluster(tmp_path / "c", LINES, per=3)
    publish(web, tmp_path / "c")
    url = value(LINES[700], "url")
    ask([f"{web.url}/c/"], [query(url)])
    for path in cache.glob("index-blocks/*/*/*"):
        path.write_bytes(path.read_bytes().replace(b"com", b"org"))
    assert ask([f"{web.url}/c/"], [query(url)]) == [expected(LINES, url)]


def test_a_file_that_changes_between_two_requests_is_lost(web):
    web.things["/a.cdxj"] = Thing(text(LINES), later={"data": text(LINES[::2]), "etag": '"two"'})
    problems = []
    ask([f"{web.url}/a.cdxj"], [query("*.org")], problems)
    assert [problem.reason for problem in problems] == ["changed"]


def test_servers_that_fail_or_know_no_ranges_are_read_all_the_same(web, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=500, shards=2)
    for change in ({"answers": [(503, {"Retry-After": "0"})]}, {"ranges": False}):
        for victim in ("cluster.idx", "cdx-00000.gz"):
            publish(web, tmp_path / "c")
            for field, new in change.items():
                setattr(web.things[f"/c/{victim}"], field, new)
            assert ask([f"{web.url}/c/"], [query("*.example.com")]) == [expected(LINES, "*.example.com")]


def test_a_shard_that_is_not_there_is_asked_for_once(web, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=50, shards=3, loc=False)
    publish(web, tmp_path / "c")
    del web.things["/c/cdx-00001.gz"]
    problems = []
    (found,) = ask([f"{web.url}/c/"], [query("com", match="domain")], problems)
    assert found == [line for line in expected(LINES, "com", match="domain") if line not in set(LINES[3000:6000])]
    assert [(problem.reason, problem.source) for problem in problems] == [("not-found", "cdx-00001.gz")]
    assert len(asked(web, "cdx-00001.gz")) == 2  # by its name, and by its name with .gz


def test_a_remote_cluster_reads_no_file_of_this_machine(web, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=500, shards=1)
    publish(web, tmp_path / "c")
    del web.things["/c/cdx-00000.gz"]
    web.things["/c/cluster.loc"] = Thing(
        f"cdx-00000.gz\t{tmp_path}/c/cdx-00000.gz\tfile://{tmp_path}/c/cdx-00000.gz\n".encode()
    )
    problems = []
    assert ask([f"{web.url}/c/"], [query("*.org")], problems) == [[]]
    assert [problem.reason for problem in problems] == ["not-found"]


def test_an_index_that_is_not_there_is_a_mistake_of_the_user(web):
    with pytest.raises(UsageError, match="404"):
        ask([f"{web.url}/c/"], [query("*.org")])
