"""HDFS storage on real daemons: the contract of every storage, and a DataNode that dies while it is read."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.storage.test_contract import WriteContract

from crawlmill.errors import SourceError
from crawlmill.storage import Storage, StorageOptions
from crawlmill.storage.hdfs.program import find_hadoop
from crawlmill.storage.hdfs.program_backend import HadoopFsBackend
from crawlmill.storage.retry import RetryPolicy

pytestmark = pytest.mark.hadoop

LARGE = random.Random(5).randbytes(40 << 20)  # more than is read ahead


class TestRealHdfs(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, hadoop) -> Iterator[None]:
        self.folder = "hdfs://any/contract"
        with Storage(StorageOptions(webhdfs=f"http://{hadoop.state['web']['namenode']}")) as self.storage:
            self.storage.remove(self.folder)
            yield


class TestHadoopFs(WriteContract):
    """The way to Kerberised clusters, on one that asks for no ticket. Every operation starts a Java machine."""

    # What the program's own ways have no part in is tested with a stand-in only.
    test_stream_span_gives_those_bytes = test_stream_span_past_the_end_stops_at_the_end = None
    test_stream_large_gives_the_same_bytes_in_any_pieces = (
        test_stream_reads_at_most_what_is_asked_and_tells_where_it_is
    ) = None
    test_stream_large_jumps_while_reading_ahead = test_missing_is_named_in_the_message = None
    test_all_is_bounded = test_range_past_the_end_is_truncated = test_write_of_many_pieces_keeps_their_order = None

    @pytest.fixture(autouse=True)
    def make(self, hadoop, monkeypatch) -> Iterator[None]:
        for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "JAVA_HOME", "HADOOP_USER_NAME"):
            monkeypatch.setenv(name, hadoop.environment[name])
        self.there, self.folder = hadoop.storage, "hdfs:///by-fs"
        self.there.remove(self.folder)
        with Storage(StorageOptions(retries=0)) as self.storage:
            binary = find_hadoop({"PATH": f"{hadoop.home}/bin"})
            self.storage._backends["hdfs"] = HadoopFsBackend(binary, 60.0, RetryPolicy(0))
            yield

    def put(self, name: str, data: bytes) -> str:
        with self.there.write(f"{self.folder}/{name}") as file:
            file.write(data)
        return f"{self.folder}/{name}"

    def test_write_puts_and_replaces(self) -> None:
        for data in (b"one", b"two and more"):
            with self.storage.write(f"{self.folder}/new/x") as file:
                file.write(data)
            assert self.there.read_all(f"{self.folder}/new/x", limit=99) == data
        assert list(self.there.list(self.folder)) == ["new/x"]

    @pytest.mark.parametrize("name", ["[ab]*", "{a,b}?"])
    def test_name_that_is_a_pattern_means_itself_only(self, name: str) -> None:
        for other in ("a", "ab"):
            self.put(other, b"other")
        location = self.put(name, b"x")
        assert self.storage.read_all(location, limit=9) == b"x"
        self.storage.remove(location)
        assert list(self.there.list(self.folder)) == ["a", "ab"]


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
