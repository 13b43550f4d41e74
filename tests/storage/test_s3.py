"""What is special about S3: credentials, the way to Common Crawl without any, resuming, uploads."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterator

import pytest

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.s3 import backend as s3
from crawlmill.storage.s3 import upload as s3_upload
from tests.storage.faults import CLOSE, RESET, STALL, Fault, FaultServer, Thing

DATA = random.Random(3).randbytes(300_000)
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@pytest.fixture
def web() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


def read(storage, location: str = "s3://b/x") -> bytes | str:
    try:
        with storage.open_stream(location) as stream:
            return stream.read()
    except SourceError as error:
        assert location in str(error)
        return str(error.reason)


@pytest.mark.parametrize("how", [CLOSE, RESET, STALL])
def test_broken_body_is_resumed_on_condition_of_the_same_etag(storage_with, web, keys, how: str) -> None:
    web.things["/b/x"] = Thing(DATA, faults=[Fault(200_000, how), Fault(0, how)])
    assert read(storage_with(s3_endpoint=web.url, read_timeout_s=0.3)) == DATA
    web.over.set()
    assert all(seen.headers["If-Match"] == '"one"' and seen.range for seen in web.asked("/b/x") if seen.range)


def test_changed_object_is_changed(storage_with, web, keys) -> None:
    web.things["/b/x"] = Thing(DATA, faults=[Fault(200_000)], later={"data": DATA[::-1], "etag": '"two"'})
    assert read(storage_with(s3_endpoint=web.url)) == "changed"
    assert len(web.seen) == 2


def test_broken_body_without_progress_ends(storage_with, web, keys, clock) -> None:
    web.things["/b/x"] = Thing(DATA, always=Fault(0))
    assert read(storage_with(s3_endpoint=web.url, retries=2)) == "unavailable"
    assert (len(web.seen), clock.waits) == (3, [0.5, 1])


@pytest.mark.parametrize(
    ("status", "reason", "requests"),
    [
        (403, "denied", 1),
        (404, "not-found", 1),
        (400, "unavailable", 1),
        (500, "unavailable", 3),
        (502, "unavailable", 3),
    ],
)
def test_refusal_gives_the_reason(storage_with, web, keys, status: int, reason: str, requests: int) -> None:
    web.things["/b/x"] = Thing(every=(status, {}))
    assert read(storage_with(s3_endpoint=web.url, retries=2)) == reason
    assert len(web.seen) == requests


def test_slow_down_is_waited_for(storage_with, web, keys, clock) -> None:
    head = b"HTTP/1.1 503 Slow Down\r\nRetry-After: 9\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    answer = head % len(SLOW_DOWN) + SLOW_DOWN
    web.things["/b/x"] = Thing(DATA, raw=answer, always=None)

    def recover(seconds: float) -> None:
        web.things["/b/x"].raw = None
        clock.now += seconds
        clock.waits.append(seconds)

    clock.sleep = recover
    assert read(storage_with(s3_endpoint=web.url)) == DATA
    assert clock.waits == [9]


def test_closed_port_is_unavailable(storage_with, keys, clock) -> None:
    assert read(storage_with(s3_endpoint="http://127.0.0.1:9", retries=1)) == "unavailable"
    assert clock.waits == [0.5]


@pytest.mark.parametrize("location", ["s3://", "s3://b", "s3:///k", "s3://B_ad!/k"])
def test_location_that_names_no_object_is_an_access_error(storage_with, web, keys, location: str) -> None:
    with pytest.raises(SourceError, match="its bucket or object is missing or not valid"):
        storage_with(s3_endpoint=web.url).open_stream(location)


def test_endpoint_that_is_no_url_is_a_mistake_of_the_user(storage_with, keys) -> None:
    with pytest.raises(UsageError, match="S3"):
        storage_with(s3_endpoint="nonsense").open_stream("s3://b/x")


def test_requests_are_signed_with_credentials_only(storage_with, web, monkeypatch) -> None:
    web.things["/b/x"] = Thing(DATA)
    assert read(storage_with(s3_endpoint=web.url)) == DATA
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
    assert read(storage_with(s3_endpoint=web.url)) == DATA
    assert [bool(seen.headers["Authorization"]) for seen in web.seen] == [False, True]


def test_requester_pays_is_said(storage_with, web, keys) -> None:
    web.things["/b/x"] = Thing(DATA)
    storage = storage_with(s3_endpoint=web.url, s3_requester_pays=True)
    assert read(storage) == DATA
    assert storage.size_of("s3://b/x") == len(DATA)
    assert [seen.headers["x-amz-request-payer"] for seen in web.seen] == ["requester"] * 2


@pytest.fixture
def common_crawl(web, monkeypatch) -> FaultServer:
    """S3 that refuses whoever has no credentials, and a web server that does not."""
    monkeypatch.setattr(s3, "COMMON_CRAWL_HTTPS", f"{web.url}/https/")
    for name in ("x", "y"):
        web.things[f"/commoncrawl/{name}"] = Thing(every=(403, {}))
        web.things[f"/https/{name}"] = Thing(DATA)
    return web


def test_common_crawl_without_credentials_is_read_over_https_and_says_so_once(
    storage_with, common_crawl, caplog
) -> None:
    storage = storage_with(s3_endpoint=common_crawl.url)
    assert read(storage, "s3://commoncrawl/x") == DATA
    assert storage.size_of("s3://commoncrawl/y") == len(DATA)
    assert storage.exists("s3a://commoncrawl/y")
    assert storage.read_range("s3://commoncrawl/y", 7, 7) == DATA[7:14]
    assert [seen.path for seen in common_crawl.seen].count("/commoncrawl/x") == 1
    assert not common_crawl.asked("/commoncrawl/y")
    said = [record for record in caplog.records if record.name == "crawlmill"]
    assert [(record.levelno, "\n" in record.getMessage()) for record in said] == [(logging.WARNING, False)]


def test_common_crawl_that_refuses_both_ways_is_denied(storage_with, common_crawl) -> None:
    common_crawl.things["/https/x"] = Thing(every=(403, {}))
    with pytest.raises(SourceError) as caught:
        storage_with(s3_endpoint=common_crawl.url).open_stream("s3://commoncrawl/x")
    assert caught.value.reason == "denied"


def test_common_crawl_with_credentials_that_are_refused_is_denied(storage_with, common_crawl, keys) -> None:
    assert read(storage_with(s3_endpoint=common_crawl.url), "s3://commoncrawl/x") == "denied"
    assert not common_crawl.asked("/https/x")


def test_other_bucket_without_credentials_is_denied(storage_with, common_crawl) -> None:
    common_crawl.things["/b/x"] = Thing(every=(403, {}))
    assert read(storage_with(s3_endpoint=common_crawl.url)) == "denied"


class Parts:
    """Stands for what sends requests, and keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict]] = []

    def __call__(self, operation: str, **arguments) -> dict:
        self.asked.append((operation, arguments))
        return {"UploadId": "U", "ETag": f'"{len(self.asked)}"'}

    def operations(self) -> list[str]:
        return [operation for operation, _ in self.asked]


