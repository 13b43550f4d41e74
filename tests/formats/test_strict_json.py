"""What is JSON and what is not, beside a recogniser written from the grammar of RFC 8259."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.formats import metadata_values

from crawlmill.errors import FormatError
from crawlmill.formats.crawl2012 import strict_json
from crawlmill.formats.crawl2012.strict_json import MAX_DEPTH, compact_json, parse_json

BLANKS = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
STRING = re.compile(r'"(?:[ !#-\[\]-\U0010ffff]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
WORD = re.compile("true|false|null")


def skip(text, at):
    return BLANKS.match(text, at).end()


def value_end(text, at, depth=0):
    """Where the value that begins here ends; ValueError if none does. Section by section of RFC 8259."""
    if text[at : at + 1] in ("{", "["):
        if depth == MAX_DEPTH:
            raise ValueError("depth")
        return container_end(text, at, depth + 1)
    for scalar in (WORD, NUMBER, STRING):
        found = scalar.match(text, at)
        if found:
            if scalar is NUMBER and math.isinf(float(found[0])) and not found[0].lstrip("-").isdigit():
                raise ValueError("number")
            return found.end()
    raise ValueError("value")


def container_end(text, at, depth):
    close = "}" if text[at] == "{" else "]"
    keys = []
    at = skip(text, at + 1)
    if text[at : at + 1] == close:
        return at + 1
    while True:
        if close == "}":
            key = STRING.match(text, at)
            if not key:
                raise ValueError("key")
            keys.append(json.loads(key[0]))
            at = skip(text, key.end())
            if text[at : at + 1] != ":":
                raise ValueError("colon")
            at = skip(text, at + 1)
        at = skip(text, value_end(text, at, depth))
        if text[at : at + 1] == close:
            if len(keys) != len(set(keys)):
                raise ValueError("key twice")
            return at + 1
        if text[at : at + 1] != ",":
            raise ValueError("comma")
        at = skip(text, at + 1)


def is_json(data):
    try:
        text = data.decode()
        return skip(text, value_end(text, skip(text, 0))) == len(text)
    except ValueError:
        return False


VALID = {
    b"0": 0, b"-0": 0, b"1": 1, b"-7": -7, b"9223372036854775807": 2**63 - 1, b"-9223372036854775808": -(2**63),
    b"18446744073709551615": 2**64 - 1, b"99999999999999999999999": 10**23 - 1, b"1.0": 1.0, b"1e2": 100.0, b"1E+2": 100.0,
    b"5e-324": 5e-324, b"1e-400": 0.0, b"0.1": 0.1, b" \t\r\n1 ": 1, b"true": True, b"null": None, b"[]": [], b"{}": {},
    b'"\x7f"': "\x7f", b'"\\/"': "/", b'"\\u00e9"': "é", b'"\\ud83d\\ude00"': "\U0001f600", b'"\\ud800"': "\ud800",
    b'"\xf0\x9f\x98\x80"': "\U0001f600", b'{"a":1,"A":2}': {"a": 1, "A": 2}, b'{"":[{}]}': {"": [{}]},
    b'"\\u2028\xe2\x80\xa8"': "\u2028\u2028", b'"-01 NaN ,]"': "-01 NaN ,]",
}  # fmt: skip
INVALID = [
    b"", b" ", b"-", b"01", b"-01", b"00", b"1.", b".5", b"1.e5", b"1e", b"2.5e+", b"+1", b"- 1", b"0x10", b"1_0", b"NaN",
    b"-NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b'"a\x00b"', b'"a\nb"', b'"\t"', b'"\x1f"', b'"\\x41"', b'"\\u12"',
    b'"\\', b'"abc', b"[1,]", b"[,1]", b"[1 2]", b"[1", b"[]]", b"{}}", b'{"a":1,}', b"{a:1}", b"{'a':1}", b'{"a" 1}',
    b'{"a":1 "b":2}', b"{1:2}", b"[1] x", b"[1]\x00", b"[1]\x0b", b"\x0c[1]", b"nul", b"nulll", b"true1", b"/**/1", b"[-]",
    b'{"a":-}', b'{"a":1,"a":2}', b'{"a":1,"\\u0061":1}', b"\xef\xbb\xbf1", b"\xe2\x80\xa81", b"\xc2\xa01",
]  # fmt: skip
NOT_UTF8 = [b'"\xff"', b'"\xed\xa0\x80"', b'"\xed\xa0\xbd\xed\xb8\x80"', b'"\xc0\x80"', b'"\xf4\x90\x80\x80"', b"\xa01"]


@pytest.mark.parametrize("text", VALID, ids=repr)
def test_json_text_gives_its_value(text):
    value = parse_json(text)
    assert (value, type(value)) == (VALID[text], type(VALID[text]))
    assert is_json(text)


@pytest.mark.parametrize("text", INVALID, ids=repr)
def test_text_that_is_no_json_is_refused(text):
    with pytest.raises(FormatError) as caught:
        parse_json(text)
    assert caught.value.reason == "bad-json"
    assert "\n" not in str(caught.value)
    assert not is_json(text)


@pytest.mark.parametrize("data", NOT_UTF8, ids=repr)
def test_bytes_that_are_not_utf8_are_refused_as_such(data):
    with pytest.raises(FormatError, match="expected UTF-8, got byte 0x") as caught:
        parse_json(data)
    assert caught.value.reason == "bad-encoding"


@pytest.mark.parametrize("before", ["", " "])
@pytest.mark.parametrize(
    ("opening", "inmost", "closing"), [("[", "", "]"), ('{"a":', "1", "}"), ('[{"b":', "[]", "}]")]
)
def test_depth_has_one_limit_for_every_spelling(before, opening, inmost, closing):
    levels = opening.count("[") + opening.count("{")
    deepest = (MAX_DEPTH - inmost.count("[")) // levels
    parse_json((before + opening * deepest + inmost + closing * deepest).encode())
    for deep in (deepest + 1, 600, 1_000, 1_100, 50_000):
        with pytest.raises(FormatError, match=f"more than {MAX_DEPTH} levels"):
            parse_json((before + opening * deep + inmost + closing * deep).encode())


def test_many_brackets_side_by_side_or_in_strings_are_not_deep():
    assert len(parse_json(b"[" + b"[]," * 500 + b'"' + b"[" * 500 + b'"]')) == 501


def test_integer_beyond_the_interpreters_limit_is_refused():
    with pytest.raises(FormatError, match="4300"):
        parse_json(b"1" * 4301)


def test_key_twice_is_named():
    with pytest.raises(FormatError, match="the key 'b' twice"):
        parse_json(b'[{"a":1,"b":2,"c":3,"b":2}]')


def test_error_says_where():
    with pytest.raises(FormatError, match=r"expected an RFC 8259 text, got .* at character 8$"):
        parse_json(b'{"hash":-}')


@pytest.mark.parametrize("value", metadata_values.ALL, ids=lambda value: value[50:80])
def test_stored_record_comes_out_byte_for_byte(value):
    assert compact_json(parse_json(value)).encode() == value


def test_genuine_records_come_out_byte_for_byte():
    values = [value for _, value in metadata_values.real_values()]
    assert len(values) == 50
    assert [compact_json(parse_json(value)).encode() for value in values] == values


def test_compact_json_writes_what_gson_wrote():
    value = {
        "a": [1, -(2**63), 0.1, 1e22, -0.0, True, None],
        "é\U0001f600/<&": '"\\\b\f\n\r\t\x00\x1f\x7f\u2028\u2029\ud800',
    }
    assert compact_json(value) == (
        '{"a":[1,-9223372036854775808,0.1,1e+22,-0.0,true,null],'
        '"é\U0001f600/<&":"\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\\u2028\\u2029\\ud800"}'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_compact_json_refuses_what_is_no_json(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        compact_json([value])


PIECES = st.sampled_from([
    b"-", b"0", b"01", b"1.", b"e9", b"1e999", b"-0.0", b"NaN", b"-Infinity", b"\n", b"\x00", b"\x1f", b" ", b"\t", b'"', b"\\",
    b"\\u", b"\\ud800", b"\\u0061", b"/", b",", b":", b"{", b"}", b"[", b"]", b"{}", b'"a":1,', b"null", b"tru", b"\xed\xa0\x80",
    b"\xff", b"\xc3", b"\xc3\xa9", b"\xef\xbb\xbf", b"9223372036854775808", b"99999999999999999999999", b"0.1", b"1e-7", b"//",
])  # fmt: skip


@st.composite
def mutated(draw):
    """A record with a few small wounds, some of which leave it sound."""
    data = draw(st.sampled_from(metadata_values.ALL))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 0, 1, 2, len(data)]))
        data = data[:start] + draw(PIECES | st.binary(max_size=2) | st.just(b"")) + data[start + length :]
    return data


@settings(derandomize=True, database=None, max_examples=1500, deadline=None)
@given(mutated())
@example(metadata_values.PAGE.replace(b'"content_len":4100', b'"content_len":-'))
@example(metadata_values.PAGE.replace(b'"content_len":4100', b'"content_len":04100'))
@example(metadata_values.PAGE.replace(b'"width":"7"', b'"alt":"7"'))
@example(metadata_values.PAGE + b"\n")
@example(metadata_values.PAGE + b"\x00")
def test_mutated_record_is_taken_if_and_only_if_it_is_json(data):
    try:
        value = parse_json(data)
    except FormatError as error:
        assert not is_json(data), str(error)
    else:
        assert is_json(data)
        assert repr(value) == repr(json.loads(data))  # floats, signs and the order of keys too


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True, database=None, max_examples=300, deadline=None)
@given(JSON_VALUES, st.sampled_from([None, 1]), st.booleans())
def test_every_spelling_gives_the_value_that_was_written(value, indent, escaped):
    spelt = json.dumps(value, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    assert repr(parse_json(spelt)) == repr(value)
    assert repr(parse_json(compact_json(value).encode())) == repr(value)


@settings(derandomize=True, database=None, max_examples=300, deadline=None)
@given(mutated())
def test_verdict_does_not_depend_on_what_reads_first(data):
    def verdict():
        try:
            return repr(parse_json(data))
        except FormatError as error:
            return str(error)

    def refuse(_):
        raise ValueError

    usual = verdict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json.ujson, "loads", refuse)
        assert verdict() == usual
