"""The columns of results: rows of pairs, pairs of rows, and what does not fit."""

from __future__ import annotations

import doctest

import pytest

from crawlmill.errors import CrawlmillError, FormatError
from crawlmill.results import columns
from crawlmill.results.columns import Columns


def test_examples():
    assert doctest.testmod(columns).failed == 0


def test_a_string_that_is_none_is_json_text():
    found = Columns({"question": "string", "item": "string"}, {"count": "int64"})
    assert found.cells(["status", 200], 5) == ["status", "200", 5]
    assert found.cells(("mime", None), 5) == ["mime", None, 5]
    assert found.cells(["a", ["é", 1]], 5) == ["a", '["é",1]', 5]


@pytest.mark.parametrize(
    ("key", "value"),
    [("a", [1]), ("a", 1), ("a", [1, 2, 3]), ("a", [1, "2"]), ("a", [1, 2.0]), ("a", [True, 1]), ("a", [1 << 63, 1])],
)
def test_what_does_not_fit_is_an_error(key, value):
    with pytest.raises(CrawlmillError, match="does not fit"):
        Columns({"w": "string"}, {"count": "int64", "documents": "int64"}).cells(key, value)


def test_columns_have_names_and_types():
    for key, value in (
        ({}, {"a": "json"}),
        ({"a": "json"}, {}),
        ({"a": "json"}, {"a": "json"}),
        ({"a": "x"}, {"b": "json"}),
    ):
        with pytest.raises(ValueError, match="column"):
            Columns(key, value)
    for names in ([], ["count"], ["a", "a"]):
        with pytest.raises(FormatError):
            Columns.by_names(names)


def test_columns_are_the_same_read_from_json():
    found = Columns({"a": "string"}, {"b": "int64", "c": "json"})
    assert Columns.from_json(found.to_json()) == found
    for broken in (None, [], {"key": {"a": "x"}, "value": {}}, {"key": 5, "value": 5}):
        with pytest.raises(FormatError):
            Columns.from_json(broken)
