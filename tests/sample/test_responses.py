"""Bodies on the wire, server headers and WARC members, against the standard library and hand-made values."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import zlib

import pytest

from crawlmill.sample.dice import Dice
from crawlmill.sample.records import MemberWriter, Record, digest, record_id
from crawlmill.sample.responses import CODINGS, COMMON_SERVERS, ODD_SERVERS, chunked, encode_body, gzip_stored, rename


@pytest.mark.parametrize("size", [0, 1, 65534, 65535, 65536, 200_000])
def test_gzip_stored_is_inflated_by_any_gzip(size):
    content = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    packed = gzip_stored(content)
    assert gzip.decompress(packed) == content
    inflater = zlib.decompressobj(31)
    assert inflater.decompress(packed) == content
    assert (inflater.eof, inflater.unused_data) == (True, b"")


def dechunked(body: bytes) -> bytes:
    content, position = b"", 0
    while True:
        line = re.compile(rb"0*([0-9A-Fa-f]+)(;n=v)?\r\n").match(body, position)
        assert line, body[position : position + 20]
        size, position = int(line[1], 16), line.end()
        content += body[position : position + size]
        assert body[position + size : position + size + 2] == b"\r\n"
        position += size + 2
        if size == 0:
            assert position == len(body)
            return content


@pytest.mark.parametrize("size", [0, 1, 100, 150_000])
def test_chunked_frames_hold_the_content(size):
    content = bytes(range(256)) * (size // 256 + 1)
    assert dechunked(chunked(content[:size], Dice("test", size))) == content[:size]


@pytest.mark.parametrize("coding", CODINGS)
def test_encode_body_is_what_its_fields_say_unless_they_lie(coding):
    content = b"<html>" * 3000
    fields, body = encode_body(content, coding, Dice("test"))
    named = dict(fields)
    if "Content-Length" in named:
        assert int(named["Content-Length"]) == len(body)
    lies = coding in ("plain", "crawler", "gzip in name only", "chunked in name only")
    assert (body == content) == lies
    decoded = dechunked(body) if named.get("Transfer-Encoding") and not lies else body
    decoded = gzip.decompress(decoded) if named.get("Content-Encoding") and not lies else decoded
    assert decoded == content
    assert ("Transfer-Encoding" in named) == (coding in ("chunked", "gzip chunked", "chunked in name only"))
    assert ("Content-Encoding" in named) == (coding in ("gzip", "gzip chunked", "gzip in name only"))
    assert any(name.startswith("X-Crawler-") for name in named) == (coding == "crawler")


def test_servers_count_each_value_once_and_none_without_any():
    for server in (*COMMON_SERVERS, *ODD_SERVERS):
        values = [value.strip() for name, value in server.fields if name.lower() == "server" and value.strip()]
        assert list(server.counted) == (list(dict.fromkeys(values)) or [None])
        assert all(value.encode().decode() == value and "\r" not in value and "\n" not in value for value in values)


def test_rename_changes_names_in_case_only_and_keeps_the_crawlers_prefix():
    fields = (("Content-Type", "text/HTML"), ("X-Crawler-Content-Encoding", "br"))
    seen = {rename(fields, Dice("test", number)) for number in range(200)}
    assert len(seen) == 4
    assert (("content-type", "text/HTML"), ("X-Crawler-content-encoding", "br")) in seen
    assert all(
        name.lower() == known.lower() for renamed in seen for (name, _), (known, _) in zip(renamed, fields, strict=True)
    )


def test_members_say_where_they_lie_and_what_they_hold():
    contents = [b"", b"a" * 100_000, "čaj".encode()]
    stream = io.BytesIO()
    writer, counting = MemberWriter(stream), MemberWriter(None)
    members = [writer.write(content) for content in contents]
    assert [counting.write(content) for content in contents] == members
    data = stream.getvalue()
    assert writer.offset == counting.offset == len(data)
    for content, member in zip(contents, members, strict=True):
        packed = data[member.offset : member.offset + member.length]
        assert packed[:10] == bytes.fromhex("1f8b0800000000000003")
        assert gzip.decompress(packed) == content
        assert (member.inflated_length, member.crc) == (len(content), zlib.crc32(content))


def test_record_is_written_field_by_field():
    stream = io.BytesIO()
    record = Record((("WARC-Type", "resource"), ("X", "é"), ("Content-Length", "3")), b"abc")
    MemberWriter(stream).write_record(record)
    expected = "WARC/1.0\r\nWARC-Type: resource\r\nX: é\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
    assert gzip.decompress(stream.getvalue()) == expected.encode()
    assert record["X"] == "é"


def test_digest_is_sha1_in_base32():
    # The digest of nothing, as every request record of a crawl has it.
    assert digest(b"") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert digest(b"abc") == "sha1:" + base64.b32encode(hashlib.sha1(b"abc").digest()).decode()


def test_record_id_is_a_uuid_that_the_name_decides():
    assert re.fullmatch(r"<urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}>", record_id(1, 2, "request"))
    assert record_id(1, 2, "request") == record_id(1, 2, "request") != record_id(1, 2, "response")