def test_small_file_is_one_put() -> None:
    parts = Parts()
    with s3_upload.upload_object(parts, "b", "k") as upload:
        upload.write(b"abc")
        upload.write(bytearray(b"de"))
    assert parts.asked == [("put_object", {"Bucket": "b", "Key": "k", "Body": b"abcde"})]
    with pytest.raises(ValueError, match="closed"):
        upload.write(b"x")


def test_large_file_is_sent_in_parts_and_completed(monkeypatch) -> None:
    monkeypatch.setattr(s3_upload, "PART_BYTES", 10)
    parts = Parts()
    with s3_upload.upload_object(parts, "b", "k") as upload:
        for piece in (b"0123456", b"789abcdefghijklmnopqrstu", b"", b"v"):
            upload.write(piece)
    sent = [arguments["Body"] for operation, arguments in parts.asked if operation == "upload_part"]
    assert sent == [b"0123456789", b"abcdefghij", b"klmnopqrst", b"uv"]
    assert parts.operations()[0::5] == ["create_multipart_upload", "complete_multipart_upload"]
    assert parts.asked[-1][1]["MultipartUpload"] == {
        "Parts": [{"ETag": f'"{n + 1}"', "PartNumber": n} for n in (1, 2, 3, 4)]
    }


def test_parts_grow_so_that_ten_thousand_are_enough(monkeypatch) -> None:
    monkeypatch.setattr(s3_upload, "PART_BYTES", 1)
    parts = Parts()
    with s3_upload.upload_object(parts, "b", "k") as upload:
        upload.write(bytes(7000))
    sizes = [len(arguments["Body"]) for operation, arguments in parts.asked if operation == "upload_part"]
    assert sizes == [1] * 1000 + [2] * 1000 + [4] * 1000


