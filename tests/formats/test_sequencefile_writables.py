"""Writables: vints by Hadoop's own table, payloads that must fill their place, typed values."""

from __future__ import annotations

import json
import struct

import pytest
from tests.data import needs_data, shared
from tests.formats.sequencefiles import TEXT, text, vint

from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.writables import encode_vint, parse_vint, parse_vints, vint_size, writable_named

IO = "org.apache.hadoop.io."

# From Hadoop's WritableUtils, as it printed them.
TABLE = [
    (0, "00"), (-1, "ff"), (-112, "90"), (-113, "8770"), (127, "7f"), (128, "8f80"), (255, "8fff"), (256, "8e0100"),
    (-256, "87ff"), (-257, "860100"), (65536, "8d010000"), (16777216, "8c01000000"), (2147483647, "8c7fffffff"),
    (-2147483648, "847fffffff"), (4294967296, "8b0100000000"), (9223372036854775807, "887fffffffffffffff"),
    (-9223372036854775808, "807fffffffffffffff"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "stored"), TABLE)
def test_vint_is_written_and_read_as_hadoop_does(number, stored):
    data = bytes.fromhex(stored)
    assert encode_vint(number) == data
    assert parse_vint(b"xx" + data + b"yy", 2) == (number, 2 + len(data))
    assert vint_size(data[0]) == len(data)


@needs_data
def test_vint_table_of_the_manifest_holds():
    for number, stored in json.loads(shared("legacy/seqfiles/manifest.json").read_text())["vlong"]:
        assert encode_vint(int(number)).hex() == stored
        assert parse_vint(bytes.fromhex(stored)) == (int(number), len(stored) // 2)


@pytest.mark.parametrize("data", [b"", b"\x8f", b"\x8e\x01", b"\x80" + bytes(7)])
def test_vint_that_is_cut_is_refused(data):
    with pytest.raises(FormatError, match="vint"):
        parse_vint(data)


def test_lengths_of_every_size_are_read():
    numbers = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**24 - 1, 2**24, 2**31 - 1, 143, 142, 5]
    assert list(parse_vints(b"".join(map(vint, numbers)), len(numbers))) == numbers
    assert list(parse_vints(bytes(range(128)), 128)) == list(range(128))


@pytest.mark.parametrize(
    ("data", "count"),
    [(b"\1\2", 1), (b"\1\2", 3), (b"", 1), (b"\1", 0), (b"\xff", 1), (b"\x90", 1), (b"\x8f", 1), (b"\1\x8e\1", 2), (b"\x87\1", 1)],
)  # fmt: skip
def test_lengths_that_do_not_fill_their_buffer_are_refused(data, count):
    with pytest.raises(FormatError) as caught:
        parse_vints(data, count)
    assert caught.value.reason == "bad-length"


@pytest.mark.parametrize(
    ("name", "serialized", "payload", "value"),
    [
        ("Text", "0568c3a96c6c", "68c3a96c6c", "h\u00e9ll"),
        ("Text", "00", "", ""),
        ("Text", "8f0161", "61", "a"),  # longer than it need be, as Hadoop would read it
        ("BytesWritable", "0000000201ff", "01ff", b"\x01\xff"),
        ("BytesWritable", "00000000", "", b""),
        ("IntWritable", "fffffffb", "fffffffb", -5),
        ("LongWritable", "8000000000000000", "8000000000000000", -(2**63)),
        ("VIntWritable", "8f80", "8f80", 128),
        ("VLongWritable", "887fffffffffffffff", "887fffffffffffffff", 2**63 - 1),
        ("FloatWritable", "3fc00000", "3fc00000", 1.5),
        ("DoubleWritable", "c004000000000000", "c004000000000000", -2.5),
        ("BooleanWritable", "01", "01", True),
        ("BooleanWritable", "00", "00", False),
        ("NullWritable", "", "", None),
        ("MapWritable", "0001", "0001", b"\0\1"),
    ],
)
def test_writable_has_its_payload_and_its_value(name, serialized, payload, value):
    kind, data = writable_named(IO + name), bytes.fromhex(serialized)
    assert kind.payload(data).hex() == payload
    assert kind.payloads(data * 3, [len(data)] * 3) == [bytes.fromhex(payload)] * 3
    assert kind.value(bytes.fromhex(payload)) == value
    assert type(kind.value(bytes.fromhex(payload))) is type(value)
    assert kind.serialize(kind.payload(data)) == (text(b"a") if serialized == "8f0161" else data)


