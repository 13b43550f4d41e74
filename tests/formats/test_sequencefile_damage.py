"""SequenceFiles that are cut, changed or made to mislead: nothing false, nothing silent, little memory."""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import pytest
from tests.formats.sequencefiles import (
    CHECKSUMMED,
    CODECS,
    COMPRESSORS,
    ESCAPE,
    KINDS,
    SMALL,
    Source,
    block,
    block_file,
    buffers,
    gzip,
    header,
    header_end,
    items,
    pairs,
    plain_file,
    read,
    text,
    vint,
    zstd,
)

from crawlmill.errors import FormatError
from crawlmill.formats.sequencefile.reader import read_sequencefile

REASONS = {"truncated", "bad-checksum", "bad-compression", "bad-header", "bad-length"}
MIB = 1 << 20


@pytest.mark.parametrize("kind", KINDS)
def test_file_cut_at_each_byte_gives_its_whole_records_and_says_so(kind):
    data, blocks = KINDS[kind], kind.startswith("block")
    begin = header_end(data)
    found = list(items(data, begin, blocks=blocks))
    sound = {begin, *(item.end for item in found), *(item.offset for item in found if not blocks)}  # behind an escape
    for cut in range(begin, len(data)):
        whole = [item for item in found if item.end <= cut]
        for known in (True, False):
            records, problems = read(data[:cut], known=known)
            assert pairs(records) == SMALL[: sum(item.records for item in whole)]
            assert [problem.reason for problem in problems] == ([] if cut in sound else ["truncated"])
            assert all((whole[-1].end if whole else begin) <= problem.offset <= cut for problem in problems)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_byte_is_noticed_or_does_no_harm(kind):
    data, compression = KINDS[kind], kind.split()[0]
    proven = kind.split()[-1] in CHECKSUMMED
    for at in range(header_end(data), len(data)):
        for change in (0xFF, 1 << at % 8):
            records, problems = read(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
            found = pairs(records)
            assert {problem.reason for problem in problems} <= REASONS
            assert all(problem.offset is not None and problem.offset <= at for problem in problems[:1])
            assert problems or len(found) == len(SMALL), f"byte {at}: silent loss"
            if compression == "block" and proven:
                assert [pair for pair in SMALL if pair in found] == found, f"byte {at}: a false record"
            elif compression == "record" and proven:
                values = [value for _, value in SMALL]  # keys are as they stand
                assert all(value in values for _, value in found)
                assert sum(pair not in SMALL for pair in found) <= 1
            elif compression == "none":
                odd = [pair for pair in found if pair not in SMALL]  # content that nothing proves: this byte alone
                assert len(odd) <= 1
                assert all(any(map(_is_one_byte_off, [pair] * len(SMALL), SMALL)) for pair in odd)


def _is_one_byte_off(pair: tuple[bytes, bytes], other: tuple[bytes, bytes]) -> bool:
    a, b = b"".join(pair), b"".join(other)
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1


@pytest.mark.parametrize("kind", ["none", "record GzipCodec", "block GzipCodec"])
def test_changed_byte_in_the_header_is_never_silent(kind):
    data = KINDS[kind]
    for at in range(header_end(data)):
        for change in (0xFF, 1, 2, 4, 8, 16, 32, 64, 128):
            try:
                records, problems = read(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
            except FormatError as error:
                assert error.reason in REASONS | {"unknown-format", "unsupported-format"}
                continue
            assert problems or len(records) == len(SMALL), f"byte {at}"


def test_hole_is_lost_and_what_lies_behind_is_given():
    records = [(b"http://h.example/%d" % n, b"text %d " % n * 9) for n in range(40)]
    data = block_file(records)
    found = list(items(data, 118, blocks=True))
    begin, end = found[3].offset + 30, found[5].offset + 10
    given, problems = read(data[:begin] + bytes(end - begin) + data[end:])
    assert pairs(given) == records[:12] + records[24:]
    assert problems[0].offset == found[3].offset
    assert len(problems) == 1


def test_length_past_the_end_of_a_file_that_goes_on_is_no_truncation():
    records = [(b"k%d" % n, b"v" * 90) for n in range(20)]
    data = plain_file(records)
    third = list(items(data, header_end(data), blocks=False))[3]
    changed = data[: third.offset] + struct.pack(">i", 10**6) + data[third.offset + 4 :]
    given, problems = read(changed)
    assert [(problem.reason, problem.offset) for problem in problems] == [("bad-length", third.offset)]
    assert pairs(given) == records[:3] + records[4:]  # an escape follows every second record or so


def test_damage_in_version_1_ends_it():
    data = plain_file([(b"k%d" % n, b"v") for n in range(9)], version=1)
    third = list(items(data, len(header(version=1)), blocks=False, version=1))[3]
    given, problems = read(data[: third.offset] + b"\xff\xff\xff\xff" + data[third.offset + 4 :])
    assert len(given) == 3
    assert [(problem.reason, problem.offset) for problem in problems] == [("bad-length", third.offset)]


def _middle_block(change) -> bytes:
    """Three blocks of three records; `change(buffers, packed)` gives the compressed buffers of the second."""
    parts = [SMALL[start : start + 3] for start in (0, 3, 6)]
    packed = [[gzip(buffer) for buffer in buffers(part)] for part in parts]
    packed[1] = change(buffers(parts[1]), packed[1])
    return header(CODECS + "GzipCodec", block=True) + b"".join(block(3, each) for each in packed)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _, z: [*z[:3], z[3][:-8]], "bad-compression"),
        (lambda _, z: [*z[:3], z[3][:-4]], "bad-compression"),
        (lambda _, z: [*z[:3], z[3][:-1] + b"\x7f"], "bad-checksum"),
        (lambda _, z: [z[0], z[1][:-8] + bytes(4) + z[1][-4:], *z[2:]], "bad-checksum"),
        (lambda _, z: [*z[:3], b""], "bad-length"),
        (lambda b, z: [*z[:3], gzip(b[3] + b"more")], "bad-length"),
        (lambda b, z: [*z[:3], gzip(b[3][:-1])], "bad-length"),
        (lambda b, z: [gzip(b[0][:-1]), *z[1:]], "bad-length"),
        (lambda b, z: [gzip(b[0] + b"\0"), *z[1:]], "bad-length"),
        (lambda b, z: [gzip(b[0][:-1] + b"\xff"), *z[1:]], "bad-length"),
        (lambda b, z: [gzip(b[0][:-1] + b"\x8e\x01"), *z[1:]], "bad-length"),
        (lambda b, z: [*z[:3], gzip(bytes([b[3][0] + 1]) + b[3][1:])], "bad-length"),
        (lambda b, z: [*z[:3], gzip(b"\xff" + b[3][1:])], "bad-length"),
        (lambda b, z: [*z[:2], gzip(bytes([b[2][0] - 1, b[2][1] + 1]) + b[2][2:]), z[3]], "bad-length"),
    ],
)
def test_damage_inside_a_sound_frame_loses_its_block_alone(change, reason):
    records, problems = read(_middle_block(change))
    assert pairs(records) == SMALL[:3] + SMALL[6:9]
    assert [problem.reason for problem in problems] == [reason]


