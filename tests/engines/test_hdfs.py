"""HDFS storage on real daemons: the contract of every storage, and a DataNode that dies while it is read."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.storage.test_contract import WriteContract, refusal

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


@pytest.fixture
def by_program(hadoop, monkeypatch) -> Iterator[Storage]:
    """The way to Kerberised clusters, on one that asks for no ticket.

    The contract of every storage is tested with a stand-in (tests/storage), since each operation starts a Java machine;
    these few tests show that the real program behaves as the stand-in does.
    """
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "JAVA_HOME", "HADOOP_USER_NAME"):
        monkeypatch.setenv(name, hadoop.environment[name])
    with Storage(StorageOptions(retries=0)) as storage:
        binary = find_hadoop({"PATH": f"{hadoop.home}/bin"})
        storage._backends["hdfs"] = HadoopFsBackend(binary, 60.0, RetryPolicy(0))
        yield storage


def names(hadoop, folder: str) -> list[str]:
    return list(hadoop.storage.list(f"hdfs://{folder}"))


def test_program_puts_and_replaces(by_program, hadoop, folder):
    for data in (b"one", b"two and more", b""):
        with by_program.write(f"hdfs://{folder}/new/x") as file:
            file.write(data)
        assert hadoop.storage.read_all(f"hdfs://{folder}/new/x", limit=99) == data
    assert names(hadoop, folder) == ["new/x"]


@pytest.mark.parametrize("name", ["[ab]*", "{a,b}?", "ä b+c%41&d=e.gz"])
def test_program_takes_a_name_for_nothing_but_itself(by_program, hadoop, folder, name):
    for other in ("a", "ab"):
        hadoop.put(f"{folder}/{other}", b"other")
    location = hadoop.put(f"{folder}/{name}", b"01234567")
    with by_program.open_stream(location, 2, 5) as stream:
        assert (stream.size, stream.read(), stream.read(9)) == (5, b"23456", b"")
    by_program.remove(location)
    assert names(hadoop, folder) == ["a", "ab"]


def test_program_reads_a_large_file_that_may_be_left_in_the_middle(by_program, hadoop, folder):
    location = hadoop.put(f"{folder}/large", LARGE)
    with by_program.open_stream(location) as stream:
        found = bytearray()
        while len(found) < 3 << 20:
            found += stream.read(1 << 18)
    assert found == LARGE[: len(found)]


def test_program_lists_renames_and_removes(by_program, hadoop, folder):
    for name in ("b", "a/2", "a/1/x", "ab", "ä"):
        hadoop.put(f"{folder}/{name}", b"x")
    for _ in range(2):
        by_program.make_folder(f"hdfs://{folder}/c/d")
    assert list(by_program.list(f"hdfs://{folder}/")) == ["a/1/x", "a/2", "ab", "b", "ä"]
    by_program.rename(f"hdfs://{folder}/a", f"hdfs://{folder}/c/e")
    assert names(hadoop, folder) == ["ab", "b", "c/e/1/x", "c/e/2", "ä"]
    for name in ("c", "b", "none"):
        by_program.remove(f"hdfs://{folder}/{name}")
    assert names(hadoop, folder) == ["ab", "ä"]


def test_program_says_what_is_missing_and_what_is_a_folder(by_program, hadoop, folder):
    hadoop.put(f"{folder}/a/b", b"x")
    assert by_program.exists(f"hdfs://{folder}/a")
    assert not by_program.exists(f"hdfs://{folder}/none")
    asked = [
        lambda: by_program.size_of(f"hdfs://{folder}/a"),
        lambda: by_program.open_stream(f"hdfs://{folder}/none"),
        lambda: list(by_program.list(f"hdfs://{folder}/none")),
        lambda: list(by_program.list(f"hdfs://{folder}/a/b")),
    ]
    assert [refusal(each) for each in asked] == ["not-found"] * 4


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
