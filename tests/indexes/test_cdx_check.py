"""What passes for a capture, and what is said of a line that does not."""

from __future__ import annotations

import pytest

from crawlmill.indexes.cdx.check import fault_of, is_header_or_blank

CDXJ = b'com,example)/ 20240101000000 {"url": "http://example.com/", "length": "1"}'


@pytest.mark.parametrize(
    "line",
    [
        CDXJ,
        CDXJ + b"\r",
        b"com,example)/ 20240101000000 http://example.com/ text/html 200 AAAA - - 10 20 a.warc.gz",
        b"com,example)/ 20240101000000 http://example.com/ text/html 200 AAAA - 20 a.warc.gz",
        b'com,example)/{x} 20240101000000 {"url": "http://example.com/{x}"}',
        b"com,example)/ 20240101000000 {}",
        b"com,\xff)/ 20240101000000 x",
    ],
)
def test_capture_has_no_fault(line):
    assert fault_of(line) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"com,example)/", "a key, a timestamp and more"),
        (b"com,example)/ 20240101000000", "a key, a timestamp and more"),
        (b"com,example)/ 20240101000000 ", "a key, a timestamp and more"),
        (b" 20240101000000 {}", "a key, a timestamp and more"),
        (b"this is no line of an index", "a timestamp of 14 digits"),
        (b"com,example)/ 2024010100000 {}", "a timestamp of 14 digits"),
        (b"com,example)/ 202401010000000 {}", "a timestamp of 14 digits"),
        (b"com,example)/  20240101000000 {}", "a timestamp of 14 digits"),
        (b"com,example)/ 20240101000000  {}", "one blank after the timestamp"),
        (CDXJ[:-1], "JSON"),
        (CDXJ + b"}", "JSON"),
        (CDXJ.replace(b"example.com", b"\xff"), "JSON"),
        (b"com,example)/ 20240101000000 " + b'{"a":' * 100_000, "JSON"),
    ],
)
def test_fault_says_what_was_expected(line, expected):
    fault = fault_of(line)
    assert fault is not None
    assert fault[0] == expected
    assert len(fault[1]) < 200


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b" CDX N b a m s k r M S V g", True),
        (b"", True),
        (b" \r", True),
        (b'!meta {"format": "cdxj"}', True),
        (b"!OpenWayback-CDXJ 1.0", True),
        (b"!meta 20240101000000 {}", False),  # http://!meta
        (b"! {}", False),
        (CDXJ, False),
        (b"CDX x y", False),
    ],
)
def test_header_and_blank_lines(line, answer):
    assert is_header_or_blank(line) == answer
