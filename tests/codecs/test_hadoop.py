"""Hadoop's codecs: whole buffers only, bounded, and the same verdict whatever is installed."""

from __future__ import annotations

import bz2
import struct
import tracemalloc
import zlib

import pytest
import zstandard
from tests.formats.sequencefiles import CHECKSUMMED, CODECS, COMPRESSORS, gzip, zstd

from crawlmill.codecs.hadoop import codec_named
from crawlmill.errors import FormatError, MissingDependency

TEXTS = [b"", b"a", b"some words and " * 30, bytes(range(256)) * 5]
MANY = 1 << 20


def frame(*blocks: tuple[int, list[bytes]]) -> bytes:
    """Hadoop's block framing of (length, chunks)."""
    return b"".join(
        struct.pack(">I", n) + b"".join(struct.pack(">I", len(c)) + c for c in chunks) for n, chunks in blocks
    )


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("content", TEXTS)
def test_buffer_is_decoded(name, content):
    codec, data = codec_named(CODECS + name), COMPRESSORS[name](content)
    assert codec.decode(data, MANY) == content
    assert codec.decode(data, len(content)) == content
    assert codec.decode_exactly(data, len(content)) == content


@pytest.mark.parametrize("name", COMPRESSORS)
def test_content_of_another_size_is_refused(name):
    content = b"some words and " * 30
    codec, data = codec_named(CODECS + name), COMPRESSORS[name](content)
    for size in (0, 1, len(content) - 1, len(content) + 1, MANY):
        with pytest.raises(FormatError) as caught:
            codec.decode_exactly(data, size)
        assert (caught.value.reason, caught.value.expected) == ("bad-length", size)
    with pytest.raises(FormatError) as caught:
        codec.decode(data, len(content) - 1)
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("content", TEXTS[1:3])
def test_buffer_cut_at_any_byte_is_refused(name, content):
    codec, data = codec_named(CODECS + name), COMPRESSORS[name](content)
    # A block of no bytes may end snappy and LZ4 data; without it they are whole, too.
    end = len(data) - 4 if name in {"SnappyCodec", "Lz4Codec"} else None
    for cut in range(len(data)):
        if cut != end:
            with pytest.raises(FormatError):
                codec.decode_exactly(data[:cut], len(content))
        if cut not in (end, 0):  # no bytes at all are no content
            with pytest.raises(FormatError):
                codec.decode(data[:cut], MANY)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_no_stored_bytes_are_no_content(name):
    codec = codec_named(CODECS + name)
    assert codec.decode(b"", MANY) == codec.decode_exactly(b"", 0) == b""
    with pytest.raises(FormatError) as caught:
        codec.decode_exactly(b"", 1)
    assert (caught.value.reason, caught.value.expected, caught.value.actual) == ("bad-length", 1, 0)


@pytest.mark.parametrize("name", CHECKSUMMED)
def test_changed_bit_is_refused_or_does_no_harm(name):
    content = b"some words and " * 30
    codec, data = codec_named(CODECS + name), COMPRESSORS[name](content)
    for at in range(len(data)):
        for bit in range(8):
            try:
                found = codec.decode(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :], MANY)
            except FormatError as error:
                assert error.reason in {"bad-compression", "bad-checksum", "bad-length"}
            else:
                assert found == content


@pytest.mark.parametrize("name", ["DefaultCodec", "GzipCodec"])
@pytest.mark.parametrize("library", ["isal", "zlib-ng"])
def test_verdict_does_not_depend_on_the_decoder(name, library, use):
    content = b"some words and " * 12
    data, codec = COMPRESSORS[name](content), codec_named(CODECS + name)
    cuts = [data[:cut] for cut in range(len(data))]
    flips = [
        data[:at] + bytes([data[at] ^ change]) + data[at + 1 :] for at in range(len(data)) for change in range(1, 256)
    ]

    def verdicts(library):
        use(library)
        for changed in [data, data + b"\0", data + data, *cuts, *flips]:
            try:
                yield codec.decode(changed, MANY)
            except FormatError as error:
                yield error.reason, str(error)

    assert list(verdicts(library)) == list(verdicts("zlib"))


def test_trailer_that_is_wrong_is_a_bad_checksum():
    data = gzip(b"content")
    for at in (len(data) - 8, len(data) - 4):  # CRC, length
        with pytest.raises(FormatError) as caught:
            codec_named(CODECS + "GzipCodec").decode(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], MANY)
        assert caught.value.reason == "bad-checksum"
    data = zstd(b"content")
    with pytest.raises(FormatError) as caught:
        codec_named(CODECS + "ZStandardCodec").decode(data[:-1] + bytes([data[-1] ^ 1]), MANY)
    assert caught.value.reason == "bad-checksum"


@pytest.mark.parametrize(("name", "several"), [("GzipCodec", True), ("BZip2Codec", True), ("DefaultCodec", False)])
def test_several_streams_are_one_buffer_where_the_format_has_them(name, several):
    codec, data = codec_named(CODECS + name), b"".join(map(COMPRESSORS[name], [b"one ", b"", b"two"]))
    if several:
        assert codec.decode_exactly(data, 7) == b"one two"
        with pytest.raises(FormatError):
            codec.decode(data + b"\0", MANY)
    else:
        with pytest.raises(FormatError) as caught:
            codec.decode(data, MANY)
        assert caught.value.reason == "bad-length"


