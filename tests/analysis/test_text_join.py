"""Records and texts of one URL."""

from __future__ import annotations

from itertools import permutations

import pytest

from crawlmill.analysis.text_join import METADATA, TEXT, with_texts

A, B = {"attempt_time": 1}, {"attempt_time": 2}


@pytest.mark.parametrize(
    ("values", "joined"),
    [
        ([(METADATA, A), (TEXT, "x")], [{"metadata": A, "texts": ["x"]}]),
        ([(METADATA, A)], [{"metadata": A, "texts": []}]),
        ([(TEXT, "x"), (TEXT, "y"), (TEXT, "x")], [{"metadata": None, "texts": ["x", "y"]}]),
        (
            [(METADATA, A), (METADATA, B), (TEXT, "y"), (TEXT, "x")],
            [{"metadata": A, "texts": ["x", "y"]}, {"metadata": B, "texts": ["x", "y"]}],
        ),
        ([(METADATA, A), (METADATA, A)], [{"metadata": A, "texts": []}] * 2),
    ],
)
def test_each_record_has_all_texts_of_its_url_in_whatever_order_they_come(values, joined):
    for order in permutations(values):
        assert list(with_texts(order)) == joined
