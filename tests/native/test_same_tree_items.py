"""Data blocks of prefix trees are cut into the same items, and searched for the same keys, by both cores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.native.cores import using

from crawlmill.indexes.prefix_tree.items import LONG, SHORT, DataBlock, Place, _Items, pack
from crawlmill.indexes.prefix_tree.keys import asked_ranges
from crawlmill.indexes.prefix_tree.lines import line_of
from crawlmill.urls.patterns import Pattern

native = pytest.importorskip("crawlmill_native")

SOUND = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=4).filter(lambda key: b"\0" not in key), st.binary(min_size=28, max_size=28)
    )
)


BOUND = st.binary(max_size=4).map(lambda text: text[:-1].replace(b"\0", b"") + text[-1:])


@given(SOUND, st.booleans(), st.binary(max_size=70), BOUND, BOUND)
def test_items_and_their_order(items, in_order, rest, low, high):
    if in_order:
        items.sort(key=lambda item: item[0])
    block = b"".join(key + b"\0" + value for key, value in items) + rest
    ours, theirs = _Items(block, 28), native.TreeBlock(block, 28)
    for name in ("first", "last", "end", "is_sorted", "keys"):
        assert getattr(theirs, name) == getattr(ours, name)
    low, high = sorted((low, high))
    assert theirs.within(low, high) == ours.within(low, high)


def test_equal_keys_are_in_order_whatever_their_values():
    items = [(b"a", b"\xff" * 28), (b"a", b"\1" * 28), (b"ab", b"\1" * 28), (b"b", b"\1" * 28)]
    block = DataBlock(b"".join(key + b"\0" + value for key, value in items) + b"\0" * 9, SHORT)
    assert (block.first, block.last, block.is_sorted, block.damaged) == (b"a", b"b", True, False)
    assert [item.key for item in block.within(b"a", b"a\0")] == [b"a", b"a"]
    assert [item.key for item in block.within(b"a", b"b")] == [b"a", b"a", b"ab"]
    assert [item.key for item in block.within(b"ab", b"c")] == [b"ab", b"b"]
    assert DataBlock(b"", SHORT).first == b""


KEYS = st.one_of(
    st.binary(min_size=1, max_size=12).map(lambda key: key.replace(b"\0", b"") or b"a"),
    st.from_regex(
        rb"(com|org)\.[a-z]{1,3}(\.www)?[:/?a-z0-9A.%\"\\-]{0,12}(:[0-9]{1,6})?(:https?|:ftp)?", fullmatch=True
    ),
)
PLACES = st.builds(
    Place,
    st.integers(0, 2**64 - 1),
    st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300_000_000_000_000)),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
)


@given(st.lists(st.tuples(KEYS, PLACES), min_size=1, max_size=6), st.sampled_from([SHORT, LONG]))
def test_lines_of_ranges(items, values):
    items.sort(key=lambda item: item[0])
    data = b"".join(key + b"\0" + pack(place, values) for key, place in items)
    block = DataBlock(data, values)
    asked = sorted({(key[:end], key + b"\0", 0) for key, _ in items for end in (1, len(key))})
    first_behind = next((place for place, each in enumerate(asked) if each[1] > items[-1][0]), len(asked))
    expected = {
        place: b"".join(map(line_of, block.within(low, high)))
        for place, (low, high, _) in enumerate(asked[:first_behind])
    }
    for core in (_Items(data, values.size), native.TreeBlock(data, values.size)):
        end, found = core.lines(asked, 0)
        assert end == first_behind
        assert {place for place, _ in found} == {place for place in expected if expected[place]}
        assert all(lines in (None, expected[place]) for place, lines in found)


def test_lines_of_usual_keys_are_made_natively():
    keys = (b"com.example.www/foo?q=1:http", b"com.example/p:8080:https", b"org.a/B%20c:http")
    data = b"".join(key + b"\0" + pack(Place(1, 1346823845675, 2, 3, 4), LONG) for key in keys) + b"zz\0" + b"\1" * 32
    end, found = native.TreeBlock(data, 32).lines([(key, key + b"\0", 0) for key in keys], 0)
    assert end == 3
    assert [lines for _, lines in found] == [line_of(item) for item in DataBlock(data, LONG).within(b"", b"zz")]


PARTS = (
    "http://",
    "https://",
    "HTTP://",
    "ftp://",
    "e.org",
    "www.",
    "*.",
    "a",
    "/",
    "//",
    ":",
    ":80",
    "?",
    "q=1",
    "#",
    "*",
    " ",
    "\t",
    "\x1f",
    "\n",
    "\0",
    "\xa0",
    "\xe9",
    "\udce9",
)


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), max_size=6))
def test_ranges_of_urls(texts):
    patterns = [Pattern(text, "exact", b"", (), is_key=text.endswith("a")) for text in ["http://e.org/b?c", *texts]]
    with using("python"):
        expected = asked_ranges(patterns)
    with using("native"):
        assert asked_ranges(patterns) == expected


def test_ranges_of_usual_urls_are_made_natively():
    usual = ["http://www.e.org/a?b=c", "https://a.B", "http://e.org/%C3"]
    asked, others = native.tree_ranges([*usual, "", "http://e.org:80/", "http://e.org/\udce9"])
    assert others == [3, 4, 5]
    with using("python"):
        assert asked == asked_ranges([Pattern(text, "exact", b"", ()) for text in usual])[0]
