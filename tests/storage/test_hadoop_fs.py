"""Kerberised HDFS through `hadoop fs`: which way is taken, what its words mean, and that nothing stays behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.hdfs import program_backend as hadoop_fs
from tests.storage.test_contract import WriteContract

SITE = "<configuration><property><name>{}</name><value>{}</value></property></configuration>"
DOUBLE = Path(__file__).parent / "hadoop_double.py"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of Hadoop whose configuration wants Kerberos; gives the folder that stands for HDFS."""
    home, root = tmp_path / "home", tmp_path / "root"
    (home / "bin").mkdir(parents=True)
    (home / "conf").mkdir()
    root.mkdir()
    (home / "bin/hadoop").write_text(f'#!/bin/sh\n{sys.executable} -S {DOUBLE} {root} "$@"\n')
    (home / "bin/hadoop").chmod(0o755)
    (home / "conf/core-site.xml").write_text(SITE.format("hadoop.security.authentication", "Kerberos"))
    monkeypatch.setenv("HADOOP_HOME", str(home))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(home / "conf"))
    return root


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """All processes that were started; they must have ended, and been heard of, by the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    class Spy(subprocess.Popen):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Spy)
    yield started
    for thread in threading.enumerate():  # one that reads ahead closes its stream when its present read returns
        if thread.name == "crawlmill-read-ahead":
            thread.join(10)
    assert all(child.returncode is not None and child.stdout.closed for child in started)


class TestHadoopFs(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, cluster: Path, children: list, storage_with) -> None:
        self.root, self.storage, self.folder = cluster, storage_with(), "hdfs:///f"

    def put(self, name: str, data: bytes) -> str:
        path = self.root / "f" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return f"{self.folder}/{name}"

    def test_write_puts_replaces_and_leaves_nothing_beside(self) -> None:
        for data in (b"one", b"two and more"):
            with self.storage.write(f"{self.folder}/new/x") as file:
                file.write(data)
            assert self.storage.read_all(f"{self.folder}/new/x", limit=99) == data
        assert list(self.storage.list(self.folder)) == ["new/x"]

    def test_write_over_a_folder_is_denied_and_changes_nothing(self) -> None:
        self.put("a/b", b"x")
        with pytest.raises(SourceError) as caught, self.storage.write(f"{self.folder}/a") as file:
            file.write(b"y")
        assert caught.value.reason == "denied"
        assert list(self.storage.list(self.folder)) == ["a/b"]

    @pytest.mark.parametrize("name", ["*", "a?", "[ab]", "{a,b}", "a\\*", "^a"])
    def test_name_that_is_a_pattern_means_itself_only(self, name: str) -> None:
        for other in ("a", "ab", "b"):
            self.put(other, b"other")
        with self.storage.write(f"{self.folder}/{name}") as file:
            file.write(b"x")
        assert self.storage.read_all(f"{self.folder}/{name}", limit=9) == b"x"
        self.storage.remove(f"{self.folder}/{name}")
        assert list(self.storage.list(self.folder)) == ["a", "ab", "b"]

    def test_root_is_not_removed(self) -> None:
        for location in ("hdfs://", "hdfs:///", "hdfs://nn:8020", "hdfs://nn//"):
            with pytest.raises(UsageError):
                self.storage.remove(location)


@pytest.mark.parametrize(
    ("fault", "reason", "words", "waits"),
    [
        ("deny", "denied", 'stat: Permission denied: user=x, access=READ, inode="/f/a":root:root:drwx------', []),
        ("ticket", "denied", r"Client cannot authenticate via:[TOKEN, KERBEROS]", []),
        ("down", "unavailable", "failed on connection exception: Connection refused, after 2 tries", [0.5]),
    ],
)
def test_last_line_of_the_program_tells_the_reason(
    cluster, children, storage_with, clock, monkeypatch, fault, reason, words, waits
) -> None:
    monkeypatch.setenv("HADOOP_DOUBLE", fault)
    storage = storage_with(retries=1)
    for ask in (storage.size_of, storage.exists, storage.open_stream):
        clock.waits.clear()
        with pytest.raises(SourceError) as caught:
            ask("hdfs:///f/a")
        assert caught.value.reason == reason
        assert words in str(caught.value)
        assert "hdfs:///f/a" in str(caught.value)
        assert clock.waits == waits


def test_file_that_breaks_off_is_unavailable(cluster, children, storage_with, monkeypatch) -> None:
    (cluster / "x").write_bytes(bytes(100_000))
    monkeypatch.setenv("HADOOP_DOUBLE", "half")
    storage = storage_with(retries=1)
    with (
        storage.open_stream("hdfs:///x") as stream,
        pytest.raises(SourceError, match="Could not obtain block") as caught,
    ):
        stream.read()
    assert caught.value.reason == "unavailable"


def test_file_that_changes_between_two_halves_is_changed(cluster, children, storage_with, monkeypatch) -> None:
    (cluster / "x").write_bytes(bytes(3_000_000))
    with storage_with().open_stream("hdfs:///x") as stream:
        stream.read(10)
        (cluster / "x").write_bytes(bytes(3_000_001))
        stream.seek(5)
        with pytest.raises(SourceError) as caught:
            stream.read(10)
    assert caught.value.reason == "changed"


def test_program_that_falls_silent_is_killed(cluster, children, storage_with, monkeypatch) -> None:
    monkeypatch.setenv("HADOOP_DOUBLE", "silent")
    monkeypatch.setattr(hadoop_fs, "_START_S", 0.0)
    with pytest.raises(SourceError, match="says nothing for") as caught:
        storage_with(retries=0, read_timeout_s=0.3).size_of("hdfs:///x")
    assert caught.value.reason == "unavailable"
    assert [child.returncode for child in children] == [-signal.SIGKILL]


def test_reading_that_is_given_up_ends_the_program(cluster, children, storage_with) -> None:
    (cluster / "x").write_bytes(bytes(30_000_000))
    stream = storage_with().open_stream("hdfs:///x", 7)
    assert stream.read(5) == bytes(5)
    stream.close()
    assert children[-1].returncode is not None


def test_program_that_is_missing_is_told(cluster, storage_with, monkeypatch) -> None:
    monkeypatch.setenv("HADOOP_HOME", str(cluster))
    monkeypatch.setenv("PATH", str(cluster))
    with pytest.raises(SourceError, match=r"Kerberos.*hadoop") as caught:
        storage_with().size_of("hdfs:///x")
    assert caught.value.reason == "unavailable"


def test_webhdfs_that_is_named_is_used_all_the_same(cluster, children, storage_with) -> None:
    with pytest.raises(SourceError, match="Connection refused"):
        storage_with(webhdfs="http://127.0.0.1:9", retries=0).size_of("hdfs:///x")
    assert not children
