"""Copies within S3: whole or not at all, and without the bytes coming here."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from crawlmill.errors import SourceError
from crawlmill.storage.s3 import copying as s3_copy
from tests.aws import boto3

DATA = random.Random(5).randbytes(12 << 20)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a server that counts nothing and forgets all."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    client.create_bucket(Bucket="copies")
    yield client
    for item in client.list_objects_v2(Bucket="copies").get("Contents", ()):
        client.delete_object(Bucket="copies", Key=item["Key"])
    client.delete_bucket(Bucket="copies")
    client.close()
    server.stop()


@pytest.mark.parametrize("at_once", [s3_copy.AT_ONCE_BYTES, 5 << 20])
def test_copy_has_the_bytes_of_its_source_and_they_do_not_come_here(
    storage_with, s3, monkeypatch, at_once: int
) -> None:
    monkeypatch.setattr(s3_copy, "AT_ONCE_BYTES", at_once)
    s3.put_object(Bucket="copies", Key="a b/ä", Body=DATA)
    storage = storage_with()
    with monkeypatch.context() as patch:
        patch.setattr(storage, "open_stream", None)
        storage.copy("s3://copies/a b/ä", "s3://copies/to")
    assert s3.get_object(Bucket="copies", Key="to")["Body"].read() == DATA
    assert not s3.list_multipart_uploads(Bucket="copies").get("Uploads")


KEY = "arn:aws:kms:us-east-1:123456789012:key/k"


@pytest.mark.parametrize(
    ("options", "algorithm", "key"),
    [
        ({"s3_sse": "aws:kms", "s3_sse_kms_key_id": KEY}, "aws:kms", KEY),
        ({"s3_sse": "AES256"}, "AES256", None),
        ({}, None, None),  # nothing is asked for: the bucket decides
    ],
)
def test_what_is_written_and_copied_is_encrypted_as_wanted(
    storage_with, s3, monkeypatch, options, algorithm: str, key: str | None
) -> None:
    """One PUT, an upload in parts, a copy, a copy in parts."""
    monkeypatch.setattr(s3_copy, "AT_ONCE_BYTES", 10 << 20)
    storage = storage_with(**options)
    for name, size in (("small", 10), ("large", 12 << 20)):
        with storage.write(f"s3://copies/{name}") as file:
            file.write(DATA[:size])
        storage.copy(f"s3://copies/{name}", f"s3://copies/{name}-copy")
    for name in ("small", "large", "small-copy", "large-copy"):
        head = s3.head_object(Bucket="copies", Key=name)
        assert (head.get("ServerSideEncryption"), head.get("SSEKMSKeyId")) == (algorithm, key), name


def test_copy_of_what_is_not_there_makes_nothing(storage_with, s3) -> None:
    with pytest.raises(SourceError) as caught:
        storage_with().copy("s3://copies/gone", "s3://copies/to")
    assert caught.value.reason == "not-found"
    assert s3.list_objects_v2(Bucket="copies")["KeyCount"] == 0


def test_large_copy_that_fails_leaves_nothing(storage_with, s3, monkeypatch) -> None:
    monkeypatch.setattr(s3_copy, "AT_ONCE_BYTES", 5 << 20)
    s3.put_object(Bucket="copies", Key="a", Body=DATA)
    asked: list[str] = []

    def ask(operation: str, **arguments: Any) -> dict[str, Any]:
        asked.append(operation)
        if operation == "upload_part_copy" and asked.count(operation) == 2:
            raise SourceError("gone", reason="changed")
        return getattr(s3, operation)(**arguments)

    with pytest.raises(SourceError):
        s3_copy.copy_object(ask, ("copies", "a"), ("copies", "to"))
    assert asked[-2:] == ["upload_part_copy", "abort_multipart_upload"]
    assert not s3.list_multipart_uploads(Bucket="copies").get("Uploads")
    assert s3.list_objects_v2(Bucket="copies")["KeyCount"] == 1


def test_copy_between_kinds_of_storage_goes_through_here(storage_with, s3, tmp_path) -> None:
    s3.put_object(Bucket="copies", Key="a", Body=DATA)
    storage = storage_with()
    storage.copy("s3://copies/a", str(tmp_path / "b"))
    storage.copy(str(tmp_path / "b"), "s3://copies/c")
    assert s3.get_object(Bucket="copies", Key="c")["Body"].read() == DATA
