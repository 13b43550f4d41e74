"""SequenceFiles: Hadoop's own files, every version of the header, typed values, and how a stream may give its bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import struct
import sys
import zlib
from functools import cache
from pathlib import Path

import pytest
from tests.data import FOLDER, needs_data, shared
from tests.formats.sequencefiles import (
    CODECS,
    COMPRESSORS,
    ESCAPE,
    KINDS,
    SMALL,
    SYNC,
    TEXT,
    Source,
    block,
    block_file,
    header,
    header_end,
    items,
    pairs,
    plain_file,
    read,
    text,
)

from crawlmill.errors import FormatError, MissingDependency
from crawlmill.formats.sequencefile.reader import SequenceRecord, read_sequencefile

GZIP = CODECS + "GzipCodec"


@cache
def manifest() -> dict:
    return json.loads(shared("legacy/seqfiles/manifest.json").read_text())


def stored(entry: dict) -> bytes:
    path = shared("legacy/seqfiles") / entry["stored_as"]
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def digest(record: SequenceRecord) -> str:
    """As the manifest has it."""
    return hashlib.sha256(struct.pack(">q", len(record.key)) + record.key + record.value).hexdigest()[:16]


def entries(part: str) -> list:
    """The entries of the manifest, or one that is skipped by name where the data folder is not there."""
    path = Path(FOLDER) / "legacy/seqfiles/manifest.json"
    if not FOLDER or not path.exists():
        return [pytest.param(None, id="no data", marks=pytest.mark.skip(reason=f"no {path}"))]
    return [pytest.param(entry, id=entry["name"]) for entry in json.loads(path.read_text())[part]]


@pytest.mark.parametrize("entry", entries("files"))
def test_file_of_hadoop_gives_its_records(entry):
    data = stored(entry)
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    records = list(reader)

    head = reader.header
    assert (head.version, head.key_class, head.value_class) == (
        entry["version"],
        entry["key_class"],
        entry["value_class"],
    )
    assert (head.compression, head.codec) == (entry["compression"].lower(), entry["codec"])
    assert (head.sync.hex(), head.length) == (entry["sync_marker"] or "", entry["header_end"])
    assert dict(head.metadata) == entry["metadata"]
    wanted = manifest()["recordsets"].get(entry["recordset"], [])
    assert [digest(record) for record in records] == [record["d"] for record in wanted]
    assert [record.index for record in records] == list(range(entry["count"]))


@pytest.mark.parametrize("entry", entries("files"))
def test_file_of_hadoop_gives_the_offsets_of_its_records(entry):
    data, is_block = stored(entry), entry["compression"] == "BLOCK"
    found = items(data, entry["header_end"], blocks=is_block, version=entry["version"])
    offsets = [item.offset for item in found for _ in range(item.records)]
    assert [record.offset for record in read(data)[0]] == offsets
    escapes = [offset for offset, _ in entry["sync_escapes"]]
    if is_block:
        assert sorted(set(offsets)) == [offset for offset in escapes if offset < len(data)]
    else:
        assert all(data[offset : offset + 4] != b"\xff\xff\xff\xff" for offset in offsets)


@pytest.mark.parametrize("entry", entries("unreadable"))
def test_unreadable_file_is_refused_with_its_reason(entry):
    reasons = {
        "not_a_seqfile.seq": "unknown-format",
        "trunc_header.seq": "truncated",
        "version7.seq": "unsupported-format",
        "zero_bytes.seq": "unknown-format",
    }
    with pytest.raises(FormatError) as caught:
        read(stored(entry))
    assert caught.value.reason == reasons[entry["name"]]


@pytest.mark.parametrize("entry", entries("damaged"))
def test_damaged_file_of_hadoop_gives_all_that_can_be_saved_and_nothing_false(entry):
    data, recovery = stored(entry), entry["whole_buffer_recovery"]
    records, problems = read(data)
    core = [record["d"] for record in manifest()["recordsets"]["core"]]
    saved = [core[i] for first, last in recovery["core_index_ranges"] for i in range(first, last + 1) if first >= 0]

    if not recovery["errors"]:  # bytes of a value that nothing proves
        assert (len(records), problems) == (recovery["count"], [])
        assert set(saved) <= {digest(record) for record in records}
        return
    assert [digest(record) for record in records] == saved
    assert [problem.offset for problem in problems] == [offset for offset, _ in recovery["errors"]]
    assert {problem.reason for problem in problems} <= {"truncated", "bad-compression", "bad-length", "bad-header"}
    if "trunc" in entry["name"]:
        assert problems[0].reason == "truncated"


@needs_data
@pytest.mark.parametrize("name", ["metadata-00000", "textData-00000"])
def test_file_of_a_segment_gives_its_records(name):
    data = (shared("legacy/seqfiles/segment") / name).read_bytes()
    records, problems = read(data)
    assert [digest(record) for record in records] == manifest()["segment"]["files"][name]["digests"]
    assert problems == []


@needs_data
def test_number_in_a_file_of_hadoop_has_the_value_that_java_prints():
    data = (shared("legacy/seqfiles/files") / "ints_record_default.seq").read_bytes()
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    got = [(reader.key.value(record.key), reader.value.value(record.value)) for record in reader]
    wanted = manifest()["recordsets"]["ints"]
    assert got == [(int(record["ks"]), int(record["vs"])) for record in wanted]
    assert base64.b64decode(wanted[0]["k"]["b64"]) == b"\xff\xff\xff\xfb"  # -5 and, serialized, the payload


# What follows needs no data.


@pytest.mark.parametrize("kind", KINDS)
def test_file_of_each_kind_gives_its_records(kind):
    records, problems = read(KINDS[kind])
    assert pairs(records) == SMALL
    assert problems == []


def test_header_of_2012_is_118_bytes():
    reader = read_sequencefile(Source(block_file([])), 118, on_problem=pytest.fail)
    assert reader.header.length == 118
    assert list(reader) == []


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_header_of_each_version_is_read_with_the_body_behind_it(version):
    data = plain_file(SMALL, version=version)
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    assert (reader.header.version, reader.header.codec, reader.header.compression) == (version, None, "none")
    assert reader.header.sync == (SYNC if version > 1 else b"")
    assert pairs(list(reader)) == SMALL


@pytest.mark.parametrize("version", [3, 4, 5])
def test_compressed_file_of_an_old_version_uses_the_default_codec_unless_named(version):
    body = plain_file(SMALL, "DefaultCodec")
    data = header(CODECS + "DefaultCodec", version=version) + body[header_end(body) :]
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    assert (reader.header.codec, reader.header.compression) == (CODECS + "DefaultCodec", "record")
    assert pairs(list(reader)) == SMALL


def test_metadata_are_texts_and_odd_bytes_are_shown_escaped():
    data = header(metadata=((b"a", "\u00e9".encode()), (b"b", b"\xff")))
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    assert dict(reader.header.metadata) == {"a": "\u00e9", "b": "\\xff"}


def test_other_writables_are_cut_to_their_payload():
    key, value = "org.apache.hadoop.io.NullWritable", "org.apache.hadoop.io.BytesWritable"
    body = struct.pack(">ii", 6, 0) + struct.pack(">i", 2) + b"ab" + struct.pack(">ii", 4, 0) + bytes(4)
    data = header(key=key, value=value) + body
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    assert [(reader.key.value(r.key), reader.value.value(r.value)) for r in reader] == [(None, b"ab"), (None, b"")]


def test_class_that_is_not_known_gives_its_bytes():
    data = header(key="com.example.Mine") + struct.pack(">ii", 5, 3) + b"\x02xy" + text(b"v")
    reader = read_sequencefile(Source(data), len(data), on_problem=pytest.fail)
    assert [(reader.key.value(r.key), r.value) for r in reader] == [(b"\x02xy", b"v")]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("kind", ["none", "record GzipCodec", "block GzipCodec"])
def test_chunks_of_the_stream_do_not_show(kind, most):
    for known in (True, False):
        assert read(KINDS[kind], known=known, most=most) == (read(KINDS[kind])[0], [])


def test_record_much_larger_than_a_chunk_is_read_without_copying_it_for_each():
    value = bytes(range(256)) * (24 << 12)  # 24 MiB
    data = plain_file([(b"k", value), (b"l", b"after")])
    records, problems = read(data, most=50_000)
    assert [(len(record.value), record.value == value) for record in records] == [(len(value), True), (5, False)]
    assert problems == []


def test_value_that_holds_an_escape_is_a_value():
    inner = b"x" + ESCAPE + struct.pack(">ii", 2, 1) + b"\0\0"
    for data in (plain_file([(b"k", inner), (b"l", b"m")]), block_file([(b"k", inner), (b"l", b"m")])):
        records, problems = read(data)
        assert (pairs(records), problems) == ([(b"k", inner), (b"l", b"m")], [])


def test_file_that_ends_with_an_escape_is_whole():
    assert read(KINDS["none"] + ESCAPE)[1] == []
    assert pairs(read(KINDS["none"] + ESCAPE + ESCAPE + KINDS["none"][header_end(KINDS["none"]) :])[0]) == SMALL * 2


def test_records_in_front_of_an_access_error_are_given():
    class Broken(Source):
        def read(self, n: int, /) -> bytes:
            if self.given >= 100_000:
                raise OSError("gone")
            return super().read(n)

    data = plain_file([(b"k%d" % n, bytes(1000)) for n in range(300)])
    records = iter(read_sequencefile(Broken(data, 50_000), len(data), on_problem=pytest.fail))
    found: list[SequenceRecord] = []
    with pytest.raises(OSError, match="gone"):
        found.extend(records)
    assert [record.key for record in found[:2]] == [b"k0", b"k1"]


def test_codec_that_is_not_known_is_refused_with_its_name():
    with pytest.raises(FormatError, match=r"com\.example\.NoSuchCodec") as caught:
        read(header("com.example.NoSuchCodec", block=True))
    assert caught.value.reason == "unsupported-format"


@pytest.mark.parametrize("codec", ["SnappyCodec", "Lz4Codec"])
def test_codec_whose_library_is_missing_names_the_extra(codec, monkeypatch):
    monkeypatch.setitem(sys.modules, "cramjam", None)
    with pytest.raises(MissingDependency, match=r"crawlmill\[legacy\]"):
        read(KINDS[f"block {codec}"])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "unknown-format"),
        (b"SE", "unknown-format"),
        (b"SEQ", "truncated"),
        (b"WARC/1.0\r\n", "unknown-format"),
        (b"SEQ\x00" + header()[4:], "unsupported-format"),
        (b"SEQ\x07" + header()[4:], "unsupported-format"),
        (b"SEQ\x06" + text(TEXT.encode()) * 2 + b"\x02\x00", "bad-header"),
        (b"SEQ\x06" + text(TEXT.encode()) * 2 + b"\x00\x01", "bad-header"),
        (b"SEQ\x06" + text(b"\xff\xfe") + bytes(90), "bad-header"),
        (b"SEQ\x06\xff" + bytes(90), "bad-header"),
        *((header(GZIP, block=True)[:cut], "truncated") for cut in range(4, 118)),
    ],
)
def test_header_that_is_wrong_or_cut_is_refused(data, reason):
    for known in (True, False):
        with pytest.raises(FormatError) as caught:
            read(data, known=known)
        assert caught.value.reason == reason
        assert caught.value.offset is not None
        assert caught.value.offset <= len(data)


def test_problem_names_expected_and_found():
    data = bytearray(KINDS["block GzipCodec"])
    data[118 + 4] ^= 1
    problem = read(bytes(data))[1][0]
    wrong = bytes([SYNC[0] ^ 1]) + SYNC[1:]
    assert (problem.reason, problem.offset) == ("bad-header", 118)
    assert (problem.expected, problem.actual) == (ESCAPE.hex(), "ffffffff" + wrong.hex())


def test_value_in_a_record_file_that_is_damaged_is_lost_alone():
    good = plain_file([(b"a", b"one"), (b"b", b"two"), (b"c", b"three")], "DefaultCodec", interval=10**6)
    at = good.index(zlib.compress(text(b"two")))
    data = good[: at + 5] + bytes([good[at + 5] ^ 0xFF]) + good[at + 6 :]
    records, problems = read(data)
    assert pairs(records) == [(b"a", b"one"), (b"c", b"three")]
    assert [(problem.reason[:4], problem.offset) for problem in problems] == [("bad-", at - 10)]


NULL = "org.apache.hadoop.io.NullWritable"

# Hadoop 3.3.4 wrote this: SequenceFile.Writer, BLOCK, GzipCodec without native code, NullWritable keys, two Text values.
# The body begins with the sync marker; its keys buffer has 0 bytes.
NULL_KEYS = header(CODECS + "GzipCodec", block=True, key=NULL)[:-16] + bytes.fromhex(
    "e5c863a0113740a7bfcf2ede5452a456ffffffffe5c863a0113740a7bfcf2ede5452a45602161f8b080000000000000063600000ff12d941"
    "0200000000161f8b0800000000000000e3e00000c510db87020000001f1f8b0800000000000000632f4bcc294d55306087d086005e68c980"
    "10000000"
)


def test_file_of_hadoop_without_keys_gives_its_records():
    records, problems = read(NULL_KEYS)
    assert problems == []
    assert pairs(records) == [(b"", b"value 0"), (b"", b"value 1")]


@pytest.mark.parametrize("codec", COMPRESSORS)
@pytest.mark.parametrize("empty", ["keys", "values", "both"])
def test_buffer_of_no_stored_bytes_holds_nothing(codec, empty):
    compress = COMPRESSORS[codec]
    lengths, content = {True: (b"\0\0", b""), False: (b"\3\2", b"\2ab\1c")}, []
    for name in ("keys", "values"):
        none = empty in (name, "both")
        content += [compress(lengths[none][0]), b"" if none else compress(lengths[none][1])]
    names = {"key": NULL if empty != "values" else TEXT, "value": NULL if empty != "keys" else TEXT}
    data = header(CODECS + codec, block=True, **names) + block(2, content) + block(0, [b""] * 4) + block(2, content)
    records, problems = read(data)
    assert problems == []
    keys = [b"", b""] if names["key"] == NULL else [b"ab", b"c"]
    values = [b"", b""] if names["value"] == NULL else [b"ab", b"c"]
    assert pairs(records) == list(zip(keys, values, strict=True)) * 2


@pytest.mark.parametrize("codec", COMPRESSORS)
def test_value_of_no_stored_bytes_is_nothing_where_its_class_may_be_that(codec):
    """As Hadoop 3.3.4 stores NullWritable values with GzipCodec and "record" compression."""
    body = struct.pack(">ii", 3, 3) + b"\2ab" + struct.pack(">ii", 2, 2) + b"\1c"
    records, problems = read(header(CODECS + codec, value=NULL) + body)
    assert problems == []
    assert pairs(records) == [(b"ab", b""), (b"c", b"")]
    records, problems = read(header(CODECS + codec) + body)
    assert records == []
    assert [problem.reason for problem in problems] == ["bad-length"] * 2


@pytest.mark.parametrize("codec", COMPRESSORS)
def test_buffer_of_no_stored_bytes_that_must_hold_something_is_damage(codec):
    compress = COMPRESSORS[codec]
    sound = [compress(b"\2"), compress(b"\1a"), compress(b"\2"), compress(b"\1b")]
    for at in range(4):
        broken = [b"" if at == n else part for n, part in enumerate(sound)]
        records, problems = read(header(CODECS + codec, block=True) + block(1, broken) + block(1, sound))
        assert [problem.reason for problem in problems] == ["bad-length"], at
        assert pairs(records) == [(b"a", b"b")]
