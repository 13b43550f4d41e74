"""One field of a WARC header, found without cutting all of them: the same as among all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlmill.formats.record import Block
from crawlmill.formats.warc.record import WarcRecord

NAMES = ["Content-Type", "content-type", "WARC-Type", "X", "\u212a", "k", ""]


def fresh(head: bytes) -> WarcRecord:
    return WarcRecord("response", head, Block(0, b"", 0), offset=0, length=None)


def among_all(head: bytes, name: str) -> str | None:
    return next((value for given, value in fresh(head).named_fields if given.lower() == name.lower()), None)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ("Content-Type: text/plain", "text/plain"),
        ("CONTENT-TYPE:text/plain  ", "text/plain"),
        ("X: content-type\r\nContent-Type: a", "a"),
        ("Content-Type : a", "a"),
        ("Content-Type: a\r\n b", "a b"),
        ("Content-Type: a\r\n\tb\r\nContent-Type: c", "a b"),
        ("Content-Type: a\r\nContent-Type: b", "a"),
        ("X-Content-Type: a\r\nContent-Type: b", "b"),
        ("X: y\n Content-Type: a", None),
        ("X: y\nContent-Type: a", "a"),
        ("Content-Type: a\nContent-Length: 7", "a"),
        ("Content-Type", None),
        ("Content-Type:", ""),
        ("Content-Type: \u00e4", "\u00e4"),
        ("WARC-Type: response", None),
    ],
)
def test_content_type_of_header_is_its_first(fields, value):
    assert fresh(f"WARC/1.0\r\n{fields}\r\n\r\n".encode()).get("Content-Type") == value


pieces = st.sampled_from([*NAMES, ":", ": ", " ", "\t", "\r\n", "\n", "\r", "a", "\u00e4", "application/http", "\v"])
heads = st.lists(pieces, max_size=14).map(lambda found: ("WARC/1.0\r\n" + "".join(found) + "\r\n\r\n").encode())


@settings(derandomize=True, deadline=None, database=None, max_examples=3000)
@given(heads, st.sampled_from(NAMES))
def test_field_alone_is_the_same_as_among_all(head, name):
    assert fresh(head).get(name) == among_all(head, name)
