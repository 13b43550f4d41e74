"""HTTP messages in record blocks."""

from __future__ import annotations

import doctest
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data import shared
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeadersParser

from crawlmill.errors import FormatError
from crawlmill.formats.payload import http
from crawlmill.formats.payload.http import parse_request, parse_response

OK = b"HTTP/1.1 200 OK\r\n"


def test_module_example_runs():
    assert doctest.testmod(http).failed == 0


def test_response_of_a_page_is_cut_into_its_parts():
    block = OK + b"Server: nginx\r\nContent-Type: text/html; charset=utf-8\r\nX-Empty:\r\n\r\n<p>"
    message = parse_response(block)
    assert (message.version, message.status, message.reason) == ("1.1", 200, "OK")
    fields = [("Server", "nginx"), ("Content-Type", "text/html; charset=utf-8"), ("X-Empty", "")]
    assert message.fields == fields
    assert block[message.body_offset :] == b"<p>"
    assert (message.method, message.target) == ("", "")


@pytest.mark.parametrize(
    ("line", "version", "status", "reason"),
    [
        (b"HTTP/1.1 404 Not Found", "1.1", 404, "Not Found"),
        (b"HTTP/1.0 200", "1.0", 200, ""),
        (b"HTTP/1.0 200 ", "1.0", 200, ""),
        (b"HTTP/2 200", "2", 200, ""),
        (b"HTTP/2.0 301 ", "2.0", 301, ""),
        (b"http/1.1 200 ok", "1.1", 200, "ok"),
        (b"HTTP/1.1 200OK", "1.1", 200, "OK"),
        (b"HTTP/1.1   200\tfine  ", "1.1", 200, "fine"),
        (b"HTTP/1.1 200; all right", "1.1", 200, "; all right"),
        (b"HTTP/1.1 999 Request denied", "1.1", 999, "Request denied"),
        (b"HTTP 200 OK", None, 200, "OK"),
        (b"HTTP/1.x 200 OK", "1.x", 200, "OK"),
        (b"ICY 200 OK", None, 200, "OK"),
        (b"HTTP/1.1", "1.1", None, ""),
        (b"HTTP/1.1 OK", "1.1", None, "OK"),
        (b"HTTP/1.1 2000 Odd", "1.1", None, "2000 Odd"),
        (b"HTTP/1.1 20", "1.1", None, "20"),
        (b"HTTP/1.1 200 d\xc3\xa9j\xc3\xa0", "1.1", 200, "déjà"),
        (b"HTTP/1.1 200 d\xe9j\xe0", "1.1", 200, "déjà"),
        (b"\r\n\nHTTP/1.1 200 OK", "1.1", 200, "OK"),
    ],
)
@pytest.mark.parametrize("end", [b"\r\n\r\nbody", b"\n\nbody", b"\r\nServer: x\r\n\r\nbody", b"", b"\r\n"])
def test_status_line_as_pages_have_it_is_read(line, version, status, reason, end):
    message = parse_response(line + end)
    assert (message.version, message.status, message.reason) == (version, status, reason)
    assert (line + end)[message.body_offset :] == (b"body" if end.endswith(b"body") else b"")


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\r\n",
        b"<html>HTTP/1.1 200 OK",
        b"HTTPS/1.1 200 OK",
        b"HTT",
        b"20260117 127.0.0.1",
        b"GET / HTTP/1.1\r\n\r\n",
        b"ICYCLE 200",
        b"Server: HTTP/1.1 200 OK\r\n\r\n",
        b" HTTP/1.1 200 OK",
        b"\xff\xfe",
    ],
)
def test_response_without_a_status_line_is_a_bad_header(block):
    with pytest.raises(FormatError, match="status line") as caught:
        parse_response(block)
    assert caught.value.reason == "bad-header"


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        (b"A: 1\r\nB: 2\r\n", [("A", "1"), ("B", "2")]),
        (b"A: 1\nB: 2\n", [("A", "1"), ("B", "2")]),
        (b"A: 1\r\nB: 2\n", [("A", "1"), ("B", "2")]),
        (b"A: 1\r\r\nB: 2\r\n", [("A", "1"), ("B", "2")]),
        (b"A:1\r\nB : 2\r\nC\t:\t3 \t\r\n", [("A", "1"), ("B", "2"), ("C", "3")]),
        (b"A: one\r\n two\r\n\t three \r\nB: 2\r\n", [("A", "one two three"), ("B", "2")]),
        (b"A:\r\n one\r\n", [("A", "one")]),
        (b"A: one\r\n \r\n two\r\n", [("A", "one two")]),
        (b"no colon here\r\nA: 1\r\n", [("A", "1")]),
        (b"no colon here\r\n B: folded onto junk\r\nA: 1\r\n", [("A", "1")]),
        (b" B: folded onto the start line\r\nA: 1\r\n", [("A", "1")]),
        (b": no name\r\n:status: 200\r\nA: 1\r\n", [("A", "1")]),
        (b"A: 1\r\na: 2\r\nA: 1\r\n", [("A", "1"), ("a", "2"), ("A", "1")]),
        (b"A: b: c\r\n", [("A", "b: c")]),
        (b"A: x\ry\r\n", [("A", "x y")]),
        ("A: café 漢\r\n".encode(), [("A", "café 漢")]),
        (b"A: caf\xe9\r\nB: caf\xc3\xa9\r\nC\xe9: x\r\n", [("A", "café"), ("B", "café"), ("Cé", "x")]),
        (b"A: \xa0x\xa0\r\n", [("A", "\xa0x\xa0")]),
        (b"A: x\x0by\x85z\x1c\r\n", [("A", "x\x0by\x85z\x1c")]),
        (b"", []),
        (b"\0\0: x\r\n", [("\0\0", "x")]),
    ],
)
def test_fields_as_pages_have_them_are_read(lines, fields):
    for end in (b"\r\n", b"\n", b"\r\r\n", b""):
        message = parse_response(OK + lines + end + (b"B: body" if end else b""))
        assert message.fields == fields
        for name in {name for name, _ in fields}:
            asked = name.swapcase() if name.isascii() else name
            assert message.get_all(asked) == [value for key, value in fields if key.lower() == name.lower()]
        assert (OK + lines + end + b"B: body")[message.body_offset :] == b"B: body"


