"""The options, what is imported when, and what the package offers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import crawlmill.storage
from crawlmill.errors import MissingDependency, UsageError
from crawlmill.storage import StorageOptions
from crawlmill.storage.readahead import MAX_WAITING_BYTES, ReadAheadStream
from crawlmill.storage.resume import Identity, ResumingStream
from crawlmill.storage.retry import Attempts, RetryPolicy


def test_options_travel_as_json() -> None:
    options = StorageOptions(
        5.0,
        2,
        1.5,
        3,
        "http://e",
        "eu-central-1",
        s3_requester_pays=True,
        s3_sse="aws:kms",
        s3_sse_kms_key_id="k",
        webhdfs="HTTP://w",
        limits_folder="/limits",
    )
    assert StorageOptions.from_json(json.loads(json.dumps(options.to_json()))) == options
    assert StorageOptions.from_json({}) == StorageOptions()
    with pytest.raises(UsageError, match="unknown"):
        StorageOptions.from_json({"colour": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        {"read_timeout_s": 0},
        {"read_timeout_s": float("nan")},
        {"read_timeout_s": float("inf")},
        {"retries": -1},
        {"max_requests_per_second": 0},
        {"max_connections_per_host": 0},
        {"s3_endpoint": "minio:9000"},
        {"s3_endpoint": "http://"},
        {"s3_region": "eu west"},
        {"webhdfs": "nn:9870"},
        {"s3_sse": "aes"},
        {"s3_sse": "AES256", "s3_sse_kms_key_id": "k"},
        {"s3_sse_kms_key_id": "k"},
    ],
)
def test_options_that_mean_nothing_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        StorageOptions(**wrong)


def test_missing_package_is_no_matter_of_one_location(monkeypatch) -> None:
    storage = crawlmill.storage.Storage()

    def lacks(*_: object) -> None:
        raise MissingDependency("boto3 is not installed")

    monkeypatch.setattr(storage, "_make", lacks)
    for ask in (storage.open_stream, storage.size_of):
        with pytest.raises(MissingDependency):
            ask("s3://b/x")


def test_local_files_import_no_network_package() -> None:
    code = "import sys, crawlmill.storage as s; s.Storage().size_of('/etc/passwd'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"urllib3", "boto3", "botocore", "ssl", "http.client", "xml.etree.ElementTree"} & set(loaded)


def test_http_imports_no_boto3() -> None:
    code = "import sys, crawlmill.storage.http.backend; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"boto3", "botocore"} & set(loaded)


def test_all_names_are_there() -> None:
    for name in crawlmill.storage.__all__:
        assert hasattr(crawlmill.storage, name)


class Endless:
    """A body that counts what is taken of it, and takes a second for each read by its own clock."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.start, self.stop, self.identity = 0, 1 << 40, Identity('"e"', None, 1 << 40)
        self.taken, self.closed = 0, 0

    def read(self, n: int, /) -> bytes:
        self.now_s += 1
        self.taken += n
        return bytes(n)

    def close(self) -> None:
        self.closed += 1


def ahead_of(body: Endless) -> ReadAheadStream:
    stream = ResumingStream(lambda *_: body, "x", 0, None, Attempts(RetryPolicy(), "x"))
    return ReadAheadStream(stream, lambda: body.now_s)


def test_reading_ahead_holds_no_more_than_its_bound() -> None:
    body = Endless()
    stream = ahead_of(body)
    got = 0
    while got < 40 << 20:
        got += len(stream.read(100_000))
        assert body.taken - got <= MAX_WAITING_BYTES + (1 << 20)
    pump = stream._pump
    stream.close()
    pump._thread.join(10)
    assert body.closed == 1


@pytest.mark.parametrize(("idle_s", "threads"), [(8, True), (11, False)])
def test_a_thread_reads_ahead_only_where_a_tenth_of_the_time_is_waiting(idle_s: int, threads: bool) -> None:
    body = Endless()
    stream = ahead_of(body)
    for _ in range(20):
        stream.read(1 << 18)
        assert stream.tell() > 1 << 20 or stream._pump is None
        body.now_s += idle_s
    assert (stream._pump is not None) is threads
    stream.close()


def test_stream_that_was_forgotten_ends_its_thread() -> None:
    body = Endless()
    stream = ahead_of(body)
    stream.read(2 << 20)
    stream.read(1)
    thread = stream._pump._thread
    del stream
    thread.join(10)
    assert not thread.is_alive()
    assert body.closed == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"retries": -1}, "retries: expected 0 or more, got -1"),
        ({"max_connections_per_host": 0}, "connections per host: expected 1 or more, got 0"),
        ({"read_timeout_s": 0.0}, "read time-out: expected a number of seconds above 0, got 0.0"),
    ],
)
def test_number_that_means_nothing_is_told_with_what_was_expected(given, said):
    with pytest.raises(UsageError) as error:
        StorageOptions(**given)
    assert str(error.value) == said
