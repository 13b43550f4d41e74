"""Heads that are laid out like earlier ones are read as others are."""

from __future__ import annotations

import random

import pytest
from tests.builders import record, response

from crawlmill.formats.warc import layouts
from crawlmill.formats.warc.layouts import Layouts

WANTED = ("warc-target-uri", "warc-date", "warc-truncated", "warc-record-id")
PAGE = response("http://example.org/", b"x", headers=[("Content-Type", "text/html")])
METADATA = record("metadata", b"a: b\r\n", "http://example.org/", "application/warc-fields")
OTHER = METADATA.replace(b"WARC-Type", b"WARC-Truncated: length\r\nWARC-Type")


def learned():
    """What has learned the layouts of these records, and reads no header field by field any more."""
    reader = Layouts(WANTED)
    for head in (PAGE, METADATA, OTHER) * 9:
        reader.read(head)
    return reader


def test_values_are_those_of_wanted_fields_and_empty_without(monkeypatch):
    reader = learned()
    monkeypatch.setattr(layouts, "quick_head", None)  # not called for what has been learned
    kind, start, length, values = reader.read(OTHER)
    assert (kind, OTHER[start - 4 : start], length) == ("metadata", b"\r\n\r\n", 6)
    assert values == ("http://example.org/", "2026-01-05T10:00:00Z", "length", values[3])
    assert values[3].startswith("<urn:test:")
    assert reader.read(METADATA)[3] == ("http://example.org/", "2026-01-05T10:00:00Z", "", values[3])
    assert reader.read(PAGE)[0] == "response"


@pytest.mark.parametrize("head", [PAGE, METADATA, OTHER])
def test_flipped_and_cut_heads_are_read_as_before_their_layout_was_known(head):
    reader, dice = learned(), random.Random(1)
    start = head.index(b"\r\n\r\n") + 4
    flipped = [(at, head[at] ^ 1 << bit) for at in range(start) for bit in range(8)]
    replaced = [(dice.randrange(start), dice.choice(b" \t\r\n:,-0aA\x00\x7f\x80\xff")) for _ in range(3000)]
    changed = [head[:at] + bytes([byte]) + head[at + 1 :] for at, byte in flipped + replaced]
    cut = [head[:end] for end in range(len(head))]
    joined = [head[:at] + head[to:] for at, to in ((dice.randrange(start), dice.randrange(start)) for _ in range(500))]
    for odd in changed + cut + joined:
        assert reader.read(odd) == Layouts(WANTED).read(odd)


def test_a_file_in_which_no_two_headers_are_alike_is_not_remembered():
    reader = Layouts(WANTED)
    for number in range(layouts._MOST * 2):
        name = f"X-{'A' * number}"
        for _ in range(layouts._OFTEN * 2):
            assert reader.read(PAGE.replace(b"WARC-Date", f"{name}: y\r\nWARC-Date".encode()))[0] == "response"
    assert sum(map(len, reader._known.values())) <= layouts._MOST