@pytest.mark.parametrize(
    ("name", "serialized"),
    [
        ("Text", ""), ("Text", "01"), ("Text", "016161"), ("Text", "ff"), ("Text", "8f"), ("Text", "8e0001"), ("Text", "8e"),
        ("Text", "8c7fffffff61"), ("BytesWritable", "000000"), ("BytesWritable", "0000000161ff"),
        ("BytesWritable", "ffffffff"), ("IntWritable", "000000"), ("IntWritable", "0000000000"), ("LongWritable", "00"),
        ("VIntWritable", ""), ("VIntWritable", "0000"), ("VIntWritable", "8f"), ("NullWritable", "00"), ("BooleanWritable", ""),
        ("FloatWritable", "00"), ("DoubleWritable", "00"),
    ],
)  # fmt: skip
def test_value_that_does_not_fill_its_place_is_refused(name, serialized):
    kind, data = writable_named(IO + name), bytes.fromhex(serialized)
    with pytest.raises(FormatError) as caught:
        kind.payload(data)
    assert caught.value.reason == "bad-length"
    good = text(b"good") if name == "Text" else b""
    with pytest.raises(FormatError) as caught:
        kind.payloads(good + data + good, [len(good), len(data), len(good)] if good else [len(data)])
    assert caught.value.reason == "bad-length"


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 129, 250, 254, 255, 256, 257, 65_534, 65_535, 65_536, 2**24])
def test_text_of_any_length_is_cut_out_of_a_buffer(size):
    payload = b"\x8e" * size
    stored = text(payload)
    around = [text(b"\x8f"), stored, text(b"")]
    lengths = [len(part) for part in around]
    assert writable_named(TEXT).payloads(b"".join(around), lengths) == [b"\x8f", payload, b""]
    with pytest.raises(FormatError):
        writable_named(TEXT).payloads(b"".join(around), [lengths[0] + 1, lengths[1] - 1, lengths[2]])


@pytest.mark.parametrize("length", [0, 129, 258, 65_539])
@pytest.mark.parametrize("begin", [b"", b"none", b"\x7f", b"\x8f\x80", b"\x8e\x01\x00", b"\xff"])
def test_length_that_no_text_has_is_refused(length, begin):
    odd = (begin + b"x" * length)[:length]
    buffer = text(b"a") + odd + text(b"b")
    with pytest.raises(FormatError):
        writable_named(TEXT).payloads(buffer, [2, length, 2])


def test_more_texts_than_are_cut_at_once():
    texts = [b"%d" % n * (n % 70) for n in range(10_000)]
    stored = [text(each) for each in texts]
    assert writable_named(TEXT).payloads(b"".join(stored), [len(each) for each in stored]) == texts
    longer = [*stored[:9000], b"\x8f\x01a", *stored[9000:]]  # as Hadoop would read it, too
    assert writable_named(TEXT).payloads(b"".join(longer), [len(each) for each in longer])[9000] == b"a"


def test_text_that_is_not_utf_8_has_a_payload_but_no_value():
    kind = writable_named(TEXT)
    assert kind.payload(b"\x02\xff\xfe") == b"\xff\xfe"
    with pytest.raises(FormatError) as caught:
        kind.value(b"\xff\xfe")
    assert caught.value.reason == "bad-encoding"


def test_numbers_agree_with_struct():
    assert writable_named(IO + "DoubleWritable").value(struct.pack(">d", 0.1)) == 0.1
