"""One field of a WARC header, found without cutting all of them: the same as among all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlmill.formats.record import Block
from crawlmill.formats.selectors.facts import truncated_of
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


@pytest.mark.slow
@settings(derandomize=True, deadline=None, database=None, max_examples=3000)
@given(heads, st.sampled_from(NAMES))
def test_field_alone_is_the_same_as_among_all(head, name):
    assert fresh(head).get(name) == among_all(head, name)
    named = fresh(head).named_fields
    assert fresh(head).get_all(name) == [value for given, value in named if given.lower() == name.lower()]


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ("WARC-Truncated: length", "length"),
        ("warc-TRUNCATED:time", "time"),
        ("X: \u00e4\r\nWARC-Truncated: length", "length"),
        ("X: WARC-Truncated: length", None),
        ("WARC-Truncated:", None),
        ("X: \u00e4", None),
    ],
)
def test_truncation_is_told_however_it_is_written(fields, value):
    assert truncated_of(fresh(f"WARC/1.0\r\n{fields}\r\n\r\n".encode())) == value


def test_only_letters_of_ascii_spell_truncated():
    """So a header in whose lower-case bytes the name is not found does not have it, in whatever letters."""
    letters = set("WARC-Truncated".lower())
    found = {chr(code) for code in range(0x110000) if letters.intersection(chr(code).lower())}
    assert found == letters | {letter.upper() for letter in letters}


@pytest.mark.parametrize("kind", [bytes, bytearray])
@pytest.mark.parametrize("length", [0, 1, 5, 1 << 20, (1 << 20) + 1])
def test_blocks_in_memory_are_cut_at_their_ends(kind, length):
    content = bytes(number % 251 for number in range(length))
    block = Block(length, kind(b"head" + content + b"\r\n\r\n"), 4)
    pieces = list(block.pieces())
    assert b"".join(pieces) == content
    assert {type(piece) for piece in pieces} <= {bytes}
    assert b"" not in pieces
    assert [block.peek(n) for n in (0, 1, 3, length + 1)] == [content[:n] for n in (0, 1, 3, length + 1)]
