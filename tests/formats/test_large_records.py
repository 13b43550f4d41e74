"""Records that are streamed, not held: cut, counted and recovered as small ones are, whatever they declare."""

from __future__ import annotations

import io
import random
import zlib

import pytest
from tests.builders import gzip_member, http, record, response
from tests.formats.archives import Read

from crawlmill.codecs.gzip import GzipReader
from crawlmill.formats.arc import ArcCutter
from crawlmill.formats.runs import PROVEN

SMALL = http([("Content-Type", "text/html")], b"<p>small</p>\n")
NEXT = [f"http://e.org/next/{n}" for n in range(20)]


def noise(size: int) -> bytes:
    """Bytes that begin no record, end with no line feed, and do not compress."""
    return http([("Content-Type", "x/y")], random.Random(size).randbytes(size).replace(b"\n", b" ") + b"!")


def arc_record(url: str, block: bytes, declared: int | None = None) -> bytes:
    return b"%s 192.0.2.1 20100106101235 text/html %d\n%s\n" % (
        url.encode(),
        len(block) if declared is None else declared,
        block,
    )


TWO_MB = noise(2_000_000)
SIZES = {"held": noise(500_000), "streamed": TWO_MB}
FIRST = arc_record("http://e.org/first", SMALL)
BEHIND = b"".join(arc_record(url, SMALL) for url in NEXT)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("more", [1, 0, -1, -2])
def test_arc_record_of_a_plain_file_is_whole_in_each_way_to_count(size, more):
    block = SIZES[size]
    large = arc_record("http://e.org/large", block, len(block) + more)
    read = Read(FIRST + large + BEHIND)
    assert read.problems == []
    assert [uri for _, uri in read.uris] == ["http://e.org/first", "http://e.org/large", *NEXT]
    assert read.blocks[1] == block
    assert read.rows[1][:2] == (len(FIRST), len(large) - 1)
    alone = Read(FIRST + large)
    assert (alone.problems, alone.blocks) == ([], [SMALL, block])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("more", [1, 0, -1, -2])
def test_part_of_a_plain_arc_that_is_one_record_is_that_record(size, more):
    block = SIZES[size]
    data = FIRST + arc_record("http://e.org/large", block, len(block) + more) + BEHIND
    offset, length = Read(data).rows[1][:2]
    read = Read(data[offset : offset + length], start=offset, part=True)
    assert (read.problems, read.blocks) == ([], [block])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("declared", [5_000_000, 900_000])
def test_arc_length_beyond_the_end_of_a_plain_file_loses_only_its_record(size, declared):
    for block in (SMALL, SIZES[size][:400_000]):
        liar = arc_record("http://e.org/liar", block, declared)
        read = Read(FIRST + liar + BEHIND)
        assert read.problems == [("bad-length", len(FIRST))]
        assert [uri for _, uri in read.uris] == ["http://e.org/first", *NEXT]


@pytest.mark.parametrize("kind", ["arc", "warc"])
@pytest.mark.parametrize("size", [300_000, 2_000_000])
@pytest.mark.parametrize("more", [9, 500])
def test_length_that_reaches_into_the_next_record_loses_only_its_own(kind, size, more):
    block = noise(size)
    if kind == "arc":
        liar, behind = arc_record("http://e.org/liar", block, len(block) + more), BEHIND
    else:
        liar = record("resource", block, "http://e.org/liar", "x/y", length=len(block) + more)
        behind = b"".join(response(url, b"<p>small</p>") for url in NEXT)
    first = FIRST if kind == "arc" else response("http://e.org/first", b"<p>")
    read = Read(first + liar + behind)
    assert [reason for reason, _ in read.problems] == ["bad-length"]
    assert read.problems[0][1] == len(first)
    assert [uri for _, uri in read.uris] == ["http://e.org/first", *NEXT]


@pytest.mark.parametrize("kind", ["arc", "warc"])
@pytest.mark.parametrize("size", [300_000, 2_000_000])
def test_length_that_is_too_small_loses_no_other_record(kind, size):
    block = noise(size)
    if kind == "arc":
        liar, behind = arc_record("http://e.org/liar", block, len(block) - 100), BEHIND
    else:
        liar = record("resource", block, "http://e.org/liar", "x/y", length=len(block) - 100)
        behind = b"".join(response(url, b"<p>small</p>") for url in NEXT)
    read = Read(liar + behind)
    assert read.problems == [("bad-length", 0)]
    assert [uri for _, uri in read.uris] == NEXT


@pytest.mark.parametrize("kind", ["arc", "warc"])
def test_large_record_behind_one_that_declares_too_much_is_found(kind):
    if kind == "arc":
        data = arc_record("http://e.org/liar", SMALL, 90_000_000) + arc_record("http://e.org/large", TWO_MB)
    else:
        large = record("resource", TWO_MB, "http://e.org/large", "x/y")
        data = response("http://e.org/liar", b"<p>", length=90_000_000) + large
    read = Read(data)
    assert read.problems == [("bad-length", 0)]
    assert [uri for _, uri in read.uris] == ["http://e.org/large"]
    assert read.blocks == [TWO_MB]
    assert len(TWO_MB) < PROVEN


