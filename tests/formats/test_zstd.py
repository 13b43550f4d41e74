"""Zstandard WARC: frames as members, dictionaries, and damage; the frames are made by libzstd."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from tests import builders

from crawlmill.formats.archive import read_archive

RECORDS = builders.pages(4)
PAGES = RECORDS[1:]
URIS = [None, *[page.split(b"WARC-Target-URI: ")[1].split(b"\r\n")[0].decode() for page in PAGES]]
SKIPPABLE = b"\x53\x2a\x4d\x18\x05\x00\x00\x00hello"


def frame(content: bytes, dictionary: Any = None, **parameters: Any) -> bytes:
    """A frame with checksum and size, unless it is asked for without."""
    options = {"write_checksum": True, "write_content_size": True, **parameters}
    return zstandard.ZstdCompressor(dict_data=dictionary, **options).compress(content)


def streamed(content: bytes) -> bytes:
    """A frame whose writer did not know its size, in several blocks."""
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    half = len(content) // 2
    first = compressor.compress(content[:half]) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return first + compressor.compress(content[half:]) + compressor.flush()


def read(data: bytes, start: int = 0, length: int | None = None, **options: Any) -> tuple[list, list, list, list]:
    """The records, problems, formats and unproven frames of an archive, or of a range of it."""
    problems: list = []
    formats: list = []
    unproven: list = []
    source = io.BytesIO(data[: None if length is None else start + length])
    source.seek(start)
    records = read_archive(
        source,
        start=start,
        first_of_file=lambda count: data[:count],
        on_problem=problems.append,
        on_format=formats.append,
        on_unproven=lambda: unproven.append(1),
        **options,
    )
    found = [(record.offset, record.uri, b"".join(record.block.pieces()), record.length) for record in records]
    return found, problems, formats, unproven


def expected(frames: list[bytes]) -> list[tuple[int, str | None]]:
    offsets = [sum(map(len, frames[:number])) for number in range(len(frames))]
    return list(zip(offsets, URIS, strict=True))


@pytest.mark.parametrize("heads_only", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        frame,
        streamed,
        lambda content: frame(content, write_content_size=False),
        lambda content: frame(content, level=19),
    ],
)
def test_each_frame_is_a_member(write: Callable[[bytes], bytes], heads_only: bool) -> None:
    frames = [write(record) for record in RECORDS]
    found, problems, formats, unproven = read(b"".join(frames), heads_only=heads_only)
    assert [(offset, uri) for offset, uri, _, _ in found] == expected(frames)
    assert [length for *_, length in found] == [len(each) for each in frames]
    assert [block for _, _, block, _ in found] == [each.split(b"\r\n\r\n", 1)[1][:-4] for each in RECORDS]
    assert (problems, formats, unproven) == ([], ["warc"], [])


def test_frames_without_a_checksum_are_read_and_told_of() -> None:
    frames = [frame(record, write_checksum=False) for record in RECORDS]
    found, problems, _, unproven = read(b"".join(frames))
    assert [(offset, uri) for offset, uri, _, _ in found] == expected(frames)
    assert problems == []
    assert len(unproven) == len(frames)


def test_skippable_and_empty_frames_hold_nothing() -> None:
    frames = [SKIPPABLE + frame(record) + frame(b"") for record in RECORDS]
    found, problems, _, _ = read(b"".join(frames) + SKIPPABLE)
    assert [uri for _, uri, _, _ in found] == URIS
    assert problems == []


def dictionary() -> zstandard.ZstdCompressionDict:
    return zstandard.train_dictionary(4096, [page for _ in range(20) for page in PAGES])


@pytest.mark.parametrize("compressed", [False, True])
def test_dictionary_of_the_first_frame_serves_the_file_and_its_ranges(compressed: bool) -> None:
    made = dictionary()
    content = frame(made.as_bytes()) if compressed else made.as_bytes()
    first = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    frames = [frame(record, made) for record in RECORDS]
    data = first + b"".join(frames)
    found, problems, _, _ = read(data)
    offsets = [offset + len(first) for offset, _ in expected(frames)]
    assert [(offset, uri) for offset, uri, _, _ in found] == list(zip(offsets, URIS, strict=True))
    assert problems == []
    found, problems, _, _ = read(data, offsets[5], len(frames[5]))
    assert [(offset, uri) for offset, uri, _, _ in found] == [(offsets[5], URIS[5])]
    assert problems == []


def test_dictionary_that_frames_do_not_name_serves_ranges_too() -> None:
    made = dictionary()
    first = b"\x5d\x2a\x4d\x18" + len(made.as_bytes()).to_bytes(4, "little") + made.as_bytes()
    frames = [frame(record, made, write_dict_id=False) for record in RECORDS]
    data = first + b"".join(frames)
    offset = len(first) + len(frames[0])
    found, problems, _, _ = read(data, offset, len(frames[1]))
    assert [uri for _, uri, _, _ in found] == [URIS[1]]
    assert problems == []


@pytest.mark.parametrize(
    ("first", "reason", "words"),
    [
        (b"", "bad-compression", "ictionary"),  # there is none
        (b"\x5d\x2a\x4d\x18" + (17 << 20).to_bytes(4, "little"), "too-large", "dictionary"),
        (b"\x5d\x2a\x4d\x18" + b"\x08\x00\x00\x00\x28\xb5\x2f\xfdabcd", "bad-compression", "dictionary"),
    ],
)
def test_missing_and_broken_dictionaries_are_named(first: bytes, reason: str, words: str) -> None:
    data = first + b"".join(frame(record, dictionary()) for record in RECORDS)
    found, problems, _, _ = read(data, len(first) if reason != "too-large" else 8)
    assert found == []
    assert {problem.reason for problem in problems} == {reason}
    assert words in str(problems[0])


def test_flipped_bits_cost_their_frame_only() -> None:
    frames = [frame(record) for record in RECORDS]
    data = b"".join(frames)
    random.seed(1)
    for number in range(1, len(frames)):
        begin = sum(map(len, frames[:number]))
        for _ in range(30):
            at = begin + random.randrange(len(frames[number]))
            broken = bytearray(data)
            broken[at] ^= 1 << random.randrange(8)
            found, problems, _, _ = read(bytes(broken))
            uris = [uri for _, uri, _, _ in found]
            assert uris in ([*URIS[:number], *URIS[number + 1 :]], URIS)  # some bits of a header mean nothing
            assert bool(problems) == (uris != URIS), at - begin
            assert {problem.offset for problem in problems} <= {begin}


def test_every_cut_loses_only_what_it_cuts() -> None:
    frames = [frame(record) for record in RECORDS[:3]]
    data = b"".join(frames)
    ends = [sum(map(len, frames[: number + 1])) for number in range(3)]
    for size in range(1, len(data)):
        try:
            found, problems, _, _ = read(data[:size])
        except Exception as error:  # noqa: BLE001 - nothing of it could be read
            assert getattr(error, "reason", None) == "unknown-format", (size, error)
            assert size < ends[0]
            continue
        assert len(found) == sum(end <= size for end in ends), size
        assert [problem.reason for problem in problems] == ([] if size in ends else ["truncated"]), size


def test_zeros_between_frames_are_reported() -> None:
    frames = [frame(record) for record in RECORDS]
    data = frames[0] + bytes(100) + b"".join(frames[1:])
    found, problems, _, _ = read(data)
    assert [uri for _, uri, _, _ in found] == URIS
    assert [(problem.reason, problem.offset) for problem in problems] == [("bad-compression", len(frames[0]))]


def test_damaged_beginning_is_searched_for_a_frame() -> None:
    frames = [frame(record) for record in RECORDS]
    found, problems, _, _ = read(b"\x00" * 37 + b"".join(frames[1:]))
    assert [uri for _, uri, _, _ in found] == URIS[1:]
    assert problems != []


def test_large_record_is_streamed_and_a_window_without_bound_is_refused() -> None:
    body = random.Random(2).randbytes(1 << 16) * 400  # 26 MB
    large = builders.response("http://example.org/large", body)
    data = frame(RECORDS[0]) + streamed(large) + frame(PAGES[0])
    found, problems, _, _ = read(data)
    assert [uri for _, uri, _, _ in found] == [None, "http://example.org/large", URIS[1]]
    assert found[1][2].endswith(body[-1000:])
    assert problems == []
    wide = zstandard.ZstdCompressionParameters.from_level(
        1, window_log=30, write_checksum=True, write_content_size=False
    )
    compressor = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    data = frame(RECORDS[0]) + compressor.compress(PAGES[0]) + compressor.flush() + frame(PAGES[1])
    found, problems, _, _ = read(data)
    assert [uri for _, uri, _, _ in found] == [None, URIS[2]]
    assert [problem.reason for problem in problems] == ["too-large"]


def test_bomb_costs_bounded_memory() -> None:
    """A gigabyte of zeros in a frame that does not say so, and one that says so."""
    for known in (False, True):
        bomb = frame(bytes(1 << 28), write_content_size=known)
        found, problems, _, _ = read(frame(RECORDS[0]) + bomb + frame(PAGES[0]))
        assert [uri for _, uri, _, _ in found] == [None, URIS[1]]
        assert problems != []
