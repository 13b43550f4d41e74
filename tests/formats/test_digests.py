"""Digests of blocks and payloads, in every notation that writers use."""

from __future__ import annotations

import gzip
import hashlib
import io

import pytest
from tests.builders import gzip_member, http, record, request, response, sha1_of

from crawlmill.errors import FormatError
from crawlmill.formats.archive import read_archive
from crawlmill.formats.digests import check_digests, parse_digest

BODY = b"<p>right</p>"


def problems(content: bytes):
    found = []
    for rec in read_archive(io.BytesIO(gzip_member(content)), on_problem=found.append, on_format=lambda _: None):
        found += [error.reason for error in check_digests(rec)]
    return found


def test_true_digests_pass_and_false_ones_are_found():
    good = response("http://e.org/", BODY)
    assert problems(good) == []
    assert problems(good.replace(BODY, b"<p>wrong</p>")) == ["bad-digest", "bad-digest"]


@pytest.mark.parametrize(
    "notation",
    [
        sha1_of(BODY),
        sha1_of(BODY).lower(),
        f"sha1:{hashlib.sha1(BODY).hexdigest()}",
        f"SHA-1:{hashlib.sha1(BODY).hexdigest().upper()}",
        f"sha256:{hashlib.sha256(BODY).hexdigest()}",
        f"md5:{hashlib.md5(BODY).hexdigest()}",
    ],
)
def test_payload_digest_in_any_notation_is_checked(notation):
    block = http([("Content-Type", "text/html")], BODY)
    fields = (("WARC-Payload-Digest", notation),)
    kind = "application/http; msgtype=response"
    assert problems(record("response", block, "http://e.org/", kind, fields=fields)) == []
    wrong = http([("Content-Type", "text/html")], BODY + b" ")
    assert problems(record("response", wrong, "http://e.org/", kind, fields=fields)) == ["bad-digest"]


def test_payload_digest_of_the_body_without_its_codings_passes():
    packed = gzip.compress(BODY, mtime=0)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    block = http(
        [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"), ("Content-Type", "text/html")], chunked
    )
    for form in (chunked, packed, BODY):
        fields = (("WARC-Payload-Digest", sha1_of(form)),)
        content = record("response", block, "http://e.org/", "application/http; msgtype=response", fields=fields)
        assert problems(content) == []


def test_payload_digest_of_a_revisit_is_that_of_the_original():
    block = http([("Content-Type", "text/html")])
    fields = (("WARC-Payload-Digest", sha1_of(b"somewhere else")), ("WARC-Block-Digest", sha1_of(block)))
    assert (
        problems(record("revisit", block, "http://e.org/", "application/http; msgtype=response", fields=fields)) == []
    )


def test_payload_digest_of_a_request_is_over_its_empty_body():
    content = request("http://e.org/")
    given = content.replace(
        b"\r\nContent-Length", f"\r\nWARC-Payload-Digest: {sha1_of(b'')}\r\nContent-Length".encode(), 1
    )
    assert problems(given) == []


def test_payload_digest_of_other_records_is_over_the_block():
    fields = (("WARC-Payload-Digest", sha1_of(b"text")),)
    assert problems(record("resource", b"text", "http://e.org/", "text/plain", fields=fields)) == []
    assert problems(record("resource", b"else", "http://e.org/", "text/plain", fields=fields)) == ["bad-digest"]


def test_algorithms_that_are_not_known_are_not_checked_and_nonsense_is_reported():
    assert parse_digest("blake7:abc") is None
    with pytest.raises(FormatError, match="no digest"):
        parse_digest("sha1:notadigest")
