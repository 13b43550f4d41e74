"""Data blocks of prefix trees are cut into the same items by both cores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.indexes.prefix_tree.items import SHORT, DataBlock, _cut_items

native = pytest.importorskip("crawlmill_native")

SOUND = st.lists(
    st.tuples(
        st.binary(min_size=1, max_size=4).filter(lambda key: b"\0" not in key), st.binary(min_size=28, max_size=28)
    )
)


@given(SOUND, st.booleans(), st.binary(max_size=70))
def test_items_and_their_order(items, in_order, rest):
    if in_order:
        items.sort(key=lambda item: item[0])
    block = b"".join(key + b"\0" + value for key, value in items) + rest
    assert tuple(native.tree_items(block, 28)) == _cut_items(block, 28)


def test_equal_keys_are_in_order_whatever_their_values():
    items = [(b"a", b"\xff" * 28), (b"a", b"\1" * 28), (b"ab", b"\1" * 28), (b"b", b"\1" * 28)]
    block = DataBlock(b"".join(key + b"\0" + value for key, value in items) + b"\0" * 9, SHORT)
    assert (block.first, block.last, block.is_sorted, block.damaged) == (b"a", b"b", True, False)
    assert [item.key for item in block.within(b"a", b"a\0")] == [b"a", b"a"]
    assert [item.key for item in block.within(b"a", b"b")] == [b"a", b"a", b"ab"]
    assert [item.key for item in block.within(b"ab", b"c")] == [b"ab", b"b"]
    assert DataBlock(b"", SHORT).first == b""