def test_body_that_looks_like_fields_is_no_header():
    message = parse_response(OK + b"A: 1\n\nServer: in the body\r\n\r\nServer: further\r\n")
    assert message.get("server") is None
    assert message.fields == [("A", "1")]


def test_header_without_an_end_is_all_header():
    block = OK + b"A: 1\r\nServer: x"
    message = parse_response(block)
    assert (message.fields, message.body_offset) == ([("A", "1"), ("Server", "x")], len(block))


def test_get_without_the_name_is_none():
    message = parse_response(OK + b"X-Server: a\r\nServer-Timing: b\r\n\r\n")
    assert message.get("Server") is None
    assert message.get_all("Server") == []


def test_get_of_a_name_with_signs_means_the_name():
    message = parse_response(OK + b"x_a.b: no\r\nx_a*b: yes\r\n\r\n")
    assert message.get("X_A*B") == "yes"
    assert parse_response(OK + "é: 1\r\n\r\n".encode()).get("é") == "1"


@pytest.mark.parametrize(
    ("value", "media_type", "is_html"),
    [
        ("text/html", "text/html", True),
        ("  Text/HTML ; charset=x", "text/html", True),
        ("application/xhtml+xml;charset=utf-8", "application/xhtml+xml", True),
        ("text/html, text/html; charset=utf-8", "text/html", True),
        ("text/html-x", "text/html-x", False),
        ("application/xml", "application/xml", False),
        ("", "", False),
        (";charset=utf-8", "", False),
    ],
)
def test_media_type_of_the_first_content_type(value, media_type, is_html):
    message = parse_response(OK + f"content-type: {value}\r\nContent-Type: text/html\r\n\r\n".encode())
    assert (message.content_type, message.media_type, message.is_html) == (value.strip(), media_type, is_html)


def test_media_type_without_a_content_type_is_empty():
    message = parse_response(OK + b"\r\n<html>")
    assert (message.content_type, message.media_type, message.is_html) == (None, "", False)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"GET / HTTP/1.1", ("GET", "/", "1.1")),
        (b"post /a b http/1.0", ("post", "/a b", "1.0")),
        (b"GET /old", ("GET", "/old", None)),
        (b"GET  /x?y=HTTP/1.1", ("GET", "/x?y=HTTP/1.1", None)),
        (b"OPTIONS * HTTP/2", ("OPTIONS", "*", "2")),
    ],
)
def test_request_line_is_read(line, expected):
    message = parse_request(line + b"\r\nHost: e.org\r\n\r\n")
    assert (message.method, message.target, message.version) == expected
    assert (message.status, message.get("host")) == (None, "e.org")


@pytest.mark.parametrize("block", [b"", b"\r\n\r\n", b"<html> x", b"GET", b"@ / HTTP/1.1"])
def test_request_without_a_request_line_is_a_bad_header(block):
    with pytest.raises(FormatError) as caught:
        parse_request(block)
    assert caught.value.reason == "bad-header"


