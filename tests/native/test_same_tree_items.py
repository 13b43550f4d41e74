"""Data blocks of prefix trees are cut into the same items by both cores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.indexes.prefix_tree.items import SHORT, DataBlock, _Items

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
