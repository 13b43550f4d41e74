"""Requests for objects of S3: as boto3 makes them, whoever signs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

from crawlmill.errors import SourceError
from crawlmill.storage import StorageOptions
from crawlmill.storage.s3 import client as s3_client
from crawlmill.storage.s3.signing import new_signer
from tests.aws import boto3
from tests.storage.faults import FaultServer, Thing

DATA = bytes(range(256)) * 40
ODD_KEYS = ["a b+c%2F=&?#é\u4e2d/~x", "//a///b/", "%", "a;b:c@d,e'f(g)h*i!j$k", "x" * 1024, "🙂/\t\x7f"]


@pytest.fixture
def web() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


def by_boto3(bucket: str, key: str, endpoint: str | None, region: str | None) -> tuple[str, str]:
    """The URL that a client of boto3 asks, and the scope of its signature."""
    config = Config(response_checksum_validation="when_required", request_checksum_calculation="when_required")
    client = boto3.session.Session().client("s3", endpoint_url=endpoint, region_name=region, config=config)
    sent = []

    class SentError(Exception):
        pass

    def catch(request, **_: object) -> None:
        sent.append(request)
        raise SentError

    client.meta.events.register("before-send.s3", catch)
    with pytest.raises(SentError):
        client.get_object(Bucket=bucket, Key=key)
    scope = re.search("Credential=[^/]*/[0-9]*/([^,]*),", str(sent[0].headers["Authorization"]))
    assert scope
    return sent[0].url, scope[1]


def scope_of(headers: dict[str, str]) -> str:
    found = re.search("Credential=[^/]*/[0-9]*/([^,]*),", headers["Authorization"])
    assert found
    return found[1]


@pytest.mark.parametrize("bucket", ["bench", "commoncrawl", "with.dots", "a--b", "xn--b", "Upper_Case", "x" * 64])
@pytest.mark.parametrize(
    ("endpoint", "region"),
    [
        (None, None),
        (None, "us-east-1"),
        (None, "eu-central-1"),
        (None, "us-gov-west-1"),
        (None, "cn-north-1"),
        ("http://127.0.0.1:9000", None),
        ("http://[::1]:9000/", "eu-west-1"),
        ("https://Store.example/prefix", "us-east-1"),
        ("https://store.example:443", "home"),
    ],
)
def test_request_goes_where_boto3_would_send_it(keys, bucket: str, endpoint: str | None, region: str | None) -> None:
    signer = new_signer(StorageOptions(s3_endpoint=endpoint, s3_region=region))
    url, headers = signer.sign("GET", bucket, "a/b c", {}, None)
    assert (url, scope_of(headers)) == by_boto3(bucket, "a/b c", endpoint, region)


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"AWS_DEFAULT_REGION": "ap-south-1"},
        {"AWS_DEFAULT_REGION": "cn-north-1"},
        {"AWS_REGION": "ap-south-1"},
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:2"},
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
        {"AWS_USE_DUALSTACK_ENDPOINT": "true", "AWS_DEFAULT_REGION": "eu-west-1"},
        {"AWS_USE_FIPS_ENDPOINT": "true", "AWS_DEFAULT_REGION": "us-west-2"},
        {"AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "regional", "AWS_DEFAULT_REGION": "us-east-1"},
        {"config": "[default]\nregion = sa-east-1\n"},
        {"config": "[default]\ns3 =\n  addressing_style = path\n"},
        {"config": "[profile other]\nregion = eu-north-1\n", "AWS_PROFILE": "other"},
        {"credentials": "[default]\nregion = ca-central-1\n"},
    ],
    ids=lambda setting: " ".join(setting) or "none",
)
def test_settings_of_aws_are_kept_to(keys, monkeypatch, setting: dict[str, str]) -> None:
    files = {"config": "AWS_CONFIG_FILE", "credentials": "AWS_SHARED_CREDENTIALS_FILE"}
    for name, value in setting.items():
        if name in files:
            Path(os.environ[files[name]]).write_text(value)
        else:
            monkeypatch.setenv(name, value)
    url, headers = new_signer(StorageOptions()).sign("GET", "bench", "k", {}, None)
    assert (url, scope_of(headers)) == by_boto3("bench", "k", None, None)


@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("endpoint", [None, "http://127.0.0.1:9000"])
def test_any_key_is_written_as_boto3_writes_it(keys, key: str, endpoint: str | None) -> None:
    url, _ = new_signer(StorageOptions(s3_endpoint=endpoint)).sign("GET", "bench", key, {}, None)
    assert url == by_boto3("bench", key, endpoint, None)[0]


def test_signature_is_that_of_the_example_of_amazon(keys, monkeypatch) -> None:
    # "Authenticating Requests: Using the Authorization Header", example GET Object.
    monkeypatch.setattr(time, "gmtime", lambda: datetime(2013, 5, 24, tzinfo=UTC).timetuple())
    asked = {"Range": "bytes=0-9"}
    url, headers = new_signer(StorageOptions()).sign("GET", "examplebucket", "test.txt", asked, None)
    assert url == "https://examplebucket.s3.amazonaws.com/test.txt"
    assert headers["Authorization"].endswith(
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )


@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("token", [None, "t0k+/3n=="])
@pytest.mark.parametrize("endpoint", [None, "http://Store.example:80/p", "https://[::1]:9000", "https://h:443"])
def test_signature_is_that_of_botocore(keys, monkeypatch, key: str, token: str | None, endpoint: str | None) -> None:
    if token:
        monkeypatch.setenv("AWS_SESSION_TOKEN", token)
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr(time, "gmtime", lambda *_: now.timetuple())
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: now)
    asked = {"Range": "bytes=5-", "If-Match": '"a  b"', "x-amz-request-payer": "requester"}
    signer = new_signer(StorageOptions(s3_endpoint=endpoint, s3_region="eu-west-1"))
    for method in ("GET", "HEAD"):
        url, headers = signer.sign(method, "bench", key, asked, None)
        request = AWSRequest(method, url, dict(asked))
        credentials = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], token)
        botocore.auth.S3SigV4Auth(credentials, "s3", "eu-west-1").add_auth(request)
        assert headers == dict(request.headers.items())


@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("asked", ["keys", "profile"])
def test_any_key_arrives_as_it_was_signed(storage_with, web, keys, request, key: str, asked: str) -> None:
    if asked == "profile":
        request.getfixturevalue("profile")
    url = by_boto3("b", key, web.url, None)[0]
    path = url.removeprefix(web.url)
    web.things[path] = Thing(DATA)
    storage = storage_with(s3_endpoint=web.url)
    assert storage.read_range(f"s3://b/{key}", 5, 50) == DATA[5:55]
    assert storage.size_of(f"s3://b/{key}") == len(DATA)
    assert {seen.path for seen in web.seen} == {path}
    assert all("Signature=" in seen.headers["Authorization"] for seen in web.seen)


def test_key_with_dots_between_slashes_is_refused(storage_with, web, keys) -> None:
    for key in ("../x", "a/./b", "a/.."):
        with pytest.raises(SourceError, match="between slashes"):
            storage_with(s3_endpoint=web.url).open_stream(f"s3://b/{key}")
    assert not web.seen


@pytest.mark.parametrize("token", ["AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"])
def test_session_token_is_sent(storage_with, web, keys, monkeypatch, token: str) -> None:
    monkeypatch.setenv(token, "t0k3n")
    web.things["/b/x"] = Thing(DATA)
    storage_with(s3_endpoint=web.url).size_of("s3://b/x")
    assert web.seen[0].headers["X-Amz-Security-Token"] == "t0k3n"
    assert "x-amz-security-token" in web.seen[0].headers["Authorization"]


def test_keys_that_have_expired_are_told(storage_with, web, keys, monkeypatch) -> None:
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "2020-01-01T00:00:00Z")
    with pytest.raises(SourceError, match="credentials") as caught:
        storage_with(s3_endpoint=web.url).open_stream("s3://b/x")
    assert caught.value.reason == "denied"


MOVED = [
    b"HTTP/1.1 301 Moved Permanently\r\nx-amz-bucket-region: eu-west-1\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://x/\r\nx-amz-bucket-region: eu-west-1\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 307 x\r\nLocation: https://b.s3.eu-west-1.amazonaws.com/x\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 307 x\r\nLocation: https://b.s3-eu-west-1.amazonaws.com/x\r\nContent-Length: 0\r\n\r\n",
    (
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 82\r\n\r\n"
        b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"
    ),
]


@pytest.mark.parametrize("answer", MOVED)
@pytest.mark.parametrize("asked", ["keys", "profile"])
def test_bucket_is_asked_for_in_its_region(storage_with, web, keys, request, answer: bytes, asked: str) -> None:
    if asked == "profile":
        request.getfixturevalue("profile")
    web.things["/b/x"] = Thing(DATA)

    def elsewhere(http, _: bytes) -> bool:
        wrong = "us-east-1" in http.headers["Authorization"]
        if wrong:
            http.wfile.write(answer)
        return wrong

    web.handle = elsewhere
    storage = storage_with(s3_endpoint=web.url)
    assert storage.read_range("s3://b/x", 0, len(DATA)) == DATA
    assert storage.size_of("s3://b/x") == len(DATA)
    assert len(web.seen) == 3  # it is remembered


@pytest.mark.parametrize(
    "answer", [*MOVED, MOVED[0].replace(b"eu-west-1", b"http://evil/"), MOVED[3].replace(b"amazonaws", b"example")]
)
def test_region_that_is_no_help_is_the_end_of_it(storage_with, web, keys, answer: bytes) -> None:
    web.handle = lambda http, _: bool(http.wfile.write(answer))
    with pytest.raises(SourceError, match=r"HTTP [34]0[017]"):
        storage_with(s3_endpoint=web.url, s3_region="us-east-1").open_stream("s3://b/x")
    assert len(web.seen) <= 2


def test_reading_with_keys_of_the_environment_needs_no_client(web) -> None:
    web.things["/b/x"] = Thing(DATA)
    code = (
        "import sys, crawlmill.storage as s; storage = s.Storage(s.StorageOptions(s3_endpoint=sys.argv[1]));"
        "print(storage.size_of('s3://b/x'), len(storage.open_stream('s3://b/x').read()), *sys.modules)"
    )
    found = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "HOME": os.environ["AWS_CONFIG_FILE"]}
    env = {**{name: value for name, value in os.environ.items() if not name.startswith("AWS_")}, **found}
    said = subprocess.run([sys.executable, "-c", code, web.url], env=env, check=True, capture_output=True, text=True)
    sizes, loaded = said.stdout.split()[:2], said.stdout.split()[2:]
    assert sizes == [str(len(DATA))] * 2
    assert not {"boto3", "botocore"} & set(loaded)


def test_threads_that_begin_together_share_one_client(keys, profile, monkeypatch) -> None:
    made = []
    new = s3_client.S3Client._new

    def counted(self: s3_client.S3Client, region: str | None) -> object:
        made.append(region)
        return new(self, region)

    monkeypatch.setattr(s3_client.S3Client, "_new", counted)
    signer = new_signer(StorageOptions())
    with ThreadPoolExecutor(16) as pool:
        urls = set(pool.map(lambda _: signer.sign("GET", "b", "k", {}, "eu-west-1")[0], range(64)))
    assert urls == {"https://s3.eu-west-1.amazonaws.com/b/k"}
    assert made == [None, "eu-west-1"]
