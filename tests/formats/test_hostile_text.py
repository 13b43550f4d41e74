"""Text made to be read slowly: of some MB, which take no time where time is linear, and hours where it is not."""

from __future__ import annotations

import pytest
from tests.builders import http, record, response
from tests.formats.archives import Read

from crawlmill.errors import FormatError
from crawlmill.formats.digests import check_digests
from crawlmill.formats.payload.codings import decode_body
from crawlmill.formats.payload.http import parse_request, parse_response
from crawlmill.formats.record import Block
from crawlmill.formats.url_line import MAX_LINE, is_arc_start, parse_url_line
from crawlmill.formats.warc.record import WarcRecord

SIZE = 2_000_000


def many(unit: bytes, size: int = SIZE) -> bytes:
    return unit * (size // len(unit))


@pytest.mark.parametrize(
    "unit",
    [
        b"a ",
        b" ",
        b"x 20100106101235 ",
        b" 20100106101235",
        b"http://e.org/ 192.0.2.1 20100106101235 text/html ",
        b"1 ",
        b"\t",
        b"a\t ",
    ],
)
@pytest.mark.parametrize("end", [b"", b" 17", b" 20100106101235 text/html 17x", b" 1 1 1 1 1 1 1 1 1 17\t"])
def test_long_line_is_judged_as_a_url_line(unit, end):
    line = b"http://e.org/ " + many(unit) + end
    for data in (line, line + b"\n"):
        is_arc_start(data)
    try:
        assert parse_url_line(line).declared in (17, 20100106101235)
    except FormatError as error:
        assert error.reason == "bad-header"


@pytest.mark.parametrize(
    "unit", [b" 20100106101235", b"a 20100106101235 1 1 1", b"http://e.org/ 1 20100106101235 x 17x", b" "]
)
@pytest.mark.parametrize("ends", [b"", b"\n"])
def test_junk_between_the_records_of_a_plain_arc_is_passed(unit, ends):
    sound = b"http://e.org/ 192.0.2.1 20100106101235 text/html 4\nblock"[:-1] + b"\n"
    line = many(unit, MAX_LINE - 10) + ends
    read = Read(sound + many(line) + b"\n" + sound)
    assert read.blocks[-1] == b"bloc"
    assert {reason for reason, _ in read.problems} == {"bad-length"}


@pytest.mark.parametrize("unit", [b" ", b"\t", b"a ", b"a: b\n ", b"\n ", b"\r", b"\n\r", b": ", b"1"])
@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nname", b"HTTP/", b"HTTP/1.1 ", b"\r\n", b"GET "])
def test_long_header_of_a_message_is_parsed(unit, start):
    for parse in (parse_response, parse_request):
        try:
            message = parse(start + many(unit))
        except FormatError:
            continue
        assert len(message.fields) <= SIZE
        assert message.get("Content-Type") is None
        assert message.media_type == ""


@pytest.mark.parametrize("unit", [b" ", b"\t", b"0", b"; ", b"\r", b"1 "])
def test_long_chunk_size_line_is_read(unit):
    message = parse_response(http([("Transfer-Encoding", "chunked")]))
    for start in (b"", b"3\r\nabc\r\n", b"3\r\nabc\r\n1"):
        for end in (b"", b"x", b"\n"):
            assert len(decode_body(message, start + many(unit) + end, limit=2 * SIZE).data) <= SIZE + 10


@pytest.mark.parametrize("line", [b"x\r\n ", b"\r\n\t", b"x\n "])
def test_folded_header_of_a_record_is_parsed(line):
    head = b"WARC/1.0\r\nWARC-Type: resource\r\nX: " + many(line, 1 << 20) + b"\r\n\r\n"
    found = WarcRecord("resource", head, Block(0, b"", 0), offset=0, length=None)
    assert [name for name, _ in found.named_fields] == ["WARC-Type", "X"]


@pytest.mark.parametrize(
    "unit", [b"WARC/1.0\r\n", b"\nWARC/1.0\r\nWARC-Type: x\r\nContent-Length: 9\r\n\r\n", b"\n\r", b"\r\n"]
)
def test_junk_between_the_records_of_a_plain_warc_is_passed(unit):
    sound = response("http://e.org/", b"<p>")
    read = Read(sound + b"junk\n" + many(unit, 1_000_000) + b"\n" + sound)
    assert read.uris[0] == read.uris[-1] == ("response", "http://e.org/")
    assert read.problems


@pytest.mark.parametrize(
    "unit", [b"1\r\na\r\n", b"0001;" + b"x" * 90 + b"\r\na\r\n", b" ", b"\x1f\x8b\x08", b"a" * 999 + b"\n"]
)
@pytest.mark.parametrize("coding", ["chunked", "gzip", "deflate", "br", "chunked, chunked"])
def test_digests_of_odd_bodies_are_checked(unit, coding):
    block = http([("Transfer-Encoding", coding)], many(unit))
    fields = (("WARC-Payload-Digest", "md5:" + "0" * 32),)
    content = record("response", block, "http://e.org/", "application/http; msgtype=response", fields=fields)
    head, _, block = content.partition(b"\r\n\r\n")
    found = WarcRecord("response", head + b"\r\n\r\n", Block(len(block) - 4, block, 0), offset=0, length=None)
    assert [error.reason for error in check_digests(found)] == ["bad-digest"]