@pytest.mark.parametrize("kind", ["arc", "warc"])
def test_many_records_that_declare_too_much_lose_only_themselves(kind):
    if kind == "arc":
        liar, sound = arc_record("http://e.org/liar", SMALL, 10**12), FIRST
    else:
        liar, sound = response("http://e.org/liar", b"<p>", length=10**12), response("http://e.org/first", b"<p>")
    read = Read((liar + sound) * 3000)  # to read to the end for each of them would take hours
    assert [reason for reason, _ in read.problems] == ["bad-length"] * 3000
    assert [uri for _, uri in read.uris] == ["http://e.org/first"] * 3000


@pytest.mark.parametrize("kind", ["arc", "warc"])
def test_cut_of_a_large_record_of_a_plain_file_is_reported(kind):
    sound = FIRST if kind == "arc" else response("http://e.org/first", b"<p>")
    uri = "http://e.org/large"
    large = arc_record(uri, TWO_MB) if kind == "arc" else record("resource", TWO_MB, uri, "x/y")
    for left in (1_500_000, 100, 8):
        read = Read((sound + large)[:-left])
        assert read.problems == [("truncated", len(sound))]
        assert [uri for _, uri in read.uris] == ["http://e.org/first"]


# Members that are too large to be held

SEVENTEEN_MB = noise(17 << 20)


@pytest.mark.parametrize("declared", [0, -2, 1, -5_000_000, 5_000_000, 3 - len(SEVENTEEN_MB)])
def test_length_of_a_large_arc_record_is_that_of_its_member(declared):
    member = gzip_member(arc_record("http://e.org/large", SEVENTEEN_MB, len(SEVENTEEN_MB) + declared), level=0)
    first, last = gzip_member(FIRST), gzip_member(arc_record("http://e.org/last", SMALL))
    read = Read(first + member + last)
    assert read.problems == []
    assert [row[:3] for row in read.rows[1:]] == [
        (len(first), len(member), 0),
        (len(first) + len(member), len(last), 0),
    ]
    assert read.blocks[1] == SEVENTEEN_MB


@pytest.mark.parametrize("small", [True, False])
def test_streamed_member_of_several_arc_records_is_cut_by_their_lengths(monkeypatch, small):
    if small:
        monkeypatch.setattr("crawlmill.codecs.members.MAX_WHOLE", 300)
        monkeypatch.setattr("crawlmill.codecs.inflate.MAX_WHOLE", 300)
    large = arc_record("http://e.org/large", TWO_MB if small else SEVENTEEN_MB)
    member = gzip_member(FIRST + large + BEHIND, level=1)
    read = Read(member)
    assert read.problems == []
    assert [row[2] for row in read.rows] == list(range(22))
    assert [uri for _, uri in read.uris] == ["http://e.org/first", "http://e.org/large", *NEXT]
    assert read.blocks[1] == (TWO_MB if small else SEVENTEEN_MB)


def test_streamed_member_whose_first_arc_record_is_large_is_cut_by_their_lengths():
    for more in (0, 1, -2):
        member = gzip_member(arc_record("http://e.org/large", SEVENTEEN_MB, len(SEVENTEEN_MB) + more) + BEHIND, level=0)
        read = Read(member)
        assert read.problems == []
        assert read.blocks == [SEVENTEEN_MB] + [SMALL] * 20


def test_length_beyond_the_end_of_a_streamed_member_is_reported_once():
    member = gzip_member(FIRST + arc_record("http://e.org/liar", SEVENTEEN_MB, 99_000_000), level=0)
    last = gzip_member(arc_record("http://e.org/last", SMALL))
    read = Read(member + last)
    assert read.problems == [("bad-length", 0)]
    assert [uri for _, uri in read.uris] == ["http://e.org/first", "http://e.org/last"]


def test_damage_of_a_streamed_arc_member_is_reported_once_and_loses_its_record():
    member = bytearray(gzip_member(arc_record("http://e.org/large", SEVENTEEN_MB), level=0))
    member[-8:-4] = zlib.crc32(b"another").to_bytes(4, "little")
    first, last = gzip_member(FIRST), gzip_member(arc_record("http://e.org/last", SMALL))
    read = Read(first + bytes(member) + last)
    assert read.problems == [("bad-checksum", len(first))]
    assert [uri for _, uri in read.uris] == ["http://e.org/first", "http://e.org/last"]


def test_streamed_arc_record_says_at_its_end_how_it_is_stored():
    for closing in (b"\n", b""):
        content = arc_record("http://e.org/large", SEVENTEEN_MB, 3)[:-1] + closing
        member = gzip_member(content, level=0)
        found, problems = [], []
        for one in GzipReader(io.BytesIO(member), on_problem=problems.append, plausible=lambda _: True):
            for rec in ArcCutter(one, member=one, on_problem=problems.append):
                rec.block.drain()
                found.append((rec.length, rec.content_length, rec.closing))
        assert problems == []
        assert found == [(len(member), len(SEVENTEEN_MB), closing)]