def test_many_streams_in_a_large_buffer_are_not_copied_for_each():
    data = gzip(b"x") * 20_000 + gzip(bytes(3 * MANY)) + gzip(b"y") * 20_000
    assert len(codec_named(CODECS + "GzipCodec").decode(data, 4 * MANY)) == 3 * MANY + 40_000


@pytest.mark.parametrize("name", ["DeflateCodec", "DefaultCodec"])
def test_both_names_of_the_default_codec_are_zlib(name):
    codec = codec_named(CODECS + name)
    assert zlib.decompress(codec.encode(b"content")) == b"content"


def test_gzip_is_written_as_java_writes_it():
    data = codec_named(CODECS + "GzipCodec").encode(b"content")
    assert data[:10].hex() == "1f8b0800000000000000"
    assert zlib.decompress(data, 31) == b"content"


def test_framing_has_several_chunks_in_a_block_and_empty_blocks():
    literal = b"\x04\x0cabcd"  # snappy: 4 bytes, a literal of 4
    codec = codec_named(CODECS + "SnappyCodec")
    data = frame((8, [literal, literal]), (0, []), (4, [literal]), (0, []))
    assert codec.decode_exactly(data, 12) == b"abcd" * 3
    assert codec.decode(b"", 0) == b""
    lz4 = frame((8, [b"\x40abcd", b"\x40abcd"]), (0, []), (3, [b"\x30abc"]))  # a token, 4 or 3 literals
    assert codec_named(CODECS + "Lz4Codec").decode_exactly(lz4, 11) == b"abcdabcdabc"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("SnappyCodec", frame((3, [b"\x04\x0cabcd"])), "bad-length"),
        ("SnappyCodec", frame((5, [b"\x04\x0cabcd"])), "bad-compression"),
        ("SnappyCodec", frame((4, [b"\x04\x0cabc"])), "bad-compression"),
        ("SnappyCodec", frame((4, [b""])), "bad-compression"),
        ("SnappyCodec", struct.pack(">II", 4, 9) + b"\x04\x0cabcd", "bad-length"),
        ("SnappyCodec", b"\0\0\0", "bad-compression"),
        ("SnappyCodec", frame((2**32 - 1, [b"\x04\x0cabcd"])), "bad-length"),
        ("Lz4Codec", frame((3, [b"\x40abcd"])), "bad-compression"),
        ("Lz4Codec", frame((5, [b"\x40abcd"])), "bad-compression"),
        ("Lz4Codec", frame((4, [b"\x50abcd"])), "bad-compression"),
        ("ZStandardCodec", b"\x28\xb5\x2f\xfd", "bad-compression"),
        ("ZStandardCodec", zstd(b"a") + b"\0", "bad-length"),
        ("ZStandardCodec", zstd(b"a") + zstd(b"b"), "bad-length"),
        ("ZStandardCodec", zstandard.compress(b"abc" * 99)[:-1], "bad-length"),
        ("BZip2Codec", bz2.compress(b"a")[:-1], "bad-compression"),
        ("GzipCodec", zlib.compress(b"a"), "bad-compression"),
        ("DefaultCodec", gzip(b"a"), "bad-compression"),
    ],
)
def test_wrong_data_have_their_reason(name, data, reason):
    with pytest.raises(FormatError) as caught:
        codec_named(CODECS + name).decode(data, MANY)
    assert caught.value.reason == reason


@pytest.mark.parametrize("size_known", [True, False])
def test_zstandard_frame_says_its_size_or_does_not(size_known):
    content = bytes(range(256)) * 3000
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    data = compressor.compress(content) if size_known else zstd(content)
    codec = codec_named("io.airlift.compress.zstd.ZstdCodec")
    assert codec.decode_exactly(data, len(content)) == content
    with pytest.raises(FormatError):
        codec.decode_exactly(data, len(content) - 1)


@pytest.mark.parametrize("name", COMPRESSORS)
def test_bomb_is_decoded_up_to_its_limit(name):
    bomb = COMPRESSORS[name](bytes(8 * MANY))
    codec = codec_named(CODECS + name)
    tracemalloc.start()
    with pytest.raises(FormatError) as caught:
        codec.decode(bomb, MANY)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.reason == "too-large"
    assert peak < 5 * MANY


def test_codec_without_its_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cramjam", None)
    for name in ("SnappyCodec", "Lz4Codec"):
        with pytest.raises(MissingDependency, match=rf"{name} needs the package cramjam.*crawlmill\[legacy\]"):
            codec_named(CODECS + name)


@pytest.mark.parametrize("name", ["com.hadoop.compression.lzo.LzoCodec", "GzipCodec", ""])
def test_codec_that_is_not_known_is_refused(name):
    with pytest.raises(FormatError) as caught:
        codec_named(name)
    assert (caught.value.reason, caught.value.actual) == ("unsupported-format", name)


@pytest.mark.parametrize("name", ["SnappyCodec", "Lz4Codec", "BZip2Codec", "ZStandardCodec"])
def test_codec_that_is_only_read_refuses_to_write(name):
    with pytest.raises(ValueError, match=name):
        codec_named(CODECS + name).encode(b"")