def test_buffer_of_two_gzip_members_is_sound():
    assert read(_middle_block(lambda b, z: [*z[:3], gzip(b[3][:9]) + gzip(b[3][9:])]))[1] == []


@pytest.mark.parametrize("count", [2, 4, 2**31 - 1])
def test_count_of_records_that_lies_loses_its_block(count):
    packed = [gzip(buffer) for buffer in buffers(SMALL[:3])]
    data = header(CODECS + "GzipCodec", block=True) + block(count, packed) + block(3, packed)
    records, problems = read(data)
    assert pairs(records) == SMALL[:3]
    assert [problem.reason for problem in problems] == ["bad-length"]


PAD = b"x" * 400
PLAIN, BLOCK = header(), header(CODECS + "GzipCodec", block=True)


def _framed(codec: str, buffer: bytes) -> bytes:
    return header(CODECS + codec, block=True) + ESCAPE + vint(1) + (vint(len(buffer)) + buffer) * 4 + PAD


MISLEADING = {
    "record length": PLAIN + struct.pack(">ii", 0x7FFFFF00, 4) + PAD,
    "record length, negative": PLAIN + struct.pack(">ii", -(2**31), 4) + PAD,
    "key length": PLAIN + struct.pack(">ii", 100, 2**31 - 1) + PAD,
    "key length, negative": PLAIN + struct.pack(">ii", 100, -7) + PAD,
    "text length": PLAIN + struct.pack(">ii", 20, 10) + vint(2**31 - 1) + b"k" * 5 + PAD,
    "count, empty buffers": BLOCK + ESCAPE + vint(2**31 - 1) + (vint(20) + gzip(b"")) * 4,
    "count, negative": BLOCK + ESCAPE + b"\xfd" + PAD,
    "buffer": BLOCK + ESCAPE + vint(1) + vint(2**31 - 16) + PAD,
    "buffer, 64 bits": BLOCK + ESCAPE + vint(1) + vint(2**63 - 16) + PAD,
    "buffer, negative": BLOCK + ESCAPE + vint(1) + b"\x87\x9b" + PAD,
    "class name": b"SEQ\x06" + vint(2**31 - 16) + PAD,
    "metadata": PLAIN[:-20] + struct.pack(">i", 2**31 - 1) + PAD,
    "metadata, negative": PLAIN[:-20] + struct.pack(">i", -2) + PAD,
    "metadata text": PLAIN[:-20] + struct.pack(">i", 1) + vint(2**31 - 1) + PAD,
    "snappy block": _framed("SnappyCodec", struct.pack(">II", 2**32 - 1, 6) + b"\x04\x0cabcd"),
    "snappy preamble": _framed("SnappyCodec", struct.pack(">II", 2000, 10) + b"\xff\xff\xff\xff\x0f\x0cabcd"),
    "snappy chunk": _framed("SnappyCodec", struct.pack(">II", 4, 2**32 - 16) + b"\x04\x0cabcd"),
    "snappy, zeros": _framed("SnappyCodec", bytes(300)),
    "lz4 block": _framed("Lz4Codec", struct.pack(">II", 2**32 - 1, 5) + b"\x40abcd"),
    "lz4 chunk": _framed("Lz4Codec", struct.pack(">II", 4, 2**31 - 1) + b"\x40abcd"),
    "zstd size": _framed("ZStandardCodec", b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40) + b"\x01\0\0"),
    "zstd runs": _framed("ZStandardCodec", b"\x28\xb5\x2f\xfd\x00\x88" + b"\x02\x00\x10x" * 99 + b"\x03\x00\x10x"),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", MISLEADING)
