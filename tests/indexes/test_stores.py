"""Look-ups over HTTP, S3 and HDFS: the same captures, and as few reads of data on each."""

from __future__ import annotations

import math
import random
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.indexes.captures import expected, make_cluster, make_lines, text, value
from tests.indexes.test_lookup import ask, query
from tests.storage.faults import FaultServer, Thing
from tests.storage.webhdfs import WebHdfs

from crawlmill.storage import StorageOptions

LINES = make_lines(6000, seed=9)
FEWEST = {"http": 1, "s3": 1, "hdfs": 3}
"""Requests of one read: WebHDFS is asked for the file's status, and redirects to where the data is."""


class Store:
    """A store of one kind: `root` is its location; its reads of data are counted."""

    def __init__(self, kind: str, server: FaultServer) -> None:
        self.kind, self.server = kind, server
        self.root = {"http": server.url, "s3": "s3://bucket", "hdfs": "hdfs://namenode"}[kind]
        self.options = StorageOptions(s3_endpoint=server.url, webhdfs=server.url)

    def put(self, name: str, data: bytes) -> None:
        if isinstance(self.server, WebHdfs):
            self.server.files[f"/{name}"] = data
        else:
            self.server.things[f"/bucket/{name}" if self.kind == "s3" else f"/{name}"] = Thing(data)

    def reads(self, name: str) -> list[tuple[int, int]]:
        """(offset, bytes) of each read of data, in order."""
        found = []
        for seen in self.server.seen:
            parts = urlsplit(seen.path)
            if not parts.path.endswith(name) or (self.kind == "hdfs" and not parts.path.startswith("/data/")):
                continue
            if self.kind == "hdfs":
                asked = parse_qs(parts.query)
                first, length = int(asked.get("offset", ["0"])[0]), int(asked.get("length", ["0"])[0])
            elif seen.range:
                first, last = map(int, seen.range.removeprefix("bytes=").split("-"))
                length = last + 1 - first
            else:
                first = length = 0
            found.append((first, length))
        return found

    def ask(self, name: str, queries, problems=None):
        self.server.seen.clear()
        return ask([f"{self.root}/{name}"], queries, problems, self.options)


@pytest.fixture(params=["http", "s3", "hdfs"])
def store(request, tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    for name in ("http_proxy", "HTTP_PROXY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with (WebHdfs if request.param == "hdfs" else FaultServer)() as server:
        yield Store(request.param, server)


def test_one_key_costs_as_many_reads_as_bisection_takes_and_one(store, tmp_path):
    members = make_cluster(tmp_path / "c", LINES, per=2, shards=2)
    for path in (tmp_path / "c").iterdir():
        store.put(f"c/{path.name}", path.read_bytes())
    for target in [*random.Random(8).sample(LINES, 3), LINES[0], LINES[-1]]:
        url = value(target, "url")
        assert store.ask("c/", [query(url)]) == [expected(LINES, url)]
        assert len(store.reads("cluster.idx")) <= 1 + math.log2(len(members))
        assert len(store.reads("cluster.loc")) <= 1
        assert len(store.reads(".gz")) <= 2  # its member and the next, of which the first may be a shard's last
        assert len(store.server.seen) <= FEWEST[store.kind] * (5 + math.log2(len(members)))


def test_neighbouring_members_are_one_read(store, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=20, shards=2)
    for path in (tmp_path / "c").iterdir():
        store.put(f"c/{path.name}", path.read_bytes())
    assert store.ask("c/", [query("*.example.com")]) == [expected(LINES, "*.example.com")]
    reads = store.reads(".gz")
    assert 1 <= len(reads) <= 4  # a run for each range of a domain, and another shard
    assert sum(length for _, length in reads) < sum(path.stat().st_size for path in (tmp_path / "c").glob("cdx-*"))


def test_a_sorted_file_is_bisected(store):
    store.put("a.cdxj", text(LINES))
    url = value(LINES[3000], "url")
    assert store.ask("a.cdxj", [query(url)]) == [expected(LINES, url)]
    assert len(store.reads("a.cdxj")) <= 3 + math.log2(len(text(LINES)) / 32768)
    assert sum(length for _, length in store.reads("a.cdxj")) < len(text(LINES)) / 3


def test_a_lost_shard_is_told_once_and_the_rest_is_found(store, tmp_path):
    make_cluster(tmp_path / "c", LINES, per=50, shards=3)
    for path in (tmp_path / "c").iterdir():
        if path.name != "cdx-00001.gz":
            store.put(f"c/{path.name}", path.read_bytes())
    problems = []
    (found,) = store.ask("c/", [query("com", match="domain")], problems)
    assert found == [line for line in expected(LINES, "com", match="domain") if line not in set(LINES[2000:4000])]
    assert [problem.reason for problem in problems] == ["not-found"]
