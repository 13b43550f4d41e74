"""Servers that mean no good: each ends in an error of ours with a reason, soon, and tells no secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from urllib.parse import quote

import pytest

from crawlmill.errors import SourceError
from tests.storage.faults import TRICKLE, Fault, FaultServer, Thing
from tests.storage.webhdfs import WebHdfs

DIGITS = b"9" * 5000  # more than Python makes a number of
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
    with FaultServer() as server:
        yield server


def refused(run) -> SourceError:
    with pytest.raises(SourceError) as caught:
        run()
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return caught.value


def read(storage, location: str) -> bytes:
    with storage.open_stream(location) as stream:
        return stream.read()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + b"Content-Length: " + DIGITS + b"\r\n\r\nabc", "length that is not a number"),
        (OK + b"Content-Length: -5\r\n\r\nabc", "length that is not a number"),
        (OK + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde", "InvalidHeader"),
        (b"HTTP/1.1 206 P\r\nContent-Range: bytes 0-2/" + DIGITS + b"\r\nContent-Length: 3\r\n\r\nabc", "which bytes"),
        (b"HTTP/1.1 416 R\r\nContent-Length: 0\r\n\r\n", "HTTP 416"),
        (b"HTTP/1.1 416 R\r\nContent-Range: bytes */0\r\nContent-Length: 0\r\n\r\n", "HTTP 416"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000, "connection failed"),
        (OK + b"X: y\r\n" * 500 + b"\r\n", "connection failed"),
        (OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n", "connection failed"),
        (OK + b"Transfer-Encoding: " + b"gzip, " * 3000 + b"chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "not supported"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 5000 + b"\r\nabc\r\n", "closed"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n" + b"X: y\r\n" * 300_000, "connection failed"),
        (b"<html>", "BadStatusLine"),
    ],
)
def test_answer_that_is_none_is_unavailable(storage_with, web, answer: bytes, words: str) -> None:
    web.things["/x"] = Thing(raw=answer)
    error = refused(lambda: read(storage_with(retries=1), f"{web.url}/x?X-Amz-Signature=SECRET"))
    assert error.reason == "unavailable"
    assert words in str(error)


@pytest.mark.parametrize(
    "place",
    [
        "file:///etc/passwd",
        "ftp://h/x",
        "//[bad/?token=SECRET",
        "http://[bad/?token=SECRET",
        "//user:SECRET@[bad/",
        "http://127.0.0.1:99999/?token=SECRET",
        "http://user:SECRET@127.0.0.1:9/",
        "javascript:alert(1)?token=SECRET",
        "?token=SECRET",
        "http://" + "a" * 300 + "/?token=SECRET",
        "http://127.0.0.1:9/a b?sig=SECRET#frag",
    ],
)
def test_redirect_to_nowhere_tells_no_secret(storage_with, web, place: str) -> None:
    web.things["/x"] = Thing(every=(302, {"Location": place}))
    error = refused(lambda: read(storage_with(retries=1), f"{web.url}/x?X-Amz-Signature=SECRET"))
    assert error.reason == "unavailable"
    assert len(web.seen) <= 3


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: " + DIGITS + b"\r\n\r\nabc",
        OK + b"Content-Length: x\r\n\r\nabc",
        OK + b"Connection: close\r\n\r\nabc",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ],
)
def test_answer_of_s3_that_makes_no_sense_is_unavailable(storage_with, web, answer: bytes) -> None:
    web.things["/b/x"] = Thing(raw=answer)
    storage = storage_with(s3_endpoint=web.url, retries=1)
    assert refused(lambda: read(storage, "s3://b/x")).reason == "unavailable"
    if b"Last" not in answer:
        assert refused(lambda: storage.size_of("s3://b/x")).reason == "unavailable"


def test_code_of_s3_is_shown_only_if_it_is_one(storage_with, web) -> None:
    body = b"<Error><Code>Evil\nCode " + b"A" * 9000 + b"</Code><Message>m</Message></Error>"
    web.things["/b/x"] = Thing(raw=b"HTTP/1.1 403 F\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    error = refused(lambda: read(storage_with(s3_endpoint=web.url), "s3://b/x"))
    assert str(error) == "HTTP 403 (s3://b/x)"


@pytest.mark.parametrize("token", [b"<NextContinuationToken>t</NextContinuationToken>", b""])
def test_listing_that_goes_round_in_circles_ends(storage_with, web, token: bytes) -> None:
    page = b"<ListBucketResult><IsTruncated>true</IsTruncated>%s</ListBucketResult>" % token
    web.things["/b"] = Thing(raw=OK + b"Content-Length: %d\r\n\r\n" % len(page) + page)
    storage = storage_with(s3_endpoint=web.url)
    assert refused(lambda: list(storage.list("s3://b/p/"))).reason == "unavailable"
    assert len(web.seen) <= 2


def test_s3_that_only_trickles_counts_as_silent(storage_with, web) -> None:
    web.things["/b/x"] = Thing(bytes(2000), always=Fault(3, TRICKLE))
    error = refused(lambda: read(storage_with(s3_endpoint=web.url, read_timeout_s=0.3, retries=0), "s3://b/x"))
    assert error.reason == "unavailable"
    assert "time-out" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"FileStatus": None},
        {"FileStatus": []},
        {"FileStatus": {"type": "FILE"}},
        {"FileStatus": {"type": "FILE", "length": "x"}},
        {"FileStatuses": {"FileStatus": None}},
        {"FileStatuses": {"FileStatus": [{"x": 1}]}},
        {"FileStatuses": {"FileStatus": [{"pathSuffix": "../../y", "type": "FILE"}]}},
        {"FileStatuses": {"FileStatus": [{"pathSuffix": 1, "type": "FILE"}]}},
    ],
)
def test_answer_of_webhdfs_that_makes_no_sense_is_unavailable(storage_with, web, answer: dict) -> None:
    body = json.dumps(answer).encode()
    thing = Thing(raw=OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    web.things["/webhdfs/v1/x"] = web.things["/webhdfs/v1/x/"] = thing
    storage = storage_with(webhdfs=web.url)
    for ask in (storage.size_of, storage.open_stream, lambda location: list(storage.list(location))):
        assert refused(lambda ask=ask: ask("hdfs://n/x")).reason == "unavailable"


def test_json_of_webhdfs_that_is_too_deep_is_unavailable(storage_with, web) -> None:
    body = b"[" * 200_000
    web.things["/webhdfs/v1/x"] = Thing(raw=OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert refused(lambda: storage_with(webhdfs=web.url, retries=0).size_of("hdfs://n/x")).reason == "unavailable"


def test_place_to_write_to_that_is_no_url_is_unavailable(storage_with, web) -> None:
    answer = b"HTTP/1.1 307 T\r\nLocation: http://[bad?delegation=SECRET\r\nContent-Length: 0\r\n\r\n"
    web.things["/webhdfs/v1/x"] = Thing(raw=answer)
    web.handle = lambda http, _: http.command == "PUT" and bool(http.wfile.write(answer))

    def write() -> None:
        with storage_with(webhdfs=web.url).write("hdfs://n/x") as file:
            file.write(b"x")

    assert refused(write).reason == "unavailable"


def test_double_of_the_cluster_is_no_such_server(storage_with) -> None:
    """The tests above would mean nothing if everything were refused."""
    with WebHdfs() as cluster:
        storage = storage_with(webhdfs=cluster.url)
        with storage.write("hdfs://n/x") as file:
            file.write(b"x")
        assert read(storage, "hdfs://n/x") == b"x"


@pytest.mark.parametrize(
    ("page", "pages"),
    [
        (lambda n: ([], f"{n}"), 6),
        (lambda n: (["x/a", "x/b"], f"{n}"), 7),
        (lambda n: (["x/a", "x/b"], "same"), 2),
        (lambda n: ([["x/c"], ["x/a"], ["x/b"]][n % 3], f"{n}"), 7),
        (lambda n: ([f"x/{min(n, 3)}"], f"{n}"), 10),
        (lambda n: (["x/a"], ""), 1),
    ],
    ids=["no keys", "the same keys", "the same token", "keys that take turns", "keys that grow no more", "no token"],
)
def test_listing_without_an_end_is_unavailable(storage_with, web, monkeypatch, page, pages: int) -> None:
    monkeypatch.setattr("crawlmill.storage.s3.backend._MAX_IDLE_PAGES", 5)
    web.handle = lister(page)
    error = refused(lambda: list(storage_with(s3_endpoint=web.url).list("s3://b/x")))
    assert error.reason == "unavailable"
    assert "repeats itself" in str(error)
    assert len(web.seen) == pages


def test_listing_with_empty_pages_and_keys_out_of_order_is_read_to_its_end(storage_with, web, monkeypatch) -> None:
    monkeypatch.setattr("crawlmill.storage.s3.backend._MAX_IDLE_PAGES", 5)
    keys = [[], ["x/c/d", "x/c/e"], *[[]] * 4, ["x/c-d"], ["x/\uffff"], *[[]] * 5, ["x/\U0001f600"]]
    web.handle = lister(lambda n: (keys[n], f"{n}" if n + 1 < len(keys) else None))
    assert list(storage_with(s3_endpoint=web.url).list("s3://b/x")) == ["c/d", "c/e", "c-d", "\uffff", "\U0001f600"]


@pytest.mark.parametrize(
    ("answer", "run"),
    [
        (
            b"<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
            lambda s: list(s.list("s3://b/x")),
        ),
        (b"<InitiateMultipartUploadResult></InitiateMultipartUploadResult>", lambda s: write(s, 9 << 20)),
        (
            b"<InitiateMultipartUploadResult><UploadId>U</UploadId></InitiateMultipartUploadResult>",
            lambda s: write(s, 9 << 20),
        ),
        (b"", lambda s: s.copy("s3://b/x", "s3://b/y")),
        (b"<DeleteResult><Error><Key>x</Key></Error></DeleteResult>", lambda s: s.remove("s3://b/x")),
    ],
    ids=["key", "upload", "tag of a part", "tag of an object", "code"],
)
def test_answer_of_s3_that_lacks_something_is_unavailable(storage_with, web, answer: bytes, run) -> None:
    listing = b"<ListBucketResult><Contents><Key>x/y</Key></Contents></ListBucketResult>"

    def give(http, body: bytes) -> bool:
        text = listing if answer.startswith(b"<Delete") and http.command == "GET" else answer
        http.wfile.write(OK + b"Content-Length: %d\r\n\r\n" % len(text) + (text if http.command != "HEAD" else b""))
        return True

    web.handle = give
    error = refused(lambda: run(storage_with(s3_endpoint=web.url, retries=0)))
    assert error.reason == "unavailable"
    assert "makes no sense" in str(error)


def write(storage, size: int) -> None:
    with storage.write("s3://b/x") as file:
        file.write(bytes(size))


def lister(page):
    """Answers a request for a page, of which it is told the number, by (keys, token or None at the end)."""
    asked = count()

    def answer(http, body: bytes) -> bool:
        keys, token = page(next(asked))
        text = "".join(f"<Contents><Key>{quote(key)}</Key></Contents>" for key in keys)
        text += f"<EncodingType>url</EncodingType><IsTruncated>{str(token is not None).lower()}</IsTruncated>"
        text += f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
        text = f"<ListBucketResult>{text}</ListBucketResult>"
        http.wfile.write(OK + b"Content-Length: %d\r\n\r\n%s" % (len(text), text.encode()))
        return True

    return answer


def test_answer_of_s3_without_end_is_given_up_on(storage_with, web) -> None:
    def endless(http, body: bytes) -> bool:
        http.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1000):
            http.wfile.write(b"100000\r\n" + bytes(1 << 20) + b"\r\n")
        return True

    web.handle = endless
    error = refused(lambda: list(storage_with(s3_endpoint=web.url, retries=3).list("s3://b/x/")))
    assert (error.reason, len(web.seen)) == ("unavailable", 1)
    assert "larger than" in str(error)