def test_absurd_length_costs_nothing_and_gives_nothing(name, known):
    tracemalloc.start()
    try:
        records, problems = read(MISLEADING[name], known=known)
    except FormatError as error:
        records, problems = [], [error]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert records == []
    # Where the size is not known, a length may only be too large to be tried; the runs do hold 12 MB.
    large = {"too-large"} if not known or name == "zstd runs" else set()
    assert {problem.reason for problem in problems} <= REASONS | large
    assert len(problems) >= 1
    assert peak < 5 * MIB


def test_absurd_length_asks_the_source_for_no_more_than_a_chunk():
    data = PLAIN + struct.pack(">ii", 100 * MIB, 4) + PAD
    source, problems = Source(data), []
    assert list(read_sequencefile(source, None, on_problem=problems.append)) == []
    assert [problem.reason for problem in problems] == ["truncated"]
    assert source.largest <= MIB


def test_bomb_is_not_inflated():
    bomb = zlib.compress(bytes(64 * MIB), 9)
    long = [vint(2), text(b"k"), vint(64 * MIB), bomb]
    packed = [zlib.compress(b) for b in long[:3]] + [bomb]
    liar = [zlib.compress(b"\2"), bomb, *packed[2:]]
    many = [bomb, zlib.compress(b""), bomb, zlib.compress(b"")]
    good = [zlib.compress(b) for b in buffers(SMALL[:1])]
    blocks = [block(1, packed), block(1, liar), block(2**26, many), block(1, good)]
    data = header(CODECS + "DefaultCodec", block=True) + b"".join(blocks)
    tracemalloc.start()
    records, problems = read(data, largest=MIB)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pairs(records) == SMALL[:1]
    assert [problem.reason for problem in problems] == ["too-large", "bad-length", "too-large"]
    assert peak < 16 * MIB  # lengths are inflated up to 4 MiB


def test_value_that_is_too_large_is_lost_alone():
    record = plain_file([(b"a", b"one"), (b"b", bytes(3 * MIB)), (b"c", b"three")], "DefaultCodec")
    plain = plain_file([(b"a", b"one"), (b"b", bytes(3 * MIB)), (b"c", b"three")])
    for data in (record, plain):
        records, problems = read(data, largest=MIB)
        assert pairs(records) == [(b"a", b"one"), (b"c", b"three")]
        assert [problem.reason for problem in problems] == ["too-large"]
        assert read(data)[1] == []


@pytest.mark.parametrize("codec", [None, "GzipCodec"])
def test_escapes_made_to_mislead_are_read_once(codec):
    """Each claims a MiB: were it believed, this would read 30 GB."""
    if codec:
        claim = ESCAPE + vint(1) + vint(MIB)
        data = header(CODECS + codec, block=True) + claim * 30_000 + bytes(MIB)
    else:
        data = header() + (ESCAPE + struct.pack(">ii", MIB, 20)) * 30_000 + bytes(MIB)
    source, problems = Source(data), []
    assert list(read_sequencefile(source, len(data), on_problem=problems.append)) == []
    assert len(problems) >= 30_000
    assert source.given <= 2 * len(data) + 4 * MIB


@pytest.mark.parametrize("codec", COMPRESSORS)
def test_bytes_behind_a_compressed_value_are_damage(codec):
    key, value = text(b"k"), COMPRESSORS[codec](text(b"v")) + b"\x01"
    data = header(CODECS + codec) + struct.pack(">ii", len(key) + len(value), len(key)) + key + value
    records, problems = read(data)
    assert records == []
    assert problems[0].reason in {"bad-length", "bad-compression"}


def test_zstandard_frame_cut_at_each_byte_is_noticed():
    whole = zstd(text(b"some text " * 40))
    key = text(b"k")
    for cut in range(len(whole)):
        data = header(CODECS + "ZStandardCodec") + struct.pack(">ii", len(key) + cut, len(key)) + key + whole[:cut]
        assert [problem.reason for problem in read(data)[1]] in (["bad-compression"], ["bad-length"])
