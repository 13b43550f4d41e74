"""The records of SequenceFiles as records of an archive: keys, texts, and what kind of file they are of."""

from __future__ import annotations

import base64
import io
import struct

import pytest
from tests.formats.metadata_values import FAILURE, PAGE
from tests.formats.sequencefiles import ESCAPE, block_file, header, plain_file

from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.records import KINDS, read_key_values
from crawlmill.formats.starts import is_sequencefile

IO = "org.apache.hadoop.io."


def read(data, **options):
    """(records, problems, (format, kinds))."""
    problems, named = [], []
    records = read_key_values(
        io.BytesIO(data),
        len(data),
        on_problem=problems.append,
        on_format=lambda *found: named.append(found),
        **options,
    )
    found = list(records)
    assert len(named) == 1
    return found, problems, named[0]


def test_text_records_have_key_value_and_place():
    data = block_file([(b"http://a.example/", "ét\né".encode()), (b"", b"")], each=1)
    (first, second), problems, named = read(data)
    assert (problems, named) == ([], ("sequencefile", frozenset({"text_data"})))
    assert (first.uri, first.key, first.text(), first.body()) == (
        "http://a.example/",
        "http://a.example/",
        "ét\né",
        "ét\né".encode(),
    )
    assert first.fields() == {
        "offset": data.index(ESCAPE),
        "index": 0,
        "key": "http://a.example/",
        "value_length": 6,
        "truncated": None,
    }
    assert second.fields() == {
        "offset": data.rindex(ESCAPE),
        "index": 1,
        "key": "",
        "value_length": 0,
        "truncated": None,
    }
    assert (first.format, first.type, first.length, first.holds_http, first.date) == (
        "sequencefile",
        "text_data",
        None,
        False,
        None,
    )


def test_plain_file_gives_the_offsets_of_its_records_behind_escapes():
    data = plain_file([(b"k%d" % n, b"v" * 50) for n in range(9)], interval=100)
    records, _, _ = read(data)
    assert len({record.offset for record in records}) == 9
    for record in records:
        length, key_length = struct.unpack_from(">ii", data, record.offset)
        assert (length, key_length) == (54, 3)


@pytest.mark.parametrize("make", [plain_file, block_file])
def test_bytes_that_are_no_utf8_are_shown_and_refused_as_text(make):
    (record,), problems, _ = read(make([(b"http://a.example/\xff", b"ab\xffc")]))
    assert problems == []
    assert record.fields()["key"] == {"base64": base64.b64encode(b"http://a.example/\xff").decode()}
    assert record.body() == b"ab\xffc"
    for ask in (lambda: record.uri, lambda: record.key, record.text):
        with pytest.raises(FormatError) as caught:
            ask()
        assert caught.value.reason == "bad-encoding"


def test_value_of_more_than_the_limit_is_too_large():
    (record,), _, _ = read(plain_file([(b"k", b"v" * 100)]))
    record.max_body = 99
    with pytest.raises(FormatError) as caught:
        record.text()
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize(
    ("name", "serialized", "shown"),
    [
        ("IntWritable", struct.pack(">i", -7), -7),
        ("LongWritable", struct.pack(">q", 1 << 40), 1 << 40),
        ("VIntWritable", b"\x8f\x80", 128),
        ("NullWritable", b"", None),
        ("BooleanWritable", b"\x01", True),
        ("DoubleWritable", struct.pack(">d", 0.5), 0.5),
        ("DoubleWritable", struct.pack(">d", float("nan")), "nan"),
        ("BytesWritable", b"\0\0\0\x02ab", "YWI="),
        ("Unheard", b"ab", "YWI="),
    ],
)
def test_keys_of_other_classes_are_shown_by_their_meaning(name, serialized, shown):
    value = b"\x01v"
    data = header(key=IO + name) + struct.pack(">ii", len(serialized) + 2, len(serialized)) + serialized + value
    (record,), problems, named = read(data)
    assert (problems, named) == ([], ("sequencefile", frozenset()))
    assert record.fields()["key"] == shown
    assert type(record.fields()["key"]) is type(shown)
    assert (record.type, record.uri) == ("record", None)


BROKEN = [b"", b"null", b"[]", b"\xff", b'{"disposition":']


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([PAGE], "metadata"),
        ([FAILURE], "metadata"),
        ([FAILURE[:30]], "metadata"),
        ([b" \r\n\t" + FAILURE], "metadata"),
        (["\ufeff".encode() + FAILURE], "metadata"),
        ([*BROKEN * 3, PAGE], "metadata"),
        ([*[b"text"] * 16, PAGE], "text_data"),
        ([b"x" * (1 << 20), PAGE], "text_data"),
        ([b"about attempt_time"], "text_data"),
        ([b'see {"attempt_time":1}'], "text_data"),
        (BROKEN, "text_data"),
    ],
)
@pytest.mark.parametrize("make", [plain_file, block_file])
def test_first_records_decide_the_kind(make, values, kind):
    records, _, named = read(make([(b"http://a.example/", value) for value in values]))
    assert named == ("sequencefile", frozenset({kind}))
    assert [record.body() for record in records] == values
    assert {record.type for record in records} == {kind}
    assert [record.index for record in records] == list(range(len(values)))


def test_file_and_split_without_records_may_be_of_any_kind():
    assert read(header()) == ([], [], ("sequencefile", KINDS))
    data = block_file([(b"k", b"v")])
    assert read(data, start=len(data) - 5, end=len(data)) == ([], [], ("sequencefile", KINDS))


def test_damage_is_told_and_the_kind_found_behind_it():
    data = bytearray(block_file([(b"k%d" % n, FAILURE) for n in range(8)]))
    data[data.index(ESCAPE) + 60] ^= 0xFF
    records, (problem,), named = read(bytes(data))
    assert [record.uri for record in records] == ["k4", "k5", "k6", "k7"]
    assert problem.offset == data.index(ESCAPE)
    assert named == ("sequencefile", frozenset({"metadata"}))


@pytest.mark.parametrize(
    ("data", "is_one"), [(b"SEQ\x06", True), (b"SEQ", True), (b"SE", False), (b"", False), (b"xSEQ", False)]
)
def test_sequencefile_is_known_by_its_first_bytes(data, is_one):
    assert is_sequencefile(data) is is_one
