"""The bytes of pairs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.mr.task.pairs import JsonPairs, decode_pair, encode_key, encode_pair, encode_value

PINNED = [
    ("div", 1234, b'"div"\t1234'),
    (None, 7, b"null\t7"),
    ("näh/é 漢\U0001f600", -1, '"näh/é 漢\U0001f600"\t-1'.encode()),
    ("\u2028\x7f", 0, '"\u2028\x7f"\t0'.encode()),
    ('a"b\\c\td\ne\x00', 2**70, b'"a\\"b\\\\c\\td\\ne\\u0000"\t1180591620717411303424'),
    ("w", [3, 1], b'"w"\t[3,1]'),
    ("w", [3, True], b'"w"\t[3,true]'),
    ("w", (3, 1), b'"w"\t[3,1]'),
    ("w", True, b'"w"\ttrue'),
    ("w", 0.1, b'"w"\t0.1'),
    ("w", "text\n", b'"w"\t"text\\n"'),
    (["status", 200], 1, b'["status",200]\t1'),
    (("a", None), 1, b'["a",null]\t1'),
    ({"b": 1, "a": 2}, {"b": 1, "a": 2}, b'{"a":2,"b":1}\t{"b":1,"a":2}'),
    (5, None, b"5\tnull"),
    (False, 1, b"false\t1"),
    ("half \ud800 \udcff", 1, b'"half \\ud800 \\udcff"\t1'),
    (["\ud800"], "\ud800", b'["\\ud800"]\t"\\ud800"'),
]


@pytest.mark.parametrize(("key", "value", "line"), PINNED)
def test_pair_is_written_as_these_bytes(key, value, line):
    assert encode_pair(key, value) == line
    assert encode_key(key) == line.partition(b"\t")[0]
    assert encode_value(value) == line.partition(b"\t")[2]


@pytest.mark.parametrize(("key", "value"), [(float("nan"), 1), (1, float("inf")), (1, [float("-inf")])])
def test_number_that_is_no_json_is_refused(key, value):
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_pair(key, value)


@pytest.mark.parametrize(("key", "value"), [(b"x", 1), (1, b"x"), (object(), 1)])
def test_what_is_no_json_value_is_refused(key, value):
    with pytest.raises(TypeError):
        encode_pair(key, value)


@pytest.mark.parametrize("line", [b"", b"1", b'"a" 1', b"\t1", b"1\t", b'"a\t1', b"x\t1", b'"a"\t1x', b"\xff\t1"])
def test_line_that_is_no_pair_is_refused(line):
    with pytest.raises(ValueError, match="key TAB value in JSON"):
        decode_pair(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(key=JSON, value=JSON)
def test_pair_read_back_is_the_same_and_its_line_is_what_the_standard_library_writes(key, value):
    line = JsonPairs.write(key, value)
    assert JsonPairs.read(line) == (key, value)
    style = {"ensure_ascii": False, "separators": (",", ":")}
    assert line.decode() == f"{json.dumps(key, sort_keys=True, **style)}\t{json.dumps(value, **style)}"
    assert b"\n" not in line
    assert line.count(b"\t") == 1


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=8))
def test_any_text_with_lone_surrogates_becomes_ascii_escapes_that_read_back_as_json(text):
    line = encode_pair(text, 1)
    line.decode("utf-8")
    assert decode_pair(line)[0] == json.loads(json.dumps(text))