SOUP = st.lists(
    st.sampled_from(
        [
            b"\r\n",
            b"\n",
            b"\r",
            b" ",
            b"\t",
            b":",
            b"A",
            b"server",
            b"SERVER",
            b"x",
            b"\xe9",
            b"\xc3\xa9",
            b"\xc3",
            b"\0",
            b"Server: y\r\n",
        ]
    ),
    max_size=30,
).map(b"".join)


@given(SOUP)
def test_one_name_looked_up_equals_all_fields_cut(soup):
    message = parse_response(OK + soup)
    for name in ("Server", "a", "é", "x"):
        wanted = [
            value for key, value in message.fields if key == name or (key.isascii() and key.lower() == name.lower())
        ]
        assert message.get_all(name) == wanted
        assert message.get(name) == (wanted[0] if wanted else None)


@given(SOUP)
def test_fields_equal_a_reading_line_by_line(soup):
    """The slow way: cut the header off, then lines, with folded ones put to their field."""
    block = OK + soup
    end = re.search(rb"\n\r*\n", block)
    lines = block[: end.start() if end else len(block)].split(b"\n")[1:]
    fields: list[list[bytes] | None] = [None]
    for line in lines:
        line = line.replace(b"\r", b" ")
        name, colon, value = line.partition(b":")
        if line[:1] in {b" ", b"\t"}:
            if fields[-1] is not None:
                fields[-1].append(line)
        else:
            fields.append([name, value] if colon and name else None)

    def decoded(raw):
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    wanted = [
        (decoded(f[0].rstrip(b" \t")), decoded(b" ".join(p for p in (q.strip(b" \t") for q in f[1:]) if p)))
        for f in fields
        if f is not None
    ]
    message = parse_response(block)
    assert message.fields == wanted
    assert message.body_offset == (end.end() if end else len(block))


TOKEN = st.text("abcXYZ019-_", min_size=1, max_size=8)
VALUE = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cc", "Zs"]), max_size=12)


@given(st.lists(st.tuples(TOKEN, st.lists(VALUE, max_size=3).map(" ".join)), max_size=6), st.binary(max_size=20))
def test_sound_responses_equal_warcio(fields, body):
    block = OK + "".join(f"{name}: {value}\r\n" for name, value in fields).encode() + b"\r\n" + body
    stream = io.BytesIO(block)
    theirs = StatusAndHeadersParser(["HTTP/1.1"]).parse(stream)
    message = parse_response(block)
    assert message.fields == [(name, value.strip()) for name, value in theirs.headers]
    assert block[message.body_offset :] == stream.read() == body


@pytest.mark.parametrize(
    "hostile",
    [
        b"A:" + b" " * 200_000 + b"x",
        b" " * 200_000,
        b"\r" * 200_000 + b"x",
        b"A" * 200_000,
        b"a\r\n" * 70_000,
        b"A: b\r\n \r\n" * 30_000,
        b"\n\r " * 70_000,
    ],
)
def test_hostile_headers_cost_time_in_proportion_to_their_length(hostile):
    # Quadratic reading of any of these would take minutes.
    message = parse_response(OK + hostile)
    assert message.get("server") is None
    assert len(message.fields) <= 30_000
    assert parse_response(b"HTTP/1.1 " + hostile).version == "1.1"
    assert parse_request(b"GET " + hostile).method == "GET"


@pytest.mark.parametrize(
    "name",
    [
        "commoncrawl/whirlwind.warc.gz",
        "archives/iana.warc.gz",
        "archives/example.warc.gz",
        "archives/example-iana.org-chunked.warc",
    ],
)
def test_real_responses_have_the_fields_that_warcio_finds(name):
    seen = 0
    with shared(name).open("rb") as stream:
        for record in ArchiveIterator(stream, no_record_parse=True):
            kind = record.rec_type
            if kind not in {"response", "request", "revisit"}:
                continue
            block = record.raw_stream.read()
            if not block:
                continue
            theirs_stream = io.BytesIO(block)
            theirs = StatusAndHeadersParser(["GET"] if kind == "request" else ["HTTP/1.0", "HTTP/1.1"]).parse(
                theirs_stream
            )
            message = (parse_request if kind == "request" else parse_response)(block)
            assert message.fields == [(key, value.strip()) for key, value in theirs.headers]
            assert block[message.body_offset :] == theirs_stream.read()
            if kind != "request":
                assert str(message.status) == theirs.get_statuscode()
            seen += 1
    assert seen
