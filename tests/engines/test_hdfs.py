"""HDFS storage on real daemons: the contract of every storage, and a DataNode that dies while it is read."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.storage.test_contract import WriteContract

from crawlmill.errors import SourceError
from crawlmill.storage import Storage, StorageOptions

pytestmark = pytest.mark.hadoop

LARGE = random.Random(5).randbytes(40 << 20)  # more than is read ahead


class TestRealHdfs(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, hadoop) -> Iterator[None]:
        self.folder = "hdfs://any/contract"
        with Storage(StorageOptions(webhdfs=f"http://{hadoop.state['web']['namenode']}")) as self.storage:
            self.storage.remove(self.folder)
            yield


def test_cluster_is_found_by_its_configuration(hadoop, folder, monkeypatch):
    hadoop.put(f"{folder}/x", b"found")
    monkeypatch.setenv("HADOOP_CONF_DIR", hadoop.environment["HADOOP_CONF_DIR"])
    with Storage() as storage:
        assert storage.read_all(f"hdfs://{folder}/x", limit=9) == b"found"


def test_files_belong_to_the_user_of_the_environment(hadoop, folder, monkeypatch):
    monkeypatch.setenv("HADOOP_USER_NAME", "alice")
    with Storage(hadoop.storage.options) as storage, storage.write(f"hdfs://{folder}/x"):
        pass
    done = hadoop.shell("fs", "-stat", "%u %b", f"{folder}/x")
    assert done.stdout == "alice 0\n"


def test_files_are_those_that_hadoop_reads(hadoop, folder):
    hadoop.put(f"{folder}/ä b+c", b"one\ntwo\n")
    assert hadoop.shell("fs", "-cat", f"{folder}/ä b+c").stdout == "one\ntwo\n"


def test_read_goes_on_where_it_was_when_the_datanode_dies_and_comes_back(hadoop, folder):
    location = hadoop.put(f"{folder}/large", LARGE)
    with hadoop.storage.open_stream(location) as stream:
        found = bytearray(stream.read(1 << 20))
        hadoop.kill("datanode")
        hadoop.restart()
        while piece := stream.read(1 << 20):
            found += piece
    assert found == LARGE


def test_namenode_that_is_gone_is_unavailable(hadoop):
    options = StorageOptions(webhdfs="http://127.0.0.1:9", retries=0)
    with Storage(options) as storage, pytest.raises(SourceError) as caught:
        storage.size_of("hdfs:///x")
    assert caught.value.reason == "unavailable"
