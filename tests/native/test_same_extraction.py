"""Both cores prove the same of ranges, and make the same lines of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests import builders
from tests.native.cores import using

from crawlmill import core
from crawlmill.extraction.listed import listed_of
from crawlmill.extraction.members import prove
from crawlmill.inputs.lists import Input
from crawlmill.inputs.reading import ReadOptions
from crawlmill.storage import Storage

pytestmark = pytest.mark.skipif(core.native() is None, reason="the native core is not installed")

_PAGE = builders.response("http://example.org/a", b"<html>page</html>" * 300)
_MEMBER = builders.gzip_member(_PAGE)
_LINE = (
    'org,example)/a 20260105100000 {"url": "http://example.org/a", "charset": "UTF-8", "languages": "eng,nor",'
    ' "more": "x", "filename": "x.warc.gz", "offset": "7", "length": "9"}'
)


def seen(data: bytes, given: str) -> tuple[Any, ...]:
    """All that is found of a range."""
    item = Input(given, "x.warc.gz", 7, len(data))
    listed = listed_of(item)
    with Storage() as storage:
        found = prove(item, listed, data, storage, ReadOptions())
    lines = [line.text(listed, "out.warc.gz", 5, 8) for member in found.members for line in member.lines]
    places = [(member.start, member.length, member.closing, member.is_arc) for member in found.members]
    return found.row, found.first, found.url, places, lines


@pytest.mark.parametrize("given", [_LINE, f"x.warc.gz\t7\t{len(_MEMBER)}", '{"url": "http://example.org/b"}'])
@pytest.mark.parametrize(
    "data",
    [
        _MEMBER,
        builders.gzip_member(_PAGE.replace(b"example.org/a", b"EXAMPLE.org:80/\xc3\xa4 b")),
        builders.gzip_member(_PAGE.replace(b"WARC-Type: response", b"WARC-Type: revisit")),
        builders.gzip_member(_PAGE.replace(b"WARC-Type: ", b"warc-type:")),
        builders.gzip_member(_PAGE.replace(b"WARC-Target-URI: ", b"X-Target: ")),
        builders.gzip_member(_PAGE.replace(b"WARC-Date: ", b"WARC-Date: x")),
        builders.gzip_member(_PAGE + b"\r\n"),
        builders.gzip_member(_PAGE[:-1]),
        builders.gzip_member(builders.request("http://example.org/a")),
        builders.gzip_member(builders.metadata("http://example.org/a")),
        builders.gzip_member(builders.warcinfo()),
        builders.gzip_member(b"no record"),
        _MEMBER + _MEMBER,
        _MEMBER[:-1],
        _PAGE,
        b"",
    ],
)
def test_what_is_proven_of_a_range_is_that_of_python(data, given):
    with using("native"):
        native = seen(data, given)
    with using("python"):
        assert native == seen(data, given)


def test_flipped_bits_are_found_on_both_cores():
    for at in range(0, len(_MEMBER), 3):
        flipped = _MEMBER[:at] + bytes([_MEMBER[at] ^ 1 << at % 8]) + _MEMBER[at + 1 :]
        with using("native"):
            native = seen(flipped, _LINE)
        with using("python"):
            assert native == seen(flipped, _LINE), at


def test_a_usual_page_is_proven_without_a_copy_of_its_content():
    kind, head, key, timestamp, front, _, url = core.native().member_capture(_MEMBER)
    assert (kind, key, timestamp, url) == ("response", "org,example)/a", "20260105100000", "http://example.org/a")
    assert head == _PAGE[: len(head)]
    assert head.endswith(b"\r\n\r\n")
    assert front.startswith('{"url": "http://example.org/a"')
    assert core.native().member_capture(_MEMBER[:-1]) is None
    assert core.native().member_capture(b"") is None
