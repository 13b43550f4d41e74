"""One contract, every storage: the same tests on local files, HTTP, S3 and HDFS."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from moto.server import ThreadedMotoServer

from crawlmill.errors import FormatError, SourceError, UsageError
from crawlmill.storage import Storage, StorageOptions
from tests.aws import boto3
from tests.storage.faults import FaultServer, Thing
from tests.storage.webhdfs import WebHdfs

SMALL = bytes(range(256)) * 4
LARGE = random.Random(7).randbytes(3_500_000)  # beyond the first megabyte, where reading ahead begins


def refusal(run: Callable[[], object]) -> str:
    with pytest.raises(SourceError) as caught:
        run()
    return caught.value.reason


class ReadContract:
    """A subclass gives `storage`, `folder` (a location without a final slash) and `put(name, data)`."""

    storage: Storage
    folder: str

    def put(self, name: str, data: bytes) -> str:
        raise NotImplementedError

    def test_stream_whole_gives_all_bytes(self) -> None:
        with self.storage.open_stream(self.put("a", SMALL)) as stream:
            assert stream.size == len(SMALL)
            assert stream.read() == SMALL
            assert stream.read(10) == b""

    def test_stream_tells_by_what_its_object_is_known_again(self) -> None:
        location = self.put("a", SMALL)
        with self.storage.open_stream(location) as stream, self.storage.open_stream(location, 5) as other:
            assert stream.identity.total == len(SMALL)
            assert stream.identity.same(other.identity) is True

    def test_stream_reads_at_most_what_is_asked_and_tells_where_it_is(self) -> None:
        with self.storage.open_stream(self.put("a", SMALL)) as stream:
            first = stream.read(7)
            assert 1 <= len(first) <= 7
            assert stream.tell() == len(first)
            assert stream.read(0) == b""
            assert first + stream.read() == SMALL

    @pytest.mark.parametrize(("start", "length"), [(0, 10), (100, None), (100, 1), (1000, 24), (0, 0), (5, 0)])
    def test_stream_span_gives_those_bytes(self, start: int, length: int | None) -> None:
        wanted = SMALL[start:] if length is None else SMALL[start : start + length]
        with self.storage.open_stream(self.put("a", SMALL), start, length) as stream:
            assert stream.read() == wanted
            assert stream.size == len(wanted)

    @pytest.mark.parametrize(("start", "length"), [(1000, 100), (1024, None), (1024, 5), (5000, None), (5000, 3)])
    def test_stream_span_past_the_end_stops_at_the_end(self, start: int, length: int | None) -> None:
        with self.storage.open_stream(self.put("a", SMALL), start, length) as stream:
            assert stream.read() == SMALL[start:]
            assert stream.size == len(SMALL[start:])

    def test_stream_seek_goes_back_and_forth_within_the_span(self) -> None:
        with self.storage.open_stream(self.put("a", SMALL), 100, 500) as stream:
            assert stream.read(1) == SMALL[100:101]
            assert stream.seek(300) == 300
            assert stream.tell() == 300
            assert stream.read() == SMALL[400:600]
            stream.seek(0)
            assert stream.read() == SMALL[100:600]
            stream.seek(499)
            assert stream.read(5) == SMALL[599:600]
            stream.seek(500)
            assert stream.read(5) == b""
            stream.seek(900)
            assert stream.read(5) == b""

    def test_stream_large_gives_the_same_bytes_in_any_pieces(self) -> None:
        location = self.put("large", LARGE)
        for n in (1 << 20, 70_001, 9_999):
            with self.storage.open_stream(location) as stream:
                assert b"".join(iter(partial(stream.read, n), b"")) == LARGE

    def test_stream_large_jumps_while_reading_ahead(self) -> None:
        with self.storage.open_stream(self.put("large", LARGE)) as stream:
            got = 0
            while got < 1_500_000:
                got += len(stream.read(100_000))
            for place in (20, 3_000_000, 1_400_000):
                stream.seek(place)
                found = b""
                while len(found) < 1_600_000 and (piece := stream.read(200_000)):
                    found += piece
                assert found == LARGE[place : place + len(found)]
                assert stream.tell() == place + len(found)

    def test_stream_closed_early_and_twice_is_harmless(self) -> None:
        stream = self.storage.open_stream(self.put("large", LARGE))
        got = 0
        while got < 1_200_000:
            got += len(stream.read(1 << 18))
        stream.close()
        stream.close()

    def test_stream_empty_object_is_empty(self) -> None:
        location = self.put("empty", b"")
        with self.storage.open_stream(location) as stream:
            assert stream.read() == b""
            assert stream.size == 0
        with self.storage.open_stream(location, 0, 10) as stream:
            assert stream.read(4) == b""
        assert self.storage.size_of(location) == 0

    def test_range_gives_exactly_its_bytes(self) -> None:
        location = self.put("a", SMALL)
        assert self.storage.read_range(location, 3, 7) == SMALL[3:10]
        assert self.storage.read_range(location, 1020, 4) == SMALL[1020:]

    def test_range_past_the_end_is_truncated(self) -> None:
        with pytest.raises(FormatError) as caught:
            self.storage.read_range(self.put("a", SMALL), 1000, 100)
        assert (caught.value.reason, caught.value.offset, caught.value.actual) == ("truncated", 1024, 24)

    def test_all_is_bounded(self) -> None:
        location = self.put("a", SMALL)
        assert self.storage.read_all(location, limit=1024) == SMALL
        with pytest.raises(FormatError) as caught:
            self.storage.read_all(location, limit=1023)
        assert caught.value.reason == "too-large"

    def test_size_is_the_number_of_bytes(self) -> None:
        assert self.storage.size_of(self.put("a", SMALL)) == 1024

    def test_missing_is_not_found(self) -> None:
        self.put("a", SMALL)
        missing = f"{self.folder}/none"
        assert refusal(lambda: self.storage.open_stream(missing)) == "not-found"
        assert refusal(lambda: self.storage.open_stream(missing, 5, 5)) == "not-found"
        assert refusal(lambda: self.storage.size_of(missing)) == "not-found"
        assert refusal(lambda: self.storage.read_range(missing, 0, 0)) == "not-found"
        assert not self.storage.exists(missing)
        assert self.storage.exists(f"{self.folder}/a")

    def test_missing_is_named_in_the_message(self) -> None:
        with pytest.raises(SourceError, match="none"):
            self.storage.open_stream(f"{self.folder}/none")

    def test_name_with_blanks_and_umlauts_is_found(self) -> None:
        location = self.put("ä b+c%41&d=e.gz", SMALL)
        assert self.storage.read_range(location, 0, 5) == SMALL[:5]
        assert self.storage.size_of(location) == 1024


class WriteContract(ReadContract):
    def put(self, name: str, data: bytes) -> str:
        location = f"{self.folder}/{name}"
        with self.storage.write(location) as file:
            file.write(data)
        return location

    def test_write_replaces_what_was_there(self) -> None:
        self.put("a", b"old")
        assert self.storage.read_all(self.put("a", b"new and longer"), limit=100) == b"new and longer"

    def test_write_of_many_pieces_keeps_their_order(self) -> None:
        location = f"{self.folder}/deep/er/file"
        with self.storage.write(location) as file:
            for at in range(0, len(LARGE), 123_456):
                file.write(memoryview(LARGE)[at : at + 123_456])
        assert self.storage.read_all(location, limit=10_000_000) == LARGE

    def test_write_of_nothing_makes_an_empty_file(self) -> None:
        assert self.storage.size_of(self.put("a", b"")) == 0

    def test_write_that_fails_leaves_what_was_there_and_nothing_else(self) -> None:
        location = self.put("a", b"old")
        with suppress(ZeroDivisionError), self.storage.write(location) as file:
            file.write(b"half")
            raise ZeroDivisionError
        assert self.storage.read_all(location, limit=100) == b"old"
        assert list(self.storage.list(self.folder)) == ["a"]

    def test_write_is_not_seen_before_it_is_done(self) -> None:
        location = f"{self.folder}/a"
        with self.storage.write(location) as file:
            file.write(b"x" * 100_000)
            assert not self.storage.exists(location)
        assert self.storage.exists(location)

    def test_list_names_the_files_below_sorted(self) -> None:
        for name in ("b", "a/2", "a/1/x", "ab", "ä"):
            self.put(name, b"x")
        assert list(self.storage.list(self.folder)) == ["a/1/x", "a/2", "ab", "b", "ä"]
        assert list(self.storage.list(f"{self.folder}/")) == ["a/1/x", "a/2", "ab", "b", "ä"]
        assert list(self.storage.list(f"{self.folder}/a")) == ["1/x", "2"]

    def test_list_of_nothing_is_not_found(self) -> None:
        self.put("a", b"x")
        assert refusal(lambda: list(self.storage.list(f"{self.folder}/none"))) == "not-found"
        assert refusal(lambda: list(self.storage.list(f"{self.folder}/a"))) == "not-found"

    def test_exists_knows_folders(self) -> None:
        self.put("a/b", b"x")
        assert self.storage.exists(f"{self.folder}/a")
        assert not self.storage.exists(f"{self.folder}/b")

    def test_remove_takes_files_and_folders(self) -> None:
        for name in ("a/1", "a/2/3", "ab", "b"):
            self.put(name, b"x")
        self.storage.remove(f"{self.folder}/a")
        self.storage.remove(f"{self.folder}/b")
        self.storage.remove(f"{self.folder}/none")
        assert list(self.storage.list(self.folder)) == ["ab"]

    def test_rename_publishes_a_folder_at_once(self) -> None:
        self.put("tmp/part-0", b"x")
        self.put("tmp/sub/part-1", b"y")
        if not self.storage.renames(self.folder):
            with pytest.raises(UsageError):
                self.storage.rename(f"{self.folder}/tmp", f"{self.folder}/out")
            return
        self.storage.rename(f"{self.folder}/tmp", f"{self.folder}/out")
        assert list(self.storage.list(self.folder)) == ["out/part-0", "out/sub/part-1"]

    def test_rename_to_a_name_that_is_taken_is_refused(self) -> None:
        if not self.storage.renames(self.folder):
            return
        self.put("tmp/part-0", b"x")
        self.put("out/part-0", b"old")
        with pytest.raises(UsageError):
            self.storage.rename(f"{self.folder}/tmp", f"{self.folder}/out")
        assert list(self.storage.list(self.folder)) == ["out/part-0", "tmp/part-0"]

    def test_folder_can_be_made_twice(self) -> None:
        self.storage.make_folder(f"{self.folder}/x/y")
        self.storage.make_folder(f"{self.folder}/x/y")
        assert self.storage.read_all(self.put("x/y/z", b"1"), limit=9) == b"1"


class TestLocal(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, tmp_path: Path, storage_with) -> None:
        self.storage, self.folder = storage_with(), str(tmp_path / "f")


class TestLocalUri(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, tmp_path: Path, storage_with) -> None:
        self.storage, self.folder = storage_with(), (tmp_path / "f ü").as_uri()


class TestHttp(ReadContract):
    @pytest.fixture(autouse=True)
    def make(self, storage_with) -> Iterator[None]:
        self.storage = storage_with()
        with FaultServer() as self.web:
            self.folder = f"{self.web.url}/f"
            yield

    def put(self, name: str, data: bytes) -> str:
        self.web.things[f"/f/{quote(name)}"] = Thing(data)
        return f"{self.folder}/{quote(name)}"


class TestHttpWithoutRanges(TestHttp):
    def put(self, name: str, data: bytes) -> str:
        location = super().put(name, data)
        self.web.things[f"/f/{quote(name)}"].ranges = False
        return location


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[Storage, object]]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
        client.create_bucket(Bucket="bucket")
        with Storage(StorageOptions(s3_endpoint=f"http://{host}:{port}", s3_region="us-east-1", retries=0)) as storage:
            storage.exists("s3://bucket/a")  # looks for the credentials while they are there
            yield storage, client
    client.close()
    server.stop()


class TestS3(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, s3) -> None:
        self.storage, self.client = s3
        for item in self.client.list_objects_v2(Bucket="bucket").get("Contents", ()):
            self.client.delete_object(Bucket="bucket", Key=item["Key"])
        self.folder = "s3://bucket/f"


class TestHdfs(WriteContract):
    @pytest.fixture(autouse=True)
    def make(self, storage_with) -> Iterator[None]:
        with WebHdfs() as cluster:
            self.storage = storage_with(webhdfs=cluster.url)
            self.folder = "hdfs://nameservice/f"
            yield