@pytest.mark.parametrize("fails", ["upload_part", "complete_multipart_upload", "nothing but the writer"])
def test_upload_that_fails_anywhere_is_aborted_once(monkeypatch, caplog, fails: str) -> None:
    monkeypatch.setattr(s3_upload, "PART_BYTES", 10)

    class Failing(Parts):
        def __call__(self, operation: str, **arguments) -> dict:
            answer = super().__call__(operation, **arguments)
            if operation in (fails, "abort_multipart_upload"):
                raise SourceError(f"no {operation}", reason="unavailable")
            return answer

    parts = Failing()
    with pytest.raises((SourceError, KeyError), match=fails):
        write_and_fail(parts, 15, fails.startswith("nothing"))
    assert parts.operations()[-1] == "abort_multipart_upload"
    assert parts.operations().count("abort_multipart_upload") == 1
    assert parts.asked[-1][1] == {"Bucket": "b", "Key": "k", "UploadId": "U"}
    assert "no abort_multipart_upload" in caplog.text


def write_and_fail(parts: Parts, size: int, fails: bool) -> None:
    with s3_upload.upload_object(parts, "b", "k") as upload:
        upload.write(bytes(size))
        if fails:
            raise KeyError("nothing but the writer")


def test_small_file_that_fails_sends_nothing() -> None:
    parts = Parts()
    with pytest.raises(KeyError):
        write_and_fail(parts, 3, fails=True)
    assert not parts.asked


def test_large_file_that_fails_is_aborted(storage_with, web, keys, monkeypatch) -> None:
    monkeypatch.setattr(s3_upload, "PART_BYTES", 1000)
    storage = storage_with(s3_endpoint=web.url, retries=1)

    def upload(http, body: bytes) -> bool:
        if "uploads" in http.path:
            text = b"<InitiateMultipartUploadResult><UploadId>U</UploadId></InitiateMultipartUploadResult>"
            http.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
        elif http.command == "DELETE":
            http.wfile.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            return False
        return True

    web.handle = upload
    web.things["/b/x"] = Thing(every=(500, {}))
    with pytest.raises(SourceError), storage.write("s3://b/x") as file:
        file.write(bytes(1500))
    asked = [f"{seen.method} {re.sub('=.*', '', seen.path.partition('?')[2])}" for seen in web.seen]
    assert asked == ["POST uploads", "PUT uploadId", "PUT uploadId", "DELETE uploadId"]


def test_whole_bucket_is_not_removed(storage_with, web, keys) -> None:
    for location in ("s3://b", "s3://b/", "s3://b//"):
        with pytest.raises(UsageError):
            storage_with(s3_endpoint=web.url).remove(location)
    assert not web.seen


def test_secret_key_is_in_no_message(storage_with, web, keys, caplog) -> None:
    caplog.set_level(logging.INFO)
    web.things["/b/x"] = Thing(every=(403, {}))
    with pytest.raises(SourceError) as caught:
        storage_with(s3_endpoint=web.url).open_stream("s3://b/x")
    assert keys not in str(caught.value) + caplog.text
