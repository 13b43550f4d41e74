"""Writing SequenceFiles: the bytes that Hadoop writes, and what is written is what is read."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.sequencefiles import (
    CODECS,
    SMALL,
    SYNC,
    TEXT,
    block_file,
    header,
    pairs,
    plain_file,
    read,
    text,
)
from tests.formats.test_sequencefile import entries, stored

from crawlmill.formats.sequencefile.writer import SequenceFileWriter

WRITTEN = ("DefaultCodec", "DeflateCodec", "GzipCodec")
IO = "org.apache.hadoop.io."


def written(records, **options) -> bytes:
    target = io.BytesIO()
    with SequenceFileWriter(target, **{"sync": SYNC, **options}) as writer:
        for key, value in records:
            writer.append(key, value)
    return target.getvalue()


def is_written_here(entry: dict | None) -> bool:
    """Whether Hadoop wrote it as we write: version 6, not compressed or by zlib. None stands for the missing data."""
    if entry is None:
        return True
    return entry["version"] == 6 and (entry["codec"] or "").removeprefix(CODECS) in ("", *WRITTEN)


@pytest.mark.parametrize("entry", [case for case in entries("files") if is_written_here(case.values[0])])
def test_file_of_hadoop_is_written_again_byte_for_byte(entry):
    """With what the manifest says it was written with, and what is plain to see in the offsets of its escapes."""
    data = stored(entry)
    records = pairs(read(data)[0])
    again = written(
        records,
        key_class=entry["key_class"],
        value_class=entry["value_class"],
        compression=entry["compression"].lower(),
        **({"codec": entry["codec"]} if entry["codec"] else {}),
        metadata=entry["metadata"],
        sync=bytes.fromhex(entry["sync_marker"]),
        sync_interval={"none_defaultsync.seq": 102_400, "ints_record_default.seq": 200}.get(entry["name"], 2000),
        block_size=512 if entry["name"] == "long_bytes_block_default.seq" else 4096,
    )
    assert again[: entry["header_end"]] == data[: entry["header_end"]]
    found = read(again)[0]
    assert pairs(found) == records
    assert blocks(found, entry) == blocks(read(data)[0], entry)
    if entry["codec"] is None:  # what deflate makes of the others is zlib's affair
        assert again == data


def blocks(records: list, entry: dict) -> list[int]:
    """How many records stand together in each block."""
    offsets = [record.offset for record in records]
    return [offsets.count(offset) for offset in sorted(set(offsets))] if entry["compression"] == "BLOCK" else []


@pytest.mark.parametrize("codec", [None, "DefaultCodec", "GzipCodec"])
def test_plain_file_has_the_bytes_of_the_layout(codec):
    options = {"compression": "record", "codec": CODECS + codec} if codec else {}
    assert written(SMALL, sync_interval=200, **options) == plain_file(SMALL, codec)


@pytest.mark.parametrize("codec", ["DefaultCodec", "GzipCodec"])
def test_block_closes_when_its_size_is_reached(codec):
    records = [(b"k%d" % n, b"v" * 8) for n in range(10)]  # 12 bytes each, serialized
    file = written(records, compression="block", codec=CODECS + codec, block_size=36)
    assert file == block_file(records, codec, each=3)


def test_header_holds_classes_codec_and_metadata_in_the_order_of_their_bytes():
    file = written([], key_class=IO + "LongWritable", metadata={"b": "2", "a": "\u00e9", "\u00e9": ""})
    metadata = ((b"a", "\u00e9".encode()), (b"b", b"2"), ("\u00e9".encode(), b""))
    assert file == header(key=IO + "LongWritable", metadata=metadata)


def test_sync_marker_is_random_unless_given():
    first, second = (written([], sync=None) for _ in range(2))
    assert first[:-16] == second[:-16]
    assert first[-16:] != second[-16:]


def test_other_writables_are_serialized():
    file = written([(b"", b"ab")], key_class=IO + "NullWritable", value_class=IO + "BytesWritable")
    assert file.endswith(SYNC + struct.pack(">iii", 6, 0, 2) + b"ab")


@pytest.mark.parametrize(
    ("options", "pair"),
    [
        ({"key_class": IO + "IntWritable"}, (b"\0\0\0", b"")),
        ({"value_class": IO + "NullWritable"}, (b"", b"x")),
        ({"value_class": IO + "VIntWritable"}, (b"", b"\x8f")),
        ({"sync": b"short"}, (b"", b"")),
        ({"compression": "record", "codec": CODECS + "SnappyCodec"}, (b"", b"")),
    ],
)
def test_what_cannot_be_written_is_refused(options, pair):
    with pytest.raises(ValueError, match=r"payload|16 bytes|not written"):
        written([pair], **options)


def test_failure_leaves_no_block_that_looks_complete():
    target = io.BytesIO()

    def fail() -> None:
        with SequenceFileWriter(target, compression="block", sync=SYNC) as writer:
            writer.append(b"k", b"v")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert target.getvalue() == header(CODECS + "DefaultCodec", block=True)


sizes = st.sampled_from([0, 1, 126, 127, 128, 129, 250, 254, 255, 256, 257, 65_534, 65_535, 65_536, 70_000])
contents = st.one_of(st.binary(max_size=40), sizes.map(bytes))


@given(
    records=st.lists(st.tuples(contents, contents), max_size=12),
    compression=st.sampled_from(["none", "record", "block"]),
    codec=st.sampled_from(WRITTEN),
    value_class=st.sampled_from([TEXT, IO + "BytesWritable", "com.example.Mine"]),
    interval=st.integers(0, 500),
    block_size=st.integers(0, 5000),
)
@settings(deadline=None, max_examples=150)
def test_what_is_written_is_read(records, compression, codec, value_class, interval, block_size):
    file = written(
        records,
        compression=compression,
        codec=CODECS + codec,
        value_class=value_class,
        sync_interval=interval,
        block_size=block_size,
    )
    found, problems = read(file)
    assert (pairs(found), problems) == (records, [])
    assert file.startswith(b"SEQ\x06" + text(TEXT.encode()))
